"""Tables of somebody's own PostgreSQL: what is read of them, by whom, and what is left behind."""

import json
from collections.abc import Iterator
from pathlib import Path

import postgres_databases
import pytest
from attached_shop import Shop, shop

import redask
from redask.api.sync import OpenDatabase
from redask.core.errors import AskError

WHOLE = [
    "urn:reddb:row:customers/1",
    "urn:reddb:row:customers/2",
    "urn:reddb:row:customers/4",
]
FEEDS = ["polling", "polling:changed", "triggers", "logical", "reading"]


@pytest.fixture
def place() -> Iterator[Shop]:
    with shop() as made:
        yield made


@pytest.fixture(params=["sqlite", "postgresql"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenDatabase]:
    at = tmp_path / "data"
    location = str(at) if request.param == "sqlite" else postgres_databases.location(at)
    with redask.open(location) as opened:
        yield opened


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
    assert db.ask("Who bought a kettle?", using="extractive").to_dict()["sources"]
    assert place.looks() == before


@pytest.mark.parametrize("changes", FEEDS)
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
        "UPDATE customers SET id = 44, changed = now() WHERE id = 4"
        if changes == "reading"
        else "SELECT 1",
    ) if changes != "reading" else place.run(
        "UPDATE orders SET note = 'a samovar' WHERE id = 10",
        "UPDATE orders SET customer_id = 4 WHERE id = 11",
        "DELETE FROM orders WHERE id = 12",
        "INSERT INTO customers (id, name, region) VALUES (5, 'Emil', 'south')",
        "INSERT INTO orders (id, customer_id, amount, note) VALUES (15, 5, 1, 'a spoon')",
        "UPDATE customers SET secret = true WHERE id = 2",
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
