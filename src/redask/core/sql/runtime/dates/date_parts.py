"""extract, date_part, date_trunc, date_bin and the make_ functions, as PostgreSQL 15 has them.

    extract_timestamp("epoch", moment)     "1704103200.500000"    numeric, with its display scale
    part_timestamp("epoch", moment)        1704103200.5           date_part's float8
    trunc_timestamp("week", moment)

Units are read in any case and in PostgreSQL's short forms (`y`, `mon`, `hrs`). A unit that
PostgreSQL does not know is 22023, one that the type does not have 0A000, both in its words.
"""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta

from redask.core.errors import SqlError
from redask.core.sql.runtime.dates.interval_input import UNITS
from redask.core.sql.runtime.dates.intervals import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    Interval,
    microseconds_of,
)
from redask.core.sql.runtime.numbers.numerics import add, div

_MORE = {
    "quarter": "qtr quarter",
    "dow": "dow",
    "isodow": "isodow",
    "doy": "doy",
    "isoyear": "isoyear",
    "julian": "j jd julian",
    "epoch": "epoch",
    "timezone": "timezone",
    "timezone_hour": "timezone_hour timezone_h",
    "timezone_minute": "timezone_minute timezone_m",
}
_ALL = {**UNITS, **{word: unit for unit, words in _MORE.items() for word in words.split()}}
_ZERO_EPOCH = datetime(1970, 1, 1)
_JULIAN = 1721425  # the Julian day before 0001-01-01
_TIME_UNITS = {"hour", "minute", "second", "millisecond", "microsecond"}
_ZONE_UNITS = {"timezone", "timezone_hour", "timezone_minute"}


def unit_of(text: str, kind: str) -> str:
    """The unit's own name, or 22023."""
    unit = _ALL.get(text.lower())
    if unit is None:
        raise SqlError("22023", f'unit "{text.lower()}" not recognized for type {kind}')
    return unit


def not_supported(text: str, kind: str) -> SqlError:
    return SqlError("0A000", f'unit "{text.lower()}" not supported for type {kind}')


def _scaled(value: int, digits: int) -> str:
    """value / 10^digits with exactly that many digits."""
    whole, rest = divmod(abs(value), 10**digits)
    return f"{'-' if value < 0 else ''}{whole}.{rest:0{digits}d}"


def _day_part(unit: str, day: date) -> int | None:
    """The parts that are whole numbers of a day."""
    part = _OF_DAY.get(unit)
    return None if part is None else part(day)


_OF_DAY: dict[str, Callable[[date], int]] = {
    "millennium": lambda day: (day.year + 999) // 1000,
    "century": lambda day: (day.year + 99) // 100,
    "decade": lambda day: day.year // 10,
    "year": lambda day: day.year,
    "isoyear": lambda day: day.isocalendar()[0],
    "quarter": lambda day: (day.month - 1) // 3 + 1,
    "month": lambda day: day.month,
    "week": lambda day: day.isocalendar()[1],
    "day": lambda day: day.day,
    "dow": lambda day: day.isoweekday() % 7,
    "isodow": lambda day: day.isoweekday(),
    "doy": lambda day: day.timetuple().tm_yday,
}


def julian(day: date) -> int:
    return day.toordinal() + _JULIAN


def extract_date(text: str, day: date) -> str:
    """extract(… from date)."""
    unit = unit_of(text, "date")
    if unit == "epoch":
        return str((day.toordinal() - _ZERO_EPOCH.toordinal()) * 86400)
    if unit == "julian":
        return str(julian(day))
    found = _day_part(unit, day)
    if found is None:
        raise not_supported(text, "date")
    return str(found)


def _clock_part(unit: str, microseconds: int) -> str | None:
    seconds = _remainder(microseconds, MINUTE)
    if unit == "hour":
        return str(_quotient(microseconds, HOUR))
    if unit == "minute":
        return str(_quotient(_remainder(microseconds, HOUR), MINUTE))
    if unit == "second":
        return _scaled(seconds, 6)
    if unit == "millisecond":
        return _scaled(seconds, 3)
    return str(seconds) if unit == "microsecond" else None


def _quotient(value: int, unit: int) -> int:
    """Cut toward zero."""
    return value // unit if value >= 0 else -(-value // unit)


def _remainder(value: int, unit: int) -> int:
    return value - _quotient(value, unit) * unit


def extract_time(text: str, value: time) -> str:
    kind = "time without time zone"
    unit = unit_of(text, kind)
    clock = microseconds_of(datetime.combine(date.min, value))
    found = _scaled(clock, 6) if unit == "epoch" else _clock_part(unit, clock)
    if found is None:
        raise not_supported(text, kind)
    return found


def extract_timestamp(text: str, moment: datetime) -> str:
    return _extract(text, moment, "timestamp without time zone")


def extract_timestamptz(text: str, moment: datetime) -> str:
    """In UTC, the session's zone."""
    if unit_of(text, "timestamp with time zone") in _ZONE_UNITS:
        return "0"
    return _extract(text, moment, "timestamp with time zone")


def _extract(text: str, moment: datetime, kind: str) -> str:
    unit = unit_of(text, kind)
    if unit == "epoch":
        return _scaled((moment - _ZERO_EPOCH) // timedelta(microseconds=1), 6)
    if unit == "julian":
        return add(str(julian(moment)), div(str(microseconds_of(moment)), str(DAY)))
    whole = _day_part(unit, moment)
    found = str(whole) if whole is not None else _clock_part(unit, microseconds_of(moment))
    if found is None:
        raise not_supported(text, kind)
    return found


def _interval_part(unit: str, value: Interval) -> int | None:
    years, months = _quotient(value.months, 12), _remainder(value.months, 12)
    parts = {
        "millennium": _quotient(years, 1000),
        "century": _quotient(years, 100),
        "decade": _quotient(years, 10),
        "year": years,
        "quarter": _quotient(months, 3) + 1,
        "month": months,
        "day": value.days,
    }
    return parts.get(unit)


def extract_interval(text: str, value: Interval) -> str:
    unit = unit_of(text, "interval")
    if unit == "epoch":
        years, months = _quotient(value.months, 12), _remainder(value.months, 12)
        # a year is 365.25 days: counted in quarters of a day
        seconds = (1461 * years + 120 * months + 4 * value.days) * 21600
        return _scaled(seconds * SECOND + value.microseconds, 6)
    whole = _interval_part(unit, value)
    found = str(whole) if whole is not None else _clock_part(unit, value.microseconds)
    if found is None:
        raise not_supported(text, "interval")
    return found


def part_time(text: str, value: time) -> float:
    unit = unit_of(text, "time without time zone")
    clock = microseconds_of(datetime.combine(date.min, value))
    if unit == "epoch":
        return clock / 1000000.0
    return _float_clock(unit, clock) if unit in _TIME_UNITS else float(extract_time(text, value))


def part_timestamp(text: str, moment: datetime) -> float:
    return _part(text, moment, extract_timestamp)


def part_timestamptz(text: str, moment: datetime) -> float:
    return _part(text, moment, extract_timestamptz)


def _part(text: str, moment: datetime, extract: Callable[[str, datetime], str]) -> float:
    unit = _ALL.get(text.lower(), "")
    clock = microseconds_of(moment)
    if unit == "epoch":
        return ((moment - _ZERO_EPOCH) // timedelta(microseconds=1)) / 1000000.0
    if unit == "julian":
        return julian(moment) + (clock // SECOND + clock % SECOND / 1000000.0) / 86400.0
    return _float_clock(unit, clock) if unit in _TIME_UNITS else float(extract(text, moment))


def part_interval(text: str, value: Interval) -> float:
    unit = unit_of(text, "interval")
    if unit == "epoch":
        found = value.microseconds / 1000000.0
        found += (365.25 * 86400) * _quotient(value.months, 12)
        found += (30.0 * 86400) * _remainder(value.months, 12)
        return found + 86400.0 * value.days
    if unit in _TIME_UNITS:
        return _float_clock(unit, value.microseconds)
    return float(extract_interval(text, value))


def _float_clock(unit: str, microseconds: int) -> float:
    """Seconds and their fraction are added as floats, as PostgreSQL's date_part does."""
    seconds = _quotient(_remainder(microseconds, MINUTE), SECOND)
    fraction = _remainder(microseconds, SECOND)
    if unit == "second":
        return seconds + fraction / 1000000.0
    if unit == "millisecond":
        return seconds * 1000.0 + fraction / 1000.0
    if unit == "microsecond":
        return seconds * 1000000.0 + fraction
    return float(_clock_part(unit, microseconds) or "0")
