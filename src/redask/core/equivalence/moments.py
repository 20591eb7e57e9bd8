"""Dates and times: `find(text)` in text order, `same(claimed, found)` across spellings.

    12 March 2019 · March 12th, 2019 · 12-Mar-2019 · 2019-03-12 · March 2019 · 12 March
    12/03/2019 · 12.03.2019 · 12/03/19        two readings where both orders are dates
    2019 · 1990s · 19th century · 44 BC · AD 70 · Q3 2019 · third quarter of 2019
    1939–45 · 12–14 March 2019 · 28 August – 2 September 2019      each end is a moment
    9 am · 9:30 p.m. · 09:00 · nine o'clock · half past nine · at nine · noon · midnight
    2019-03-12T09:00:00+01:00 · Monday

`same`: everything that is claimed was found; what is claimed may be coarser (2019 for 12 March
2019), never finer. A weekday follows from a full date. Two times with zones are compared as
instants; else the clock is compared as written. Without am or pm, hours to twelve have two
readings; a reading of each must fit.

`bare` marks four digits, or an hour without a sign of time, that could be a count: the caller takes
them as found if either the moment or the quantity is. Times of day and dates are separate moments
unless written as one timestamp. Years have no century unless written out, but in 12/03/19.
"""

from redask.core.equivalence import calendar_words, moment_forms
from redask.core.equivalence.lower_case import lower
from redask.core.equivalence.moment_forms import Moment, Point
from redask.core.text import compiled_later

__all__ = ["Moment", "Point", "find", "same"]

_RANGE = compiled_later(r"\s?(?:[-–—‐‑]|to|until|till|through|and|bis)\s?(?:the )?")
_MAX_GAP = 12


def find(text: str) -> tuple[Moment, ...]:
    """Every moment of the text, in order, none overlapping another."""
    lowered = lower(text)
    found = list(moment_forms.read_all(text, lowered))
    for n in range(len(found) - 2, -1, -1):
        first, second = found[n], found[n + 1]
        gap = lowered[first.span[1] : second.span[0]][: _MAX_GAP + 1]
        if len(gap) <= _MAX_GAP and _RANGE.fullmatch(gap):
            found[n] = first._replace(points=_with_year(first, second))
    return tuple(found)


def _with_year(first: Moment, second: Moment) -> tuple[Point, ...]:
    """`28 August – 2 September 2019`: the first is of that year, or of none that is said."""
    year = second.points[0].years
    point = first.points[0]
    if point.months is None or point.years is not None or year is None:
        return first.points
    return (point._replace(years=year), *first.points)


def same(claimed: Moment, found: Moment) -> bool:
    """Whether what is claimed is what was found, or a coarser statement of it."""
    for ours in claimed.points:
        for theirs in found.points:
            if _covers(ours, theirs):
                return True
    return False


def _covers(claimed: Point, found: Point) -> bool:
    if claimed.offset is not None and found.offset is not None:
        return _instant(claimed) == _instant(found)
    if not _holds(claimed.years, found.years) or not _holds(claimed.months, found.months):
        return False
    if claimed.weekday is not None and claimed.weekday != _weekday(found):
        return False
    if claimed.day is not None and claimed.day != found.day:
        return False
    if claimed.minute is None:
        return True
    if claimed.minute != found.minute:
        return False
    return claimed.second is None or claimed.second == found.second


def _holds(claimed: tuple[int, int] | None, found: tuple[int, int] | None) -> bool:
    if claimed is None:
        return True
    return found is not None and claimed[0] <= found[0] and found[1] <= claimed[1]


def _weekday(point: Point) -> int | None:
    day = _day(point)
    return point.weekday if day is None else calendar_words.weekday(day)


def _day(point: Point) -> int | None:
    """The number of the day, if the date is whole."""
    if point.day is None or point.years is None or point.months is None:
        return None
    return calendar_words.day_number(point.years[0], point.months[0], point.day)


def _instant(point: Point) -> int:
    """Seconds of a timestamp with a zone: its date is whole."""
    days, minute, offset = _day(point) or 0, point.minute or 0, point.offset or 0
    return (days * 1440 + minute - offset) * 60 + (point.second or 0)
