"""A SELECT that is kept ready for the next run never answers for another state of affairs.

The third run is the first that needs no thread (`select_now`): the second showed how quick it is.
"""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import pytest
from selecting_store import SelectingStore

import redask
from redask.api.sync import OpenDatabase
from redask.core.errors import BadAsk, StoreFailed, Unauthenticated
from redask.core.model import Caller
from redask.stores.entity_rows import entities

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
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SelectingStore]:
    """Where a busy machine makes nothing slow."""
    monkeypatch.setattr("redask.stores.sqlite.select.prepared._QUICK_SECONDS", 60.0)
    with redask.open(tmp_path / "db") as db:
        db.put("notes", ROWS)
    with SelectingStore(tmp_path / "db") as store:
        yield store


def _run(store: SelectingStore, start: object, times: int = 1) -> list[dict[str, object]]:
    for _ in range(times):
        found = store.select(BY_ID, [start], OWNER)
    return found


def test_what_never_ran_or_ran_once_is_not_run_at_once(store: SelectingStore) -> None:
    assert store.select_now(BY_ID, [4], OWNER) is None
    _run(store, 4)
    assert store.select_now(BY_ID, [4], OWNER) is None
    _run(store, 4)
    assert store.select_now(BY_ID, [4], OWNER) == [{"id": 4}, {"id": 5}]
    assert store.select_now(BY_ID, [5], OWNER) == [{"id": 5}]
    assert store.select_now(f"{BY_ID} ", [5], OWNER) is None, "another text"
    assert store.select_now(BY_ID, [5], Caller("local", "you", "owner")) is None, "somebody else"


def test_what_runs_at_once_runs_as_often_as_one_likes(store: SelectingStore) -> None:
    _run(store, 0, times=2)
    for _ in range(500):  # SQLite counts its steps on from run to run
        assert store.select_now(BY_ID, [0], OWNER) == [{"id": number} for number in range(6)]


def test_another_state_of_the_store_is_not_answered_at_once(store: SelectingStore) -> None:
    _run(store, 4, times=2)
    store.delete(["urn:reddb:row:notes/4"], OWNER)
    assert store.select_now(BY_ID, [4], OWNER) is None
    assert _run(store, 4) == [{"id": 5}]


def test_what_takes_many_steps_is_stopped_and_goes_to_a_thread_from_then_on(
    store: SelectingStore,
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
    store: SelectingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redask.stores.sqlite.select.prepared._QUICK_SECONDS", 0.0)
    _run(store, 4, times=3)
    assert store.select_now(BY_ID, [4], OWNER) is None


def test_bad_values_are_refused_in_the_same_words(store: SelectingStore) -> None:
    _run(store, 4, times=2)
    with pytest.raises(BadAsk) as now:
        store.select_now(BY_ID, [b"4"], OWNER)
    with pytest.raises(BadAsk) as later:
        store.select(BY_ID, [b"4"], OWNER)
    assert str(now.value) == str(later.value)


def test_limits_of_a_result_hold_at_once_too(store: SelectingStore) -> None:
    for _ in range(2):
        store.select(BY_ID, [4], OWNER, max_rows=2)
    assert store.select_now(BY_ID, [4], OWNER, max_rows=2) == [{"id": 4}, {"id": 5}]
    with pytest.raises(redask.AskError, match="more than 2 rows"):
        store.select_now(BY_ID, [3], OWNER, max_rows=2)


def test_patterns_are_never_matched_at_once(store: SelectingStore) -> None:
    sql = "SELECT id FROM notes WHERE region LIKE ?"
    for _ in range(3):
        assert store.select(sql, ["nor%"], OWNER) == [{"id": 0}, {"id": 2}, {"id": 4}]
    assert store.select_now(sql, ["nor%"], OWNER) is None


def test_long_values_and_long_texts_are_not_looked_at_at_once(store: SelectingStore) -> None:
    sql = "SELECT id, length(replace(region, ?, ?)) AS n FROM notes WHERE id >= ?"
    for _ in range(3):
        assert store.select(sql, ["n", "m", 5], OWNER) == [{"id": 5, "n": 5}]
    assert store.select_now(sql, ["n", "m", 5], OWNER) == [{"id": 5, "n": 5}]
    assert store.select_now(sql, ["n", "m" * 100_000, 5], OWNER) is None
    for _ in range(2):
        store.select(sql, ["n", "m", 5], OWNER)
    unread = "m" * 100_000 + "\ud800"  # what looks through it would refuse it
    assert store.select_now(sql, ["n", unread, 5], OWNER) is None
    store.put(entities("notes", [{"id": 6, "region": "n" * 100_000}]), OWNER)
    for _ in range(2):
        store.select(sql, ["n", "m", 5], OWNER)
    assert store.select_now(sql, ["n", "m", 5], OWNER) is None
    assert store.select(sql, ["n", "m", 6], OWNER) == [{"id": 6, "n": 100_000}]


def test_what_breaks_below_a_kept_statement_is_the_stores_failure(store: SelectingStore) -> None:
    class Broken:
        def execute(self, *_: object) -> None:
            raise sqlite3.DatabaseError("database disk image is malformed")

    for again in (store.select, store.select_now):
        _run(store, 4, times=2)
        [[kept]] = store.selector._selects._kept.values()
        broken = cast(sqlite3.Connection, Broken())
        kept.ready = replace(kept.ready, connection=broken)
        with pytest.raises(StoreFailed):
            again(BY_ID, [4], OWNER)
        assert not store.selector._selects._kept


def test_who_was_removed_while_waiting_for_a_thread_reads_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        async with await redask.aopen(tmp_path / "db") as db:
            await db.put("notes", ROWS)
            await db.add_user("mia", role="owner")
            mia = await db.signed_in(await db.make_token("mia"))
            go = threading.Event()
            run = db._app.select_threads.run
            busy = [asyncio.ensure_future(run(partial(go.wait, 20))) for _ in range(32)]
            await asyncio.sleep(0)
            waiting = [asyncio.ensure_future(each) for each in (mia.select(SQL), mia.describe(SQL))]
            await asyncio.sleep(0)
            db._app.backend.users.remove_user("mia", time.time_ns(), OWNER)
            go.set()
            await asyncio.gather(*busy)
            for each in waiting:
                with pytest.raises(Unauthenticated):
                    await each

    asyncio.run(main())
