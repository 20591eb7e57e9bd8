"""PostgreSQL's interval: months, days and microseconds, kept apart.

interval_text(Interval(14, -3, 14706000000))    "1 year 2 mons -3 days +04:05:06"
carried(interval), from_carried(text)           how one travels between DuckDB and Python
plus, minus, times, divided, justify_*, age     PostgreSQL's arithmetic, to the microsecond
"""

import calendar
import math
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import NamedTuple

from redask.core.errors import SqlError
from redask.core.sql.runtime.refusals import unsupported
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
_INT4, _INT8 = 2**31, 2**63


class Interval(NamedTuple):
    months: int
    days: int
    microseconds: int


def out_of_range() -> SqlError:
    return SqlError("22008", "interval out of range")


def checked(months: int, days: int, microseconds: int) -> Interval:
    """The interval, or 22008 where PostgreSQL's fields overflow."""
    if not (-_INT4 <= months < _INT4 and -_INT4 <= days < _INT4 and -_INT8 <= microseconds < _INT8):
        raise out_of_range()
    return Interval(months, days, microseconds)


def carried(value: Interval) -> str:
    """A text that DuckDB casts to exactly this interval."""
    return f"{value.months} months {value.days} days {value.microseconds} microseconds"


_CARRIED = re.compile(
    r"(?:(-?\d+) years? ?)?(?:(-?\d+) months? ?)?(?:(-?\d+) days? ?)?"
    r"(?:(-?)(\d+):(\d\d):(\d\d)(?:\.(\d+))?)?\Z"
)


def from_carried(text: str) -> Interval:
    """The interval of DuckDB's own text of it."""
    found = _CARRIED.match(text)
    if found is None:
        raise unsupported(f'the interval "{text}"')
    years, months, days, minus, hours, minutes, seconds, fraction = found.groups()
    clock = int(hours or 0) * HOUR + int(minutes or 0) * MINUTE + int(seconds or 0) * SECOND
    clock += int((fraction or "").ljust(6, "0"))
    return Interval(
        int(years or 0) * 12 + int(months or 0), int(days or 0), -clock if minus else clock
    )


def interval_text(value: Interval) -> str:
    """PostgreSQL's text, IntervalStyle postgres."""
    years = abs(value.months) // 12 * (1 if value.months >= 0 else -1)
    parts: list[str] = []
    before = False
    for count, unit in ((years, "year"), (value.months - years * 12, "mon"), (value.days, "day")):
        if count:
            plus = "+" if before and count > 0 else ""
            parts.append(f"{plus}{count} {unit}{'' if count == 1 else 's'}")
            before = count < 0
    if value.microseconds or not parts:
        sign = "-" if value.microseconds < 0 else "+" if before else ""
        parts.append(sign + clock_text(abs(value.microseconds)))
    return " ".join(parts)


def clock_text(microseconds: int) -> str:
    """HH:MM:SS with the fraction's trailing zeros cut; hours as many as there are."""
    seconds, fraction = divmod(microseconds, SECOND)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{text}.{fraction:06d}".rstrip("0") if fraction else text


def plus(one: Interval, other: Interval) -> Interval:
    return checked(*(left + right for left, right in zip(one, other, strict=True)))


def minus(one: Interval, other: Interval) -> Interval:
    return checked(*(left - right for left, right in zip(one, other, strict=True)))


def negated(value: Interval) -> Interval:
    return checked(-value.months, -value.days, -value.microseconds)


def order(value: Interval) -> int:
    """What PostgreSQL compares intervals by: microseconds, 30 days a month, 24 hours a day."""
    return (value.months * 30 + value.days) * DAY + value.microseconds


def times(value: Interval, factor: float) -> Interval:
    return _scaled(value.months * factor, value.days * factor, value.microseconds * factor)


def divided(value: Interval, divisor: float) -> Interval:
    if divisor == 0:
        raise SqlError("22012", "division by zero")
    return _scaled(value.months / divisor, value.days / divisor, value.microseconds / divisor)


def _scaled(months: float, days: float, clock: float) -> Interval:
    """Fractions of months go down to days, fractions of days to the time: as floats, in order."""
    if not (math.isfinite(months) and math.isfinite(days) and math.isfinite(clock)):
        raise out_of_range()
    if not (-_INT4 <= months < _INT4 and -_INT4 <= days < _INT4):
        raise out_of_range()
    whole_months, whole_days = int(months), int(days)
    more_days = _rounded((months - whole_months) * 30)
    seconds = _rounded((days - whole_days + more_days - int(more_days)) * 86400)
    if abs(seconds) >= 86400:
        whole_days += int(seconds / 86400)
        seconds -= int(seconds / 86400) * 86400
    whole_days += int(more_days)
    clock = float(round(clock + seconds * SECOND))
    if not -float(_INT8) <= clock < float(_INT8):
        raise out_of_range()
    return checked(whole_months, whole_days, int(clock))


def _rounded(value: float) -> float:
    return round(value * 1_000_000.0) / 1_000_000.0


def justify_hours(value: Interval) -> Interval:
    days, clock = _carry(value.microseconds, DAY)
    days += value.days
    if days > 0 and clock < 0:
        days, clock = days - 1, clock + DAY
    elif days < 0 and clock > 0:
        days, clock = days + 1, clock - DAY
    return checked(value.months, days, clock)


def justify_days(value: Interval) -> Interval:
    months, days = _carry(value.days, 30)
    months += value.months
    if months > 0 and days < 0:
        months, days = months - 1, days + 30
    elif months < 0 and days > 0:
        months, days = months + 1, days - 30
    return checked(months, days, value.microseconds)


def justify_interval(value: Interval) -> Interval:
    more_days, clock = _carry(value.microseconds, DAY)
    months, days = _carry(value.days + more_days, 30)
    months += value.months
    if months > 0 and (days < 0 or (days == 0 and clock < 0)):
        months, days = months - 1, days + 30
    elif months < 0 and (days > 0 or (days == 0 and clock > 0)):
        months, days = months + 1, days - 30
    if days > 0 and clock < 0:
        days, clock = days - 1, clock + DAY
    elif days < 0 and clock > 0:
        days, clock = days + 1, clock - DAY
    return checked(months, days, clock)


def _carry(value: int, unit: int) -> tuple[int, int]:
    """Quotient and remainder, cut toward zero."""
    whole = abs(value) // unit
    whole = whole if value >= 0 else -whole
    return whole, value - whole * unit


def add_to(moment: datetime, value: Interval) -> datetime:
    """timestamp + interval: months first, the day cut to the month's last, then days, then time."""
    try:
        if value.months:
            year, month = divmod(moment.year * 12 + moment.month - 1 + value.months, 12)
            last = calendar.monthrange(year, month + 1)[1] if 1 <= year <= 9999 else 28
            moment = moment.replace(year=year, month=month + 1, day=min(moment.day, last))
        return moment + timedelta(days=value.days) + timedelta(microseconds=value.microseconds)
    except (ValueError, OverflowError):
        raise unsupported("a timestamp before year 1 or after year 9999") from None


def between(one: datetime, other: datetime) -> Interval:
    """timestamp - timestamp: days and time, no months."""
    return justify_hours(Interval(0, 0, (one - other) // timedelta(microseconds=1)))


def age(one: datetime, other: datetime) -> Interval:
    """age(one, other): years and months by the calendar."""
    if one < other:
        months, days, clock = _age(other, one, one)
        return Interval(-months, -days, -clock)
    return _age(one, other, other)


def _age(late: datetime, early: datetime, borrow_from: datetime) -> Interval:
    months = (late.year - early.year) * 12 + late.month - early.month
    days = late.day - early.day
    clock = microseconds_of(late) - microseconds_of(early)
    if clock < 0:
        clock, days = clock + DAY, days - 1
    while days < 0:
        days += calendar.monthrange(borrow_from.year, borrow_from.month)[1]
        months -= 1
    return Interval(months, days, clock)


def microseconds_of(moment: datetime) -> int:
    """The time of day in microseconds."""
    return ((moment.hour * 60 + moment.minute) * 60 + moment.second) * SECOND + moment.microsecond


def as_moment(value: date) -> datetime:
    """Midnight of a date; a timestamp as it is."""
    return value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)


def _one(call: Callable[[Interval], Interval]) -> Callable[[str], str]:
    return lambda text: carried(call(from_carried(text)))


def _scale(call: Callable[[Interval, float], Interval]) -> Callable[[str, float], str]:
    return lambda text, factor: carried(call(from_carried(text), factor))


def make_interval(*parts: float) -> Interval:
    """make_interval(years, months, weeks, days, hours, minutes, seconds), every one given."""
    years, months, weeks, days, hours, minutes = map(int, parts[:6])
    seconds = parts[6]
    if not math.isfinite(seconds):
        raise out_of_range()
    clock = hours * HOUR + minutes * MINUTE + round(seconds * 1_000_000.0)
    return checked(years * 12 + months, weeks * 7 + days, clock)


_I = "INTERVAL"
FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_interval_mul", (_I, "DOUBLE"), _I, _scale(times)),
    RuntimeFunction("pg_interval_div", (_I, "DOUBLE"), _I, _scale(divided)),
    RuntimeFunction("pg_justify_hours", (_I,), _I, _one(justify_hours)),
    RuntimeFunction("pg_justify_days", (_I,), _I, _one(justify_days)),
    RuntimeFunction("pg_justify_interval", (_I,), _I, _one(justify_interval)),
    # equal: age(a, b)
    RuntimeFunction("pg_age", ("TIMESTAMP",) * 2, _I, lambda one, two: carried(age(one, two))),
    RuntimeFunction(
        "pg_make_interval",
        ("INTEGER",) * 6 + ("DOUBLE",),
        _I,
        lambda y, mo, w, d, h, mi, s: carried(make_interval(y, mo, w, d, h, mi, s)),
    ),
)
