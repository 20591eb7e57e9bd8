"""What every selector promises: tables of collections, and only what the caller may see."""

from collections.abc import Iterator
from decimal import Decimal

import pytest

from redask.api.select_rows import SelectRows
from redask.core.errors import BadAsk, Denied, LimitExceeded
from redask.core.model import Caller
from redask.core.ports import Selector, SelectResult
from redask.stores.backend import Backend, EntityStore
from redask.stores.entity_rows import entities
from redask.stores.selectors import open_selector

OWNER = Caller()
READER = Caller("local", "ada", "reader")
ROWS = [
    {"id": 2, "name": "b", "open": True, "tags": ["x"], "price": 0.5},
    {"id": 1, "name": "a", "open": False, "tags": [], "price": 2},
]


@pytest.fixture
def selector(backend: Backend, location: str) -> Iterator[Selector]:
    assert backend.store.identity
    opened = open_selector(location)
    yield opened
    opened.close()


def test_a_collection_is_a_table(store: EntityStore, selector: Selector) -> None:
    store.put(entities("t", ROWS), OWNER)
    assert SelectRows(selector.select("SELECT * FROM t ORDER BY id", (), OWNER)) == [
        {
            "id": 1,
            "urn": "urn:reddb:row:t/1",
            "name": "a",
            "open": False,
            "price": Decimal("2.0"),
            "tags": [],
        },
        {
            "id": 2,
            "urn": "urn:reddb:row:t/2",
            "name": "b",
            "open": True,
            "price": Decimal("0.5"),
            "tags": ["x"],
        },
    ]
    found = selector.select("SELECT count(*) AS n FROM t WHERE name = $1", ["a"], OWNER)
    assert found == SelectResult((("n", "int8"),), [(1,)])


def test_the_policy_holds(store: EntityStore, selector: Selector) -> None:
    store.put(entities("t", ROWS), OWNER)
    rule = {"roles": ["reader"], "rows": "open = true", "hide": ["price"], "mask": ["name"]}
    store.set_policy("t", {"read": [rule]}, OWNER)
    assert SelectRows(selector.select("SELECT * FROM t", (), READER)) == [
        {"id": 2, "urn": "urn:reddb:row:t/2", "name": "***", "open": True, "tags": ["x"]}
    ]
    with pytest.raises(Denied):
        selector.select("SELECT 1 FROM t", (), Caller("local", "bob", "client"))
    with pytest.raises(BadAsk):
        selector.select("SELECT 1 FROM t", (), Caller("other", "eve", "owner"))


def test_it_only_reads_and_is_bounded(store: EntityStore, selector: Selector) -> None:
    store.put(entities("t", ROWS), OWNER)
    with pytest.raises(BadAsk):
        selector.select("DELETE FROM t", (), OWNER)
    with pytest.raises(LimitExceeded):
        selector.select("SELECT id FROM t", (), OWNER, max_rows=1)
    assert len(selector.select("SELECT id FROM t", (), OWNER, max_rows=2).rows) == 2
