"""What binding one statement needs and collects: `Context`; the caller's tables: `Schema`."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from redask.core.sql.binder.bound import Read, TreeNode, unsupported
from redask.core.sql.binder.coercion import Coercion
from redask.core.sql.binder.namespace import RelationColumn, Scope
from redask.core.sql.types import SqlType


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table that the caller can read: columns with the names they have in DuckDB."""

    schema: str
    name: str
    columns: tuple[tuple[str, SqlType, str], ...]


class Schema(Protocol):
    """The tables of one caller."""

    def table(self, schema: str | None, name: str) -> TableDefinition | None:
        """The table of that name; None when there is none. Raises `Denied`."""

    def oid(self, schema: str | None, name: str) -> int | None:
        """The OID of a table that the caller can name; None when there is none."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What functions of the session tell: who asks, where, when, and the run-time parameters."""

    user: str = ""
    database: str = ""
    now: datetime = datetime(2000, 1, 1, tzinfo=UTC)
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def interval_style(self) -> str:
        """How the session writes intervals."""
        return self.settings.get("IntervalStyle", "postgres")

    @property
    def zone(self) -> str:
        """The time zone of the session."""
        return self.settings.get("TimeZone", "UTC")


@dataclass(frozen=True, slots=True)
class BoundQuery:
    """A query: its text without names, and its output columns `o1`, `o2` …

    The columns' `sql` is the output name in that text. `outer` are the columns of queries around
    that it reads.
    """

    sql: str
    columns: tuple[RelationColumn, ...]
    outer: tuple[Read, ...] = ()
    untyped: tuple[bool, ...] = ()


class BindingContext:
    """One statement being bound. `tables` are those it reads, in the order of their markers.

    `source` is the statement's text: the parser is younger than PostgreSQL 15, and reads `0x1F`.
    """

    def __init__(
        self,
        schema: Schema,
        coercion: Coercion,
        facts: Facts,
        query: Callable[[TreeNode, Scope], BoundQuery],
        source: bytes,
    ) -> None:
        self.schema = schema
        self.coercion = coercion
        self.facts = facts
        self.query = query
        self.source = source
        self.tables: list[TableDefinition] = []
        self._numbers = itertools.count(1)

    def alias(self, letter: str) -> str:
        """A new name in the generated text."""
        return f"{letter}{next(self._numbers)}"

    def marker(self, table: TableDefinition) -> str:
        """What stands for a table in the generated text until it is made."""
        if table not in self.tables:
            self.tables.append(table)
        return f"\0{self.tables.index(table)}\0"

    def oid(self, schema: str | None, name: str) -> int | None:
        """The OID of a table that the caller can name."""
        return self.schema.oid(schema, name)

    def classes(self) -> str:
        """What stands for pg_class: `c1` is its oid, `c2` its relname."""
        return self.catalogue("pg_class")

    def catalogue(self, name: str) -> str:
        """What stands for a table of pg_catalog."""
        table = self.schema.table("pg_catalog", name)
        if table is None:
            unsupported("a look-up in the catalogue")
        return self.marker(table)
