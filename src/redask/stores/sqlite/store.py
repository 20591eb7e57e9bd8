"""The store in one directory: `SqliteStore(directory)`, the file `redask.sqlite` in it.

Processes open one each on the same directory; how files and connections behave is told by
`connection`, the rest by `relational.relational_store`.
"""

import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Self

from redask.core.errors import StoreFailed
from redask.stores.relational.relational_store import RelationalStore
from redask.stores.sqlite import migrations
from redask.stores.sqlite.connection import BULK_CACHE_KIB, Database

FILE = "redask.sqlite"
BUSY_TIMEOUT_SECONDS = 10.0


def open_store(directory: Path, *, busy_timeout: float) -> Database:
    """The database of a store in a directory, made when there is none."""
    return Database(
        directory / FILE,
        busy_timeout=busy_timeout,
        migrations=migrations.MIGRATIONS,
        cache_kib=BULK_CACHE_KIB,
    )


class SqliteStore(RelationalStore):
    """An open store; `close` it, or use it as a context manager."""

    def __init__(
        self,
        directory: Path,
        *,
        busy_timeout: float = BUSY_TIMEOUT_SECONDS,
        closed: bool = False,
        keyed: bool = True,
    ) -> None:
        self.database = open_store(directory, busy_timeout=busy_timeout)
        super().__init__(self.database, closed=closed, keyed=keyed)

    def check(self) -> list[str]:
        """Read everything and name what is wrong; slow. An empty list means all is well."""
        try:
            return super().check()
        except StoreFailed as error:
            if isinstance(error.__cause__, sqlite3.DatabaseError):
                return [f"SQLite says: {error.__cause__}"]
            raise

    def close(self) -> None:
        """Let go of the file."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
