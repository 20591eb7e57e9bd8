"""Constants that DuckDB has no value for, and that can be shown all the same.

    read_shown("{{1,2},{3,4}}", int4[])      [[1, 2], [3, 4]]        an array of arrays
    read_shown("infinity", date)             "infinity"              see `wide_dates`
    read_shown("NaN", numeric)               Decimal("NaN")
    read_shown("ab", bpchar(3))              "ab "

Such a value can be an item of the select list, be cast to text, and be compared with another one
by = and <>. Everything else refuses it by name (`casting/shown_constants.py`).
"""

from decimal import Decimal

from redask.core.errors import SqlError
from redask.core.sql import literals
from redask.core.sql.array_input import split_nested
from redask.core.sql.runtime import spelling
from redask.core.sql.runtime.dates.wide_dates import read_wide
from redask.core.sql.types import SqlType

_WIDE = ("date", "timestamp", "timestamptz")
_SPECIAL = {"nan": "NaN", "inf": "Infinity", "infinity": "Infinity"}
_SPECIAL |= {f"-{word}": f"-{name}" for word, name in _SPECIAL.items() if word != "nan"}
# of which equal values are equal in Python, and no others
_COMPARED = frozenset("int2 int4 int8 text varchar bool uuid numeric date timestamp".split())


def read_shown(text: str, kind: SqlType, zone: str) -> object:
    """The value of a text; None where there is none of these."""
    if kind.is_array:
        return _read_nested(split_nested(text), kind.element, zone)
    if kind.name in _WIDE and not kind.modifier:
        is_utc = zone == "UTC" or kind.name != "timestamptz"
        return read_wide(text, kind.name) if is_utc else None
    if kind.name == "numeric" and not kind.modifier:
        special = _SPECIAL.get(text.strip().lower())
        return None if special is None else Decimal(special)
    return None


def _read_nested(items: list[object], kind: SqlType, zone: str) -> object:
    found: list[object] = []
    for each in items:
        if isinstance(each, list):
            found.append(_read_nested(each, kind, zone))
        else:
            found.append(None if each is None else _read_one(str(each), kind, zone))
    return found


def _read_one(text: str, kind: SqlType, zone: str) -> object:
    if kind.name == "bpchar" and kind.modifier:
        return padded(text, kind)
    try:
        return literals.read(text, kind, zone)
    except SqlError as error:
        shown = read_shown(text, kind, zone) if error.sqlstate == "0A000" else None
        if shown is None:
            raise
        return shown


def padded(text: str, kind: SqlType) -> str:
    """A text cast to character(n)."""
    return text[: kind.modifier[0]].ljust(kind.modifier[0])


def is_nested(value: object) -> bool:
    """Whether it is an array of arrays."""
    return isinstance(value, list) and any(isinstance(each, list) for each in value)


def shown_text(value: object, kind: SqlType) -> str:
    """The value cast to text."""
    if isinstance(value, list):
        return _array_text(value, kind)
    if kind.name == "bpchar":
        return str(value).rstrip(" ")
    return str(value)


def _array_text(value: list[object], kind: SqlType) -> str:
    parts = []
    for each in value:
        if isinstance(each, list):
            parts.append(_array_text(each, kind))
        elif isinstance(each, str):
            parts.append(spelling.element_text(each))
        else:
            parts.append(spelling.value_text([each], kind)[1:-1])
    return "{" + ",".join(parts) + "}"


def are_equal(one: object, other: object, kind: SqlType) -> bool | None:
    """Whether = is true of two values of a type; None where we do not know."""
    if kind.name not in _COMPARED:
        return None
    if isinstance(one, Decimal) and isinstance(other, Decimal) and one.is_nan():
        return other.is_nan()  # to PostgreSQL they are equal
    return one == other
