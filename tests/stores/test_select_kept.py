"""A SELECT that is kept ready for the next run never answers for another state of affairs.

The third run is the first that needs no thread (`select_now`): the second showed how quick it is.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import redask
from redask.api import OpenDatabase
from redask.errors import BadAsk
from redask.model import Caller
from redask.stores.rows import entities
from redask.stores.sqlite import SqliteStore

ROWS = [{"id": number, "region": region} for number, region in enumerate(("north", "south") * 3)]
POLICY = {"read": [{"roles": ["clerk"], "rows": "region = :user.region"}]}
SQL = "SELECT id FROM notes ORDER BY id"
Ids = Callable[[], list[object]]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[OpenDatabase, Ids]]:
    """A database, and what mia reads by the same statement over and over."""
    with redask.open(tmp_path / "db") as db:
        db.put("notes", ROWS)
        db.add_user("mia", role="clerk", attributes={"region": "north"})
        db.set_policy("notes", POLICY)
        mia = db.signed_in(db.make_token("mia"))
        yield db, lambda: [row["id"] for row in mia.select(SQL)]


def test_other_attributes_hold_for_the_next_run(opened: tuple[OpenDatabase, Ids]) -> None:
    db, ids = opened
    assert ids() == ids() == ids() == ids() == [0, 2, 4]
    db.set_user("mia", attributes={"region": "south"})
    assert ids() == ids() == ids() == ids() == [1, 3, 5]


def test_another_policy_holds_for_the_next_run(opened: tuple[OpenDatabase, Ids]) -> None:
    db, ids = opened
    assert ids() == ids() == ids() == ids() == [0, 2, 4]
    db.set_policy("notes", {"read": [{"roles": ["clerk"], "rows": "region <> :user.region"}]})
    assert ids() == ids() == ids() == ids() == [1, 3, 5]
    db.set_policy("notes", {"read": []})
    with pytest.raises(redask.AskError, match="notes"):
        ids()


def test_a_new_row_is_in_the_next_run(opened: tuple[OpenDatabase, Ids]) -> None:
    db, ids = opened
    assert ids() == ids() == ids() == [0, 2, 4]
    db.put("notes", [{"id": 6, "region": "north"}])
    assert ids() == [0, 2, 4, 6]


OWNER = Caller("local", "me", "owner")
BY_ID = "SELECT id FROM notes WHERE id >= ?"


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqliteStore]:
    """Where a busy machine makes nothing slow."""
    monkeypatch.setattr("redask.stores.selects._QUICK_SECONDS", 60.0)
    with redask.open(tmp_path / "db") as db:
        db.put("notes", ROWS)
    with SqliteStore(tmp_path / "db") as store:
        yield store


def _run(store: SqliteStore, start: object, times: int = 1) -> list[dict[str, object]]:
    for _ in range(times):
        found = store.select(BY_ID, [start], OWNER)
    return found


def test_what_never_ran_or_ran_once_is_not_run_at_once(store: SqliteStore) -> None:
    assert store.select_now(BY_ID, [4], OWNER) is None
    _run(store, 4)
    assert store.select_now(BY_ID, [4], OWNER) is None
    _run(store, 4)
    assert store.select_now(BY_ID, [4], OWNER) == [{"id": 4}, {"id": 5}]
    assert store.select_now(BY_ID, [5], OWNER) == [{"id": 5}]
    assert store.select_now(f"{BY_ID} ", [5], OWNER) is None, "another text"
    assert store.select_now(BY_ID, [5], Caller("local", "you", "owner")) is None, "somebody else"


def test_what_runs_at_once_runs_as_often_as_one_likes(store: SqliteStore) -> None:
    _run(store, 0, times=2)
    for _ in range(500):  # SQLite counts its steps on from run to run
        assert store.select_now(BY_ID, [0], OWNER) == [{"id": number} for number in range(6)]


def test_another_state_of_the_store_is_not_answered_at_once(store: SqliteStore) -> None:
    _run(store, 4, times=2)
    store.delete(["urn:reddb:row:notes/4"], OWNER)
    assert store.select_now(BY_ID, [4], OWNER) is None
    assert _run(store, 4) == [{"id": 5}]


def test_what_takes_many_steps_is_stopped_and_goes_to_a_thread_from_then_on(
    store: SqliteStore,
) -> None:
    sql = "SELECT id FROM notes LIMIT ?"
    few, many = [{"id": number} for number in range(2)], len(ROWS) + 500
    store.put(entities("notes", [{"id": number} for number in range(6, many)]), OWNER)
    for _ in range(2):
        assert store.select(sql, [2], OWNER) == few
    assert store.select_now(sql, [2], OWNER) == few
    assert store.select_now(sql, [many], OWNER) is None
    assert store.select_now(sql, [2], OWNER) is None, "it was slow last time"
    assert len(store.select(sql, [many], OWNER)) == many
    assert store.select(sql, [2], OWNER) == few
    assert store.select_now(sql, [2], OWNER) == few


def test_what_took_long_last_time_is_not_run_at_once(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redask.stores.selects._QUICK_SECONDS", 0.0)
    _run(store, 4, times=3)
    assert store.select_now(BY_ID, [4], OWNER) is None


def test_bad_values_are_refused_in_the_same_words(store: SqliteStore) -> None:
    _run(store, 4, times=2)
    with pytest.raises(BadAsk) as now:
        store.select_now(BY_ID, [b"4"], OWNER)
    with pytest.raises(BadAsk) as later:
        store.select(BY_ID, [b"4"], OWNER)
    assert str(now.value) == str(later.value)


def test_limits_of_a_result_hold_at_once_too(store: SqliteStore) -> None:
    for _ in range(2):
        store.select(BY_ID, [4], OWNER, max_rows=2)
    assert store.select_now(BY_ID, [4], OWNER, max_rows=2) == [{"id": 4}, {"id": 5}]
    with pytest.raises(redask.AskError, match="more than 2 rows"):
        store.select_now(BY_ID, [3], OWNER, max_rows=2)
