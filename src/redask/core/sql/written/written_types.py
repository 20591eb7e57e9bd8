"""Which types are kept as PostgreSQL writes them, how a text becomes one, and what may be done.

    type                                  =, <>, DISTINCT    order
    bytea                                 yes                yes
    timetz, inet, cidr, macaddr           yes                refused
    point                                 refused            refused
    ranges and multiranges                yes                refused
      of numerics                         =, <> by value     refused, and as a key too

`read_written` gives the one spelling of a value. A moment is kept in UTC, whatever the zone of the
session is; what is not in `read_written`'s rules is refused by its reader.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from redask.core.sql.runtime import spelling
from redask.core.sql.types import SqlType
from redask.core.sql.written.byte_strings import read_bytea
from redask.core.sql.written.networks import read_cidr, read_inet, read_macaddr
from redask.core.sql.written.points import read_point
from redask.core.sql.written.ranges import (
    BoundType,
    joined,
    made_range,
    multirange_text,
    parsed_multirange,
    parsed_range,
    range_text,
    read_multirange,
    read_range,
)
from redask.core.sql.written.zoned_times import read_timetz

RANGES = {
    "int4range": "int4",
    "int8range": "int8",
    "numrange": "numeric",
    "daterange": "date",
    "tsrange": "timestamp",
    "tstzrange": "timestamptz",
}
MULTIRANGES = {name.replace("range", "multirange"): name for name in RANGES}
WRITTEN = frozenset(("bytea", "timetz", "inet", "cidr", "macaddr", "point", *RANGES, *MULTIRANGES))
ZONED = frozenset(("tstzrange", "tstzmultirange"))  # written in the session's zone
BY_VALUE = frozenset(("numrange", "nummultirange"))  # equal values may be written differently
UNEQUAL = frozenset(("point",))  # PostgreSQL has no = for them
ReadText = Callable[[str, SqlType, str], Any]  # as `literals.read`
_PLAIN: dict[str, Callable[[str], str]] = {
    "bytea": read_bytea,
    "inet": read_inet,
    "cidr": read_cidr,
    "macaddr": read_macaddr,
}


def bounds_of(name: str) -> str:
    """The type of the bounds of a range or a multirange."""
    return RANGES[MULTIRANGES.get(name, name)]


def bound_type(name: str, read: ReadText, zone: str = "UTC") -> BoundType:
    """How the bounds of a range or a multirange are read and written."""
    kind = SqlType(bounds_of(name))
    return BoundType(
        kind.name,
        lambda text: read(text, kind, zone),
        partial(_bound_text, kind=kind),
    )


def _bound_text(value: object, kind: SqlType) -> str:
    return spelling.value_text(value, kind)


def read_written(text: str, name: str, zone: str, read: ReadText) -> str:
    """The spelling of the value that PostgreSQL reads from a text, or SqlError."""
    if name in RANGES:
        return read_range(text, bound_type(name, read, zone))
    if name in MULTIRANGES:
        return read_multirange(text, bound_type(name, read, zone))
    if name == "point":
        return read_point(text, lambda each: float(read(each, SqlType("float8"), zone)))
    return read_timetz(text, zone) if name == "timetz" else _PLAIN[name](text)


def constructed_range(
    name: str, lower: str | None, upper: str | None, flags: str | None, read: ReadText
) -> str:
    """int4range(lower, upper, flags) and the like, of the bounds' texts."""
    kind = bound_type(name, read)
    low, high = (None if each is None else kind.read(each) for each in (lower, upper))
    return range_text(made_range(low, high, flags, kind), kind)


def constructed_multirange(name: str, ranges: list[str], read: ReadText) -> str:
    """int4multirange(range, …), of the ranges' texts."""
    kind = bound_type(name, read)
    return multirange_text(joined([parsed_range(each, kind) for each in ranges]), kind)


def in_zone(written: str, name: str, read: ReadText, write: Callable[[Any], str]) -> str:
    """A range or multirange with its bounds written otherwise."""
    kind = bound_type(name, read)._replace(write=write)
    if name in RANGES:
        return range_text(parsed_range(written, kind), kind)
    return multirange_text(parsed_multirange(written, kind), kind)


def value_key(written: str, name: str, read: ReadText) -> str:
    """A text that is the same for equal ranges of numerics: 1.50 is 1.5."""
    return in_zone(written, name, read, lambda value: format(value.normalize(), "f"))
