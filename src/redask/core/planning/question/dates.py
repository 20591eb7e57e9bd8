"""Dates that a question writes in words, and periods that it counts from today, in ISO form.

written                                    ISO
12 March 2019, March 12 2019, March 12th   2019-03-12; without a year: nothing
March 2019, March of 2019                  2019-03
Q2 2019, Q2 of 2019, second quarter 2019   2019-Q2
today, yesterday                           the day
this month, last month                     2019-03
this year, last year                       2019

Without a date for today, months and years are counted from the newest date of the column they are
said of (`UNDATED`), and days are not understood: a day without rows is no sign of what today is.
"""

import re
from datetime import date, timedelta

from redask.core.planning.question import cues
from redask.core.planning.question.words import QuestionWord

_DAY = re.compile(r"([0-2]?[0-9]|3[01])(?:st|nd|rd|th)?\Z", re.ASCII)
_YEAR = re.compile(r"[12][0-9]{3}\Z", re.ASCII)
_QUARTER = re.compile(r"q[1-4]\Z")
_ORDINALS = ("first", "second", "third", "fourth")
_LONGEST = 5
UNDATED = {
    "this month": ("month", 0),
    "last month": ("month", 1),
    "this year": ("year", 0),
    "last year": ("year", 1),
}  # the unit, and how many of it before the newest date


def written_date(words: tuple[QuestionWord, ...], start: int) -> tuple[int, str]:
    """Behind a date that starts at a word, and its ISO form; `start` where there is none."""
    near = enumerate(words[start : start + _LONGEST], start + 1)
    parts = [(end, token.low) for end, token in near if token.low not in (",", "of")]
    shape = "".join(_part(low) for _, low in parts)
    if shape.startswith("qy"):
        return parts[1][0], f"{parts[1][1]}-{parts[0][1].upper()}"
    if shape.startswith("??y") and parts[1][1] == "quarter" and parts[0][1] in _ORDINALS:
        return parts[2][0], f"{parts[2][1]}-Q{_ORDINALS.index(parts[0][1]) + 1}"
    for pattern in ("dmy", "mdy", "my"):
        if shape.startswith(pattern):
            named = {letter: low for letter, (_, low) in zip(pattern, parts, strict=False)}
            text = f"{named['y']}-{cues.MONTHS[named['m']]:02}"
            if "d" in named:
                text += f"-{int(re.sub(r'[a-z]+', '', named['d'])):02}"
            return parts[len(pattern) - 1][0], text
    return start, ""


def _part(low: str) -> str:
    """d, m, q, y for a day, a month, a quarter, a year; ? for other words."""
    if _QUARTER.match(low):
        return "q"
    if low in cues.MONTHS:
        return "m"
    if _DAY.match(low):
        return "d"
    return "y" if _YEAR.match(low) else "?"


def relative_period(phrase: str, today: date) -> str:
    """The ISO form of a period that is counted from today."""
    if phrase.endswith("year"):
        return f"{today.year - phrase.startswith('last'):04}"
    if phrase.endswith("month"):
        month = today if phrase.startswith("this") else today.replace(day=1) - timedelta(days=1)
        return f"{month.year:04}-{month.month:02}"
    day = today if phrase == "today" else today - timedelta(days=1)
    return day.isoformat()
