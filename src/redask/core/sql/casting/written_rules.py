"""Functions of the types of `written`, and what compares their values; the rest is refused."""

from collections.abc import Callable
from functools import partial

from redask.core.sql.binder.bound import (
    INT4,
    TEXT,
    Bound,
    fail,
    made,
    numeric_text,
    unsupported,
)
from redask.core.sql.functions.overloads import Overload
from redask.core.sql.types import SqlType
from redask.core.sql.written.written_types import (
    BY_VALUE,
    MULTIRANGES,
    RANGES,
    UNEQUAL,
    WRITTEN,
    ZONED,
)

_BYTES = SqlType("bytea")
_ORDERED = frozenset(("bytea",))


def key(value: Bound) -> str:
    """What is equal for equal values; an array of such for an array."""
    if value.type.name in UNEQUAL:
        unsupported(f"a comparison of {value.type.sql_name}", value.location)
    if value.type.name not in BY_VALUE:
        return value.sql
    each = f"pg_range_key({{}}, '{value.type.name}')".format
    if value.type.is_array:
        return f"list_transform({value.sql}, lambda x: {each('x')})"
    return each(value.sql)


def refuse_unless_equal(kind: SqlType, name: str, location: int) -> None:
    """Refuse an operator of arrays, unless it only asks which elements are equal."""
    is_order = kind.name in WRITTEN - _ORDERED and name in ("<", ">", "<=", ">=")
    is_found = kind.name in BY_VALUE and name not in ("=", "<>", "||")
    if is_order or is_found or (kind.name in UNEQUAL and name != "||"):
        unsupported(f"the operator {name} of {kind.sql_name}", location)


def refuse_order(value: Bound) -> None:
    """Refuse to sort, or take the least of, what is only compared for being equal."""
    if value.type.name in WRITTEN - _ORDERED:
        unsupported(f"the order of {value.type.sql_name}", value.location)


def refuse_as_key(value: Bound, what: str) -> None:
    """Refuse values where equal ones may be written differently."""
    if value.type.name in BY_VALUE | UNEQUAL:
        unsupported(f"{what} {value.type.sql_name}", value.location)


def refuse_missing(what: str, values: list[Bound], location: int) -> None:
    """Refuse by name what PostgreSQL may have for these types and we have not."""
    if any(each.type.name in WRITTEN for each in values):
        unsupported(what, location)


def _range(name: str) -> list[Overload]:
    bound = SqlType(RANGES[name])
    takes = (bound, bound, TEXT)
    emit = partial(_made_range, name)
    return [
        Overload(takes[:2], SqlType(name), emit, strict=False),
        Overload(takes, SqlType(name), emit, strict=False),
    ]


def _made_range(name: str, lower: Bound, upper: Bound, flags: Bound | None = None) -> Bound:
    texts = [_bound_text(each) for each in (lower, upper)]
    given = "'[)'" if flags is None else flags.sql
    text = f"pg_make_range('{name}', {texts[0]}, {texts[1]}, {given})"
    return made(text, SqlType(name), lower, upper, *([] if flags is None else [flags]))


def _bound_text(value: Bound) -> str:
    """A bound as `literals.read` reads it; moments are in UTC."""
    return numeric_text(value) if value.type.name == "numeric" else f"CAST({value.sql} AS VARCHAR)"


def _multirange(name: str) -> list[Overload]:
    one = SqlType(MULTIRANGES[name])
    emit: Callable[..., Bound] = partial(_made_multirange, name)
    return [
        Overload((), SqlType(name), emit),
        Overload((one,), SqlType(name), emit),
        Overload((one, one), SqlType(name), emit, variadic=True),
    ]


def _made_multirange(name: str, *ranges: Bound) -> Bound:
    if len(ranges) > 1 and any(each.is_null for each in ranges):
        fail("22004", "multirange values cannot contain null members")
    listed = ", ".join(each.sql for each in ranges)
    text = f"pg_make_multirange('{name}', CAST([{listed}] AS VARCHAR[]))"
    return made(text, SqlType(name), *ranges)


def check_zone(kind: SqlType, zone: str, location: int) -> None:
    """Refuse to write in text what would have to be in the session's zone."""
    if kind.name in ZONED and zone != "UTC":
        unsupported(f"a text of {kind.sql_name} in a session whose zone is not UTC", location)


FUNCTIONS: dict[str, list[Overload]] = {
    **{name: _range(name) for name in RANGES},
    **{name: _multirange(name) for name in MULTIRANGES},
    "set_byte": [Overload((_BYTES, INT4, INT4), _BYTES, "pg_set_byte({0}, {1}, {2})")],
    **{
        name: [Overload((_BYTES,), INT4, "CAST((length({0}) - 2) // 2 AS INTEGER)")]
        for name in ("length", "octet_length")
    },
}
