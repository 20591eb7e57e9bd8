"""AT TIME ZONE: between a moment in UTC and the clock of a zone.

    to_utc(local, "Europe/Berlin")        timestamp AT TIME ZONE zone     a timestamptz
    to_local(moment, "Europe/Berlin")     timestamptz AT TIME ZONE zone   a timestamp

A zone is an IANA name, UTC, or a fixed offset in POSIX's form, which counts to the west (`+02:00`
is two hours behind UTC, `<+02>-02` two ahead). A clock time that a zone skips or has twice is read
with the offset that PostgreSQL takes: the standard time of the two. Abbreviations (EST, CET) and
POSIX forms with summer time are refused.
"""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, available_timezones

from redask.core.errors import SqlError
from redask.core.sql.runtime.dates.intervals import Interval, from_carried
from redask.core.sql.runtime.refusals import unsupported
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name

_SAME = {"utc", "gmt", "z", "uct", "zulu"}
_SHORT = re.compile(r"[A-Za-z]{1,5}\Z|.*[0-9<>+-].*\Z")
_FIXED = re.compile(
    r"(?:<[A-Za-z0-9+:-]+>|[A-Za-z]{3,})?([+-]?)(\d{1,2})(?::([0-5]\d))?(?::([0-5]\d))?\Z", re.ASCII
)
_HOURS = re.compile(r"\s*[+-]?\d{1,2}(?:\.\d*)?\s*\Z", re.ASCII)


@cache
def _zones() -> dict[str, str]:
    """IANA names by their lower case: PostgreSQL reads them in any case.

    A short name without a slash (EST, Japan) may be an abbreviation to PostgreSQL: not here.
    """
    names = sorted(available_timezones())
    return {name.lower(): name for name in names if "/" in name or len(name) > 5}


def known_zone(text: str) -> str | None:
    """The IANA name (or UTC) that a text names in any case; None when there is none."""
    lower = text.strip().lower()
    return "UTC" if lower in _SAME else _zones().get(lower)


def session_zone(text: str) -> str | None:
    """The zone that `SET TimeZone` means, in the spelling SHOW gives; None when there is none.

    A number is hours to the east.
    """
    if _HOURS.match(text):
        seconds = round(float(text) * 3600)
        if not seconds:
            return "UTC"
        east = offset_text(timedelta(seconds=seconds))
        west = offset_text(timedelta(seconds=-seconds))
        return f"<{east}>{west}" if abs(seconds) < 86_400 else None
    name = known_zone(text)
    return text.strip().upper() if name is None and _fixed_zone(text.strip()) else name


def offset_text(offset: timedelta) -> str:
    """An offset as PostgreSQL writes it: +02, -03:30, +01:02:03."""
    seconds = round(abs(offset).total_seconds())
    hours, minutes, rest = seconds // 3600, seconds // 60 % 60, seconds % 60
    text = f"{'-' if offset < timedelta(0) else '+'}{hours:02d}"
    if minutes or rest:
        text += f":{minutes:02d}"
    return text + (f":{rest:02d}" if rest else "")


def _fixed_zone(text: str) -> timezone | None:
    """The zone of a fixed offset in POSIX's form."""
    found = _FIXED.match(text)
    if found is None or int(found[2]) > 23:
        return None
    west = timedelta(hours=int(found[2]), minutes=int(found[3] or 0), seconds=int(found[4] or 0))
    return timezone(west if found[1] == "-" else -west)


@lru_cache(maxsize=1024)
def _zone(text: str) -> tzinfo | None:
    """The zone; None is UTC."""
    name = known_zone(text)
    if name is None:
        fixed = _fixed_zone(text.strip())
        if fixed is not None:
            return fixed
        if _SHORT.match(text) or not _zones():
            raise unsupported(f'time zone "{text}"')
        raise SqlError("22023", f'time zone "{text}" not recognized')
    return None if name == "UTC" else ZoneInfo(name)


def to_utc(moment: datetime, zone: str) -> datetime:
    """timestamp AT TIME ZONE zone: the moment in UTC of a clock time in the zone."""
    found = _zone(zone)
    if found is None:
        return moment
    first = moment.replace(tzinfo=found, fold=0).utcoffset() or timedelta(0)
    second = moment.replace(tzinfo=found, fold=1).utcoffset() or timedelta(0)
    # skipped times (first < second) take the offset before, repeated ones the offset after
    return _moved(moment, -(first if first < second else second))


def to_local(moment: datetime, zone: str) -> datetime:
    """timestamptz AT TIME ZONE zone: the zone's clock at a moment in UTC."""
    found = _zone(zone)
    if found is None:
        return moment
    try:
        return moment.replace(tzinfo=UTC).astimezone(found).replace(tzinfo=None, fold=0)
    except OverflowError:
        raise unsupported("a timestamp before year 1 or after year 9999") from None


def to_utc_by(moment: datetime, offset: Interval) -> datetime:
    """timestamp AT TIME ZONE interval."""
    return _moved(moment, -_fixed(offset))


def to_local_by(moment: datetime, offset: Interval) -> datetime:
    """timestamptz AT TIME ZONE interval."""
    return _moved(moment, _fixed(offset))


def _fixed(offset: Interval) -> timedelta:
    if offset.months or offset.days:
        raise SqlError("22023", "interval time zone must not include months or days")
    # PostgreSQL's offsets are whole seconds
    seconds = abs(offset.microseconds) // 1_000_000
    return timedelta(seconds=seconds if offset.microseconds >= 0 else -seconds)


def _moved(moment: datetime, by: timedelta) -> datetime:
    try:
        return moment + by
    except OverflowError:
        raise unsupported("a timestamp before year 1 or after year 9999") from None


_T = "TIMESTAMP"
FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_to_utc", (_T, "VARCHAR"), _T, to_utc),
    RuntimeFunction("pg_to_local", (_T, "VARCHAR"), _T, to_local),
    RuntimeFunction(
        "pg_to_utc_by", (_T, "INTERVAL"), _T, lambda one, by: to_utc_by(one, from_carried(by))
    ),
    RuntimeFunction(
        "pg_to_local_by", (_T, "INTERVAL"), _T, lambda one, by: to_local_by(one, from_carried(by))
    ),
)
