"""to_date(text, pattern) and to_timestamp(text, pattern), for text that follows its pattern.

    to_date("05 Jan 2024", "DD Mon YYYY")
    to_timestamp("2024-01-05 10:00", "YYYY-MM-DD HH24:MI")

PostgreSQL reads text that follows a pattern only loosely. We read where there is one meaning:
each number in its full width (or one digit less before a separator), each separator as written,
nothing left over. All else is refused (0A000), not guessed.
"""

import re
from datetime import date, datetime, timedelta

from redask.core.errors import SqlError
from redask.core.sql.runtime.dates.date_formats import MONTHS, FormatNode, nodes_of
from redask.core.sql.runtime.refusals import unsupported
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name

_WIDTHS = {
    "YYYY": 4,
    "MM": 2,
    "DD": 2,
    "DDD": 3,
    "HH24": 2,
    "HH12": 2,
    "HH": 2,
    "MI": 2,
    "SS": 2,
    "MS": 3,
    "US": 6,
}
_EXACT = {"YYYY", "DDD", "MS", "US"}
_CALLED = {"MONTH": "MM", "MON": "MM", "PM": "AM", "HH": "HH12"}


def to_date(text: str, pattern: str) -> date:
    fields = _fields(text, pattern)
    _clock(fields, text)
    return _day(fields, text)


def to_timestamp(text: str, pattern: str) -> datetime:
    """In UTC, the session's zone."""
    fields = _fields(text, pattern)
    day = _day(fields, text)
    return datetime(day.year, day.month, day.day) + _clock(fields, text)


def _not_plain(text: str, pattern: str) -> SqlError:
    return unsupported(f'reading "{text}" with the pattern "{pattern}"')


def _fields(text: str, pattern: str) -> dict[str, int]:
    nodes = nodes_of(pattern)
    fields: dict[str, int] = {}
    place = 0
    for node in nodes:
        if not node.keyword:
            if not text.startswith(node.text, place) or node.text.isdigit():
                raise _not_plain(text, pattern)
            place += len(node.text)
            continue
        keyword = node.keyword.upper()
        value, end = _value(node, text, place)
        name = _CALLED.get(keyword, keyword)
        if end < 0 or name in fields or node.fill or node.suffix:
            raise _not_plain(text, pattern)
        fields[name] = value
        place = end
    if place != len(text) or "YYYY" not in fields:
        raise _not_plain(text, pattern)
    return fields


def _value(node: FormatNode, text: str, place: int) -> tuple[int, int]:
    """A field's number and where it ends; -1 where the text does not plainly have it."""
    keyword = node.keyword.upper()
    if keyword in ("AM", "PM"):
        half = text[place : place + 2].upper()
        return int(half == "PM"), place + 2 if half in ("AM", "PM") else -1
    if keyword in ("MON", "MONTH"):
        return _month(keyword, text, place)
    width = _WIDTHS.get(keyword, 0)
    found = re.compile(r"[0-9]+").match(text, place)
    if not width or found is None:
        return 0, -1
    digits = found[0][:width]
    if len(digits) < (width if keyword in _EXACT else width - 1):
        return 0, -1
    if len(digits) < width and text[place + len(digits) :][:1].isalnum():
        return 0, -1
    return int(digits), place + len(digits)


def _month(keyword: str, text: str, place: int) -> tuple[int, int]:
    word = re.compile(r"[A-Za-z]*").match(text, place)
    written = word[0].capitalize() if word else ""
    names = [name[:3] for name in MONTHS] if keyword == "MON" else MONTHS
    return (names.index(written) + 1, place + len(written)) if written in names else (0, -1)


def _out_of_range(text: str) -> SqlError:
    return SqlError("22008", f'date/time field value out of range: "{text}"')


def _day(fields: dict[str, int], text: str) -> date:
    year = fields["YYYY"]
    if year == 0 or ("DDD" in fields and ("MM" in fields or "DD" in fields)):
        raise unsupported(f'reading the date "{text}"')
    # PostgreSQL takes month 0 and day 0 for missing ones
    try:
        if "DDD" in fields:
            day = date(year, 1, 1) + timedelta(days=fields["DDD"] - 1)
            if day.year != year:
                raise _out_of_range(text)
            return day
        return date(year, fields.get("MM") or 1, fields.get("DD") or 1)
    except (ValueError, OverflowError):
        raise _out_of_range(text) from None


def _clock(fields: dict[str, int], text: str) -> timedelta:
    hour = fields.get("HH24", 0)
    if "HH12" in fields:
        if "HH24" in fields:
            raise unsupported("HH24 with HH12 in a date pattern")
        hour = fields["HH12"]
        if not 1 <= hour <= 12:
            raise SqlError("22007", f'hour "{hour}" is invalid for the 12-hour clock')
        hour = hour % 12 + 12 * fields.get("AM", 0)
    elif "AM" in fields:
        raise unsupported("AM without HH12 in a date pattern")
    if hour > 23 or fields.get("MI", 0) > 59 or fields.get("SS", 0) > 59:
        raise _out_of_range(text)
    microseconds = fields.get("MS", 0) * 1000 + fields.get("US", 0)
    if "MS" in fields and "US" in fields:
        raise unsupported("MS with US in a date pattern")
    return timedelta(
        hours=hour,
        minutes=fields.get("MI", 0),
        seconds=fields.get("SS", 0),
        microseconds=microseconds,
    )


FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_to_date", ("VARCHAR", "VARCHAR"), "DATE", to_date),
    RuntimeFunction("pg_to_timestamp", ("VARCHAR", "VARCHAR"), "TIMESTAMP", to_timestamp),
)
