"""What the tables of `relational` need of a database: `SqlDatabase`, `SqlConnection`, as Protocols.

Every transaction says whose rows it is about: those of one tenant, by name, or of `EVERY_TENANT`
(what no caller asked for: checks, the logs' own upkeep, signing in). SQLite does without it; in
PostgreSQL row level security shows nothing else, and nothing at all to who does not say it. Who is
asked for one tenant's rows or for all (`tenant: str | None`) says `rows_of(tenant)`.

    reading     a connection nobody else uses meanwhile; fetch everything before leaving
    snapshot    the same in one state of the database, however long it is read; rows may be
                fetched page by page
    writing     a transaction: durable when left, rolled back on any exception. Nobody else writes
                to this tenant (to any, for `EVERY_TENANT`) until it ends
    examining   reading; texts may come as bytes, for they may be damaged
    rewrite     leaves nothing of what was deleted in the database's own files
    place       which database this is, as long as nobody copies it
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from enum import Enum
from typing import Any, Final, Protocol


class Every(Enum):
    """Not one tenant's rows, but all."""

    TENANT = "every tenant"


EVERY_TENANT: Final = Every.TENANT
Whose = str | Every


def rows_of(tenant: str | None) -> Whose:
    """Those of a tenant, or (None) all."""
    return EVERY_TENANT if tenant is None else tenant


class SqlCursor(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """How many rows it wrote."""

    def fetchone(self) -> Any:
        """The next row, or None."""

    def fetchall(self) -> list[Any]:
        """The rows that are left."""

    def fetchmany(self, size: int = 1) -> list[Any]:
        """The next rows, so many at most; none at the end."""

    def __iter__(self) -> Iterator[Any]:
        """The rows that are left, one by one."""


class SqlConnection(Protocol):
    """A connection inside a transaction.

    `urn_order` are the columns that put entities into the order of their URNs by an index;
    `urn_after` is true of those between the parameters ?3 and ?4, and is found by it, too.
    """

    urn_order: str
    urn_after: str

    def execute(self, statement: str, parameters: Any = (), /) -> SqlCursor:
        """Run a statement."""

    def stream(self, statement: str, parameters: Any = (), /) -> SqlCursor:
        """Run a query whose rows are fetched page by page, however many there are."""

    def executemany(self, statement: str, parameters: Any, /) -> SqlCursor:
        """Run a statement for each set of parameters."""

    def new_keys(self, count: int) -> Sequence[int]:
        """Keys that no entity of any tenant ever had, in their order."""

    def keep_seen(self) -> None:
        """See that there is a table `ingest_seen`, whose rows this process alone sees."""

    def keep_answers(self) -> None:
        """Let nobody else write cached answers until this transaction ends."""

    def today(self, day: int) -> int:
        """The UTC day by the clock that all processes go by: the database's own, else `day`."""

    def not_after_today(self, day: int) -> int:
        """A UTC day, or today by the database's own clock, if that is one that others go by.

        A process whose clock is ahead must not take others' day for over.
        """

    def admit_only(self, classes: str) -> None:
        """Let the database itself show no entity of other policy classes; empty: of all.

        A second lock behind `visibility`, where there is one: see `postgres.row_security`.
        """

    def columns_of(self, table: str) -> list[str]:
        """The columns of a table that can be written."""

    def bring(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Write rows of another database, which has the same tables; see `copying`."""

    def number_on(self) -> None:
        """Let new rows be numbered after those that were brought."""

    def schema_version(self) -> int:
        """How many migrations there were."""

    def complaints(self) -> list[str]:
        """What the database itself finds wrong with its tables and their references."""


class SqlDatabase(Protocol):
    """An open database; every method is for any thread."""

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""

    def reading(self, whose: Whose, /) -> AbstractContextManager[SqlConnection]:
        """See above."""

    def snapshot(
        self, whose: Whose, /, *, damaged: bool = False
    ) -> AbstractContextManager[SqlConnection]:
        """See above; texts that are `damaged`, and no UTF-8 any more, come as surrogates."""

    def writing(self, whose: Whose, /) -> AbstractContextManager[SqlConnection]:
        """See above."""

    def examining(self, whose: Whose, /) -> AbstractContextManager[SqlConnection]:
        """See above."""

    def rewrite(self) -> None:
        """See above."""

    def place(self) -> str:
        """See above."""
