"""A process that was stopped while it holds something: others are told who it is, in time."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

import redask
from redask.core.errors import AuditUnavailable, StoreFailed
from redask.core.rules.audit_chain import Intact
from redask.stores.entity_rows import entities
from redask.stores.sqlite import lock_holders
from redask.stores.sqlite.store import SqliteStore

HOLDER = """
import sys, threading
from pathlib import Path
from redask.index.file_lock import FileLock
with FileLock(Path(sys.argv[1]), 60):
    print("held", flush=True)
    threading.Event().wait()
"""
FERRY = {"id": 1, "text": "The ferry leaves at nine."}
QUESTION = "When does the ferry leave?"


def test_who_searches_is_told_which_process_holds_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDASK_ASK_TIMEOUT_MS", "2000")
    with redask.open(tmp_path / "db", embedder="none") as db:
        db.put("notes", [FERRY])
        assert db.search("ferry").hits
        [lock] = (tmp_path / "db" / "index").glob("*/index.lock")
        command = [sys.executable, "-c", HOLDER, str(lock)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "held\n"
            os.kill(holder.pid, signal.SIGSTOP)
            try:
                db.put("notes", [{**FERRY, "id": 2}])
                for _ in range(3):
                    with pytest.raises(redask.AskError) as told:
                        db.search("ferry")
                    assert told.value.message == (
                        f"index.lock was not free for 1.6 s: process {holder.pid} holds it; "
                        "try again, or end that process if it is stuck"
                    )
            finally:
                os.kill(holder.pid, signal.SIGKILL)
        assert len(db.search("ferry").hits) == 2


WRITER = """
import sqlite3, sys, threading
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN IMMEDIATE")
print("held", flush=True)
threading.Event().wait()
"""


@contextmanager
def stopped_writer(path: Path) -> Iterator[int]:
    """A process that was stopped in the middle of a transaction. → its number"""
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        os.kill(holder.pid, signal.SIGSTOP)
        try:
            yield holder.pid
        finally:
            os.kill(holder.pid, signal.SIGKILL)


def test_the_deadline_of_an_ask_covers_its_audit_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is ready, the log is held by somebody who was stopped: no answer, in time."""
    monkeypatch.setenv("REDASK_ASK_TIMEOUT_MS", "4000")
    with redask.open(tmp_path / "db", embedder="none") as db:
        db.put("notes", [FERRY])
        db.ask(QUESTION)
        waited = db._async._app.backend._calls  # type: ignore[attr-defined]
        assert waited._patience > 4, "else the log's own time-out would hide it"
        with stopped_writer(tmp_path / "db" / "calls.sqlite"):
            with pytest.raises(AuditUnavailable, match="in time, so there is no answer"):
                db.ask(QUESTION)
            with pytest.raises(AuditUnavailable, match="in time"):
                db.search("ferry")
        assert db.ask(QUESTION).answer.startswith("The ferry leaves at nine")
        assert isinstance(db.verify_audit(), Intact)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="the system lists no locks")
def test_who_writes_is_told_which_process_holds_the_database(tmp_path: Path) -> None:
    with SqliteStore(tmp_path / "db", busy_timeout=0.2) as store:
        with stopped_writer(tmp_path / "db" / "redask.sqlite") as holder:
            with pytest.raises(StoreFailed) as told:
                store.put(entities("notes", [FERRY]), redask.Caller())
            assert told.value.message == (
                f"redask.sqlite was not free for 0.2 s: process {holder} writes to it; "
                "try again, or end that process if it is stuck"
            )
        store.put(entities("notes", [FERRY]), redask.Caller())


def test_a_thread_that_writes_for_too_long_is_told_of_as_this_process(tmp_path: Path) -> None:
    with (
        SqliteStore(tmp_path / "db", busy_timeout=0.2) as store,
        store.database.writing(),
        ThreadPoolExecutor() as pool,
    ):
        writing = pool.submit(store.put, entities("notes", [FERRY]), redask.Caller())
        with pytest.raises(StoreFailed, match=rf"this process \({os.getpid()}\) writes to it"):
            writing.result(60)


@pytest.mark.parametrize(
    ("listed", "told"),
    [
        ("1: POSIX  ADVISORY  WRITE 7 {file} 120 120", "process 7"),
        ("1: POSIX  ADVISORY  WRITE 7 {file} 120 EOF", "process 7"),
        ("1: POSIX  ADVISORY  READ 7 {file} 120 120", "another process"),
        ("1: POSIX  ADVISORY  WRITE 7 {file} 121 121", "another process"),
        ("1: POSIX  ADVISORY  WRITE 0 {file} 120 120", "another process"),
        ("1: POSIX  ADVISORY  WRITE -1 {file} 120 120", "another process"),
        ("1: POSIX  ADVISORY  WRITE 7 00:00:1 120 120", "another process"),
        ("1: -> POSIX  ADVISORY  WRITE 7 {file} 120 120", "process 7"),
        ("", "another process"),
    ],
)
def test_the_list_of_locks_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listed: str, told: str
) -> None:
    log = tmp_path / "x-shm"
    log.touch()
    status = log.stat()
    file = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    (tmp_path / "locks").write_text(listed.format(file=file))
    monkeypatch.setattr(lock_holders, "_LOCKS", tmp_path / "locks")
    assert lock_holders.writer_of(tmp_path / "x") == told
    assert lock_holders.writer_of(tmp_path / "y") == "another process"
