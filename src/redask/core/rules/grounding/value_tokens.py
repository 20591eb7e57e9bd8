"""The values in a text, numbers and moments together: `find` them, `same` compares two.

A value is a moment, or a quantity that is not part of one. Four digits that may be a year or a
count are both, and the same as either. Places are words: `first` to `end`, half-open. A text with
neither a digit nor a word for a number or a time is not searched at all.
"""

import re
from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from redask.core.equivalence import moments, quantities
from redask.core.equivalence.calendar_words import DAYTIMES, MONTHS, WEEKDAYS
from redask.core.equivalence.moments import Moment
from redask.core.equivalence.number_words import CARDINALS, ORDINALS
from redask.core.equivalence.quantities import Quantity
from redask.core.rules.grounding.stems import form

_DIGITS = re.compile(r"[0-9½¼¾⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]")
_WORD = re.compile(r"[^\W_]+")
_SCALES = "half dozen hundred thousand million billion trillion percent per"
_VALUE_WORDS = frozenset(
    form(word)
    for table in (CARDINALS, ORDINALS, MONTHS, WEEKDAYS, DAYTIMES, _SCALES.split())
    for written in table
    for word in _WORD.findall(written)
)


_Place = tuple[int, int, Moment | None, Quantity | None]


class ValueToken(NamedTuple):
    """A value at the words `first` to `end` of a text, as it is written there."""

    first: int
    end: int
    text: str
    moment: Moment | None
    quantity: Quantity | None


def find(
    text: str, spans: Sequence[tuple[int, int]], forms: Sequence[str]
) -> tuple[ValueToken, ...]:
    """The values of a text whose words have these spans and forms, in order."""
    if _VALUE_WORDS.isdisjoint(forms) and not _DIGITS.search(text):
        return ()
    dated = moments.find(text)
    counted = quantities.find(text)
    if dated and counted:
        sure = [moment.span for moment in dated if not moment.bare]
        counted = quantities.outside(counted, sure)
    merged: list[_Place] = []
    for place in _in_order(dated, counted):
        if merged and place[0] < merged[-1][1]:
            merged[-1] = _one(merged[-1], place)
        else:
            merged.append(place)
    found: list[ValueToken] = []
    index, count = 0, len(spans)
    for start, end, moment, quantity in merged:
        while index < count and spans[index][1] <= start:
            index += 1
        after = index
        while after < count and spans[after][0] < end:
            after += 1
        found.append(ValueToken(index, after, text[start:end], moment, quantity))
    return tuple(found)


def _in_order(dated: Sequence[Moment], counted: Sequence[Quantity]) -> list[_Place]:
    """Both by where they begin and end; each is in order."""
    places: list[_Place] = [(*each.span, each, None) for each in dated]
    places += [(*each.span, None, each) for each in counted]
    if dated and counted:
        places.sort(key=itemgetter(0, 1))
    return places


def _one(first: _Place, second: _Place) -> _Place:
    """Two places that overlap."""
    return first[0], max(first[1], second[1]), first[2] or second[2], first[3] or second[3]


def same(claimed: ValueToken, found: ValueToken, *, cell: bool = False) -> bool:
    """Whether what is claimed is what was found, in whatever spelling."""
    if claimed.moment and found.moment and moments.same(claimed.moment, found.moment):
        return True
    if claimed.quantity is None or found.quantity is None:
        return False
    return quantities.same(claimed.quantity, found.quantity, unit_elsewhere=cell)
