"""SELECT over collections as tables; no part of a backend.

A type is PostgreSQL's, as text: `str(SqlType)`, such as `int8`, `numeric(18,2)` or `text[]`.

    value                                type
    bool int float str                   bool; int2 int4 int8; float4 float8; text and its like
    Decimal                              numeric
    date, time                           date, time
    datetime without, with a zone        timestamp; timestamptz, in UTC
    UUID                                 uuid
    str in PostgreSQL's spelling         json jsonb interval
    list of these                        an array
    None                                 NULL, of every type
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from redask.core.model import Caller
from redask.core.planning.plan_schema import PlanSchema, StoredValue

SELECT_MS, SELECT_ROWS = 5_000, 10_000
SELECT_BYTES = 1 << 30
Columns = tuple[tuple[str, str], ...]  # names and types; PostgreSQL allows a name twice


@dataclass(frozen=True, slots=True)
class SelectShape:
    """What a SELECT gives and takes, before it runs: its columns, the types of its parameters.

    `tables` are what it reads, each a schema and a name.
    """

    columns: Columns
    parameters: tuple[str, ...] = ()
    tables: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SelectResult:
    """What a SELECT gave."""

    columns: Columns
    rows: list[tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class SelectPage:
    """Some rows of a long result: how many, and their list as a pickle, which is not read twice."""

    columns: Columns
    count: int
    rows: bytes


class KeptRows(Protocol):
    """The rows of a result that is kept until it is closed; reading them may wait for a disk."""

    def __len__(self) -> int:
        """How many rows there are."""

    @property
    def in_memory(self) -> bool:
        """Whether reading waits for nothing."""

    def read(self, start: int, stop: int) -> Sequence[Sequence[object]]:
        """The first of the rows from `start` to `stop`: at least one, if there is one."""

    def close(self) -> None:
        """Let go of the rows; twice is fine."""


@dataclass(frozen=True, slots=True)
class KeptResult:
    """What a SELECT gave, however long it is; close its rows."""

    columns: Columns
    rows: KeptRows


@dataclass(frozen=True, slots=True)
class TableShape:
    """A collection as a caller's table, with names and types of its columns."""

    name: str
    columns: Columns


class Cancellation(Protocol):
    """Whether the caller has left; a `threading.Event`, for one."""

    def is_set(self) -> bool:
        """Whether nobody waits for the result any more."""


class AttachedStatements(Protocol):
    """Runs statements of computed questions where their tables are, if that is elsewhere."""

    def run(
        self,
        sql: str,
        caller: Caller,
        *,
        timeout_ms: int = SELECT_MS,
        max_rows: int = SELECT_ROWS,
        cancelled: Cancellation | None = None,
    ) -> SelectResult | None:
        """The rows of a statement over attached tables; None for any other statement.

        `SqlError` says why one is not run there.
        """


class Selector(Protocol):
    """Runs SELECTs over what a caller may see of the collections; each a table of its own.

    `declared` are the types of the first parameters as the client gave them, None where it did
    not. `facts` are what the session knows: current_user, current_database, its settings.
    """

    def select(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        *,
        declared: Sequence[str | None] = (),
        facts: Mapping[str, str] | None = None,
        timeout_ms: int = SELECT_MS,
        max_rows: int = SELECT_ROWS,
        cancelled: Cancellation | None = None,
    ) -> SelectResult:
        """The rows of a SELECT."""

    def select_json(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        *,
        browsers: bool,
        timeout_ms: int = SELECT_MS,
        max_rows: int = SELECT_ROWS,
        cancelled: Cancellation | None = None,
    ) -> Iterable[bytes]:
        """The same as JSON, in pieces: see `wire.row_json`. For one thread."""

    def select_pages(
        self,
        sql: str,
        params: Sequence[object],
        caller: Caller,
        *,
        declared: Sequence[str | None] = (),
        facts: Mapping[str, str] | None = None,
        timeout_ms: int = SELECT_MS,
        max_bytes: int = SELECT_BYTES,
        cancelled: Cancellation | None = None,
    ) -> Iterator[SelectPage]:
        """The same in pages, at least one, of which only one is in memory; for one thread.

        `LimitExceeded` once their pickles have more than `max_bytes`.
        """

    def describe(
        self,
        sql: str,
        caller: Caller,
        *,
        declared: Sequence[str | None] = (),
        facts: Mapping[str, str] | None = None,
        timeout_ms: int = SELECT_MS,
        cancelled: Cancellation | None = None,
    ) -> SelectShape:
        """What a SELECT would give, and what its parameters are."""

    def tables(self, caller: Caller) -> list[TableShape]:
        """What the caller can SELECT from, by name."""

    def plan_schema(self, caller: Caller) -> PlanSchema:
        """The tables that the caller may plan a SELECT with, counted in what the caller reads."""

    def find_values(
        self, texts: Sequence[str], caller: Caller
    ) -> Mapping[str, tuple[StoredValue, ...]]:
        """The text values that the caller reads and that are equal to these: see `ValueIndex`."""

    def catch_up(self, caller: Caller) -> None:
        """Bring the tables up to date, however long that takes."""

    def canonical(self, sql: str) -> str:
        """The one spelling of a SELECT that was described; rows that tie at its LIMIT belong."""

    def fix_type(self, column: str, type_name: str | None, caller: Caller) -> None:
        """Fix the type of a column, `table.column`, or (None) take it from the data; for owners."""

    def close(self) -> None:
        """Let go of what is kept."""
