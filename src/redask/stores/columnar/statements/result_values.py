"""Rows as Python's types: `converters(types, digits)` gives one function a column, or None.

Numerics are Decimals with PostgreSQL's scale, timestamptz has UTC, intervals are text already.
"""

import itertools
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

from redask.core.errors import SqlError
from redask.core.sql.binder.bound import ShownValue
from redask.core.sql.runtime.spelling import float4_text
from redask.core.sql.types import SqlType
from redask.core.sql.written.byte_strings import bytes_of

Converter = Callable[[object], object]


def output_text(column: str, type: SqlType) -> str:
    """What to select of an output column so that Python can take it."""
    if type.name == "interval" and not type.is_array:
        return f"pg_interval_text(CAST({column} AS VARCHAR))"
    if type.name == "interval":
        return f"list_transform({column}, lambda x: pg_interval_text(CAST(x AS VARCHAR)))"
    return column


def converters(
    types: Sequence[SqlType], shown: Sequence[ShownValue | None] = ()
) -> list[Converter | None]:
    """How to convert the values of each column; None: they are as they should be.

    What can only be shown did not come from DuckDB: it is put in its place here.
    """
    found = [_converter(each) for each in types]
    return [
        _constant(known.value) if known is not None else own
        for own, known in itertools.zip_longest(found, shown)
    ]


def _constant(value: object) -> Converter:
    return lambda _: value


def _converter(type: SqlType) -> Converter | None:
    one = _SINGLE.get(type.name)
    if one is None or not type.is_array:
        return one

    def several(values: object) -> object:
        assert isinstance(values, list)
        return [None if each is None else one(each) for each in values]

    return several


def _decimal(value: object) -> object:
    return value if isinstance(value, Decimal) else Decimal(str(value))


def _zoned(value: object) -> object:
    return _moment(value).replace(tzinfo=UTC)


def _moment(value: object) -> datetime:
    if not isinstance(value, datetime):
        raise SqlError("22008", "timestamp out of range")
    return value


def _date(value: object) -> object:
    if not isinstance(value, date):
        raise SqlError("22008", "date out of range")
    return value


def _float4(value: object) -> object:
    """The double with the digits that PostgreSQL shows of a real."""
    assert isinstance(value, float)
    return float(float4_text(value))


_SINGLE: dict[str, Converter] = {
    "numeric": _decimal,
    "float4": _float4,
    "timestamptz": _zoned,
    "timestamp": _moment,
    "date": _date,
    "bytea": lambda value: bytes_of(str(value)),
}
