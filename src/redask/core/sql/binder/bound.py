"""What binding an expression gives: `Bound`, DuckDB text with PostgreSQL's type.

`digits` says how a numeric is kept: (p, s) is DECIMAL(p,s); None is VARCHAR in PostgreSQL's
spelling, where each value has its own scale. `columns` are the columns that it reads outside of
aggregates, by the depth of their query: GROUP BY is checked with them.
"""

from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from redask.core.errors import SqlError
from redask.core.sql.types import SqlType

Node = dict[str, Any]  # a node of the syntax tree, as JSON gives it
MAX_DIGITS = 38

BOOL, TEXT, UNKNOWN = SqlType("bool"), SqlType("text"), SqlType("unknown")
INT4, INT8, NUMERIC, FLOAT8 = (
    SqlType("int4"),
    SqlType("int8"),
    SqlType("numeric"),
    SqlType("float8"),
)
INTEGER_DIGITS = {"int2": 5, "int4": 10, "int8": 19, "oid": 10}


@dataclass(frozen=True, slots=True)
class Read:
    """A column that was read: how deep its query is, its name for messages, its place."""

    depth: int
    name: str
    location: int


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound expression."""

    sql: str
    type: SqlType
    digits: tuple[int, int] | None = None
    scale: int | None = None  # of a numeric kept as text, where all values have the same
    literal: str | None = None  # an untyped literal's text
    is_null: bool = False
    parameter: int = 0  # an untyped parameter's number
    integer: int | None = None  # the value of an integer constant
    columns: tuple[Read, ...] = ()
    has_aggregate: bool = False
    has_window: bool = False
    has_set: bool = False  # returns a set of rows (generate_series in a select list)
    location: int = -1
    name: str = field(default="?column?", compare=False)  # of an output column

    @property
    def is_untyped(self) -> bool:
        """An untyped literal, NULL or parameter: takes the type that its context wants."""
        return self.type.name == "unknown" and not self.type.is_array

    def like(self, sql: str, *others: "Bound", type: SqlType | None = None,
             digits: tuple[int, int] | None = None) -> "Bound":  # fmt: skip
        """Another expression made of this one and others."""
        return made(sql, type or self.type, self, *others, digits=digits, location=self.location)


def made(
    sql: str,
    type: SqlType,
    *parts: Bound,
    digits: tuple[int, int] | None = None,
    scale: int | None = None,
    location: int = -1,
) -> Bound:
    """An expression made of others: it reads what they read."""
    columns: dict[int, Read] = {}
    for part in parts:
        for read in part.columns:
            columns.setdefault(read.depth, read)
    return Bound(
        sql,
        type,
        digits,
        scale,
        columns=tuple(columns.values()),
        has_aggregate=any(part.has_aggregate for part in parts),
        has_window=any(part.has_window for part in parts),
        has_set=any(part.has_set for part in parts),
        location=location,
    )


def numeric_text(value: Bound) -> str:
    """A numeric as VARCHAR in PostgreSQL's spelling."""
    if value.digits is None:
        return value.sql
    places, scale = value.digits
    if places == scale:  # DuckDB would write `.5`
        return f"CAST(CAST({value.sql} AS DECIMAL({places + 1},{scale})) AS VARCHAR)"
    return f"CAST({value.sql} AS VARCHAR)"


def renamed(value: Bound, name: str) -> Bound:
    return replace(value, name=name)


def fail(sqlstate: str, message: str, location: int = -1, hint: str = "") -> NoReturn:
    """Refuse the statement; `location` is the node's, in bytes from 0."""
    raise SqlError(sqlstate, message, position=location + 1, hint=hint)


def unsupported(what: str, location: int = -1) -> NoReturn:
    """Refuse what PostgreSQL has and we have not."""
    fail("0A000", f"{what} is not supported", location)


def quoted(text: str) -> str:
    """A text as a literal."""
    return "'" + text.replace("'", "''") + "'"


def only(node: Node) -> tuple[str, Node]:
    """The kind and the content of a node."""
    ((kind, content),) = node.items()
    return kind, content
