"""Text to date, time, timestamp and timestamptz, as PostgreSQL reads it (DateStyle ISO, MDY).

    read_date("Jan 5, 2024")                      date(2024, 1, 5)
    read_timestamptz("2024-01-05 10:00:00+02")    datetime(2024, 1, 5, 8), in UTC

Read: ISO forms, `20240105`, month/day/year, and a month by name; a time with AM or PM; a zone as
an offset, Z, UTC or an IANA name. `now` and the days around it depend on the clock and are
refused, and so is every form that is not listed here (0A000). Invalid text is 22007, a field
out of range 22008.
"""

import re
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from redask.core.errors import SqlError
from redask.core.sql.runtime.dates.time_zones import known_zone, to_utc
from redask.core.sql.runtime.refusals import unsupported

_MONTHS = {
    name: number + 1
    for number, names in enumerate(
        """jan january|feb february|mar march|apr april|may|jun june|jul july|aug august
        |sep sept september|oct october|nov november|dec december""".split("|")
    )
    for name in names.split()
}
_CLOCK_WORDS = "now today tomorrow yesterday infinity epoch allballs".split()
# words PostgreSQL may know in a date; text with any other word is invalid
_KNOWN = (
    set(_MONTHS)
    | set(_CLOCK_WORDS)
    | set(
        """am pm at ad bc on t y m d h s j z zulu utc gmt ut dow doy est edt cst cdt mst mdt pst pdt
    akst akdt hst cet cest met mest wet west eet eest bst ist msk jst kst hkt sgt aest aedt acst
    acdt awst nzst nzdt art brt brst clt clst ast adt nst ndt sast eat wat cat sun sunday mon
    monday tue tues tuesday wed wednesday weds thu thur thurs thursday fri friday sat saturday
    julian jd isodow isoyear dst undefined""".split()
    )
)
_ISO = r"(?P<y1>\d{4})(?P<s1>[-/])(?P<m1>\d{1,2})(?P=s1)(?P<d1>\d{1,2})"
_COMPACT = r"(?P<y2>\d{4})(?P<m2>\d{2})(?P<d2>\d{2})"
_MDY = r"(?P<m3>\d{1,2})(?P<s3>[-/])(?P<d3>\d{1,2})(?P=s3)(?P<y3>\d{4}|\d{2})"
_NAME_FIRST = r"(?P<n4>[a-z]+)\.? +(?P<d4>\d{1,2})(?: *, *| +)(?P<y4>\d{4})"
_DAY_FIRST = r"(?P<d5>\d{1,2})(?P<s5>[- ]) *(?P<n5>[a-z]+)(?P=s5) *(?P<y5>\d{4})"
_YEAR_FIRST = r"(?P<y6>\d{4})-(?P<n6>[a-z]+)-(?P<d6>\d{1,2})"
_DATE = "|".join((_ISO, _COMPACT, _MDY, _NAME_FIRST, _DAY_FIRST, _YEAR_FIRST))
_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<fraction>\d*))?)?"
    r"(?: *(?P<half>am|pm))?"
)
_OFFSET = r"[+-]\d{1,2}(?::\d{2}(?::\d{2})?)?|[+-]\d{4}"
_ZONE = rf" *(?P<zone>z|utc|gmt|{_OFFSET}|(?<= )[a-z_]+(?:/[a-z_+-]+)+)"
_MOMENT = re.compile(rf"(?:{_DATE})(?:(?: +|(?P<t>t)){_TIME}(?:{_ZONE})?)?\Z")
_ZONED_DAY = re.compile(rf"({_ISO}) +[+-](?:0\d|1[0-5])(?::?[0-5]\d)?\Z")  # how JDBC writes a date
_TIME_ONLY = re.compile(rf"{_TIME}(?:{_ZONE})?\Z")
_TOO_SHORT = re.compile(r"\d{1,4}\Z|\d{4}-\d\d?\Z")
_LETTERS = re.compile(r"[a-z]+")
_EPOCH = datetime(2000, 1, 1)


class _Read(NamedTuple):
    day: date
    clock: timedelta
    zone: str | None


def read_date(text: str) -> date:
    zoned = _ZONED_DAY.match(text.strip())
    return _read(zoned[1] if zoned else text, "date").day


def read_timestamp(text: str, digits: int = 6) -> datetime:
    """The zone, if the text has one, is ignored, as PostgreSQL does."""
    return _moment(_read(text, "timestamp"), digits)


def read_timestamptz(text: str, digits: int = 6, zone: str = "UTC") -> datetime:
    """In UTC, without tzinfo; a text that names no zone is in this one."""
    found = _read(text, "timestamp with time zone")
    moment = _moment(found, 6)
    if found.zone is not None:
        moment = _shifted(moment, found.zone, text)
    elif text.strip().lower() != "epoch":
        moment = to_utc(moment, zone)
    return rounded(moment, digits)


def read_time(text: str, digits: int = 6) -> time:
    lower = text.strip().lower()
    found = _TIME_ONLY.match(lower)
    if found is None or (found["half"] and found["zone"]) or "/" in lower:
        raise _not_read(lower, text, "time")
    if found["zone"] is not None:
        _shifted(_EPOCH, found["zone"], text)
    moment = rounded(_EPOCH + _clock(found, text), digits)
    if moment >= _EPOCH + timedelta(days=1):
        raise unsupported("the time 24:00:00")
    return moment.time()


def rounded(moment: datetime, digits: int) -> datetime:
    """A timestamp at a precision of 0 to 6 digits, rounded half away from 2000-01-01."""
    if digits >= 6:
        return moment
    unit = 10 ** (6 - digits)
    offset = (moment - _EPOCH) // timedelta(microseconds=1)
    units = (abs(offset) + unit // 2) // unit * unit
    return _EPOCH + timedelta(microseconds=units if offset >= 0 else -units)


def _read(text: str, kind: str) -> _Read:
    lower = text.strip().lower()
    if lower == "epoch":
        return _Read(date(1970, 1, 1), timedelta(0), None)
    found = _MOMENT.match(lower)
    if found is None or (found["half"] and found["zone"]):
        raise _not_read(lower, text, kind)
    if found["t"] and (found["half"] or not (found["d1"] or found["d2"]) or found["s1"] == "/"):
        raise _not_read(lower, text, kind)
    if found["zone"] is not None:
        _shifted(_EPOCH, found["zone"], text)
    year, month, day = _day(found, text, kind)
    clock = _clock(found, text) if found["hour"] is not None else timedelta(0)
    try:
        return _Read(date(year, month, day), clock, found["zone"])
    except ValueError:
        raise _out_of_range(text) from None


def _not_read(lower: str, text: str, kind: str) -> SqlError:
    words = _LETTERS.findall(lower)
    if not lower or (any(word not in _KNOWN for word in words) and "/" not in lower):
        return _invalid(text, kind)
    if kind != "time" and _TOO_SHORT.match(lower):
        return _invalid(text, kind)
    return unsupported(f'a {kind} written "{text}"')


def _invalid(text: str, kind: str) -> SqlError:
    return SqlError("22007", f'invalid input syntax for type {kind}: "{text}"')


def _out_of_range(text: str) -> SqlError:
    return SqlError("22008", f'date/time field value out of range: "{text}"')


def _day(found: re.Match[str], text: str, kind: str) -> tuple[int, int, int]:
    form = next(each for each in "123456" if found[f"d{each}"] is not None)
    year, day = found[f"y{form}"], int(found[f"d{form}"])
    if form in "456":
        name = found[f"n{form}"]
        if name not in _MONTHS:
            raise _not_read(name, text, kind)
        month = _MONTHS[name]
    else:
        month = int(found[f"m{form}"])
    full = int(year)
    if len(year) == 2:
        full += 2000 if full < 70 else 1900
    if full == 0 or not 1 <= month <= 12 or not 1 <= day <= 31:
        raise _out_of_range(text)
    return full, month, day


def _clock(found: re.Match[str], text: str) -> timedelta:
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
    if found["half"] is not None:
        if hour > 12:
            raise _out_of_range(text)
        hour = hour % 12 + (12 if found["half"] == "pm" else 0)
    fraction = round(float(f"0.{found['fraction'] or '0'}") * 1_000_000)
    if hour > 24 or minute > 59 or second > 60 or (hour == 24 and (minute or second or fraction)):
        raise _out_of_range(text)
    return timedelta(hours=hour, minutes=minute, seconds=second, microseconds=fraction)


def _moment(found: _Read, digits: int) -> datetime:
    try:
        moment = datetime(found.day.year, found.day.month, found.day.day) + found.clock
        return rounded(moment, digits)
    except OverflowError:
        raise unsupported("a timestamp after year 9999") from None


def _shifted(moment: datetime, zone: str, text: str) -> datetime:
    """The moment in UTC of a moment in a zone."""
    if zone in ("z", "utc", "gmt"):
        return moment
    if zone[0] not in "+-":
        name = known_zone(zone)
        if name is None:
            raise unsupported(f'a time zone in "{text}"')
        return to_utc(moment, name)
    digits = zone[1:]
    parts = digits.split(":") if ":" in digits or len(digits) < 3 else [digits[:2], digits[2:]]
    hours, minutes, seconds = (int(each) for each in (*parts, "0", "0")[:3])
    if hours > 15 or minutes > 59 or seconds > 59:
        raise SqlError("22009", f'time zone displacement out of range: "{text}"')
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    try:
        return moment - offset if zone[0] == "+" else moment + offset
    except OverflowError:
        raise unsupported("a timestamp before year 1 or after year 9999") from None
