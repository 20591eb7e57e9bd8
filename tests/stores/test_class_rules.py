"""A database whose entities were classified by older rules is classified anew when it is opened."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from redask.core.model import Caller, Kind, Urn
from redask.core.ports import DeclaredKey, Load, Origin
from redask.stores import policy_classes
from redask.stores.entity_rows import entity, link
from redask.stores.sqlite.sqlite_backend import SqliteBackend
from redask.stores.sqlite.store import FILE

ME = Caller()
READER = Caller("local", "ada", "reader")
KEYS = (DeclaredKey("orders", ("no",)), DeclaredKey("orders", ("owner",), "people", ("id",)))
PERSON = entity(Urn(Kind.ROW, "people", "1"), {"id": 1})
ORDER = entity(Urn(Kind.ROW, "orders", "1"), {"no": 1, "owner": 1, "title": "lamp"})
EDGE = link(ORDER.urn, "owner", PERSON.urn)


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A database of a time when nothing told a column; policies hide a key and an address."""
    with monkeypatch.context() as patch:
        patch.setattr(policy_classes, "told_by", lambda *_: {})
        backend = SqliteBackend(tmp_path)
        load = Load(Origin("/s", "/s", None, "1"), [PERSON, ORDER, EDGE], keys=KEYS)
        backend.manifest.load([load], ME)
        rules = [{"roles": ["reader"], "hide": ["owner"]}, {"roles": ["spy"], "hide": ["no"]}]
        backend.store.set_policy("orders", {"read": rules}, ME)
        assert backend.store.read([EDGE.urn], READER)
        backend.close()
    with closing(sqlite3.connect(tmp_path / FILE)) as connection, connection:
        connection.execute("UPDATE store SET classes = 0, edge_key = NULL")
        connection.execute(
            "INSERT INTO policies SELECT tenant, 'torn', ? FROM policies",
            (json.dumps({"read": [{"roles": ["reader"], "hide": ["_id"]}]}),),
        )
    return tmp_path


def test_what_it_showed_by_mistake_is_hidden_and_told(old: Path) -> None:
    backend = SqliteBackend(old)
    store = backend.store
    assert store.read([EDGE.urn], READER) == []
    assert [each.urn for each in store.read([ORDER.urn, PERSON.urn], READER)] == [
        ORDER.urn,
        PERSON.urn,
    ]
    assert store.read([ORDER.urn], Caller("local", "bo", "spy")) == []
    assert len(store.read([EDGE.urn, ORDER.urn], ME)) == 2
    guessable, torn, hidden = store.policy_faults(ME)
    assert "by trying" in guessable
    assert torn.startswith("the policy of 'torn' lets nobody in but the owner: ")
    assert hidden.startswith("the policy of 'orders' hides no, which is part of the address of 1 ")
    assert store.check() == []
    assert store.edge_key == b""
    watermark = store.watermark("local")
    backend.close()
    again = SqliteBackend(old)
    assert again.store.watermark("local") == watermark
    again.close()


def test_the_key_of_a_new_database_is_its_own_and_stays(tmp_path: Path) -> None:
    keys = []
    for name in ("a", "b", "a"):
        backend = SqliteBackend(tmp_path / name)
        keys.append(backend.store.edge_key)
        backend.close()
    assert len(keys[0]) == 32
    assert keys[0] == keys[2] != keys[1]
