"""Closing ends what runs, within a time; who forgot to close loses neither rows nor descriptors."""

import asyncio
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from waiting import until

import redask
from redask.app import App
from redask.core.errors import WAS_CLOSED, Cancelled, Overloaded, StoreFailed
from redask.core.rules.audit_chain import Intact
from redask.embedding.models.hashed import Hashed
from redask.engine.workers import Workers
from redask.stores.columnar import tenant_projection
from redask.stores.columnar.statements import watch

PATIENCE = 60  # seconds until a test that hangs gives up
FERRY = {"id": 1, "text": "The ferry leaves at nine."}
QUESTION = "When does the ferry leave?"
ENDLESS = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
    SELECT count(*) FROM n"""


def app_of(db: redask.OpenDatabase) -> App:
    return db._async._app


def endless_write(app: App, begun: threading.Event) -> None:
    """A transaction that SQLite does not come to the end of."""
    with app.backend.store.database.writing() as connection:  # type: ignore[attr-defined]
        connection.execute("INSERT INTO settings VALUES ('half', 'done')")
        begun.set()
        connection.execute(ENDLESS).fetchone()


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("redask.app.CLOSE_SECONDS", 0.3)


def test_a_statement_that_does_not_end_fails_and_leaves_nothing(tmp_path: Path, soon: None) -> None:
    db, begun = redask.open(tmp_path), threading.Event()
    with ThreadPoolExecutor() as pool:
        writing = pool.submit(db._run, app_of(db).in_thread(endless_write, app_of(db), begun))
        assert begun.wait(PATIENCE)
        pool.submit(db.close).result(PATIENCE)
        with pytest.raises(Cancelled, match=WAS_CLOSED):
            writing.result(PATIENCE)
    with redask.open(tmp_path) as again:
        again.put("notes", [FERRY])
        with app_of(again).backend.store.database.reading() as connection:  # type: ignore[attr-defined]
            assert not connection.execute("SELECT 1 FROM settings WHERE name = 'half'").fetchall()


def test_the_same_for_asyncio(tmp_path: Path, soon: None) -> None:
    async def main() -> None:
        db, begun = await redask.aopen(tmp_path), threading.Event()
        writing = asyncio.create_task(db._app.in_thread(endless_write, db._app, begun))
        await asyncio.to_thread(begun.wait, PATIENCE)
        await asyncio.wait_for(db.close(), PATIENCE)
        with pytest.raises(Cancelled, match=WAS_CLOSED):
            await asyncio.wait_for(writing, PATIENCE)

    asyncio.run(main())


def test_work_that_hangs_outside_of_the_database_does_not_hold_closing_up(
    tmp_path: Path, soon: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An embedder whose host does not answer: the rows are there, who waits is told."""
    begun, go_on = threading.Event(), threading.Event()

    def embed(self: Hashed, texts: Sequence[str]) -> list[tuple[float, ...]]:
        begun.set()
        assert go_on.wait(PATIENCE)
        return [(1.0,) for _ in texts]

    monkeypatch.setattr(Hashed, "embed", embed)
    db = redask.open(tmp_path, embedder="hashed")
    try:
        with ThreadPoolExecutor() as pool:
            putting = pool.submit(db.put, "notes", [FERRY])
            assert begun.wait(PATIENCE)
            pool.submit(db.close).result(PATIENCE)
            with pytest.raises(Cancelled, match=WAS_CLOSED):
                putting.result(PATIENCE)
        with redask.open(tmp_path, embedder="none") as again:
            assert again.get("urn:reddb:row:notes/1") is not None
    finally:
        go_on.set()


def given_back(before: tuple[int, int]) -> bool:
    return resources() <= before


def resources() -> tuple[int, int]:
    """Descriptors and threads of this process; one thread looks after all SELECTs, for ever."""
    threads = [each for each in threading.enumerate() if each.name != "select-deadlines"]
    return len(os.listdir("/proc/self/fd")), len(threads)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors cannot be counted")
def test_a_database_that_nobody_closed_gives_back_threads_and_descriptors(tmp_path: Path) -> None:
    def use(session: bool) -> redask.OpenDatabase | None:
        db = redask.open(tmp_path, embedder="none")
        db.put("notes", [FERRY])
        db.ask(QUESTION)
        db.select("SELECT count(*) FROM notes")
        if not session:
            return None
        if "ann" not in {user.name for user in db.users()}:
            db.add_user("ann", role="owner")
        return db.signed_in(db.make_token("ann"))

    with redask.open(tmp_path, embedder="none") as db:
        db.select("SELECT 1")  # what stays for the next is there
    before = resources()
    for _ in range(3):
        use(session=False)
    session = use(session=True)
    gc.collect()
    assert session is not None
    assert session.ask(QUESTION).answer.startswith("The ferry"), "a session keeps it open"
    del session
    gc.collect()
    assert until(lambda: given_back(before)), resources()
    with redask.open(tmp_path, embedder="none") as db:
        assert len(db.audit(100)) == 5
        assert isinstance(db.verify_audit(), Intact)
        assert db.doctor()["problems"] == []


def test_a_closed_database_gives_back_everything(tmp_path: Path) -> None:
    def use() -> None:
        with redask.open(tmp_path, embedder="none") as db:
            db.put("notes", [FERRY])
            db.ask(QUESTION)
            db.select("SELECT count(*) FROM notes")

    use()
    before = resources()
    use()
    assert until(lambda: given_back(before)), resources()


FORGETFUL = """
import sys, redask
db = redask.open(sys.argv[1], embedder="none")
db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
print(db.ask("When does the ferry leave?").answer)
"""


def test_a_program_that_ends_without_closing_loses_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FORGETFUL, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert ended.stderr == ""
    with redask.open(tmp_path, embedder="none") as db:
        verdict = db.verify_audit()
        assert isinstance(verdict, Intact)
        assert verdict.rows == 1
        assert [(each.head.seq, each.anchored) for each in verdict.chains] == [(1, 1)]


class NoThreads:
    """Threads of these names cannot be started, as where the machine has too many."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
        start = threading.Thread.start

        def refused(thread: threading.Thread) -> None:
            if thread.name.startswith(names):
                raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", refused)


@pytest.mark.parametrize("name", ["redask", "redask-audit", "redask-upkeep"])
def test_a_database_without_its_threads_is_not_opened_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    with redask.open(tmp_path, embedder="none"):
        pass
    before = resources()
    with monkeypatch.context() as patched:
        NoThreads(patched, name)
        with pytest.raises(Overloaded, match="no thread can be started"):
            redask.open(tmp_path, embedder="none")
    assert until(lambda: given_back(before)), resources()
    with redask.open(tmp_path, embedder="none") as db:
        db.put("notes", [FERRY])


def test_an_ask_without_a_thread_is_told_and_the_next_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with redask.open(tmp_path, embedder="none") as db:
        with monkeypatch.context() as patched:
            NoThreads(patched, "redask_", "redask-select")
            calls: list[Callable[[], object]] = [
                lambda: db.ask(QUESTION),
                lambda: db.select("SELECT 1"),
                lambda: db.put("notes", [FERRY]),
            ]
            for call in calls:
                with pytest.raises(Overloaded, match="no thread can be started"):
                    call()
        db.put("notes", [FERRY])
        assert db.ask(QUESTION).answer.startswith("The ferry")
        with monkeypatch.context() as patched:
            NoThreads(patched, "redask_", "redask-select", "select-deadlines")
            assert db.ask(QUESTION).answer.startswith("The ferry"), "by a thread that is there"


def test_statements_without_their_helping_threads_are_answered_or_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody would end a SELECT in time; nobody folds its tables now: the next one does."""
    monkeypatch.setattr(watch, "_WATCHER", watch._Watcher())
    monkeypatch.setattr(tenant_projection, "MAX_TAIL", 1)
    count = "SELECT count(*) FROM notes"
    with redask.open(tmp_path, embedder="none") as db:
        db.put("notes", [FERRY])
        with monkeypatch.context() as patched:
            NoThreads(patched, "select-deadlines")
            with pytest.raises(Overloaded, match="no thread can be started"):
                db.select(count)
            assert not watch._WATCHER._running, "nothing is left to be watched"
        assert db.select(count) == [{"count": 1}]
        db.put("notes", [{"id": number} for number in range(2, 6)])
        with monkeypatch.context() as patched:
            NoThreads(patched, "columnar-fold")
            assert db.select(count) == [{"count": 5}]
        db.put("notes", [{"id": 9}])
        assert db.select(count) == [{"count": 6}]


def test_with_one_thread_the_others_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> list[int]:
        pool = Workers(4, "pool")
        begun, go_on = threading.Event(), threading.Event()

        def first() -> int:
            begun.set()
            assert go_on.wait(PATIENCE)
            return 1

        jobs = [asyncio.create_task(pool.run(first))]
        await asyncio.to_thread(begun.wait, PATIENCE)
        NoThreads(monkeypatch, "pool")
        jobs += [asyncio.create_task(pool.run(partial(int, n))) for n in (2, 3)]
        await asyncio.sleep(0)
        go_on.set()
        found = list(await asyncio.gather(*jobs))
        await asyncio.to_thread(pool.close)
        return found

    assert asyncio.run(main()) == [1, 2, 3]


@pytest.mark.parametrize("kind", ["ask", "put", "search"])
def test_too_little_memory_is_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    with redask.open(tmp_path, embedder="none") as db:
        db.put("notes", [FERRY])

        def full(*given: Any, **named: Any) -> Any:
            raise MemoryError

        calls: dict[str, Callable[[], object]] = {
            "ask": lambda: db.ask(QUESTION),
            "put": lambda: db.put("notes", [{"id": 2}]),
            "search": lambda: db.search("ferry"),
        }
        with monkeypatch.context() as patched:
            place = "redask.stores.relational.relational_store.EntityWriter.put"
            if kind != "put":
                place = "redask.index.buckets.search"
            patched.setattr(place, full)
            with pytest.raises(Overloaded, match="not enough memory"):
                calls[kind]()
        calls[kind]()


@pytest.mark.parametrize(("kind", "reads"), [("select", "read_text"), ("search", "read_bytes")])
def test_a_file_of_what_is_derived_that_cannot_be_opened_is_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, reads: str
) -> None:
    """An ingest ended in the system's own error, when `current` of the tables could not be read."""
    monkeypatch.setattr(tenant_projection, "MAX_TAIL", 1)

    def calls(db: redask.OpenDatabase) -> list[Callable[[], object]]:
        if kind == "select":
            return [lambda: db.select("SELECT count(*) FROM notes")]
        return [lambda: db.search("ferry"), db.doctor]

    with redask.open(tmp_path, embedder="none") as db:
        db.put("notes", [{**FERRY, "id": number} for number in range(4)])
        for call in calls(db):
            call()
    real = getattr(Path, reads)

    def failing(path: Path, *given: Any, **named: Any) -> Any:
        if path.name == "current":
            raise OSError(24, "Too many open files")
        return real(path, *given, **named)

    with redask.open(tmp_path, embedder="none") as db:
        with monkeypatch.context() as patched:
            patched.setattr(Path, reads, failing)
            for call in calls(db):
                with pytest.raises(StoreFailed, match="cannot be used"):
                    call()
        for call in calls(db):
            call()
