"""What binding an expression gives: `Bound`, DuckDB text with PostgreSQL's type.

`digits` says how a numeric is kept: (p, s) is DECIMAL(p,s); None is VARCHAR in PostgreSQL's
spelling, where each value has its own scale. `columns` are the columns that it reads outside of
aggregates, by the depth of their query: GROUP BY is checked with them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from redask.core.errors import SqlError
from redask.core.sql.types import SqlType

TreeNode = dict[str, Any]  # a node of the syntax tree, as JSON gives it
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
    """A column that was read: how deep its query is, its name for messages, its place, its text."""

    depth: int
    name: str
    location: int
    sql: str


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value that can only be shown (`casting/shown_constants.py`)."""

    value: object


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
    shown: ShownValue | None = field(default=None, compare=False)  # see `is_shown`
    name: str = field(default="?column?", compare=False)  # of an output column

    @property
    def is_untyped(self) -> bool:
        """An untyped literal, NULL or parameter: takes the type that its context wants."""
        return self.type.name == "unknown" and not self.type.is_array

    @property
    def is_shown(self) -> bool:
        """Whether its text is still the mark of what is shown."""
        return self.shown is not None and self.sql.startswith("\2")

    def like(self, sql: str, *others: "Bound", type: SqlType | None = None,
             digits: tuple[int, int] | None = None) -> "Bound":  # fmt: skip
        """Another expression made of this one and others."""
        return made(sql, type or self.type, self, *others, digits=digits, location=self.location)


class Parameters:
    """The parameters of a statement: declared types, else the first that a context wants.

    `scales` are those of numeric values, `shown` the values that can only be shown, where the
    values are known.
    """

    def __init__(
        self,
        types: dict[int, SqlType],
        scales: Mapping[int, tuple[int, int]],
        shown: Mapping[int, Callable[[SqlType, int], "Bound"]] | None = None,
    ) -> None:
        self.types = types
        self.scales = scales
        self.shown = shown or {}
        self.numbers: set[int] = set()

    def typed(self, number: int, location: int) -> Bound:
        self.numbers.add(number)
        known = self.types.get(number)
        if known is None:
            return Bound(f"${number}", SqlType("unknown"), parameter=number, location=location)
        if number in self.shown:
            return self.shown[number](known.bare, location)
        digits = self.scales.get(number) if known.name == "numeric" else None
        kept = f"DECIMAL({digits[0]},{digits[1]})" if digits else known.bare.duckdb_type
        return Bound(f"CAST(${number} AS {kept})", known.bare, digits, location=location)

    def settle(self, number: int, type: SqlType, location: int) -> Bound:
        self.types.setdefault(number, type.bare)
        return self.typed(number, location)


def made(
    sql: str,
    type: SqlType,
    *parts: Bound,
    digits: tuple[int, int] | None = None,
    scale: int | None = None,
    location: int = -1,
) -> Bound:
    """An expression made of others: it reads what they read."""
    if len(sql) > MAX_TEXT:
        raise SqlError("54001", "statement too complex")
    columns: dict[tuple[int, str], Read] = {}
    for part in parts:
        for read in part.columns:
            columns.setdefault((read.depth, read.sql), read)
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
    precision, scale = value.digits
    if precision == scale:  # DuckDB would write no zero before the point
        return f"CAST(CAST({value.sql} AS DECIMAL({precision + 1},{scale})) AS VARCHAR)"
    return f"CAST({value.sql} AS VARCHAR)"


MAX_TEXT = 1 << 19  # characters of the text of one expression
SHORT = 160  # characters of operands that may be written again and again


def once(template: Callable[..., str], *operands: str) -> str:
    """The template's text over operands that it writes several times.

    Long operands are evaluated into a struct first, and the template is written over its fields:
    nested calls would double the text at each level otherwise.
    """
    if sum(map(len, operands)) <= SHORT:
        return template(*operands)
    return _packed(template, *operands)


def _packed(template: Callable[..., str], *operands: str) -> str:
    fields = ", ".join(f"v{place} := {text}" for place, text in enumerate(operands))
    body = template(*(f"struct_extract(pg_v, 'v{place}')" for place in range(len(operands))))
    return f"list_extract(list_transform([struct_pack({fields})], lambda pg_v: {body}), 1)"


def held(template: Callable[..., str], *values: Bound) -> str:
    """The template's text, where it writes the values inside a lambda of its own."""
    is_plain = not any(
        each.has_aggregate or each.has_window or each.has_set or "SELECT" in each.sql
        for each in values
    )
    texts = [each.sql for each in values]
    if is_plain and sum(map(len, texts)) <= SHORT:
        return template(*texts)
    return _packed(template, *texts)


def shared(*values: Bound) -> tuple[list[Bound], Callable[[Bound], Bound]]:
    """The values to be written several times, and what to do with the expression made of them."""
    if sum(len(each.sql) for each in values) <= SHORT or any(each.has_set for each in values):
        return list(values), lambda found: found
    fields = [f"v{place} := {each.sql}" for place, each in enumerate(values) if not each.is_untyped]
    read = [
        each if each.is_untyped else replace(each, sql=f"struct_extract(pg_v, 'v{place}')")
        for place, each in enumerate(values)
    ]

    def finished(found: Bound) -> Bound:
        packed = f"[struct_pack({', '.join(fields)})]"
        text = f"list_extract(list_transform({packed}, lambda pg_v: {found.sql}), 1)"
        return replace(found, sql=text)

    return read, finished


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


def only(node: TreeNode) -> tuple[str, TreeNode]:
    """The kind and the content of a node."""
    ((kind, content),) = node.items()
    return kind, content


def is_literal(node: TreeNode) -> bool:
    """Whether it is a constant that is not NULL, or a cast of one."""
    while "TypeCast" in node:
        node = node["TypeCast"]["arg"]
    return "A_Const" in node and not node["A_Const"].get("isnull")
