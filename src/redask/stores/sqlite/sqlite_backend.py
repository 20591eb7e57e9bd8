"""The backend in one directory: `redask.sqlite` for the data, `calls.sqlite` for what calls leave.

They are two files because a file has one writer at a time: an answer must not wait for a bulk
load to get its audit row, nor a bulk load for answers.
"""

from pathlib import Path
from types import TracebackType
from typing import Self

from redask.stores.sqlite.audit_log import SqliteAuditLog
from redask.stores.sqlite.cached_answers import SqliteAnswerCache
from redask.stores.sqlite.calls_migrations import CALLS_FILE, MIGRATIONS
from redask.stores.sqlite.connection import Database
from redask.stores.sqlite.ledger import SqliteLedger
from redask.stores.sqlite.manifest import SqliteManifest
from redask.stores.sqlite.store import BUSY_TIMEOUT_SECONDS, FILE, SqliteStore
from redask.stores.sqlite.users import SqliteUsers


def database_exists(location: str) -> bool:
    """Whether there is a database in a directory."""
    return (Path(location) / FILE).exists()


def open_calls(directory: Path, *, busy_timeout: float) -> Database:
    """The database of calls in a directory, made when there is none."""
    return Database(directory / CALLS_FILE, busy_timeout=busy_timeout, migrations=MIGRATIONS)


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
        self.users = SqliteUsers(self.store.database)
        self.manifest = SqliteManifest(self.store.database)
        self.audit = SqliteAuditLog(self._calls)
        self.ledger = SqliteLedger(self._calls)
        self.answers = SqliteAnswerCache(self._calls)

    def files(self) -> dict[str, int]:
        """The files of the database, by name, in bytes."""
        data, calls = self.store.database.path, self._calls.path
        every = (data, data.with_name(f"{data.name}-wal"), calls)
        return {file.name: file.stat().st_size for file in every if file.exists()}

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
