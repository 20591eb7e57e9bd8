"""Functions of dates and times."""

from dataclasses import replace
from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import (
    BOOL,
    FLOAT8,
    INT4,
    NUMERIC,
    TEXT,
    Bound,
    made,
    numeric_text,
)
from redask.core.sql.binder.coercion import constant
from redask.core.sql.functions.overloads import Overload
from redask.core.sql.functions.runtime_calls import ours
from redask.core.sql.functions.special_functions import Special
from redask.core.sql.runtime.runtime_table import call_text
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_DATE, _TIME, _STAMP, _ZONED, _SPAN = (
    SqlType(each) for each in ("date", "time", "timestamp", "timestamptz", "interval")
)
_MOMENTS = frozenset(("date", "time", "timestamp", "timestamptz", "interval"))
# units and fields for which DuckDB gives the same
_TRUNCATED = frozenset(("day", "week", "month", "quarter", "year", "decade"))
_OF_DATES = frozenset(("year", "quarter", "month", "week", "day", "dow", "isodow", "doy"))
_WHOLE = _OF_DATES | {"hour", "minute"}
_SCALES = {"second": 6, "epoch": 6, "milliseconds": 3, "microseconds": 0}  # of what extract gives


def _date_trunc(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if not 2 <= len(values) <= 3:
        return None
    unit = self.coercion.coerce(values[0], TEXT)
    value = values[1]
    if value.is_untyped or value.type.name == "date" or len(values) == 3:
        value = self.coercion.coerce(value, _ZONED)
    if len(values) == 3:
        zone = self.coercion.coerce(values[2], TEXT)
        return ours("pg_date_trunc_in_zone", _ZONED)(unit, value, zone)
    if value.type.name not in ("timestamp", "timestamptz", "interval"):
        return None
    word = (values[0].literal or "").lower()
    if word in _TRUNCATED and value.type.name != "interval":
        return made(f"CAST(date_trunc('{word}', {value.sql}) AS TIMESTAMP)", value.type, value)
    return ours(f"pg_date_trunc_{value.type.name}", value.type)(unit, value)


def _moment(self: "Expressions", values: list[Bound]) -> Bound | None:
    """The second argument of extract and date_part."""
    if len(values) != 2:
        return None
    value = values[1]
    if value.is_untyped:
        value = self.coercion.coerce(value, _ZONED)
    return value if value.type.name in _MOMENTS else None


def _extract(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    """extract(field from x): a numeric, whose scale the field decides."""
    value = _moment(self, values)
    if value is None:
        return None
    kind, field = value.type.name, (values[0].literal or "").lower()
    if (kind in ("timestamp", "timestamptz") and field in _WHOLE) or (
        kind == "date" and field in _OF_DATES
    ):
        text = f"CAST(date_part('{field}', {value.sql}) AS DECIMAL(10,0))"
        return made(text, NUMERIC, value, digits=(10, 0))
    unit = self.coercion.coerce(values[0], TEXT)
    scale = 0 if field in _WHOLE else _SCALES.get(field) if kind != "date" else None
    return replace(ours(f"pg_extract_{kind}", NUMERIC)(unit, value), scale=scale)


def _date_part(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    value = _moment(self, values)
    if value is None:
        return None
    if value.type.name == "date":
        value = self.coercion.coerce(value, _STAMP)
    kind, field = value.type.name, (values[0].literal or "").lower()
    if field in _WHOLE and kind in ("timestamp", "timestamptz"):
        return made(f"CAST(date_part('{field}', {value.sql}) AS DOUBLE)", FLOAT8, value)
    unit = self.coercion.coerce(values[0], TEXT)
    return ours(f"pg_date_part_{kind}", FLOAT8)(unit, value)


def _to_char(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) != 2:
        return None
    value, pattern = values[0], self.coercion.coerce(values[1], TEXT)
    wanted = {
        "int2": "int8",
        "int4": "int8",
        "int8": "int8",
        "numeric": "numeric",
        "float4": "float4",
        "float8": "float8",
        "date": "timestamptz",
        "timestamp": "timestamp",
        "timestamptz": "timestamptz",
        "interval": "interval",
    }
    kind = wanted.get(value.type.name)
    if kind is None or value.type.is_array:
        return None
    cast = self.coercion.coerce(value, SqlType(kind))
    text = numeric_text(cast) if kind == "numeric" else cast.sql
    return made(call_text(f"pg_to_char_{kind}", text, pattern.sql), TEXT, cast, pattern)


def _now(type: SqlType) -> "Special":
    def call(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
        if values:
            return None
        return constant(self.context.facts.now.replace(tzinfo=None), type, location)

    return call


def _age(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    if len(values) == 1 and values[0].type == SqlType("xid"):  # of a row of the catalogue
        return made("CAST(1 AS INTEGER)", INT4, values[0])
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
    "make_interval": [Overload((INT4,) * 6 + (FLOAT8,), _SPAN, ours("pg_make_interval", _SPAN))],
    "justify_days": [Overload((_SPAN,), _SPAN, ours("pg_justify_days", _SPAN))],
    "justify_hours": [Overload((_SPAN,), _SPAN, ours("pg_justify_hours", _SPAN))],
    "justify_interval": [Overload((_SPAN,), _SPAN, ours("pg_justify_interval", _SPAN))],
    "make_date": [Overload((INT4,) * 3, _DATE, ours("pg_make_date", _DATE))],
    "make_time": [Overload((INT4, INT4, FLOAT8), _TIME, ours("pg_make_time", _TIME))],
    "make_timestamp": [Overload((*(INT4,) * 5, FLOAT8), _STAMP, ours("pg_make_timestamp", _STAMP))],
    "date_bin": [
        Overload((_SPAN, each, each), each, ours("pg_date_bin", each)) for each in (_STAMP, _ZONED)
    ],
    "to_date": [Overload((TEXT, TEXT), _DATE, ours("pg_to_date", _DATE))],
    "to_timestamp": [
        Overload((TEXT, TEXT), _ZONED, ours("pg_to_timestamp", _ZONED)),
        Overload((FLOAT8,), _ZONED, "make_timestamp(CAST(round_even({0} * 1000000, 0) AS BIGINT))"),
    ],
    "isfinite": [Overload((each,), BOOL, "isfinite({0})") for each in (_DATE, _STAMP, _ZONED)],
}


def _overlaps(self: "Expressions", values: list[Bound], location: int) -> Bound | None:
    """(a, b) OVERLAPS (c, d); the second of each may be an interval."""
    if len(values) != 4:
        return None
    ends = list(values)
    for place in (1, 3):
        if ends[place].type.name == "interval" and not ends[place - 1].is_untyped:
            ends[place] = self.operator("+", ends[place - 1], ends[place], location)
    type = self.coercion.common_type(ends, "OVERLAPS")
    if type.name not in ("date", "time", "timestamp", "timestamptz"):
        return None
    cast = [self.coercion.coerce(each, type) for each in ends]
    kept = "epoch_us({})" if type.name == "time" else "epoch_us(CAST({} AS TIMESTAMP))"
    texts = ", ".join(kept.format(each.sql) for each in cast)
    return made(f"pg_overlaps({texts})", BOOL, *cast)


SPECIAL: "dict[str, Special]" = {
    "overlaps": _overlaps,
    "date_trunc": _date_trunc,
    "extract": _extract,
    "date_part": _date_part,
    "now": _now(_ZONED),
    "transaction_timestamp": _now(_ZONED),
    "statement_timestamp": _now(_ZONED),
    "clock_timestamp": _now(_ZONED),
    "age": _age,
    "to_char": _to_char,
    "timezone": _timezone,
}
