"""SELECT shows what the policies allow, and nothing that is hidden makes any difference to it.

Two worlds (`tests/support/guarded.py`) are one to the reader. `test_select_planted.py` tries the
same comparison on planted bugs: a check that cannot fail proves nothing.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from guarded import FOREIGN, OWNER, READABLE, READER, SECRET, STRANGER, build
from select_twins import differences, outcome
from selecting_store import SelectingStore

from redask.core.errors import Denied, SqlError
from redask.core.model import Caller
from redask.stores.columnar.statements.generated_text import check_generated
from redask.stores.entity_rows import entities, link


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[SelectingStore]]:
    opened = [build(tmp_path_factory.mktemp("world"), world) for world in range(3)]
    yield opened
    for store in opened:
        assert store.check() == []
        store.close()


def test_what_is_hidden_changes_no_byte(worlds: list[SelectingStore]) -> None:
    assert differences(worlds) == set()


def test_the_reader_sees_what_the_rule_says(worlds: list[SelectingStore]) -> None:
    rows = worlds[2].select("SELECT * FROM people", (), READER)
    assert {row["region"] for row in rows} == {"eu"}
    assert len(rows) == 12
    assert {row["email"] for row in rows} == {"***"}
    assert "salary" not in rows[0]
    assert [type(row["age"]) for row in rows[:1]] == [int]


def test_the_owner_sees_it_all_and_nothing_of_the_other_tenant(
    worlds: list[SelectingStore],
) -> None:
    store = worlds[2]
    assert SECRET in outcome(store, "SELECT salary, email FROM people", OWNER)
    assert SECRET in outcome(store, "SELECT * FROM plans", OWNER)
    for name in (*READABLE, "plans", f"{FOREIGN}only", "red_ask_audit"):
        said = outcome(store, f"SELECT * FROM {name}", OWNER)
        assert FOREIGN not in said.replace(f"{FOREIGN}only", "")
        assert SECRET not in outcome(store, f"SELECT * FROM {name}", STRANGER)
    assert FOREIGN in outcome(store, "SELECT * FROM people", STRANGER)


def test_a_closed_collection_is_denied_and_an_unknown_one_is_named(
    worlds: list[SelectingStore],
) -> None:
    for store in worlds:
        with pytest.raises(Denied, match="may not read the collection 'plans'"):
            store.select("SELECT 1 FROM notes, plans", (), READER)
        for name in ("nosuch", "shadow", "entities", "entity_rows", "Notes", f"{FOREIGN}only"):
            with pytest.raises(SqlError, match=f'relation "{name}" does not exist') as caught:
                store.select(f'SELECT 1 FROM\n "{name}"', (), READER)
            assert (caught.value.sqlstate, caught.value.position) == ("42P01", 16)
        for name in ("red_columns", "red_x", "red_"):
            with pytest.raises(SqlError, match=name):
                store.select(f"SELECT 1 FROM {name}", (), OWNER)


def test_a_ruled_collection_without_visible_rows_is_empty(worlds: list[SelectingStore]) -> None:
    nobody = Caller("local", "bob", "reader")
    for store in worlds:
        for name in ("ruled", "spots"):
            assert store.select(f"SELECT count(*) AS n FROM {name}", (), nobody) == [{"n": 0}]
            assert store.select(f"SELECT id, urn FROM {name}", (), nobody) == []
            with pytest.raises(SqlError, match='column "keeper" does not exist'):
                store.select(f"SELECT keeper FROM {name}", (), nobody)


def test_a_declared_language_makes_a_collection_known(tmp_path: Path) -> None:
    with SelectingStore(tmp_path) as store:
        store.set_language("letters", "en", OWNER)
        assert store.select("SELECT * FROM letters", (), READER) == []


def test_a_new_policy_holds_for_the_next_statement(tmp_path: Path) -> None:
    with SelectingStore(tmp_path) as store:
        store.put(entities("t", [{"id": n, "k": n % 2} for n in range(6)]), OWNER)
        count = "SELECT count(*) AS n FROM t"
        assert store.select(count, (), READER) == [{"n": 6}]
        store.set_policy("t", {"read": [{"roles": ["*"], "rows": "k = 1"}]}, OWNER)
        assert store.select(count, (), READER) == [{"n": 3}]
        store.set_policy("t", {"read": []}, OWNER)
        assert outcome(store, count).startswith("Denied")
        store.set_policy("t", None, OWNER)
        assert store.select(count, (), READER) == [{"n": 6}]


def test_many_labels_are_as_good_as_few(tmp_path: Path) -> None:
    with SelectingStore(tmp_path) as store:
        rows = [{"id": n, "k": n} for n in range(1000)]
        made = entities("t", rows)
        store.put(made, OWNER)
        store.put([link(made[0].urn, "x", each.urn) for each in made[1:]], OWNER)
        store.set_policy("t", {"read": [{"roles": ["*"], "rows": "k < 400"}]}, OWNER)
        assert store.select("SELECT count(*) AS n, max(k) AS k FROM t", (), READER) == [
            {"n": 400, "k": 399}
        ]
        assert store.select("SELECT count(*) AS n FROM links", (), READER) == [{"n": 399}]


def test_the_audit_log_is_for_the_auditor_and_for_oneself(worlds: list[SelectingStore]) -> None:
    def said(role: str, user: str = "ada") -> list[dict[str, Any]]:
        sql = 'SELECT seq, "user", question, cache_hit, citations FROM red_ask_audit ORDER BY 1'
        return worlds[1].select(sql, (), Caller("local", user, role))

    own = {"user": "ada", "question": "my own question", "cache_hit": False, "citations": "[1]"}
    assert said("reader") == [{"seq": 1, **own}, {"seq": 2, **own}]
    assert [row["user"] for row in said("auditor")] == ["ada", "ada", "eve"]
    assert said("auditor") == said("owner") == said("auditor", "zoe")
    assert said("reader", "zoe") == []
    assert len(worlds[1].select("SELECT * FROM red_ask_audit", (), READER)[0]) == 23


def test_without_a_log_the_audit_is_empty(tmp_path: Path) -> None:
    with SelectingStore(tmp_path) as store:
        assert store.select("SELECT seq, hash, question FROM red_ask_audit", (), OWNER) == []


# --- the second check alone, with nobody to bind the text first ------------------------------

RAW = (
    "SELECT * FROM entity_rows",
    "SELECT * FROM memory.main.entity_rows",
    "SELECT * FROM generation.main.entity_rows",
    "SELECT count(*) FROM t1",
    "SELECT 1 FROM memory.main.t1",
    "WITH v AS (SELECT * FROM entity_rows) SELECT * FROM v",
    "WITH entity_rows AS (SELECT payload FROM memory.main.entity_rows) SELECT * FROM entity_rows",
    "WITH pg_settings AS (SELECT * FROM pg_settings) SELECT * FROM pg_settings",
    "SELECT (SELECT count(*) FROM t1)",
    "SELECT * FROM duckdb_tables()",
    "SELECT * FROM duckdb_tables",
    "SELECT * FROM pragma_table_info('t1')",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM pg_catalog.pg_class",
    "SELECT * FROM query('SELECT 1')",
    "SELECT * FROM query_table('t1')",
    "SELECT * FROM read_csv('/etc/hostname')",
    "SELECT * FROM read_text('/etc/hostname')",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM '/etc/hostname'",
    "SELECT * FROM 'x.parquet'",
    "SELECT json_execute_serialized_sql('{}')",
    "SELECT stats(1)",
    "SELECT current_setting('threads')",
    "SELECT getvariable('x')",
    "SHOW TABLES",
    "SHOW ALL TABLES",
    "DESCRIBE t1",
    "SUMMARIZE t1",
    "SELECT * FROM (SUMMARIZE t1)",
    "SELECT * FROM (DESCRIBE t1)",
    "PIVOT t1 ON c1 USING count(*)",
    "FROM t1",
    "SELECT 1; SELECT 2",
    "PRAGMA threads",
    "SET threads = 2",
    "ATTACH ':memory:' AS x",
    "COPY (SELECT 1) TO 'x'",
    "INSTALL json",
    "LOAD json",
    "DELETE FROM entity_rows",
    "CREATE TEMP TABLE x AS SELECT 1",
    "CREATE TEMP VIEW x AS SELECT * FROM entity_rows",
    "DROP TABLE t1",
    "EXPLAIN SELECT 1",
    "SELECT random()",
    "SELECT uuid()",
    "SELECT worlds FROM worlds",
)  # fmt: skip


@pytest.mark.parametrize("sql", RAW)
def test_the_second_check_needs_no_binder(worlds: list[SelectingStore], sql: str) -> None:
    with worlds[1].selector._projection.reading(READER) as tables:
        tables.physical("people")
        with pytest.raises(SqlError, match="not supported"):
            check_generated(tables.cursor, sql, ())


def test_what_the_binder_writes_passes_the_second_check(worlds: list[SelectingStore]) -> None:
    with worlds[1].selector._projection.reading(READER) as tables:
        name = tables.physical("people")
        check_generated(tables.cursor, f"SELECT c1 FROM {name}", [name])
        with pytest.raises(SqlError):
            check_generated(tables.cursor, f"SELECT c1 FROM {name}", [])


# --- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sql", "state", "message"),
    [
        ("SELECT age * 2147483647 FROM people", "22003", "integer out of range"),
        ("SELECT 1 / (age - age) FROM people", "22012", "division by zero"),
        ("SELECT (id::int8 + 9223372036854775807) FROM people WHERE id > 0", "22003",
         "bigint out of range"),
        ("SELECT sqrt(-age) FROM people", "2201F", "cannot take square root of a negative number"),
        ("SELECT ln(age - age) FROM people", "2201E", "cannot take logarithm of zero"),
    ],
)  # fmt: skip
def test_an_error_has_our_words(
    worlds: list[SelectingStore], sql: str, state: str, message: str
) -> None:
    for world in worlds:
        with pytest.raises(SqlError) as caught:
            world.select(sql, (), READER)
        assert (caught.value.sqlstate, caught.value.message) == (state, message)


def test_what_fails_only_in_hidden_rows_does_not_fail(worlds: list[SelectingStore]) -> None:
    for sql in (
        "SELECT count(1 / (id - 40)) AS n FROM people",  # hidden ids start at 40
        "SELECT count(*) AS n FROM people WHERE 1 / (id - 40) <= 1",
        "SELECT count(regexp_replace(name, '[^0-9]', '', 'g')::int) AS n FROM people",
    ):
        for world in worlds:
            assert world.select(sql, (), READER) == [{"n": 12}]
