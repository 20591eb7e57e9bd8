"""Functions of dates and times."""

from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import (
    BOOL,
    FLOAT8,
    INT4,
    NUMERIC,
    TEXT,
    Bound,
    fail,
    made,
    unsupported,
)
from redask.core.sql.binder.coercion import constant
from redask.core.sql.binder.overloads import Overload
from redask.core.sql.binder.runtime_calls import ours
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_DATE, _TIME, _STAMP, _ZONED, _SPAN = (
    SqlType(each) for each in ("date", "time", "timestamp", "timestamptz", "interval")
)
_UNITS = {
    **{each: each for each in (
        "year", "quarter", "month", "week", "day", "hour", "minute", "second", "decade",
        "century", "millennium")},
    "years": "year", "months": "month", "weeks": "week", "days": "day", "hours": "hour",
    "minutes": "minute", "seconds": "second", "milliseconds": "milliseconds",
    "microseconds": "microseconds", "qtr": "quarter", "mon": "month", "mons": "month",
}  # fmt: skip
# fields of EXTRACT whose value is DuckDB's
_FIELDS = {
    **{each: each for each in ("year", "quarter", "month", "week", "day", "dow", "isodow", "doy",
                               "isoyear", "hour", "minute", "decade", "century", "millennium")},
    "years": "year", "months": "month", "weeks": "week", "days": "day", "hours": "hour",
    "minutes": "minute", "mon": "month", "mons": "month", "qtr": "quarter",
}  # fmt: skip
_OF_TIME = frozenset(("hour", "minute", "second", "milliseconds", "microseconds"))


def _date_trunc(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) != 2 or values[0].literal is None:
        if len(values) == 2:
            unsupported("date_trunc with a unit that is no literal", location)
        return None
    value = values[1]
    if value.is_untyped or value.type.name == "date":
        value = self.coercion.coerce(value, _ZONED)
    if value.type.name not in ("timestamp", "timestamptz"):
        unsupported(f"date_trunc of {value.type.sql_name}", location)
    unit = _UNITS.get(values[0].literal.strip().lower())
    if unit is None:
        fail(
            "22023",
            f'unit "{values[0].literal}" not recognized for type {value.type.sql_name}',
            location,
        )
    return made(f"CAST(date_trunc('{unit}', {value.sql}) AS TIMESTAMP)", value.type, value)


def _extract(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    """extract(field from x), a numeric whose scale the field decides."""
    if len(values) != 2 or values[0].literal is None:
        return None
    field = values[0].literal.strip().lower()
    value = values[1]
    if value.is_untyped:
        value = self.coercion.coerce(value, _ZONED)
    kind = value.type.name
    if kind not in ("date", "time", "timestamp", "timestamptz", "interval"):
        return None
    plain = _FIELDS.get(field)
    if kind == "interval":
        return _of_interval(value, field, location)
    if kind == "date" and (field in ("second", "seconds", "milliseconds", "microseconds")
                           or plain in _OF_TIME):  # fmt: skip
        fail("0A000", f'unit "{field}" not supported for type date', location)
    if kind == "time" and plain is not None and plain not in _OF_TIME:
        fail("0A000", f'unit "{field}" not supported for type {value.type.sql_name}', location)
    if plain is not None:
        text = f"CAST(date_part('{plain}', {value.sql}) AS DECIMAL(10,0))"
        return made(text, NUMERIC, value, digits=(10, 0))
    micros = f"CAST(date_part('microseconds', {value.sql}) AS DECIMAL(10,0))"
    if field in ("second", "seconds"):
        text = f"({micros} * CAST('0.000001' AS DECIMAL(7,6)))"
        return made(text, NUMERIC, value, digits=(17, 6))
    if field == "milliseconds":
        return made(
            f"({micros} * CAST('0.001' AS DECIMAL(4,3)))", NUMERIC, value, digits=(14, 3)
        )
    if field == "microseconds":
        return made(micros, NUMERIC, value, digits=(10, 0))
    if field == "epoch":
        if kind == "date":
            text = f"CAST(epoch_us(CAST({value.sql} AS TIMESTAMP)) // 1000000 AS DECIMAL(18,0))"
            return made(text, NUMERIC, value, digits=(18, 0))
        text = f"(CAST(epoch_us({value.sql}) AS DECIMAL(19,0)) * CAST('0.000001' AS DECIMAL(7,6)))"
        return made(text, NUMERIC, value, digits=(26, 6))
    return unsupported(f'the field "{field}" of {value.type.sql_name}', location)


def _of_interval(value: Bound, field: str, location: int) -> Bound:
    plain = _FIELDS.get(field)
    if plain in ("year", "month", "day", "hour", "minute", "quarter"):
        text = f"CAST(date_part('{plain}', {value.sql}) AS DECIMAL(10,0))"
        return made(text, NUMERIC, value, digits=(10, 0))
    if field in ("second", "seconds"):
        micros = f"CAST(date_part('microseconds', {value.sql}) AS DECIMAL(10,0))"
        text = f"({micros} * CAST('0.000001' AS DECIMAL(7,6)))"
        return made(text, NUMERIC, value, digits=(17, 6))
    return unsupported(f'the field "{field}" of interval', location)


def _date_part(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    found = _extract(self, values, location)
    return None if found is None else self.coercion.coerce(found, FLOAT8)


def _now(type: SqlType) -> object:
    def call(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
        if values:
            return None
        return constant(self.context.facts.now.replace(tzinfo=None), type, location)

    return call


def _age(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) == 1:
        today = self.context.facts.now.replace(tzinfo=None, hour=0, minute=0, second=0,
                                               microsecond=0)  # fmt: skip
        values = [constant(today, _STAMP, location), *values]
    if len(values) != 2:
        return None
    cast = [self.coercion.coerce(each, _ZONED) for each in values]
    return ours("pg_age", _SPAN)(*cast)


def _timezone(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    """x AT TIME ZONE zone: the other way round for timestamptz."""
    if len(values) != 2:
        return None
    zone, value = values
    if value.is_untyped or value.type.name == "date":
        value = self.coercion.coerce(value, _ZONED)
    if value.type.name not in ("timestamp", "timestamptz"):
        return None
    is_zoned = value.type.name == "timestamptz"
    gives = _STAMP if is_zoned else _ZONED
    if zone.type.name == "interval":
        return ours("pg_to_local_by" if is_zoned else "pg_to_utc_by", gives)(value, zone)
    text = self.coercion.coerce(zone, TEXT)
    return ours("pg_to_local" if is_zoned else "pg_to_utc", gives)(value, text)


FUNCTIONS: dict[str, list[Overload]] = {
    "justify_days": [Overload((_SPAN,), _SPAN, ours("pg_justify_days", _SPAN))],
    "justify_hours": [Overload((_SPAN,), _SPAN, ours("pg_justify_hours", _SPAN))],
    "justify_interval": [Overload((_SPAN,), _SPAN, ours("pg_justify_interval", _SPAN))],
    "isfinite": [
        Overload((each,), BOOL, "isfinite({0})") for each in (_DATE, _STAMP, _ZONED)
    ],
}
SPECIAL = {
    "date_trunc": _date_trunc,
    "extract": _extract,
    "date_part": _date_part,
    "now": _now(_ZONED),
    "transaction_timestamp": _now(_ZONED),
    "statement_timestamp": _now(_ZONED),
    "clock_timestamp": _now(_ZONED),
    "age": _age,
    "timezone": _timezone,
}
assert INT4 and _TIME
