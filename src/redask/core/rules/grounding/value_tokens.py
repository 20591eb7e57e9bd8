"""The values in a text, numbers and moments together: `find` them, `same` compares two.

A value is a moment, or a quantity that is not part of one. Four digits that may be a year or a
count are both, and the same as either. Places are words: `first` to `end`, half-open. A text with
neither a digit nor a word for a number or a time is not searched at all.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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

_Place = tuple[tuple[int, int], Moment | None, Quantity | None]


@dataclass(frozen=True, slots=True)
class ValueToken:
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
    sure = [moment.span for moment in dated if not moment.bare]
    counted = quantities.outside(quantities.find(text), sure)
    places: list[_Place] = [(each.span, each, None) for each in dated]
    places += [(each.span, None, each) for each in counted]
    places.sort(key=lambda place: place[0])
    merged: list[_Place] = []
    for span, moment, quantity in places:
        if merged and span[0] < merged[-1][0][1]:
            (start, end), before, other = merged.pop()
            place = (start, max(end, span[1])), before or moment, other or quantity
            merged.append(place)
        else:
            merged.append((span, moment, quantity))
    return tuple(_placed(text, spans, merged))


def _placed(
    text: str,
    spans: Sequence[tuple[int, int]],
    places: Sequence[_Place],
) -> Iterator[ValueToken]:
    index = 0
    for (start, end), moment, quantity in places:
        while index < len(spans) and spans[index][1] <= start:
            index += 1
        last = index
        while last < len(spans) and spans[last][0] < end:
            last += 1
        yield ValueToken(index, last, text[start:end], moment, quantity)


def same(claimed: ValueToken, found: ValueToken, *, cell: bool = False) -> bool:
    """Whether what is claimed is what was found, in whatever spelling."""
    if claimed.moment and found.moment and moments.same(claimed.moment, found.moment):
        return True
    if claimed.quantity is None or found.quantity is None:
        return False
    return quantities.same(claimed.quantity, found.quantity, unit_elsewhere=cell)
