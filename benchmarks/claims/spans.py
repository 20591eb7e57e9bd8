"""Where numbers, dates, names and units stand in a sentence; nothing of redask is used.

The check that is measured must not find its own spans: what is changed is found here, by plain
patterns that would rather miss a number than take a part of an identifier for one.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from claims.material import HALVES, Passage, passages

MONTHS = (
    "January February March April May June July August September October November December".split()
)
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
SMALL = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty".split()
)
MONTH = "(?:" + "|".join(MONTHS) + ")"
NUMBER = re.compile(
    r"(?<![\w.,:·/^\[\\+*#-])(?<!- )(?<!\()(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
    rf"(?![\w\]·/:'’()]| :|[.,]\d|\s?-\s?\d|-[A-Z]| (?:BC|AD|CE|BCE)\b| {MONTH}\b)"
)
NUMBER_WORD = re.compile(r"(?<![\w-])(?:" + "|".join(SMALL) + r")(?![\w-])")
_YEAR_BEFORE = r"(?:in|since|until|during|from|by|after|before|between|circa|of|,|\(|" + MONTH + ")"
_YEAR_AFTER = (
    r"(?=\s?(?:[.,;)–]|--|$)|\s(?:and|to|the|with|by|he|she|they|when|was|were|at|for|until|after|as|a"
    r"|it|but|or|on|in|is)\b)"
)
YEAR = re.compile(rf"(?<=[ (])(?<!\d )(?P<year>1[1-9]\d\d|20[0-2]\d)(?![\w%/]|[.,]\d){_YEAR_AFTER}")
_YEAR_CONTEXT = re.compile(rf"\b{_YEAR_BEFORE}\s?$|[(,]\s?$|{MONTH} \d\d?\s?,?\s?$")
DAY_MONTH = re.compile(rf"(?<![\w-])(?P<day>\d\d?) (?P<month>{MONTH})(?: ,|,)? (?P<year>\d{{4}})\b")
MONTH_DAY = re.compile(
    rf"\b(?P<month>{MONTH}) (?P<day>\d\d?)(?!\d|\s?[-–/])(?:(?: ,|,)? (?P<year>\d{{4}})\b)?"
)
IN_MONTH = re.compile(rf"\b(?:in|since|until|of|by|from) (?P<month>{MONTH})\b")
CENTURY = re.compile(r"\b(?P<ordinal>\d\d?)(?:st|nd|rd|th)(?= century\b| - century\b|-century\b)")
DECADE = re.compile(r"\b(?P<decade>1[1-9]\d|20[012])0(?='?s\b)")
WEEKDAY = re.compile(r"\b(?:" + "|".join(WEEKDAYS) + r")\b")
_NAME_WORD = r"[A-Z][a-zà-öø-ÿ]+(?:['’-][A-Z][a-z]+)?"
NAME = re.compile(rf"(?<=[a-z,;] ){_NAME_WORD}(?: {_NAME_WORD}){{0,3}}(?![\w’'-]| '|-)")
ACRONYM = re.compile(r"(?<=[a-z,;] )[A-Z]{3,6}(?![\w-])")
_ANY_YEAR = re.compile(r"(?<!\d)(\d{4})(?!\d)")
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a sentence."""

    start: int
    end: int
    text: str


def numbers(text: str) -> list[Span]:
    """Plain numbers that are no dates, and small numbers in words."""
    taken = [(span.start, span.end) for span in dated(text)]
    found = [
        _span(match)
        for match in (*NUMBER.finditer(text), *NUMBER_WORD.finditer(text))
        if not any(start < match.end() and match.start() < end for start, end in taken)
        and not re.fullmatch(r"1\d\d\d|20[0-4]\d", match[0])
        and not re.search(rf"{MONTH} $", text[max(0, match.start() - 12) : match.start()])
    ]
    return sorted(found, key=lambda span: span.start)


def dated(text: str) -> list[Span]:
    """Everything of a sentence that belongs to a date."""
    patterns = (DAY_MONTH, MONTH_DAY, CENTURY, DECADE)
    return [_span(match) for pattern in patterns for match in pattern.finditer(text)] + years(text)


def years(text: str) -> list[Span]:
    """Years, by what stands before and after them."""
    return [
        Span(match.start("year"), match.end("year"), match["year"])
        for match in YEAR.finditer(text)
        if _YEAR_CONTEXT.search(text[max(0, match.start() - 24) : match.start()])
    ]


def names(text: str) -> list[Span]:
    """Proper names that do not begin the sentence."""
    return [
        _span(match) for match in NAME.finditer(text) if all(map(_is_name, match[0].split(" ")))
    ]


def acronyms(text: str) -> list[Span]:
    """Abbreviations in capital letters."""
    return [_span(match) for match in ACRONYM.finditer(text)]


@cache
def pool(half: str, words: int) -> tuple[str, ...]:
    """The names of so many words in the encyclopaedia's passages of a half, without repetition."""
    texts = [passage.text for passage in passages(half) if not passage.id.isdigit()]
    found = (name.text for text in texts for name in names(text))
    return tuple(dict.fromkeys(name for name in found if name.count(" ") == words - 1))


def holds(passage: Passage, text: str) -> bool:
    """Whether a text stands in the passage or its title, whole, in any case of letters."""
    wanted = f" {' '.join(words(text))} "
    return wanted in f" {' '.join(words(passage.title + ' ' + passage.text))} "


def holds_any_word(passage: Passage, text: str) -> bool:
    """Whether one of the words of a text stands in the passage or its title."""
    there = set(words(f"{passage.title} {passage.text}"))
    return any(word in there for word in words(text))


def years_of(text: str) -> list[int]:
    """Everything that could be a year."""
    return [int(match[1]) for match in _ANY_YEAR.finditer(text)]


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return _WORDS.findall(text.lower())


def _span(match: re.Match[str]) -> Span:
    return Span(match.start(), match.end(), match[0])


def _is_name(word: str) -> bool:
    if word in MONTHS or word in WEEKDAYS:
        return False
    large, small = _letters()
    return large[word] >= 2 and large[word] > 4 * small[word.lower()]


@cache
def _letters() -> tuple[Counter[str], Counter[str]]:
    """How often a word stands with a capital after a small letter, and how often without."""
    large: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for text in _texts():
        large.update(re.findall(r"(?<=[a-z,] )[A-Z][\w'’-]*", text))
        large.update(re.findall(r"(?<=[a-z] )[A-Z]\w* ([A-Z][\w'’-]*)", text))
        small.update(re.findall(r"\b[a-z][\w'’-]*", text))
    return large, small


def _texts() -> Iterator[str]:
    for half in HALVES:
        for passage in passages(half):
            yield passage.text
