"""Where a database can live: one row a backend, `BACKENDS` by URL scheme.

    location                        scheme       row
    a directory (the default)       none         sqlite
    postgresql://…, postgres://…    postgresql   postgresql

A new backend is one folder and one row here. `backend_for(location)` finds the row and opens
nothing, so that an unknown scheme is refused before anything is made; what comes after the
scheme may be a password, and is in no message.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Protocol

from redask.core.errors import Misconfigured
from redask.stores.backend import Backend, RestoreReport
from redask.stores.postgres import pg_location
from redask.stores.relational.copying import CopiedTables
from redask.stores.sqlite.backup.restoring import restore
from redask.stores.sqlite.directory_modes import check_modes
from redask.stores.sqlite.sqlite_backend import SqliteBackend, database_exists, open_tables

# Two letters at least: one is a drive. One slash will do: `Path` makes one of two.
_SCHEME = re.compile("([A-Za-z][A-Za-z0-9+.-]+):/")


class OpenBackend(Protocol):
    """Opens a database at a location, and makes what is missing."""

    def __call__(self, location: str, *, closed: bool = False, keyed: bool = True) -> Backend:
        """`closed` is what has no policy, to all but the owner.

        `keyed` gives a database that is made now a key of its own for the ids of edges.
        """


class RestoreBackup(Protocol):
    """Makes a database at a directory from a back-up, all or nothing."""

    def __call__(
        self, source: Path, target: Path, *, at: int | None = None, overwrite: bool = False
    ) -> RestoreReport:
        """The last back-up, or the last one made by a time (epoch ns)."""


@dataclass(frozen=True, slots=True)
class BackendRow:
    """A kind of backend, and what can be said of a location of its own.

    `directory` is where on this machine its configuration and its search index are. `exists`
    says whether there is a database; neither makes anything. `check_modes` refuses one that other
    users of the machine may read or change. `open` makes what is missing. `restore` makes a
    database from a back-up; None where a backend has none. `shown` is a location for messages,
    without a password. `tables` opens it to be copied, whether finished or not, and makes what is
    missing; None where there are none.
    """

    name: str
    scheme: str
    directory: Callable[[str], Path]
    exists: Callable[[str], bool]
    open: OpenBackend
    check_modes: Callable[[str], None] = lambda _: None
    restore: RestoreBackup | None = None
    shown: Callable[[str], str] = str
    tables: Callable[[str], CopiedTables] | None = None

    def open_checked(self, location: str, *, modes: bool, closed: bool, keyed: bool) -> Backend:
        """The open backend; with `modes`, only if nobody else may read it."""
        if modes:
            self.check_modes(location)
        return self.open(location, closed=closed, keyed=keyed)


def _open_postgres(location: str, *, closed: bool = False, keyed: bool = True) -> Backend:
    opened: Backend = _postgres().PostgresBackend(location, closed=closed, keyed=keyed)
    return opened


def _postgres_exists(location: str) -> bool:
    return bool(_postgres().database_exists(location))


def _postgres_tables(location: str) -> CopiedTables:
    opened: CopiedTables = _postgres().open_tables(location)
    return opened


def _postgres() -> ModuleType:
    """The backend on PostgreSQL, which comes with an extra."""
    try:
        from redask.stores.postgres import postgres_backend
    except ImportError:
        raise Misconfigured(
            "a database on PostgreSQL needs its driver: pip install 'redask[postgres]'",
            detail="location",
        ) from None
    return postgres_backend


BACKENDS = {
    row.scheme: row
    for row in (
        BackendRow(
            *("sqlite", "", Path, database_exists, SqliteBackend, check_modes, restore),
            tables=open_tables,
        ),
        BackendRow(
            *("postgresql", "postgresql", pg_location.local_directory, _postgres_exists),
            open=_open_postgres,
            check_modes=pg_location.check_modes,
            shown=pg_location.shown,
            tables=_postgres_tables,
        ),
    )
}
_ALIASES = {"postgres": "postgresql"}


def backend_for(location: str) -> BackendRow:
    """The row of a location, or `Misconfigured`."""
    if "\0" in location:
        raise Misconfigured("the location of a database holds a NUL character")
    found = _SCHEME.match(location)
    scheme = found[1].lower() if found else ""
    scheme = _ALIASES.get(scheme, scheme)
    if scheme not in BACKENDS:
        known = ", ".join(f"{each}://" for each in sorted(BACKENDS) if each)
        raise Misconfigured(
            f"no backend knows {scheme}:// locations: a database is a directory"
            + (f", or {known}" if known else ""),
            detail="location",
        )
    return BACKENDS[scheme]
