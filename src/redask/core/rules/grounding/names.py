"""The proper names in a text: `find` runs of capitalised words.

    a name          words that begin with a capital, one after another with nothing but a space,
                    a hyphen or the full stop of an initial between them (J. R. R. Tolkien);
                    at most LONGEST
    not a name      a stop word
    not `sure`      the first word of a sentence alone: any word is capitalised there

A word of a name is compared by its form, so accents, case and `'s` do not matter; `inflected`
takes German and Germany for the same, `initials` is what an acronym would be (who).
"""

from collections.abc import Sequence
from typing import NamedTuple

from redask.core.rules.grounding.stems import STOP_WORDS
from redask.core.text import compiled_later

LONGEST = 8
_BETWEEN = (" ", "-")
_POINTS = (". ", ".")
_ABBREVIATION = 3
_OPENS = compiled_later(r"[.!?:;…|\n*#>\"“‘(]")
_NO_NAMES = STOP_WORDS | frozenset("lrb rrb lsb rsb".split())  # brackets in treebanks
_LONGER_BY = 3
_SHORTEST = 4


class Name(NamedTuple):
    """The words `first` to `end` (half-open); not `sure` if it may be any first word."""

    first: int
    end: int
    sure: bool


def find(
    text: str, spans: Sequence[tuple[int, int]], forms: Sequence[str], skipped: int = 0
) -> tuple[Name, ...]:
    """The names of a text whose words have these spans and forms, but for the first `skipped`."""
    found: list[Name] = []
    first: int | None = None
    for index, (start, _) in enumerate(spans[skipped:], skipped):
        capital = text[start].isupper() and forms[index] not in _NO_NAMES
        if first is not None and (
            not capital or index - first == LONGEST or not _joined(text, *spans[index - 1], start)
        ):
            found.append(Name(first, index, _is_sure(text, spans, first, index)))
            first = None
        if capital and first is None:
            first = index
    if first is not None:
        found.append(Name(first, len(spans), _is_sure(text, spans, first, len(spans))))
    return tuple(found)


def _joined(text: str, start: int, end: int, following: int) -> bool:
    """Whether the word at start:end and the following one can be one name."""
    between = text[end:following]
    return between in _BETWEEN or (end - start <= _ABBREVIATION and between in _POINTS)


def _is_sure(text: str, spans: Sequence[tuple[int, int]], first: int, end: int) -> bool:
    start, stop = spans[first]
    if end - first > 1 or not text[start + 1 : stop].islower():
        return True
    return first > 0 and not _OPENS.search(text, spans[first - 1][1], start)


def inflected(one: str, other: str) -> bool:
    """Whether one form is the other with a short ending: german, germany."""
    short, long = sorted((one, other), key=len)
    return (
        len(short) >= _SHORTEST and long.startswith(short) and len(long) - len(short) <= _LONGER_BY
    )


def initials(words: Sequence[str]) -> str:
    """The first letters of words."""
    return "".join([word[:1] for word in words])
