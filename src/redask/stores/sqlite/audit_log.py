"""The append-only log of calls: table `red_ask_audit` in `calls.sqlite`, chained by hash.

`append` returns when the row is on disk. One thread writes; rows that arrive while it waits
for the disk share the next commit, so many asks at once cost little more than one. Each
transaction reads the head, so several processes extend one chain. The price of an append does
not depend on how many rows there are.

Retention takes rows from the old end, in batches, between commits: those older than the
setting's days before the newest row. The head remembers the last row taken, so that what is
left still verifies (`rules.audit_chain`). What a provider said about its build stands beside
the row (`audit_builds`), goes with it, and is no part of the chain.
"""

import asyncio
import contextlib
import json
import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection

from redask.core.errors import AskError, AuditUnavailable
from redask.core.model import Caller
from redask.core.ports import AuditEntry
from redask.core.rules import audit_chain
from redask.core.wire import json as canonical
from redask.stores.sqlite.calls_migrations import CALLS_FILE, MIGRATIONS
from redask.stores.sqlite.connection import Database

AUDITORS = frozenset({"owner", "auditor"})
_DAY_NS = 86_400 * 10**9
_BATCH = 512
_PRUNE_EVERY = 1000
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class PendingRow:
    """A row as it will be stored, and who waits for it."""

    row: str
    ts: object
    tenant: object
    user: object
    build: str
    done: asyncio.Future[None]

    def tell(self, error: BaseException | None = None) -> None:
        """Let the one who waits go on; a loop that is closed has nobody waiting."""
        with contextlib.suppress(RuntimeError):
            self.done.get_loop().call_soon_threadsafe(self._end, error)

    def _end(self, error: BaseException | None) -> None:
        if self.done.cancelled():  # who stops waiting cannot unwrite the row
            return
        if error is None:
            self.done.set_result(None)
        elif isinstance(error, AskError):
            message = "the audit row could not be written, so there is no answer"
            self.done.set_exception(AuditUnavailable(message, detail=error.message))
        else:
            self.done.set_exception(error)


class SqliteAuditLog:
    """The log in one database directory."""

    def __init__(self, database: Database, retention_days: int) -> None:
        self._database = database
        self._keep_ns = retention_days * _DAY_NS
        self._waiting: queue.SimpleQueue[PendingRow | None] = queue.SimpleQueue()
        self._since_pruning = _PRUNE_EVERY  # the first commit after opening prunes, too
        self._writer = threading.Thread(target=self._write_all, name="redask-audit", daemon=True)
        self._writer.start()

    def append(self, row: dict[str, object], build: str = "") -> asyncio.Future[None]:
        """Durably add one row, with what the provider said about its build.

        The row is on its way when this returns, and on disk when the future is done.
        """
        done = asyncio.get_running_loop().create_future()
        filed = row["ts"], row["tenant"], row["user"]
        self._waiting.put(PendingRow(canonical.text(row), *filed, build, done))
        return done

    def entries(self, caller: Caller, *, limit: int, before: int | None = None) -> list[AuditEntry]:
        """The newest rows the caller may see: an auditor the tenant's, others their own."""
        last = (1 << 63) - 1 if before is None else before
        mine = "" if caller.role in AUDITORS else "AND user = ?"
        values = [caller.tenant, *([caller.user] if mine else []), last, limit]
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT seq, row, hash, coalesce(build, '') FROM red_ask_audit"
                f" LEFT JOIN audit_builds USING (seq) WHERE tenant = ? {mine}"
                " AND seq < ? ORDER BY seq DESC LIMIT ?",
                values,
            ).fetchall()
        return [AuditEntry(seq, json.loads(row), *rest) for seq, row, *rest in found]

    def verify(self) -> audit_chain.Intact | audit_chain.Broken:
        """Whether every row of the log is what was written; names the first that is not."""
        with self._database.reading() as connection:
            connection.execute("BEGIN")  # one snapshot, however long it takes
            try:
                head, sealed = _head(connection)
                odd = _misfiled(connection)
                verdict = audit_chain.verify(_links(connection), head, sealed)
            finally:
                connection.execute("ROLLBACK")
        if odd is None or (isinstance(verdict, audit_chain.Broken) and verdict.seq <= odd):
            return verdict
        return audit_chain.Broken(odd, f"row {odd} is filed under another caller or time")

    def close(self) -> None:
        """Write what is waiting, then stop."""
        self._waiting.put(None)
        self._writer.join()

    def _write_all(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch = [first]
            with contextlib.suppress(queue.Empty):
                while len(batch) < _BATCH:
                    following = self._waiting.get_nowait()
                    if following is None:
                        self._waiting.put(None)
                        break
                    batch.append(following)
            self._write(batch)

    def _write(self, batch: list[PendingRow]) -> None:
        try:
            with self._database.writing() as connection:
                _extend(connection, batch)
        except BaseException as error:
            for each in batch:
                each.tell(error)
            return
        for each in batch:
            each.tell()
        self._since_pruning += len(batch)
        if self._since_pruning >= _PRUNE_EVERY:
            self._since_pruning = 0
            with contextlib.suppress(AskError):  # the rows are safe; the next time will do
                self._prune()

    def _prune(self) -> None:
        """Take what is too old from the old end, a batch a transaction."""
        while True:
            with self._database.writing() as connection:
                head, _ = _head(connection)
                newest = connection.execute(
                    "SELECT ts FROM red_ask_audit WHERE seq = ?", (head.seq,)
                ).fetchone()
                oldest = connection.execute(
                    "SELECT seq, ts, hash FROM red_ask_audit ORDER BY seq LIMIT ?", (_PAGE,)
                ).fetchall()
                gone = None
                for seq, ts, digest in oldest:
                    if newest is None or ts >= newest[0] - self._keep_ns:
                        break
                    gone = seq, digest
                if gone is None:
                    return
                for table in ("red_ask_audit", "audit_builds"):
                    connection.execute(f"DELETE FROM {table} WHERE seq <= ?", (gone[0],))
                _set_head(connection, audit_chain.Head(head.seq, head.hash, *gone))


def open_calls(directory: Path, *, busy_timeout: float) -> Database:
    """The database of calls in a directory, made when there is none."""
    return Database(directory / CALLS_FILE, busy_timeout=busy_timeout, migrations=MIGRATIONS)


def _extend(connection: Connection, rows: list[PendingRow]) -> None:
    head, _ = _head(connection)
    seq, last = head.seq, head.hash
    values, builds = [], []
    for each in rows:
        seq += 1
        last = audit_chain.link(last, seq, each.row)
        values.append((seq, each.ts, each.tenant, each.user, each.row, last))
        if each.build:
            builds.append((seq, each.build))
    connection.executemany("INSERT INTO red_ask_audit VALUES (?, ?, ?, ?, ?, ?)", values)
    if builds:
        connection.executemany("INSERT INTO audit_builds VALUES (?, ?)", builds)
    _set_head(connection, audit_chain.Head(seq, last, head.gone_seq, head.gone_hash))


def _head(connection: Connection) -> tuple[audit_chain.Head, str]:
    found = connection.execute(
        "SELECT seq, hash, gone_seq, gone_hash, seal FROM audit_head"
    ).fetchone()
    if found is None:
        return audit_chain.Head(), audit_chain.seal(audit_chain.Head())
    return audit_chain.Head(*found[:4]), found[4]


def _set_head(connection: Connection, head: audit_chain.Head) -> None:
    values = (head.seq, head.hash, head.gone_seq, head.gone_hash, audit_chain.seal(head))
    changed = connection.execute(
        "UPDATE audit_head SET seq = ?, hash = ?, gone_seq = ?, gone_hash = ?, seal = ?", values
    )
    if not changed.rowcount:
        connection.execute("INSERT INTO audit_head VALUES (?, ?, ?, ?, ?)", values)


def _links(connection: Connection) -> Iterator[audit_chain.Chained]:
    cursor = connection.execute("SELECT seq, row, hash FROM red_ask_audit ORDER BY seq")
    while page := cursor.fetchmany(_PAGE):
        yield from (audit_chain.Chained(*each) for each in page)


def _misfiled(connection: Connection) -> int | None:
    """The first row whose columns say another thing than the row they were taken from."""
    found = connection.execute(
        """SELECT min(seq) FROM red_ask_audit
           WHERE NOT json_valid(row) OR ts IS NOT json_extract(row, '$.ts')
              OR tenant IS NOT json_extract(row, '$.tenant')
              OR user IS NOT json_extract(row, '$.user')"""
    ).fetchone()
    return None if found is None else found[0]
