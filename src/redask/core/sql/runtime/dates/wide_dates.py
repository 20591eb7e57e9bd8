"""Dates and moments that Python has none for: before year 1, after year 9999, infinity.

    read_wide("0044-03-15 BC", "date")           "0044-03-15 BC"
    read_wide("infinity", "timestamp")           "infinity"
    wide_number("10000-01-01", "date")           days since 2000-01-01, as PostgreSQL's binary form

They are kept in PostgreSQL's spelling, in UTC. What is in years 1 to 9999 is none of these (None),
and so is every form but ISO's.
"""

import re

from redask.core.errors import SqlError

_FORM = re.compile(
    r"(\d{4,7})-(\d{1,2})-(\d{1,2})"
    r"(?:[ t](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?)?"
    r"(?: *(z|utc|[+-]\d{2}(?::?\d{2})?))?(?: (bc))?\Z",
    re.ASCII,
)
_DAY = 86_400_000_000
_INFINITE = {"infinity": 1, "-infinity": -1}
_BOUNDS = {"date": 31, "timestamp": 63, "timestamptz": 63}  # bits of the binary form
_EPOCH = 730_425  # days from 0000-03-01 to 2000-01-01
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_FIRST = -2_451_545  # days: 4714-11-24 BC, where PostgreSQL begins
_LAST = {"date": 2_145_031_949, "timestamp": 106_751_983, "timestamptz": 106_751_983}  # exclusive


def read_wide(text: str, kind: str) -> str | None:
    """The spelling of a value outside Python's years; None when it is no such text."""
    lower = text.strip().lower()
    if lower in _INFINITE:
        return lower
    found = _FORM.match(lower)
    if found is None:
        return None
    number = _number(found, kind, text)
    written = wide_text(number, kind)
    is_wide = written.endswith(" BC") or len(written.partition("-")[0]) > 4
    return written if is_wide else None


def _number(found: re.Match[str], kind: str, text: str) -> int:
    year, month, day = (int(each) for each in found.group(1, 2, 3))
    if found[9]:
        year = 1 - year
    hour, minute, second = (int(each or 0) for each in found.group(4, 5, 6))
    leap = month == 2 and (year % 4 == 0 and (year % 100 != 0 or year % 400 == 0))
    if (
        not int(found[1])
        or not 1 <= month <= 12
        or not 1 <= day <= _LENGTHS[month - 1] + leap
        or (hour > 24 or minute > 59 or second > 59)
        or (hour == 24 and (minute or second or int(found[7] or 0)))
    ):
        raise SqlError("22008", f'date/time field value out of range: "{text}"')
    days = _days(year, month, day)
    clock = ((hour * 60 + minute) * 60 + second) * 1_000_000
    clock += int((found[7] or "").ljust(6, "0"))
    if kind == "timestamptz":
        clock -= _offset(found[8] or "z")
    whole = days + clock // _DAY
    if not _FIRST <= whole < _LAST[kind]:
        word = "date" if kind == "date" else "timestamp"
        raise SqlError("22008", f'{word} out of range: "{text}"')
    return days if kind == "date" else days * _DAY + clock


def _offset(zone: str) -> int:
    if zone in ("z", "utc"):
        return 0
    digits = zone[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
    return (-minutes if zone[0] == "-" else minutes) * 60_000_000


def _days(year: int, month: int, day: int) -> int:
    """Days since 2000-01-01; years count through 0, which is 1 BC."""
    shifted = year - (month < 3)
    era, place = divmod(shifted, 400)
    in_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + place * 365 + place // 4 - place // 100 + in_year - _EPOCH


def wide_text(number: int, kind: str) -> str:
    """A number of PostgreSQL's binary form as text, in any year."""
    infinite = [word for word in _INFINITE if _infinite(word, kind) == number]
    if infinite:
        return infinite[0]
    days, clock = (number, 0) if kind == "date" else divmod(number, _DAY)
    era, place = divmod(days + _EPOCH, 146_097)
    years = (place - place // 1460 + place // 36_524 - place // 146_096) // 365
    rest = place - (365 * years + years // 4 - years // 100)
    shifted = (5 * rest + 2) // 153
    day = rest - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    year = era * 400 + years + (month < 3)
    written = f"{year if year > 0 else 1 - year:04d}-{month:02d}-{day:02d}"
    if kind != "date":
        seconds, fraction = divmod(clock, 1_000_000)
        written += f" {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        written += f".{fraction:06d}".rstrip("0") if fraction else ""
        written += "+00" if kind == "timestamptz" else ""
    return written if year > 0 else f"{written} BC"


def wide_number(written: str, kind: str) -> int:
    """PostgreSQL's binary form of a text of `read_wide`; ValueError for any other text."""
    if written in _INFINITE:
        return _infinite(written, kind)
    found = _FORM.match(written.lower())
    if found is None:
        raise ValueError(written)
    return _number(found, kind, written)


def _infinite(word: str, kind: str) -> int:
    most = 1 << _BOUNDS[kind]
    return most - 1 if _INFINITE[word] > 0 else -most
