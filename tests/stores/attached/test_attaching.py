"""Tables of somebody's own PostgreSQL: what is read of them, by whom, and what is left behind."""

import json
import os
from pathlib import Path

import psycopg
import pytest
from attached_shop import PASSWORD, Shop

import redask
from redask.api.sync import OpenDatabase
from redask.core.errors import BadAsk, Denied, Misconfigured, StoreFailed

WHOLE = [
    "urn:reddb:row:customers/1",
    "urn:reddb:row:customers/2",
    "urn:reddb:row:customers/4",
]
FEEDS = ["polling", "polling:changed", "triggers", "logical", "reading"]


def attach(db: OpenDatabase, place: Shop, **options: object) -> None:
    chosen = {"name": "shop", "role": "shop_reader", **options}
    db.attach(place.url, ["customers", "orders"], **chosen)  # type: ignore[arg-type]


def urns(db: OpenDatabase, collection: str) -> list[str]:
    return [each.urn for each in db.page(collection)]


def payload(db: OpenDatabase, urn: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(db.get(urn) or "null")
    return found


def edges(db: OpenDatabase) -> set[tuple[str, str, str]]:
    found = [json.loads(each.payload) for each in db.page("links", limit=1000)]
    short = "urn:reddb:row:"
    return {
        (each["from"].removeprefix(short), each["label"], each["to"].removeprefix(short))
        for each in found
    }


def test_what_the_role_sees_is_read_with_its_types_comments_and_keys(
    db: OpenDatabase, place: Shop
) -> None:
    before = place.looks()
    attach(db, place)
    assert urns(db, "customers") == WHOLE
    assert [urn.rpartition("/")[2] for urn in urns(db, "orders")] == ["10", "11", "12", "14"]
    kettle = payload(db, "urn:reddb:row:orders/10")
    assert kettle.pop("changed")
    assert kettle == {
        "id": 10,
        "customer_id": 1,
        "amount": 10.5,
        "stage": "paid",
        "note": "a kettle",
        "tags": ["red", "hot"],
        "extra": {"gift": True},
        "photo": "<2 bytes, sha256 06eb7d6a69ee19e5>",
        "placed": "2024-01-02T03:04:05+00:00",
        "weight": 1.5,
    }
    assert payload(db, "urn:reddb:row:orders/14")["weight"] == "NaN"
    types = dict(next(each.columns for each in db.tables() if each.name == "orders"))
    assert types["amount"] == "numeric(10,2)"
    assert types["placed"] == "timestamptz"
    assert (types["tags"], types["extra"], types["stage"]) == ("text[]", "jsonb", "text")
    assert (types["customer_id"], types["id"], types["note"]) == ("int4", "int8", "text")
    assert edges(db) == {
        ("orders/10", "customer", "customers/1"),
        ("orders/11", "customer", "customers/1"),
        ("orders/12", "customer", "customers/2"),
    }
    (facts,) = db.attachments()
    orders = facts.tables[1]
    assert orders.comment == "What customers bought"
    assert {each.name: each.comment for each in orders.columns}["amount"] == "in euros, with tax"
    assert orders.references == ((("customer_id",), "public.customers"),)
    assert "urn:reddb:row:orders/10" in str(db.search("kettle"))
    assert place.looks() == before


@pytest.mark.parametrize(
    ("db", "changes"),
    [*(("sqlite", each) for each in FEEDS), ("postgresql", "triggers")],
    indirect=["db"],
)
def test_changes_are_picked_up_and_detaching_leaves_the_tables_as_they_were(
    db: OpenDatabase, place: Shop, changes: str
) -> None:
    before = place.looks()
    attach(db, place, changes=changes)
    assert db.sync() == db.sync("shop")  # nothing happened
    place.run(
        "UPDATE orders SET note = 'a samovar', changed = now() WHERE id = 10",
        "UPDATE orders SET customer_id = 4, changed = now() WHERE id = 11",
        "DELETE FROM orders WHERE id = 12",
        "INSERT INTO customers (id, name, region) VALUES (5, 'Emil', 'south')",
        "INSERT INTO orders (id, customer_id, amount, note) VALUES (15, 5, 1, 'a spoon')",
        "UPDATE customers SET secret = true, changed = now() WHERE id = 2",
    )
    db.sync("shop")
    assert payload(db, "urn:reddb:row:orders/10")["note"] == "a samovar"
    assert [urn.rpartition("/")[2] for urn in urns(db, "orders")] == ["10", "11", "14", "15"]
    assert [urn.rpartition("/")[2] for urn in urns(db, "customers")] == ["1", "4", "5"]
    assert edges(db) == {
        ("orders/10", "customer", "customers/1"),
        ("orders/11", "customer", "customers/4"),
        ("orders/15", "customer", "customers/5"),
    }
    again = db.sync()
    assert (again.written, again.removed) == (0, 0)
    place.run("TRUNCATE orders")
    db.sync()
    assert urns(db, "orders") == []
    after = place.looks()
    db.detach("shop")
    assert db.attachments() == []
    assert urns(db, "customers") == []
    assert "customers" not in {each.name for each in db.tables()}
    assert place.looks()[1:4] == after[1:4]  # the rows
    assert [place.looks()[0], *place.looks()[4:]] == [before[0], *before[4:]]


AUTO = {
    "logical": "ALTER ROLE shop_owner REPLICATION",
    "triggers": "ALTER ROLE shop_owner NOREPLICATION",
    "polling": "ALTER TABLE customers OWNER TO postgres",
}


def test_the_best_way_that_the_source_allows_is_taken(place: Shop, tmp_path: Path) -> None:
    before = place.looks()
    with redask.open(tmp_path / "data") as db:
        try:
            for number, (way, allowed) in enumerate(AUTO.items()):
                place.run(allowed)
                attach(db, place, changes="auto")
                assert [each.changes for each in db.attachments()] == [way]
                place.run(f"UPDATE orders SET note = 'a lamp {number}' WHERE id = 10")
                db.sync()
                assert payload(db, "urn:reddb:row:orders/10")["note"] == f"a lamp {number}"
                db.detach("shop")
                assert place.looks()[4:] == before[4:]  # nothing is left of those that were tried
            place.run("REVOKE SELECT ON orders FROM shop_reader")
            with pytest.raises(BadAsk, match="there is no table 'orders'"):
                attach(db, place, changes="auto")
            assert db.attachments() == []
        finally:
            place.run(AUTO["logical"])


def test_a_transaction_that_commits_late_is_not_passed_over(place: Shop, tmp_path: Path) -> None:
    for changes in ("polling", "triggers", "logical"):
        with redask.open(tmp_path / changes) as db:
            attach(db, place, changes=changes)
            with place.connect() as slow:
                slow.execute("UPDATE orders SET note = 'late' WHERE id = 10")
                place.run("UPDATE orders SET note = 'early' WHERE id = 11")
                db.sync()
                assert payload(db, "urn:reddb:row:orders/10")["note"] == "a kettle"
                assert payload(db, "urn:reddb:row:orders/11")["note"] == "early"
                slow.commit()
            db.sync()
            assert payload(db, "urn:reddb:row:orders/10")["note"] == "late"
            db.detach("shop")
            place.run("UPDATE orders SET note = 'a kettle' WHERE id = 10")


def test_who_has_read_an_attachment_is_in_nobodys_way(
    place: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the server has not noticed yet that the connection is closed."""
    left: list[psycopg.Connection[object]] = []
    close = psycopg.Connection.close

    def unnoticed(connection: psycopg.Connection[object]) -> None:
        left.append(connection)

    with redask.open(tmp_path / "data") as db:
        attach(db, place)
        with monkeypatch.context() as patch:
            patch.setattr(psycopg.Connection, "close", unnoticed)
            assert [db.sync().busy for _ in range(2)] == [False, False]
    assert left
    for each in left:
        close(each)


def test_rows_that_row_level_security_hides_from_now_on_go_without_a_change(
    place: Shop, tmp_path: Path
) -> None:
    with redask.open(tmp_path / "data") as db:
        attach(db, place, changes="triggers")
        place.run("CREATE POLICY fewer ON orders AS RESTRICTIVE TO shop_reader USING (amount < 20)")
        db.sync()
        assert [urn.rpartition("/")[2] for urn in urns(db, "orders")] == ["10", "14"]
        place.run("DROP POLICY fewer ON orders", "REVOKE SELECT ON orders FROM shop_reader")
        with pytest.raises(StoreFailed, match="permission denied for table orders"):
            db.sync()
        assert urns(db, "orders") == urns(db, "customers") == []  # at once
        place.run("GRANT SELECT ON orders TO shop_reader")
        db.sync()
        assert len(urns(db, "orders")) == 4


def test_several_attachments_of_one_database_each_see_what_their_role_sees(
    place: Shop, tmp_path: Path
) -> None:
    with redask.open(tmp_path / "data") as db:
        attach(db, place)
        attach(db, place, name="north", role="shop_north", prefix="north", changes="triggers")
        assert [urn.rpartition("/")[2] for urn in urns(db, "north.orders")] == ["10", "11"]
        assert len(urns(db, "orders")) == 4
        db.detach("shop")
        assert len(urns(db, "north.orders")) == 2
        assert [each.name for each in db.attachments()] == ["north"]


def test_who_reads_an_attached_table_is_said_before_there_is_a_row(
    db: OpenDatabase, place: Shop
) -> None:
    attach(db, place, readers=["support"])
    assert db.policies() == {
        "customers": {"read": [{"roles": ["support"]}]},
        "orders": {"read": [{"roles": ["support"]}]},
    }
    for user, role in (("sue", "support"), ("ivan", "intern")):
        db.add_user(user, role=role)
    sue, ivan = (db.signed_in(db.make_token(user)) for user in ("sue", "ivan"))
    assert len(sue.page("orders")) == 4
    assert ivan.page("orders") == []
    for denied in (
        sue.attachments,
        sue.sync,
        lambda: sue.detach("shop"),
        lambda: sue.attach(place.url, ["salaries"]),
    ):
        with pytest.raises(Denied):
            denied()
    log = [each.row for each in db.audit(log="access", limit=50)]
    assert {"attach"} <= {each["action"] for each in log}
    db.detach("shop")
    assert db.policies() == {}


NOT_ATTACHED: list[tuple[dict[str, object], str]] = [
    ({"tables": ["salaries"]}, "there is no table 'salaries' that this role may read"),
    ({"tables": ["nothing"]}, "there is no table 'nothing'"),
    ({"tables": ["plain"]}, "has no primary key"),
    ({"tables": []}, "name the tables"),
    ({"role": "shop_boss"}, "row level security does not hold for the role 'shop_boss'"),
    ({"role": "postgres"}, "permission denied to set role"),
    ({"name": "No Good"}, "the name of an attachment"),
    ({"changes": "guessing"}, "--changes is"),
    ({"changes": "polling:nothing"}, "has no column 'nothing'"),
    ({"readers": [""]}, "the role ''"),
    ({"readers": ["owner"]}, "the owner reads everything"),
]


def test_what_cannot_be_attached_is_told_and_leaves_nothing(place: Shop, tmp_path: Path) -> None:
    place.run(
        "DROP ROLE IF EXISTS shop_boss",
        "CREATE ROLE shop_boss BYPASSRLS ROLE shop_owner",
        "CREATE TABLE plain (x int)",
        "GRANT SELECT ON plain TO shop_reader",
    )
    before = place.looks()
    with redask.open(tmp_path / "data") as db:
        for options, message in NOT_ATTACHED:
            chosen = {"tables": ["orders"], "name": "shop", "role": "shop_reader", **options}
            with pytest.raises((BadAsk, StoreFailed), match=message):
                db.attach(place.url, **chosen)  # type: ignore[arg-type]
            assert db.attachments() == []
            assert db.policies() == {}
        assert place.looks() == before
        db.put("orders", [{"id": 1}])
        with pytest.raises(BadAsk, match="give --prefix"):
            attach(db, place)


def test_no_password_is_in_a_message_a_log_or_a_file(
    place: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{PASSWORD}\n")
    monkeypatch.setenv("REDASK_ATTACH_SHOP_PASSWORD_FILE", str(secret))
    gone = f"postgresql://shop_owner:{PASSWORD}@127.0.0.1:1/shop"
    with redask.open(tmp_path / "data") as db:
        for url, kind in (
            (gone, BadAsk),
            (f"{place.url}&password={PASSWORD}", BadAsk),
            (f"postgresql://shop_owner:{PASSWORD}@[::1/shop", Misconfigured),
            ("postgresql://shop_owner@127.0.0.1:1/shop", StoreFailed),
        ):
            with pytest.raises(kind) as raised:
                db.attach(url, ["orders"], name="shop")
            assert PASSWORD not in f"{raised.value} {raised.value.detail}"
        attach(db, place)
        told = f"{db.attachments()} {db.audit(log='access', limit=100)} {db.sources()}"
        assert PASSWORD not in told
    assert PASSWORD not in caplog.text
    for folder, _, files in os.walk(tmp_path / "data"):
        for name in files:
            assert PASSWORD.encode() not in (Path(folder) / name).read_bytes()


def test_the_password_of_the_environment_is_the_one_that_is_used(
    place: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[object] = []
    connect = psycopg.connect

    def noted(url: str, **options: object) -> object:
        used.append(options.get("password"))
        return connect(url, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("redask.stores.attached.source_connection.psycopg.connect", noted)
    monkeypatch.setenv("REDASK_ATTACH_SHOP_PASSWORD", PASSWORD)
    with redask.open(tmp_path / "data") as db:
        attach(db, place)
    assert set(used) == {PASSWORD}
