"""to_char of dates, timestamps and intervals.

    timestamp_to_char(moment, "YYYY-MM-DD HH24:MI")
    timestamp_to_char(moment, "FMMonth FMDDth")       "January 5th"

Keywords are matched in exactly PostgreSQL's spellings (`Month`, `MONTH`, `month`), the longest
first; FM and TH belong to one keyword. Text in double quotes and every other character is
copied. TM, SP and FX are refused; so are the keywords of an interval that have no plain meaning
there.
"""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from redask.core.sql.runtime.dates.date_parts import julian
from redask.core.sql.runtime.dates.intervals import (
    HOUR,
    MINUTE,
    SECOND,
    Interval,
    from_carried,
    microseconds_of,
)
from redask.core.sql.runtime.numbers.number_formats import ordinal
from redask.core.sql.runtime.refusals import check_pattern, unsupported
from redask.core.sql.runtime.runtime_function import RuntimeFunction, functions_by_name

MONTHS = """January February March April May June July August September October November
December""".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_BOTH = """AM PM A.M. P.M. CC DDD DD DAY DY D FF1 FF2 FF3 FF4 FF5 FF6 HH24 HH12 HH IDDD ID IW IYYY
IYY IY I J MI MM MONTH MON MS OF Q RM SSSSS SSSS SS TZH TZM TZ US WW W Y,YYY YYYY YYY YY Y AD BC
A.D. B.C.""".split()
KEYWORDS = sorted(
    {*_BOTH, *(word.lower() for word in _BOTH), "Day", "Dy", "Month", "Mon"},
    key=lambda word: (-len(word), word),
)
_ROMAN = "I II III IV V VI VII VIII IX X XI XII".split()
_INTERVAL = {"HH24", "HH12", "HH", "MI", "SS", "MS", "US", "DD", "MM", "YYYY"}


class FormatNode(NamedTuple):
    """A keyword with its FM and TH, or text to copy (no keyword)."""

    keyword: str
    text: str
    fill: bool = False
    suffix: str = ""


@lru_cache(maxsize=256)
def nodes_of(pattern: str) -> tuple[FormatNode, ...]:
    """The pattern's parts."""
    check_pattern(pattern)
    found: list[FormatNode] = []
    place = 0
    while place < len(pattern):
        node, place = _node(pattern, place)
        found.append(node)
    return tuple(found)


def _node(pattern: str, place: int) -> tuple[FormatNode, int]:
    fill = pattern[place : place + 2] in ("FM", "fm")
    if pattern[place : place + 2].upper() in ("TM", "FX") or pattern[place] == "\\":
        raise unsupported(f'"{pattern[place : place + 2]}" in a date pattern')
    if pattern[place] == '"':
        end = pattern.find('"', place + 1)
        if end < 0 or "\\" in pattern[place:end]:
            raise unsupported(f'the date pattern "{pattern}"')
        return FormatNode("", pattern[place + 1 : end]), end + 1
    start = place + 2 * fill
    keyword = next((each for each in KEYWORDS if pattern.startswith(each, start)), "")
    if not keyword:
        if fill:
            raise unsupported(f'the date pattern "{pattern}"')
        return FormatNode("", pattern[place]), place + 1
    end = start + len(keyword)
    if pattern[end : end + 2] == "SP":
        raise unsupported('"SP" in a date pattern')
    suffix = pattern[end : end + 2]
    suffix = suffix if suffix in ("TH", "th") else ""
    return FormatNode(keyword, "", fill, suffix), end + len(suffix)


def timestamp_to_char(moment: datetime, pattern: str) -> str:
    """to_char of a timestamp; of a date, its midnight."""
    return _to_char(moment, pattern, "")


def timestamptz_to_char(moment: datetime, pattern: str) -> str:
    """In UTC, the session's zone."""
    return _to_char(moment, pattern, "UTC")


def _to_char(moment: datetime, pattern: str, zone: str) -> str:
    return "".join(_write(node, moment, zone) for node in nodes_of(pattern))


def _write(node: FormatNode, moment: datetime, zone: str) -> str:
    if not node.keyword:
        return node.text
    keyword = node.keyword.upper()
    name = _name(node, keyword, moment, zone)
    if name is not None:
        return name
    value, width = _NUMBERS[keyword](moment)
    text = str(value) if node.fill else f"{value:0{width}d}"
    if keyword == "Y,YYY":
        text = f"{value // 1000},{value % 1000:03d}"
    if keyword.startswith("FF") or keyword in ("MS", "US"):
        text = f"{value:0{width}d}"
    return text + (ordinal(text, node.suffix == "TH") if node.suffix else "")


def _name(node: FormatNode, keyword: str, moment: datetime, zone: str) -> str | None:
    """What is written in letters; in the keyword's own case."""
    if keyword in ("MONTH", "DAY", "MON", "DY"):
        names = MONTHS[moment.month - 1] if keyword[0] == "M" else DAYS[moment.weekday()]
        if keyword in ("MON", "DY"):
            return _cased(names[:3], node.keyword)
        return _cased(names if node.fill else names.ljust(9), node.keyword)
    if keyword in ("AM", "PM"):
        return _cased("PM" if moment.hour >= 12 else "AM", node.keyword)
    if keyword in ("A.M.", "P.M."):
        return _cased("P.M." if moment.hour >= 12 else "A.M.", node.keyword)
    if keyword in ("AD", "BC", "A.D.", "B.C."):  # no year before 1 comes here
        return _cased("A.D." if "." in keyword else "AD", node.keyword)
    if keyword == "RM":
        roman = _ROMAN[moment.month - 1]
        return _cased(roman if node.fill else roman.ljust(4), node.keyword)
    if keyword == "TZ":
        return _cased(zone, node.keyword)
    if keyword in ("OF", "TZH", "TZM"):
        if node.fill:
            raise unsupported(f'"FM{keyword}" in a date pattern')
        return "00" if keyword == "TZM" else "+00"
    return None


def _cased(text: str, like: str) -> str:
    if like.isupper():
        return text.upper()
    return text.lower() if like.islower() else text


def _twelve(hour: int) -> int:
    return hour % 12 or 12


def _iso_day_of_year(moment: datetime) -> int:
    _, week, weekday = moment.isocalendar()
    return (week - 1) * 7 + weekday


def _seconds(moment: datetime) -> int:
    return microseconds_of(moment) // SECOND


_NUMBERS: dict[str, Callable[[datetime], tuple[int, int]]] = {
    "CC": lambda at: ((at.year + 99) // 100, 2),
    "DDD": lambda at: (at.timetuple().tm_yday, 3),
    "IDDD": lambda at: (_iso_day_of_year(at), 3),
    "DD": lambda at: (at.day, 2),
    "D": lambda at: (at.isoweekday() % 7 + 1, 1),
    "ID": lambda at: (at.isoweekday(), 1),
    "HH24": lambda at: (at.hour, 2),
    "HH12": lambda at: (_twelve(at.hour), 2),
    "HH": lambda at: (_twelve(at.hour), 2),
    "MI": lambda at: (at.minute, 2),
    "SS": lambda at: (at.second, 2),
    "SSSS": lambda at: (_seconds(at), 1),
    "SSSSS": lambda at: (_seconds(at), 1),
    "MS": lambda at: (at.microsecond // 1000, 3),
    "US": lambda at: (at.microsecond, 6),
    "FF1": lambda at: (at.microsecond // 100000, 1),
    "FF2": lambda at: (at.microsecond // 10000, 2),
    "FF3": lambda at: (at.microsecond // 1000, 3),
    "FF4": lambda at: (at.microsecond // 100, 4),
    "FF5": lambda at: (at.microsecond // 10, 5),
    "FF6": lambda at: (at.microsecond, 6),
    "IW": lambda at: (at.isocalendar()[1], 2),
    "WW": lambda at: ((at.timetuple().tm_yday - 1) // 7 + 1, 2),
    "W": lambda at: ((at.day - 1) // 7 + 1, 1),
    "MM": lambda at: (at.month, 2),
    "Q": lambda at: ((at.month - 1) // 3 + 1, 1),
    "J": lambda at: (julian(at), 1),
    "Y,YYY": lambda at: (at.year, 1),
    "YYYY": lambda at: (at.year, 4),
    "YYY": lambda at: (at.year % 1000, 3),
    "YY": lambda at: (at.year % 100, 2),
    "Y": lambda at: (at.year % 10, 1),
    "IYYY": lambda at: (at.isocalendar()[0], 4),
    "IYY": lambda at: (at.isocalendar()[0] % 1000, 3),
    "IY": lambda at: (at.isocalendar()[0] % 100, 2),
    "I": lambda at: (at.isocalendar()[0] % 10, 1),
}


def interval_to_char(value: Interval, pattern: str) -> str:
    return "".join(_write_interval(node, value) for node in nodes_of(pattern))


def _write_interval(node: FormatNode, value: Interval) -> str:
    keyword = node.keyword.upper()
    if not keyword:
        return node.text
    if keyword not in _INTERVAL or node.suffix:
        raise unsupported(f'"{node.keyword}{node.suffix}" in to_char of an interval')
    if min(value) < 0:
        raise unsupported("to_char of an interval with a negative part")
    clock = value.microseconds
    hours = clock // HOUR
    number, width = {
        "HH24": (hours, 2),
        "HH12": (_twelve(hours), 2),
        "HH": (_twelve(hours), 2),
        "MI": (clock % HOUR // MINUTE, 2),
        "SS": (clock % MINUTE // SECOND, 2),
        "MS": (clock % SECOND // 1000, 3),
        "US": (clock % SECOND, 6),
        "DD": (value.days, 2),
        "MM": (value.months % 12, 2),
        "YYYY": (value.months // 12, 4),
    }[keyword]
    return str(number) if node.fill and keyword not in ("MS", "US") else f"{number:0{width}d}"


_T, _V = "TIMESTAMP", "VARCHAR"
FUNCTIONS = functions_by_name(
    RuntimeFunction("pg_to_char_timestamp", (_T, _V), _V, timestamp_to_char),
    RuntimeFunction("pg_to_char_timestamptz", (_T, _V), _V, timestamptz_to_char),
    RuntimeFunction(
        "pg_to_char_interval",
        ("INTERVAL", _V),
        _V,
        lambda text, pattern: interval_to_char(from_carried(text), pattern),
    ),
)
