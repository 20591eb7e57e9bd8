"""How dates and times are written: `read_all(text, lowered)` reads them from left to right.

One search finds where a form may begin: a run of one to four digits, a month, a weekday, or a word
of time. Anchored patterns then try the forms in order, the longest statement first:

    timestamp, year first · day, month, year in digits · day range and month · day and month
    month and day · month and year · quarter · century · decade · era · time · year
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from redask.core.equivalence import calendar_words
from redask.core.equivalence.calendar_words import MONTHS
from redask.core.equivalence.units import longest_first
from redask.core.text import compiled_later


class Point(NamedTuple):
    """One reading: what is said of a moment; what is not said is None."""

    years: tuple[int, int] | None = None  # the first and the last; BC is below 1, 1 BC being 0
    months: tuple[int, int] | None = None
    day: int | None = None
    weekday: int | None = None  # 0 is Monday
    minute: int | None = None  # of the day
    second: int | None = None
    offset: int | None = None  # minutes east of UTC


class Moment(NamedTuple):
    """A date or time in a text, with every reading it can have; the first is the likeliest."""

    span: tuple[int, int]
    points: tuple[Point, ...]
    bare: bool = False


_MONTH = f"(?P<month>{longest_first(tuple(MONTHS))})(?![a-z])"
_YEAR = r"(?P<year>[12][0-9]{3})(?![0-9]|[.,][0-9])"
_SUFFIX = r"(?: ?(?:st|nd|rd|th|er)(?![a-z])|\.|º)?"
_DAY = rf"(?P<day>[0-3]?[0-9]){_SUFFIX}(?![0-9])"
_SECOND_DAY = (
    rf"(?P<range>\s?[-–—/‐]\s?|\s?(?:to|and|&)\s?)(?P<last>[0-3]?[0-9]){_SUFFIX}(?![0-9:])"
)
_SECONDS = r"(?P<second>[0-5][0-9])(?:[.,][0-9]{1,9})?"
_CLOCK = (
    r"(?P<hour>[0-2]?[0-9])(?: ?[:.] ?(?P<minute>[0-5][0-9])"
    rf"(?: ?: ?{_SECONDS})?)?(?![0-9])"
)
_HALF_DAY = r" ?(?P<half>a|p)(?:m(?![a-z])| ?\. ?m ?\.?)"
_HOUR_WORD = "|".join(calendar_words.HOURS)

_ISO = compiled_later(
    r"(?P<year>[0-9]{4})(?P<sep>[-/.])(?P<month>[01]?[0-9])(?P=sep)(?P<day>[0-3]?[0-9])(?![0-9])"
    rf"(?:(?:t| )(?P<hour>[0-2][0-9]):(?P<minute>[0-5][0-9])(?::{_SECONDS})?"
    r"(?: ?(?P<zone>z|utc|gmt|[+−-][01][0-9]:?[0-5][0-9])(?![a-z0-9]))?)?"
)
_NUMERIC = compiled_later(
    r"(?P<first>[0-3]?[0-9])(?: (?=[/]))?(?P<sep>[-/.]) ?(?P<other>[0-3]?[0-9]) ?(?P=sep) ?"
    r"(?P<year>[12][0-9]{3}|[0-9]{2})(?![0-9]|[-/.][0-9])"
)
_DAY_MONTH = compiled_later(
    rf"{_DAY}(?:{_SECOND_DAY})?[\s-]?(?:of |de |d['’])?{_MONTH}"
    rf"(?:(?:\s?,\s?|[\s-]| of | de | del )(?:of )?{_YEAR})?"
)
_MONTH_DAY = compiled_later(
    rf"{_MONTH}(?:\s(?:the )?|-(?=[0-9]{{1,2}}-)){_DAY}(?:{_SECOND_DAY})?"
    rf"(?:(?:\s?,\s?|[\s-]){_YEAR})?(?![0-9:])"
)
_MONTH_YEAR = compiled_later(rf"{_MONTH}(?:\s?,\s?|[\s-]| of | de | del ){_YEAR}")
_MONTH_ALONE = compiled_later(rf"{_MONTH}(?!-?[0-9])")
_QUARTER = compiled_later(
    r"(?:q(?P<number>[1-4])|(?P<word>first|second|third|fourth|1st|2nd|3rd|4th) quarter)"
    rf"(?: of| in|,)?\s?(?:fy ?)?{_YEAR}"
)
_YEAR_QUARTER = compiled_later(rf"{_YEAR}[\s-]?q(?P<number>[1-4])(?![0-9a-z])")
_CENTURY_WORD = longest_first(tuple(calendar_words.CENTURIES))
_CENTURY = compiled_later(
    rf"(?:(?P<digits>[0-9]{{1,2}})(?:st|nd|rd|th)|(?P<word>{_CENTURY_WORD}))"
    r"(?=(?:(?: and | or | to | ?[-–,] ?)(?:early |late |mid-?)?(?:the )?"
    r"(?:[0-9]{1,2}(?:st|nd|rd|th)|[a-z]{5,12}))?"
    r"[ -]{1,3}(?:century|centuries|c\.)(?P<era>,? b\. ?c\.|,? bce?(?![a-z]))?)"
)
_CENTURY_END = compiled_later(
    r"[ -]{1,3}(?:century|centuries|c\.)(?:,? b\. ?c\.(?: ?e\.)?|,? bce?(?![a-z]))?"
)
_DECADE = compiled_later(
    r"(?P<year>[12][0-9]{2}0|(?<=['’])[2-9]0|(?<=the )[2-9]0)(?: ?['’])? ?s(?![a-z])"
)
_ERA = compiled_later(
    r"(?P<year>[0-9]{1,4}) ?(?:(?P<bc>b\. ?c\.(?: ?e\.)?|bce?(?![a-z]))|(?:ce|ad|a\.d\.)(?![a-z]))"
)
_AD = compiled_later(r"(?:ad|a\. ?d\.|ce) (?P<year>[0-9]{1,4})(?![0-9])")
_TIME = compiled_later(rf"{_CLOCK}(?:{_HALF_DAY})?")
_O_CLOCK = compiled_later(
    rf"(?:(?P<past>half|quarter) (?P<to>past|to) )?"
    rf"(?:(?P<word>{_HOUR_WORD})(?![a-z])|(?P<digits>1?[0-9])(?![0-9:.]))"
    rf"(?P<clock> ?o ?['’] ?clock| uhr(?![a-z]))?(?:{_HALF_DAY})?"
)
_AT = compiled_later(r"(?<![a-z])at \Z")
_CLAUSE_END = compiled_later(
    r"\s*(?:[.,;:!?)\]]|\Z)| (?:in the (?:morning|evening|afternoon)|on|every|each|sharp|tonight"
    r"|tomorrow|daily|and|but|from)(?![a-z])"
)
_LAST_YEAR = 2100
_DATED_YEAR = compiled_later(
    _YEAR + r"(?:(?P<dash> ?[-–—/‐] ?)(?P<last>[0-9]{2})(?![0-9a-z%]|[-/.:,][0-9]))?"
)
_IN = compiled_later(
    r"(?<![a-z])(?:in|during|since|until|till|by|from|of|early|late|mid|every|each|last|next|this"
    r"|and|to|through|between|before|after)[ -]\Z"
)
# what goes on after four digits, or after one or two: without it there is nothing to try
_AFTER_YEAR = (
    r"(?: ?[-–—/‐.]|[\s-]?q[1-4]| ?(?:['’]|s(?![a-z])|b\.|bce?(?![a-z])|(?:ce|ad|a\.d\.)(?![a-z])))"
)
_AFTER_DAY = (
    r"\s?(?:[-–—/‐:'’º&]|\.(?!\s*\Z)|(?:st|nd|rd|th|er|s|bce?|ce|ad|uhr|am|pm)(?![a-z])|b\."
    r"|[ap] ?\.|o ?['’]|(?:to|and)\s?[0-9]"
    rf"|(?:of |de |d['’])?{longest_first(tuple(MONTHS))}(?![a-z]))"
)
_ANCHOR = compiled_later(
    rf"(?<![0-9a-z])(?:(?P<year>[12][0-9]{{3}}(?![0-9]|[.,][0-9]|{_AFTER_YEAR}))"
    rf"|(?P<dated>[0-9]{{3,4}}(?![0-9]))"
    rf"|(?P<short>[0-9]{{1,2}}(?![0-9])(?:(?={_AFTER_DAY})|(?<=at [0-9])|(?<=at [0-9][0-9])))"
    rf"|(?:{longest_first(tuple(MONTHS))}"
    rf"|{longest_first(tuple(calendar_words.WEEKDAYS))}s?|noon|midday|midnight|half(?= past)"
    rf"|quarter(?= past| to)|q[1-4](?= )|a\.? ?d\.?(?= [0-9])|ce(?= [0-9])"
    rf"|{_HOUR_WORD}|{_CENTURY_WORD})(?![a-z]))"
)


def read_all(text: str, lowered: str) -> Iterator[Moment]:
    """The moments of a text; `lowered` is the same text in lower case."""
    position = 0
    while anchor := _ANCHOR.search(lowered, position):
        position = anchor.end()
        kind = anchor.lastgroup
        if kind == "year":
            if (year := int(anchor[0])) <= _LAST_YEAR:
                yield Moment(anchor.span(), (Point((year, year)),), True)
            continue
        forms = _DIGIT_FORMS[kind] if kind else _FORMS_OF.get(anchor[0], _WORD_FORMS)
        for form in forms:
            moments = form(text, lowered, anchor.start())
            if moments:
                yield from moments
                position = max(position, moments[-1].span[1])
                break


Moments = tuple[Moment, ...]


def _date(year: int | None, month: int, day: int) -> Point | None:
    if not 1 <= month <= 12 or not 1 <= day <= calendar_words.days_in(year, month):
        return None
    return Point((year, year) if year is not None else None, (month, month), day)


def _iso(_text: str, lowered: str, start: int) -> Moments:
    found = _ISO.match(lowered, start)
    point = found and _date(int(found["year"]), int(found["month"]), int(found["day"]))
    if found is None or point is None:
        return ()
    if found["hour"] and int(found["hour"]) < 24:
        minute = 60 * int(found["hour"]) + int(found["minute"])
        second = int(found["second"]) if found["second"] else None
        point = point._replace(minute=minute, second=second, offset=_offset(found["zone"]))
    return (Moment(found.span(), (point,)),)


def _offset(zone: str | None) -> int | None:
    if zone is None:
        return None
    if zone[0].isalpha():
        return 0
    digits = zone[1:].replace(":", "")
    minutes = 60 * int(digits[:2]) + int(digits[2:])
    return minutes if zone[0] == "+" else -minutes


def _numeric(_text: str, lowered: str, start: int) -> Moments:
    found = _NUMERIC.match(lowered, start)
    if found is None:
        return ()
    year = int(found["year"])
    if len(found["year"]) == 2:
        if found["sep"] == "-" or (found["sep"] == "." and found.end() - start < 8):
            return ()
        year += 2000 if year < 69 else 1900
    first, other = int(found["first"]), int(found["other"])
    orders = (_date(year, other, first), _date(year, first, other))
    points = tuple(dict.fromkeys(point for point in orders if point))
    return (Moment(found.span(), points),) if points else ()


def _named(pattern: re.Pattern[str]) -> Callable[[str, str, int], Moments]:
    """A date with a month's name, in either order; two of them if it names a range of days."""

    def form(text: str, lowered: str, start: int) -> Moments:
        found = pattern.match(lowered, start)
        if found is None or _is_verb(found["month"], text[found.start("month")]):
            return ()
        year = int(found["year"]) if found["year"] else None
        month = MONTHS[found["month"]]
        first = _date(year, month, int(found["day"]))
        if first is None:
            return ()
        if found["last"] is None:
            return (Moment(found.span(), (first,)),)
        last = _date(year, month, int(found["last"]))
        if last is None:
            return ()
        days = (start, found.start("last") - len(found["range"]))
        return Moment(days, (first,)), Moment((found.start("last"), found.end()), (last,))

    return form


def _is_verb(month: str, initial: str) -> bool:
    """`may` and `march` in lower case: 2 may differ."""
    return month in ("may", "march", "mar") and initial.islower()


def _month_year(_text: str, lowered: str, start: int) -> Moments:
    found = _MONTH_YEAR.match(lowered, start)
    if found is None:
        return ()
    year, month = int(found["year"]), MONTHS[found["month"]]
    return (Moment(found.span(), (Point((year, year), (month, month)),)),)


def _month_alone(text: str, lowered: str, start: int) -> Moments:
    """In May, since March: a capital and a word before, for may and march are words, too."""
    found = _MONTH_ALONE.match(lowered, start)
    if found is None or text[start].islower() or not _IN.search(lowered, max(0, start - 9), start):
        return ()
    month = MONTHS[found["month"]]
    return (Moment(found.span(), (Point(None, (month, month)),)),)


def _quarter(_text: str, lowered: str, start: int) -> Moments:
    found = _YEAR_QUARTER.match(lowered, start) or _QUARTER.match(lowered, start)
    if found is None:
        return ()
    named = found.groupdict().get("word")
    ranks = ("first", "second", "third", "fourth")
    if found["number"]:
        number = int(found["number"])
    else:
        word = str(named)
        number = int(word[0]) if word[0].isdigit() else ranks.index(word) + 1
    year = int(found["year"])
    return (Moment(found.span(), (Point((year, year), (3 * number - 2, 3 * number)),)),)


def _century(_text: str, lowered: str, start: int) -> Moments:
    found = _CENTURY.match(lowered, start)
    if found is None:
        return ()
    number = int(found["digits"]) if found["digits"] else calendar_words.CENTURIES[found["word"]]
    first = 1 - 100 * number if found["era"] else 100 * number - 99
    closing = _CENTURY_END.match(lowered, found.end())
    end = closing.end() if closing else found.end()
    return (Moment((start, end), (Point((first, first + 99)),)),)


def _decade(_text: str, lowered: str, start: int) -> Moments:
    found = _DECADE.match(lowered, start)
    if found is None:
        return ()
    year = int(found["year"])
    year += 1900 if year < 100 else 0
    points = [Point((year, year + 9))]
    if year % 100 == 0:
        points.insert(0, Point((year, year + 99)))
    return (Moment(found.span(), tuple(points)),)


def _era(_text: str, lowered: str, start: int) -> Moments:
    found = _AD.match(lowered, start) or _ERA.match(lowered, start)
    if found is None:
        return ()
    year = int(found["year"])
    if found.groupdict().get("bc"):
        year = 1 - year
    return (Moment(found.span(), (Point((year, year)),)),)


def _time(_text: str, lowered: str, start: int) -> Moments:
    found = _TIME.match(lowered, start)
    if found is None or int(found["hour"]) > 24:
        return ()
    if not found["half"] and (found["minute"] is None or ":" not in found[0] or " " in found[0]):
        return ()
    minutes = 60 * (int(found["hour"]) % 24) + int(found["minute"] or 0)
    ambiguous = not found["half"] and found["hour"][0] != "0"
    second = int(found["second"]) if found["second"] else None
    points = [one._replace(second=second) for one in _hours(minutes, found["half"], ambiguous)]
    return (Moment(found.span(), tuple(points)),)


def _hours(minutes: int, half: str | None, ambiguous: bool) -> tuple[Point, ...]:
    """The readings of a time: with am or pm one; else the same hour after noon, too."""
    if half:
        return (Point(minute=minutes % 720 + (720 if half == "p" else 0)),)
    if ambiguous and 60 <= minutes < 780:
        return Point(minute=minutes), Point(minute=(minutes + 720) % 1440)
    return (Point(minute=minutes),)


def _o_clock(_text: str, lowered: str, start: int) -> Moments:
    """Nine o'clock, half past nine, nine a.m.; `at nine` at the end of a clause."""
    found = _O_CLOCK.match(lowered, start)
    if found is None:
        return ()
    named = bool(found["past"] or found["clock"] is not None or found["half"])
    if not named:
        at = _AT.search(lowered, max(0, start - 4), start)
        if at is None or not _CLAUSE_END.match(lowered, found.end()):
            return ()
    hour = int(found["digits"]) if found["digits"] else calendar_words.HOURS[found["word"]]
    if not 1 <= hour <= 12:
        return ()
    minutes = 60 * hour
    if found["past"]:
        amount = 30 if found["past"] == "half" else 15
        minutes += -amount if found["to"] == "to" else amount
    return (Moment(found.span(), _hours(minutes, found["half"], True), bare=not named),)


def _word(_text: str, lowered: str, start: int) -> Moments:
    for name, hour in calendar_words.DAYTIMES.items():
        if lowered.startswith(name, start):
            return (Moment((start, start + len(name)), (Point(minute=60 * hour),)),)
    for name, number in calendar_words.WEEKDAYS.items():
        if lowered.startswith(name, start):
            return (Moment((start, start + len(name)), (Point(weekday=number),)),)
    return ()


def _year(_text: str, lowered: str, start: int) -> Moments:
    """Four digits; `1939–45` is two years, `2005-06` may be a month as well."""
    found = _DATED_YEAR.match(lowered, start)
    if found is None or int(found["year"]) > _LAST_YEAR:
        return ()
    year = int(found["year"])
    first = Moment(found.span("year"), (Point((year, year)),), bare=True)
    if found["last"] is None:
        return (first,)
    short = int(found["last"])
    end = year - year % 100 + short
    if found["dash"] == "-" and 1 <= short <= 12:
        points = (Point((year, year), (short, short)), Point((year, max(year, end))))
        return (Moment((start, found.end()), points),)
    if end <= year:
        return (first,)
    last = Moment(found.span("last"), (Point((end, end)),))
    return first._replace(bare=False), last


_Form = Callable[[str, str, int], Moments]
_DIGIT_FORMS: dict[str, tuple[_Form, ...]] = {
    "dated": (_iso, _quarter, _decade, _era, _year),
    "short": (
        _numeric, _named(_DAY_MONTH), _quarter, _century, _decade, _era, _time, _o_clock,
    ),
}  # fmt: skip
_MONTH_FORMS: tuple[_Form, ...] = (_named(_MONTH_DAY), _month_year, _month_alone)
_WORD_FORMS: tuple[_Form, ...] = (*_MONTH_FORMS, _quarter, _century, _era, _o_clock, _word)
_FORMS_OF: dict[str, tuple[_Form, ...]] = {
    **dict.fromkeys(MONTHS, _MONTH_FORMS),
    **dict.fromkeys(calendar_words.WEEKDAYS, (_word,)),
    **dict.fromkeys(calendar_words.CENTURIES, (_quarter, _century)),
    **dict.fromkeys(calendar_words.HOURS, (_o_clock,)),
}
