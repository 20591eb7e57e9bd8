"""Closing the audit log: what waits behind somebody else's lock is written before `close` returns.

The other connection keeps its lock until `close` waits for the writing thread without a limit of
its own; a wait that gives up after some time is over before that.
"""

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from redask.core.model import Caller
from redask.core.rules.audit_chain import Intact
from redask.engine.auditing.audit_writer import AuditWriter
from redask.stores.relational.auditing.audit_log import RelationalAuditLog
from redask.stores.relational.sql_database import Whose
from redask.stores.sqlite.calls_migrations import CALLS_FILE
from redask.stores.sqlite.connection import Database
from redask.stores.sqlite.sqlite_backend import open_calls

OWNER = Caller()
ROWS = 5


def row(number: int) -> dict[str, object]:
    return {"ts": number, "tenant": "local", "user": "ada", "n": number}


def wait_for(entered: threading.Event) -> None:
    assert entered.wait(60), "nobody began to write"


def announce_writing(database: Database, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """→ an event that is set when somebody is about to take the lock of this database."""
    entered, writing = threading.Event(), database.writing

    @contextmanager
    def announced(whose: Whose) -> Iterator[sqlite3.Connection]:
        entered.set()
        with writing(whose) as connection:
            yield connection

    monkeypatch.setattr(database, "writing", announced)
    return entered


def unlock_when_joined(
    writer: threading.Thread, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let the lock go once somebody waits for this thread for as long as it takes."""
    join = writer.join

    def joined(timeout: float | None = None) -> None:
        if timeout is None:
            other.execute("ROLLBACK")
            join()

    monkeypatch.setattr(writer, "join", joined)


def test_close_writes_every_row_that_waits_behind_another_connections_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(open_calls(tmp_path, busy_timeout=60)) as database:
        before = set(threading.enumerate())
        log = AuditWriter(RelationalAuditLog(database))
        (writer,) = set(threading.enumerate()) - before
        entered = announce_writing(database, monkeypatch)

        async def append_and_close() -> list[int]:
            appended = [log.append(row(1))]
            wait_for(entered)  # the first row waits for the lock, the others for the first
            appended += [log.append(row(number)) for number in range(2, ROWS + 1)]
            assert written(tmp_path) == []
            log.close()
            on_disk = written(tmp_path)
            if len(on_disk) == ROWS:  # else nobody may ever tell
                await asyncio.gather(*appended)
            return on_disk

        with closing(sqlite3.connect(tmp_path / CALLS_FILE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            unlock_when_joined(writer, other, monkeypatch)
            assert asyncio.run(append_and_close()) == list(range(1, ROWS + 1))
        assert not writer.is_alive()
        verdict = RelationalAuditLog(database).verify()
        assert isinstance(verdict, Intact)
        assert verdict.rows == ROWS


def written(directory: Path) -> list[int]:
    """The rows that anybody sees who opens the file now, in their order."""
    with closing(sqlite3.connect(directory / CALLS_FILE)) as connection:
        found = connection.execute(
            "SELECT json_extract(row, '$.n') FROM audit_records ORDER BY seq"
        )
        return [number for (number,) in found]
