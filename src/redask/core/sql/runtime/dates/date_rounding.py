"""date_trunc, date_bin and the make_ functions; and the rows of `date_parts`.

trunc_timestamp("week", moment)        Monday of its week, midnight
bin_timestamp(stride, moment, origin)  date_bin
make_date(2024, 2, 30)                 22008
"""

import math
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any

from redask.core.errors import SqlError
from redask.core.sql.runtime.dates import date_parts
from redask.core.sql.runtime.dates.intervals import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Interval,
    as_moment,
    carried,
    from_carried,
    microseconds_of,
)
from redask.core.sql.runtime.dates.time_zones import to_local, to_utc
from redask.core.sql.runtime.refusals import unsupported
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name

CLOCK_UNITS = {
    "hour": HOUR,
    "minute": MINUTE,
    "second": SECOND,
    "millisecond": 1000,
    "microsecond": 1,
}
_YEARS = {"year": 1, "decade": 10, "century": 100, "millennium": 1000}
_STAMP = "timestamp without time zone"
_STAMPTZ = "timestamp with time zone"


def trunc_timestamp(text: str, moment: datetime) -> datetime:
    return _trunc(text, moment, _STAMP)


def trunc_timestamptz(text: str, moment: datetime) -> datetime:
    """In UTC, the session's zone."""
    return _trunc(text, moment, _STAMPTZ)


def trunc_in_zone(text: str, moment: datetime, zone: str) -> datetime:
    """date_trunc(unit, timestamptz, zone)."""
    if date_parts.unit_of(text, _STAMPTZ) in ("hour", "minute", "second", *CLOCK_UNITS):
        raise unsupported("date_trunc of a time of day in a time zone")
    return to_utc(_trunc(text, to_local(moment, zone), _STAMPTZ), zone)


def _trunc(text: str, moment: datetime, kind: str) -> datetime:
    unit = date_parts.unit_of(text, kind)
    if unit in CLOCK_UNITS:
        return moment - timedelta(microseconds=microseconds_of(moment) % CLOCK_UNITS[unit])
    day = _first_day(unit, moment)
    if unit.startswith("timezone"):
        raise date_parts.not_supported(text, kind)
    if day is None:
        raise SqlError("22023", f'unit "{text.lower()}" not recognized for type {kind}')
    return as_moment(day)


def _first_day(unit: str, moment: datetime) -> date | None:
    year = moment.year
    if unit == "day":
        return moment.date()
    if unit == "week":
        if moment.toordinal() <= moment.weekday():
            raise unsupported("a timestamp before year 1")
        return moment.date() - timedelta(days=moment.weekday())
    if unit == "month":
        return date(year, moment.month, 1)
    if unit == "quarter":
        return date(year, (moment.month - 1) // 3 * 3 + 1, 1)
    if unit == "decade":
        if year < 10:
            raise unsupported("a timestamp before year 1")
        return date(year // 10 * 10, 1, 1)
    if unit in ("century", "millennium"):
        return date((year - 1) // _YEARS[unit] * _YEARS[unit] + 1, 1, 1)
    return date(year, 1, 1) if unit == "year" else None


def trunc_interval(text: str, value: Interval) -> Interval:
    unit = date_parts.unit_of(text, "interval")
    if unit in _YEARS:
        return Interval(_cut(value.months, 12 * _YEARS[unit]), 0, 0)
    if unit == "quarter":
        return Interval(_cut(value.months, 3), 0, 0)
    if unit == "month":
        return Interval(value.months, 0, 0)
    if unit == "day":
        return Interval(value.months, value.days, 0)
    if unit in CLOCK_UNITS:
        return Interval(value.months, value.days, _cut(value.microseconds, CLOCK_UNITS[unit]))
    if unit == "week" or unit.startswith("timezone"):
        raise date_parts.not_supported(text, "interval")
    raise SqlError("22023", f'unit "{text.lower()}" not recognized for type interval')


def _cut(value: int, unit: int) -> int:
    """A multiple of the unit, cut toward zero."""
    return value // unit * unit if value >= 0 else -(-value // unit * unit)


def bin_timestamp(stride: Interval, moment: datetime, origin: datetime) -> datetime:
    """date_bin(stride, timestamp, origin)."""
    if stride.months:
        raise SqlError(
            "0A000", "timestamps cannot be binned into intervals containing months or years"
        )
    width = stride.days * DAY + stride.microseconds
    if width <= 0:
        raise SqlError("22008", "stride must be greater than zero")
    offset = (moment - origin) // timedelta(microseconds=1)
    try:
        return origin + timedelta(microseconds=offset // width * width)
    except OverflowError:
        raise unsupported("a timestamp before year 1 or after year 9999") from None


def make_date(year: int, month: int, day: int) -> date:
    if year < 0 or year > 9999:
        raise unsupported("a date before year 1 or after year 9999")
    try:
        return date(year, month, day)
    except ValueError:
        raise SqlError(
            "22008", f"date field value out of range: {year}-{month:02d}-{day:02d}"
        ) from None


def _clock(hour: int, minute: int, second: float) -> timedelta:
    microseconds = round(second * 1_000_000.0) if math.isfinite(second) else -1
    inside = 0 <= hour <= 24 and 0 <= minute <= 59 and 0 <= microseconds <= 60 * SECOND
    if not inside or (hour == 24 and (minute or microseconds)):
        raise SqlError("22008", f"time field value out of range: {hour}:{minute:02d}:{second:02g}")
    return timedelta(hours=hour, minutes=minute, microseconds=microseconds)


def make_time(hour: int, minute: int, second: float) -> time:
    moment = datetime(2000, 1, 1) + _clock(hour, minute, second)
    if moment.day != 1:
        raise unsupported("the time 24:00:00")
    return moment.time()


def make_timestamp(day: date, hour: int, minute: int, second: float) -> datetime:
    """make_timestamp(year, month, day, …), the day made by `make_date`."""
    try:
        return as_moment(day) + _clock(hour, minute, second)
    except OverflowError:
        raise unsupported("a timestamp after year 9999") from None


def time_plus(value: time, by: Interval) -> time:
    """time + interval: only the interval's time counts, around midnight."""
    clock = microseconds_of(datetime.combine(date.min, value)) + by.microseconds
    return (datetime.min + timedelta(microseconds=clock % DAY)).time()


def time_between(one: time, other: time) -> Interval:
    start = datetime.min
    apart = datetime.combine(start, one) - datetime.combine(start, other)
    return Interval(0, 0, apart // timedelta(microseconds=1))


def _of_interval(call: Callable[[str, Interval], Any]) -> Callable[[str, str], Any]:
    return lambda unit, text: call(unit, from_carried(text))


_T, _V, _I = "TIMESTAMP", "VARCHAR", "INTERVAL"
FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_extract_date", (_V, "DATE"), _V, date_parts.extract_date),
    RuntimeFunction("pg_extract_time", (_V, "TIME"), _V, date_parts.extract_time),
    RuntimeFunction("pg_extract_timestamp", (_V, _T), _V, date_parts.extract_timestamp),
    RuntimeFunction("pg_extract_timestamptz", (_V, _T), _V, date_parts.extract_timestamptz),
    RuntimeFunction("pg_extract_interval", (_V, _I), _V, _of_interval(date_parts.extract_interval)),
    # date_part of a date is date_part of its timestamp
    RuntimeFunction("pg_date_part_time", (_V, "TIME"), "DOUBLE", date_parts.part_time),
    RuntimeFunction("pg_date_part_timestamp", (_V, _T), "DOUBLE", date_parts.part_timestamp),
    RuntimeFunction("pg_date_part_timestamptz", (_V, _T), "DOUBLE", date_parts.part_timestamptz),
    RuntimeFunction(
        "pg_date_part_interval", (_V, _I), "DOUBLE", _of_interval(date_parts.part_interval)
    ),
    # equal: CAST(date_trunc('unit', x) AS TIMESTAMP), but not for century and millennium
    RuntimeFunction("pg_date_trunc_timestamp", (_V, _T), _T, trunc_timestamp),
    RuntimeFunction("pg_date_trunc_timestamptz", (_V, _T), _T, trunc_timestamptz),
    RuntimeFunction("pg_date_trunc_in_zone", (_V, _T, _V), _T, trunc_in_zone),
    RuntimeFunction(
        "pg_date_trunc_interval",
        (_V, _I),
        _I,
        lambda unit, text: carried(trunc_interval(unit, from_carried(text))),
    ),
    RuntimeFunction(
        "pg_date_bin",
        (_I, _T, _T),
        _T,
        lambda stride, moment, origin: bin_timestamp(from_carried(stride), moment, origin),
    ),
    RuntimeFunction("pg_make_date", ("INTEGER",) * 3, "DATE", make_date),
    RuntimeFunction("pg_make_time", ("INTEGER", "INTEGER", "DOUBLE"), "TIME", make_time),
    RuntimeFunction(
        "pg_make_timestamp",
        ("INTEGER",) * 5 + ("DOUBLE",),
        _T,
        lambda y, mo, d, h, mi, s: make_timestamp(make_date(y, mo, d), h, mi, s),
    ),
    RuntimeFunction(
        "pg_time_add", ("TIME", _I), "TIME", lambda one, by: time_plus(one, from_carried(by))
    ),
    RuntimeFunction(
        "pg_time_minus",
        ("TIME", _I),
        "TIME",
        lambda one, by: time_plus(one, Interval(0, 0, -from_carried(by).microseconds)),
    ),
)
