"""SELECT in worker processes: what a selector is asked and says there comes through unchanged."""

import asyncio
import os
import pickle
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from types import MappingProxyType

import pytest
from waiting import SECONDS, until, until_true
from worker_selectors import TYPED

import redask
from redask.app import build
from redask.core.access.worker_shares import Lane, WorkerQuota
from redask.core.errors import BadAsk, Cancelled, DeadlineExceeded, LimitExceeded, SqlError
from redask.core.model import Caller
from redask.core.planning.plan_schema import PlanColumn, StoredValue
from redask.core.ports import SelectResult, SelectShape, TableShape
from redask.core.settings import Settings
from redask.engine.processes.process_selector import MAX_CELLS, PAGE_ROWS, ProcessSelector
from redask.engine.processes.worker_messages import WorkerLimits

MIA = Caller("local", "mia", "reader")
LONG = int(SECONDS * 1000)


@pytest.fixture
def selector(tmp_path: Path) -> Iterator[ProcessSelector]:
    made = ProcessSelector(
        "worker_selectors:make_selector",
        (str(tmp_path),),
        processes=1,
        limits=WorkerLimits(grace_seconds=SECONDS),
    )
    yield made
    made.close()


def test_a_selector_in_a_process_is_asked_what_the_port_says(
    selector: ProcessSelector, tmp_path: Path
) -> None:
    options = {"declared": ["int4", None], "facts": MappingProxyType({"current_user": "mia"})}
    found = selector.select("SELECT 1", [1, "x"], MIA, **options, timeout_ms=LONG, max_rows=9)  # type: ignore[arg-type]  # both are in one dict
    asked = {"declared": ("int4", None), "facts": {"current_user": "mia"}, "max_rows": 9}
    assert found == SelectResult(
        (("asked", "text"),), [(repr(("SELECT 1", [1, "x"], MIA, asked)),)]
    )
    written = selector.select_json("SELECT 1", [1], MIA, browsers=True, timeout_ms=LONG)
    assert written == [repr(("SELECT 1", [1], "mia", True)).encode(), b"."]
    shape = selector.describe("SELECT 2", MIA, declared=["int4", None], timeout_ms=LONG)
    assert shape == SelectShape((("SELECT 2", "text"),), ("int4", "None"))
    assert selector.tables(MIA) == [TableShape("mia", (("id", "int8"),))]
    (table,) = selector.plan_schema(MIA).tables
    assert (table.name, table.columns) == ("mia", (PlanColumn("id", "int8", 2, 1),))
    values = selector.find_values(["ada", "bo"], MIA)
    assert values["bo"] == (StoredValue("mia", "name", "BO"),)
    selector.fix_type("t.c", "date", MIA)
    assert (tmp_path / "fixed").read_text() == "t.c date mia"


def test_values_of_every_type_come_as_they_are(selector: ProcessSelector) -> None:
    found = selector.select("typed", [], MIA, timeout_ms=LONG)
    assert found == TYPED
    assert [type(value) for value in found.rows[0]] == [type(value) for value in TYPED.rows[0]]


@pytest.mark.parametrize("count", [0, 1, PAGE_ROWS, PAGE_ROWS + 1, 3 * PAGE_ROWS])
def test_a_result_is_whole_however_many_pages_it_has(selector: ProcessSelector, count: int) -> None:
    found = selector.select(f"rows {count}", [], MIA, timeout_ms=LONG)
    assert found.columns == (("a", "int8"), ("b", "text"))
    assert found.rows == [(n, "x") for n in range(count)]


def test_a_result_of_too_many_values_is_refused(selector: ProcessSelector) -> None:
    width = 1000
    with pytest.raises(LimitExceeded) as caught:
        selector.select(f"wide {MAX_CELLS // width + 1} {width}", [], MIA, timeout_ms=LONG)
    assert caught.value.limit == "result_cells"
    assert len(selector.select(f"wide 10 {width}", [], MIA, timeout_ms=LONG).rows) == 10


def test_an_error_of_a_statement_comes_with_its_sqlstate(selector: ProcessSelector) -> None:
    with pytest.raises(SqlError, match="division by zero") as caught:
        selector.select("fail", [], MIA, timeout_ms=LONG)
    assert (caught.value.sqlstate, caught.value.position) == ("22012", 3)


def test_the_deadline_of_a_statement_is_named_by_its_setting(selector: ProcessSelector) -> None:
    selector.tables(MIA)
    with pytest.raises(DeadlineExceeded, match="the SELECT took longer than 300 ms") as caught:
        selector.select("wait", [], MIA, timeout_ms=300)
    assert caught.value.limit == "select.timeout_ms"


def test_a_caller_who_leaves_has_his_statement_interrupted(
    selector: ProcessSelector, tmp_path: Path
) -> None:
    left = threading.Event()
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(
            selector.select, "wait", [], MIA, timeout_ms=100 * LONG, cancelled=left
        )
        assert until((tmp_path / "started").exists)
        left.set()
        assert isinstance(running.exception(SECONDS), Cancelled)
    assert selector.tables(MIA)


def test_closing_ends_the_processes(tmp_path: Path) -> None:
    made = ProcessSelector("worker_selectors:make_selector", (str(tmp_path),), processes=2)
    made.warm()
    assert until(lambda: len(made._pool.processes()) == 5)  # three are for others and for asks
    made.close()
    assert made._pool.processes() == []


# --- in a database ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workers", "serving", "in_processes"),
    [(None, False, False), (None, True, True), (0, True, False), (1, False, True)],
)
def test_a_server_selects_in_processes_and_an_embedded_database_does_not(
    tmp_path: Path, workers: int | None, serving: bool, in_processes: bool
) -> None:
    app = build(tmp_path, settings=Settings(select_workers=workers), serving=serving)
    assert isinstance(app.selector, ProcessSelector) is in_processes
    app.close()


def test_a_database_with_workers_selects_what_one_without_does(tmp_path: Path) -> None:
    chosen = Settings(select_workers=1, select_timeout_ms=LONG)
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": n, "text": f"note {n}"} for n in range(20)])
        here = db.select("SELECT * FROM notes ORDER BY id")
    with redask.open(tmp_path, settings=chosen) as db:
        there = db.select("SELECT * FROM notes ORDER BY id")
        assert there == here
        assert there.columns == here.columns
        db.put("notes", [{"id": 99, "text": "new"}])
        assert db.select("SELECT text FROM notes WHERE id = $1", [99]) == [{"text": "new"}]
        with pytest.raises(BadAsk):
            db.select("SELECT nope FROM notes")
        assert db.describe("SELECT id FROM notes").columns == (("id", "int4"),)
        assert [table.name for table in db.tables()] == [
            *("notes", "red_access_log", "red_ask_audit")
        ]
        (notes,) = db.plan_schema().tables
        assert (notes.rows, notes.primary_key) == (21, ("id",))
        assert db.plan_schema() is db.plan_schema()
        assert db.find_values(["NOTE-7", "new"]) == {
            "NOTE-7": (StoredValue("notes", "text", "note 7"),),
            "new": (StoredValue("notes", "text", "new"),),
        }


async def _with_fake(tmp_path: Path) -> redask.AsyncDatabase:
    db = await redask.aopen(tmp_path / "db", settings=Settings(select_timeout_ms=100 * LONG))
    db._app.selector.close()
    db._app.selector = db._app.parts.selector = ProcessSelector(
        "worker_selectors:make_selector",
        (str(tmp_path),),
        processes=1,
        limits=WorkerLimits(grace_seconds=SECONDS),
    )
    return db


def test_cancelling_a_select_interrupts_it_and_the_process_stays(tmp_path: Path) -> None:
    async def main() -> None:
        async with await _with_fake(tmp_path) as db:
            await db.tables()
            before = db._app.selector._pool.processes()  # type: ignore[attr-defined]  # the fake's
            running = asyncio.ensure_future(db.select("wait"))
            await until_true((tmp_path / "started").exists)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert await db.tables()
            after = db._app.selector._pool.processes()  # type: ignore[attr-defined]
            assert set(before) <= set(after)  # it was interrupted, not replaced

    asyncio.run(main())


def test_closing_a_database_cancels_the_selects_that_run(tmp_path: Path) -> None:
    async def main() -> None:
        db = await _with_fake(tmp_path)
        running = [asyncio.ensure_future(db.select("wait")) for _ in range(3)]
        await until_true((tmp_path / "started").exists)
        there = db._app.selector._pool.processes()  # type: ignore[attr-defined]
        assert there
        await db.close()
        for each in running:
            with pytest.raises(Cancelled):
                await each
        for pid in there:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)

    asyncio.run(main())


def test_selects_that_wait_hold_up_nothing_else(tmp_path: Path) -> None:
    async def main() -> None:
        async with await _with_fake(tmp_path) as db:
            running = [asyncio.ensure_future(db.select("wait")) for _ in range(40)]
            await until_true((tmp_path / "started").exists)
            await db.put("notes", [{"id": 1, "text": "served meanwhile"}])
            assert (await db.search("meanwhile")).hits
            for each in running:
                each.cancel()
            await asyncio.wait(running)

    asyncio.run(main())


def test_one_users_selects_keep_neither_anothers_nor_an_ask_waiting(tmp_path: Path) -> None:
    made = ProcessSelector("worker_selectors:make_selector", (str(tmp_path),), processes=1)
    asks = made.for_asks()
    stop = threading.Event()
    other = Caller("other", "eva", "reader")

    def endless(caller: Caller) -> None:
        with pytest.raises(Cancelled):
            made.select("wait", [], caller, timeout_ms=LONG, cancelled=stop)

    with ThreadPoolExecutor(8) as threads:
        work = [threads.submit(endless, MIA) for _ in range(6)]
        try:
            assert until(lambda: len(made._pool._waiting) == 5)  # one runs
            assert made.select("SELECT 1", [], other, timeout_ms=LONG).rows
            work.append(threads.submit(endless, other))
            assert until(lambda: len(made._pool._held) == 2)
            assert asks.select("SELECT 1", [], MIA, timeout_ms=LONG).rows
            assert asks.plan_schema(MIA).tables
        finally:
            stop.set()
        for each in work:
            each.result(SECONDS)
    made.close()


def test_pages_come_one_by_one(selector: ProcessSelector) -> None:
    found = list(selector.select_pages("rows 3", (), MIA, timeout_ms=LONG))
    assert [pickle.loads(page.rows) for page in found] == [[(0, "x")], [(1, "x")], [(2, "x")]]
    with pytest.raises(SqlError):
        list(selector.select_pages("fail", (), MIA, timeout_ms=LONG))
    with closing(selector.select_pages("rows 1000", (), MIA, timeout_ms=LONG)) as left:  # type: ignore[type-var]
        next(left)
    # who stops taking them has the worker replaced
    assert len(list(selector.select_pages("rows 0", (), MIA, timeout_ms=LONG))) == 1
    # the bound on a result's bytes is one of a page here
    many = selector.select_pages("rows 20000", (), MIA, timeout_ms=LONG)
    assert sum(page.count for page in many) == 20000


def test_a_server_has_the_quotas_of_its_settings_and_asks_a_lane_of_their_own(
    tmp_path: Path,
) -> None:
    chosen = Settings(select_user_seconds=5, select_tenant_seconds=9)
    app = build(tmp_path / "db", settings=chosen, serving=True)
    try:
        selects, asks = app.selector, app.computing.selector
        assert isinstance(selects, ProcessSelector)
        assert isinstance(asks, ProcessSelector)
        assert selects._pool is asks._pool
        assert (selects._lane, asks._lane) == (Lane.SELECT, Lane.ASK)
        assert selects._pool._quota == WorkerQuota(user_seconds=5, tenant_seconds=9)
    finally:
        app.close()
