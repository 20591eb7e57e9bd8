"""timetz: text to its one spelling, a time of day with its offset to UTC.

    read_timetz("10:00 PM -0330")          "22:00:00-03:30"
    read_timetz("10:00", zone="<+02>-02")  "10:00:00+02"

A time without an offset is in the session's zone; where that has a summer time, it would depend on
the day, and is refused.
"""

import re
from datetime import datetime, timedelta

from redask.core.errors import SqlError
from redask.core.sql.runtime.dates.datetime_input import read_time
from redask.core.sql.runtime.dates.intervals import clock_text, microseconds_of
from redask.core.sql.runtime.dates.time_zones import offset_text, to_local
from redask.core.sql.runtime.refusals import unsupported

_PARTS = re.compile(
    r"\s*([^+\-a-z]*(?: *[ap]m)?)\s*(z|utc|gmt|[+-][0-9:]+)?\s*\Z", re.IGNORECASE | re.ASCII
)
_OFFSET = re.compile(r"([+-])(\d{1,2})(?::?(\d{2}))?(?::(\d{2}))?\Z", re.ASCII)
_WRITTEN = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d+))?([+-])(\d\d)(?::(\d\d))?(?::(\d\d))?\Z")
_DAY = 86_400_000_000
_END = re.compile(r"24:00(?::00(?:\.0*)?)?\Z")
_MOST = timedelta(hours=15, minutes=59, seconds=59)  # PostgreSQL's own bound
_SUMMER, _WINTER = datetime(2026, 7, 1), datetime(2026, 1, 1)


def read_timetz(text: str, zone: str = "UTC") -> str:
    """The spelling of what PostgreSQL reads."""
    found = _PARTS.match(text)
    if found is None or not found[1]:
        raise unsupported(f'a time with time zone written "{text}"')
    clock, named = found[1].strip(), (found[2] or "").lower()
    offset = _session_offset(zone) if not named else _offset(named, text)
    if _END.match(clock):
        return timetz_text(_DAY, offset)
    moment = datetime.combine(datetime.min, read_time(clock))
    return timetz_text(microseconds_of(moment), offset)


def timetz_text(microseconds: int, offset: timedelta) -> str:
    return clock_text(microseconds) + offset_text(offset)


def time_and_offset(written: str) -> tuple[int, timedelta]:
    """Microseconds of the day and the offset, of what `timetz_text` wrote."""
    found = _WRITTEN.match(written)
    if found is None:
        raise ValueError(written)
    hours, minutes, seconds = (int(each) for each in found.group(1, 2, 3))
    fraction = int((found[4] or "").ljust(6, "0"))
    away = timedelta(
        hours=int(found[6]), minutes=int(found[7] or 0), seconds=int(found[8] or 0)
    )  # fmt: skip
    whole = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + fraction
    return whole, -away if found[5] == "-" else away


def _offset(named: str, text: str) -> timedelta:
    found = _OFFSET.match(named)
    if found is None:
        if named in ("z", "utc", "gmt"):
            return timedelta(0)
        raise SqlError("22007", f'invalid input syntax for type time with time zone: "{text}"')
    hours, minutes, seconds = (int(each or 0) for each in found.group(2, 3, 4))
    away = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if minutes > 59 or seconds > 59 or away > _MOST:
        raise SqlError("22009", f'time zone displacement out of range: "{text}"')
    return -away if found[1] == "-" else away


def _session_offset(zone: str) -> timedelta:
    summer, winter = (to_local(each, zone) - each for each in (_SUMMER, _WINTER))
    if "/" in zone or summer != winter:
        raise unsupported("a time with time zone in a session whose zone is a place")
    return winter
