"""Policies at work in a whole database: they hold at once, everywhere, and fail closed."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from stage import ROWS

import redask
from redask.core.errors import BadAsk, Denied

FERRY = "When does the ferry leave?"
CACHE = {"cache": {"ttl": "1h"}}


@pytest.fixture
def db(tmp_path: Path) -> Iterator[redask.OpenDatabase]:
    with redask.open(tmp_path) as opened:
        opened.put("notes", ROWS)
        opened.add_user("mia", role="support", attributes={"topic": "Ferry prices"})
        yield opened


@pytest.fixture
def mia(db: redask.OpenDatabase) -> redask.OpenDatabase:
    return db.signed_in(db.make_token("mia"))


def test_a_policy_holds_for_the_next_statement_the_cache_included(
    db: redask.OpenDatabase, mia: redask.OpenDatabase
) -> None:
    before = mia.ask(FERRY, **CACHE)
    assert "nine" in before.answer
    assert mia.ask(FERRY, **CACHE).cache_hit
    db.set_policy("notes", {"read": [{"roles": ["support"], "rows": "title = :user.topic"}]})
    after = mia.ask(FERRY, **CACHE)
    assert not after.cache_hit
    assert "nine" not in str(after)
    assert [source["urn"] for source in mia.explain(FERRY)["sources"]] == ["urn:reddb:row:notes/2"]
    assert "nine" in db.ask(FERRY).answer
    db.set_policy("notes", None)
    assert mia.ask(FERRY, **CACHE).sources_flat == before.sources_flat


def test_a_closed_collection_is_denied_by_name_and_absent_otherwise(
    db: redask.OpenDatabase, mia: redask.OpenDatabase
) -> None:
    db.set_policy("notes", {"read": []})
    assert len(mia.search("ferry")) == 0
    assert mia.get("urn:reddb:row:notes/1") is None
    for call in (mia.ask, mia.explain, mia.search):
        with pytest.raises(Denied):
            call(FERRY, collection="notes")
    assert len(db.search("ferry")) == 2


def test_a_policy_that_cannot_be_read_lets_nobody_in_until_it_is_replaced(
    db: redask.OpenDatabase, mia: redask.OpenDatabase, tmp_path: Path
) -> None:
    policy = {"read": [{"roles": ["support"], "rows": "title = :user.topic"}]}
    db.set_policy("notes", policy)
    assert len(mia.search("ferry")) == 1
    for broken in ("{", '{"read": [{"roles": ["support"], "rows": "title ~ 1"}]}', "null"):
        with closing(sqlite3.connect(tmp_path / "redask.sqlite")) as connection, connection:
            connection.execute("UPDATE policies SET document = ?", (broken,))
            connection.execute("UPDATE tenants SET access = access + 1")
        assert len(mia.search("ferry")) == 0
        assert mia.get("urn:reddb:row:notes/2") is None
        with pytest.raises(Denied):
            mia.search("ferry", collection="notes")
        db.set_policy("notes", policy)
        assert [hit.urn for hit in mia.search("ferry")] == ["urn:reddb:row:notes/2"]
        assert len(db.search("ferry")) == 2


def test_a_bad_policy_changes_nothing(db: redask.OpenDatabase, mia: redask.OpenDatabase) -> None:
    bad: object
    for bad in (
        {"read": 1},
        {"read": [{"roles": ["a"], "rows": "x ="}]},
        {"read": [{"roles": []}]},
    ):
        with pytest.raises(BadAsk):
            db.set_policy("notes", bad)
    with pytest.raises(BadAsk):
        db.set_policy("red_ask_audit", {"read": []})
    for name in ("RED_notes", ""):  # taking a policy away looks at the name, too
        with pytest.raises(BadAsk, match="the collection name"):
            db.set_policy(name, None)
    with pytest.raises(Denied):
        mia.set_policy("RED_notes", None)
    assert db.policies() == {}
    assert len(mia.search("ferry")) == 2


def test_a_preview_says_what_comes_to_be(db: redask.OpenDatabase, mia: redask.OpenDatabase) -> None:
    policy = {"read": [{"roles": ["support"], "rows": "title = :user.topic", "mask": ["text"]}]}
    planned = db.preview_policy("notes", policy, user="mia")
    assert planned == {
        "user": "mia",
        "role": "support",
        "collections": [
            {
                "collection": "notes",
                "readable": True,
                "rows": 1,
                "rows_in_all": 3,
                "hidden": [],
                "masked": ["text"],
            }
        ],
    }
    assert len(mia.search("ferry")) == 2
    db.set_policy("notes", policy)
    assert db.preview_policy(user="mia") == planned
    assert len(mia.search("ferry prices")) == 1
    with pytest.raises(BadAsk, match="name it"):
        db.preview_policy(None, policy, user="mia")


def test_catching_up_reports_what_is_left_and_leaves_nothing(db: redask.OpenDatabase) -> None:
    db.set_policy("notes", {"read": [{"roles": ["support"], "hide": ["text"]}]})
    assert db.doctor()["index"]["pending"] > 0
    db.catch_up(lambda pending: None)
    assert db.doctor()["index"]["pending"] == 0
