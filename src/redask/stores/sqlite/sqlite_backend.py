"""The backend in one directory: `redask.sqlite` for the data, `calls.sqlite` for what calls leave.

They are two files because a file has one writer at a time: an answer must not wait for a bulk
load to get its audit row, nor a bulk load for answers.
"""

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from redask.core.model import Caller
from redask.stores.auditing.audit_rows import ACCESSES, ASKS
from redask.stores.backend import BackupReport
from redask.stores.relational.auditing.accepting import accept_logs
from redask.stores.relational.auditing.anchors import RelationalAnchors
from redask.stores.relational.auditing.audit_log import RelationalAuditLog, draw_nonce
from redask.stores.relational.auditing.sealed_log_tables import RelationalSealedLogs
from redask.stores.relational.cached_answers import RelationalAnswerCache
from redask.stores.relational.copying import CopiedTables
from redask.stores.relational.ledger import RelationalLedger
from redask.stores.relational.manifest import RelationalManifest
from redask.stores.relational.users import RelationalUsers
from redask.stores.sqlite.backup.backing_up import back_up
from redask.stores.sqlite.calls_migrations import CALLS_FILE, MIGRATIONS
from redask.stores.sqlite.connection import Database
from redask.stores.sqlite.store import BUSY_TIMEOUT_SECONDS, FILE, SqliteStore, open_store


def database_exists(location: str) -> bool:
    """Whether there is a database in a directory."""
    return (Path(location) / FILE).exists()


def open_calls(directory: Path, *, busy_timeout: float) -> Database:
    """The database of calls in a directory, made when there is none."""
    return Database(directory / CALLS_FILE, busy_timeout=busy_timeout, migrations=MIGRATIONS)


def open_tables(location: str) -> CopiedTables:
    """Both files of a directory, to be copied."""
    directory = Path(location)
    store = open_store(directory, busy_timeout=BUSY_TIMEOUT_SECONDS)
    try:
        calls = open_calls(directory, busy_timeout=BUSY_TIMEOUT_SECONDS)
    except BaseException:
        store.close()
        raise

    def close() -> None:
        calls.close()
        store.close()

    return CopiedTables(store, calls, close)


class SqliteBackend:
    """An open directory, made when there is none; see `backend.Backend`."""

    def __init__(
        self,
        location: str | Path,
        *,
        busy_timeout: float | None = None,
        closed: bool = False,
        keyed: bool = True,
    ) -> None:
        directory, patience = Path(location), busy_timeout or BUSY_TIMEOUT_SECONDS
        self.store = SqliteStore(directory, busy_timeout=patience, closed=closed, keyed=keyed)
        try:
            self._calls = open_calls(directory, busy_timeout=patience)
        except BaseException:
            self.store.close()
            raise
        self.users = RelationalUsers(self.store.database)
        self.manifest = RelationalManifest(self.store.database)
        self._anchors = RelationalAnchors(self.store.database, self._calls, draw_nonce)
        self.audit = RelationalAuditLog(self._calls, ASKS, self._anchors)
        self.access = RelationalAuditLog(self._calls, ACCESSES, self._anchors)
        self.sealed = RelationalSealedLogs(self._calls)
        self._anchors.pair()
        self.ledger = RelationalLedger(self._calls)
        self.answers = RelationalAnswerCache(self._calls, self.store.timeline)

    @property
    def read_only(self) -> bool:
        """See `backend.Backend`."""
        return self.store.database.read_only or self._calls.read_only

    def replica_lag(self) -> None:
        """There is one file."""

    def change_feed(self) -> None:
        """All who write are on this machine."""

    def files(self) -> dict[str, int]:
        """The files of the database, by name, in bytes."""
        data, calls = self.store.database.path, self._calls.path
        every = (data, data.with_name(f"{data.name}-wal"), calls)
        return {file.name: file.stat().st_size for file in every if file.exists()}

    def check_calls(self) -> list[str]:
        """What SQLite finds wrong with the file of the calls."""
        with self._calls.reading() as connection:
            return [f"{CALLS_FILE}: {each}" for each in connection.complaints()]

    def forget_damaged_answers(self) -> int:
        """Forget cached answers that fail their checksum."""
        return self.answers.forget_damaged()

    def anchor(self) -> None:
        """Let the store remember the logs as they are now."""
        self._anchors.anchor()

    def accept_logs(self, caller: Caller, reason: str) -> str:
        """Take the logs as they are now, and note it there."""
        return accept_logs(self._anchors, (self.audit, self.access), caller, reason)

    def back_up(
        self,
        destination: Path,
        *,
        made_at: int,
        made_by: str,
        progress: Callable[[int, int], None] | None = None,
        keep: int | None = None,
    ) -> BackupReport:
        """See `backing_up`."""
        return back_up(
            self.store.database,
            self._calls,
            destination,
            made_at=made_at,
            made_by=made_by,
            progress=progress,
            keep=keep,
        )

    def interrupt(self) -> None:
        """See `backend.Backend`."""
        self.store.database.interrupt()
        self._calls.interrupt()

    def close(self) -> None:
        """Let go of the files."""
        self._calls.close()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
