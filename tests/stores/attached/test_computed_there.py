"""Computed questions over attached tables: in the source, as its role, under both policies."""

import json
import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest
from attached_shop import Shop

import redask
from redask.api.sync import OpenDatabase
from redask.core.errors import SqlError, StoreFailed
from redask.core.model import Caller
from redask.core.ports.selecting import AttachedStatements
from redask.stores.attached.source_connection import AttachedDatabase

HOW_MANY = "How many orders are there?"
SUE = Caller("local", "sue", "support")
NORTH = {"read": [{"roles": ["support"], "rows": "region = 'north'", "hide": ["since"]}]}


def attach(db: OpenDatabase, place: Shop, **options: object) -> None:
    chosen = {"name": "shop", "role": "shop_reader", "readers": ["support"], **options}
    db.attach(place.url, ["customers", "orders"], **chosen)  # type: ignore[arg-type]


def rows(db: OpenDatabase, question: str) -> Any:
    answer = db.ask(question)
    return json.loads(answer.sources_flat[0].payload).get("rows") if answer.sources_flat else None


def runner(db: OpenDatabase) -> AttachedStatements:
    found = db._async._app.computing.attached
    assert found is not None
    return found


def refusal(db: OpenDatabase, sql: str, caller: Caller = SUE) -> str:
    with pytest.raises(SqlError) as raised:
        runner(db).run(sql, caller)
    return raised.value.message


def test_a_question_is_computed_in_the_source_as_it_is_now(db: OpenDatabase, place: Shop) -> None:
    attach(db, place)
    assert rows(db, HOW_MANY) == [[4]]  # one is hidden from the role
    place.run("INSERT INTO orders (id, customer_id, amount) VALUES (20, 1, 3), (21, 3, 3)")
    assert rows(db, HOW_MANY) == [[5]]  # and again, without a sync
    assert rows(db, "What is the sum of amount of orders?") == [["68.75"]]
    answer = db.ask(HOW_MANY)
    assert answer.validation.ok
    row = db.audit(limit=1)[0].row
    assert row["question"] == HOW_MANY
    plan = db.explain(HOW_MANY)
    assert plan["query"]["sql"] == "SELECT count(*) FROM orders"


def test_redasks_policy_and_the_sources_hold_together(db: OpenDatabase, place: Shop) -> None:
    attach(db, place)
    db.set_policy("customers", NORTH)
    db.add_user("sue", role="support")
    db.add_user("ivan", role="intern")
    sue, ivan = (db.signed_in(db.make_token(user)) for user in ("sue", "ivan"))
    assert rows(db, "How many customers are there?") == [[3]]
    assert rows(sue, "How many customers are there?") == [[2]]  # Bert lives south, Cleo is secret
    place.run("UPDATE customers SET region = 'north' WHERE id = 2")
    assert rows(sue, "How many customers are there?") == [[3]]  # both policies look at it there
    assert rows(ivan, HOW_MANY) is None
    assert "does not exist" in refusal(db, "SELECT max(since) FROM customers")
    found = runner(db).run("SELECT name FROM customers ORDER BY name", SUE)
    assert found is not None
    assert found.rows == [("Alma",), ("Bert",), ("Dora",)]


def test_a_hidden_row_cannot_be_found_out_by_an_error(place: Shop, tmp_path: Path) -> None:
    with redask.open(tmp_path / "data") as db:
        attach(db, place)
        others = ", ".join(f"'{letter}'" for letter in "abcdefghijklmnop")
        dear = f"region in ('north', {others})"  # so dear that PostgreSQL would test it last
        db.set_policy("customers", {"read": [{"roles": ["support"], "rows": dear}]})
        probe = "SELECT name FROM customers WHERE 1 / (id - 2) > 5"  # Bert, of the south, is 2
        found = runner(db).run(probe, SUE)
        assert found is not None
        assert found.rows == []
        with pytest.raises(SqlError, match="division by zero"):
            runner(db).run(probe, Caller())


def test_masked_columns_are_masked_and_types_are_those_of_here(place: Shop, tmp_path: Path) -> None:
    with redask.open(tmp_path / "data") as db:
        attach(db, place)
        policy = {"read": [{"roles": ["support"], "mask": ["note"], "show": ["id", "amount"]}]}
        db.set_policy("orders", policy)
        found = runner(db).run("SELECT note, amount, id FROM orders WHERE id = 10", SUE)
        assert found is not None
        assert found.columns == (("note", "text"), ("amount", "numeric(10,2)"), ("id", "int8"))
        assert [str(value) for value in found.rows[0]] == ["***", "10.50", "10"]
        whole = "SELECT tags, extra, photo, placed, weight, stage FROM orders WHERE id = 10"
        there = runner(db).run(whole, Caller())
        here = db.select(whole)
        assert there is not None
        assert [kind for _, kind in there.columns] == [kind for _, kind in here.columns]
        assert list(there.rows) == [tuple(each.values()) for each in here]


def test_row_level_security_may_ask_who_asks(place: Shop, tmp_path: Path) -> None:
    place.run(
        "DROP POLICY reading ON orders",
        "CREATE POLICY reading ON orders TO shop_reader"
        " USING (note LIKE '%' || current_setting('redask.user', true) || '%')",
    )
    with redask.open(tmp_path / "data") as db:
        attach(db, place)
        for user, count in (("kettle", 1), ("a", 5), ("zoe", 0)):
            found = runner(db).run("SELECT count(*) FROM orders", Caller("local", user, "support"))
            assert found is not None
            assert found.rows == [(count,)]


FURTHER = {
    "SELECT count(*) FROM orders, notes": "different databases",
    "SELECT set_config('role', 'none', true) FROM orders": "it calls set_config",
    "SELECT pg_sleep(1) FROM orders": "it calls pg_sleep",
    "SELECT current_user FROM orders": "depends on the clock or on the session",
    "SELECT now() FROM orders": "it calls now",
    "SELECT count(*) FROM public.orders": "leave it out",
    "SELECT urn FROM orders": "it reads 'urn'",
    "SELECT * FROM orders, generate_series(1, 2)": "it reads from a function",
}


def test_a_statement_that_could_reach_further_is_refused_and_others_run_here(
    place: Shop, tmp_path: Path
) -> None:
    with redask.open(tmp_path / "data") as db:
        db.put("notes", [{"id": 1, "text": "x"}])
        attach(db, place)
        for sql, why in FURTHER.items():
            assert why in refusal(db, sql, Caller()), sql
        assert runner(db).run("SELECT count(*) FROM notes", Caller()) is None
        assert rows(db, "How many notes are there?") == [[1]]


def test_nobody_is_somebody_else_there(place: Shop, tmp_path: Path) -> None:
    with redask.open(tmp_path / "data") as db:
        attach(db, place, readers=[])
        db.set_policy("orders", {"read": [{"roles": ["*"]}]})
        assert "reads as nobody" in refusal(db, "SELECT count(*) FROM orders")


def test_a_condition_that_cannot_be_told_there_is_refused(place: Shop, tmp_path: Path) -> None:
    with redask.open(tmp_path / "data") as db:
        attach(db, place)
        rule = {"roles": ["support"], "rows": "weight > 1"}
        db.set_policy("orders", {"read": [rule]})
        assert "asks for the column 'weight'" in refusal(db, "SELECT count(*) FROM orders")


def test_a_statement_ends_in_time_and_when_nobody_waits(place: Shop, tmp_path: Path) -> None:
    with redask.open(tmp_path / "data") as db:
        attach(db, place)
        with psycopg.connect(**place.superuser) as holder:
            holder.execute("LOCK TABLE orders")
            with pytest.raises(redask.AskError, match="took longer than 300 ms"):
                runner(db).run("SELECT count(*) FROM orders", Caller(), timeout_ms=300)
            left = threading.Event()
            left.set()
            with pytest.raises(redask.AskError, match="was cancelled"):
                runner(db).run(
                    "SELECT count(*) FROM orders", Caller(), timeout_ms=60_000, cancelled=left
                )


def test_nothing_is_written_to_the_source(place: Shop, tmp_path: Path) -> None:
    before = place.looks()
    with redask.open(tmp_path / "data") as db:
        attach(db, place)
        rows(db, HOW_MANY)
        assert refusal(db, "SELECT count(*) FROM orders FOR UPDATE", Caller())
    assert place.looks() == before


def test_the_source_itself_lets_no_statement_write_nor_run_on(place: Shop) -> None:
    """In the transaction that statements run in, whatever they are."""
    place.run("GRANT INSERT, UPDATE, DELETE ON customers, orders TO shop_reader")
    before = place.looks()
    source = AttachedDatabase(place.url)
    with source.reading("shop_reader", timeout_ms=200, caller=SUE) as connection:
        who = "SELECT current_user::text, current_setting('redask.user')"
        assert connection.execute(who).fetchone() == ("shop_reader", "sue")
    for sql, why in (
        ("DELETE FROM public.orders", psycopg.errors.ReadOnlySqlTransaction),
        ("SELECT pg_sleep(600)", psycopg.errors.QueryCanceled),
        ("SELECT * FROM public.salaries", psycopg.errors.InsufficientPrivilege),
    ):
        with (
            pytest.raises(StoreFailed) as raised,
            source.reading("shop_reader", timeout_ms=200, caller=SUE) as connection,
        ):
            connection.execute(sql)
        assert isinstance(raised.value.__cause__, why)
    assert place.looks() == before


def test_a_source_that_is_gone_is_told_without_its_place(place: Shop, tmp_path: Path) -> None:
    with redask.open(tmp_path / "data") as db:
        attach(db, place)
        place.run("ALTER ROLE shop_owner NOLOGIN")
        try:
            with pytest.raises(redask.AskError) as raised:
                db.ask(HOW_MANY)
        finally:
            place.run("ALTER ROLE shop_owner LOGIN")
        assert raised.value.message == "the attached database 'shop' cannot be reached, or failed"
        assert rows(db, HOW_MANY) == [[4]]
