"""Numbers and dates of a claim against the cited sources: `check`.

    a value is supported    if the same value stands in the cited sources, or can be derived from
                            their cells (`derived_values`), and nothing else stands in its place
    contradicted            if another value stands in its place                         `slots`
    unsupported             otherwise; the word "one" never is, it is an article too often

Aligned passages are read first, the others only for a value that is not in those.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from redask.core.rules.grounding import value_tokens
from redask.core.rules.grounding.alignment import Aligned, Alignment
from redask.core.rules.grounding.checks import derived_values, slots
from redask.core.rules.grounding.checks.faults import Fault
from redask.core.rules.grounding.checks.neighbours import Neighbours
from redask.core.rules.grounding.checks.slots import Contest, Rival
from redask.core.rules.grounding.claim_reading import ReadClaim
from redask.core.rules.grounding.value_tokens import ValueToken

_ARTICLE = "one"
_BOUND_WORDS = 2


def check(claim: ReadClaim, found: Alignment) -> Iterator[Fault]:
    """The values of a claim that are not supported, in its order."""
    for value in claim.values[: slots.MOST]:
        if found.is_copy(claim.around(value.first, value.end)):
            continue
        result = _contest(claim, value, found)
        if result.found and result.instead is None:
            continue
        if not result.found and derived_values.holds(value, found.cited):
            continue
        if result.instead is not None or value.text.lower() != _ARTICLE:
            yield Fault(_told(claim, value), result.instead)
    for value in claim.values[slots.MOST :]:
        if not found.holds(claim.forms[value.first : value.end]):
            yield Fault(value.text)


def _told(claim: ReadClaim, value: ValueToken) -> str:
    """A value as it is named: with the words of a bound that the value itself would not keep."""
    if value.quantity and abs(value.quantity.bound) > 1:
        return claim.written(max(0, value.first - _BOUND_WORDS), value.end)
    return value.text


def _contest(claim: ReadClaim, value: ValueToken, found: Alignment) -> Contest:
    """The contest for a value. Passages on another subject can only speak for it: they are read
    if the others do not hold it, until one does, or all of them if the others contradict it."""
    around = Neighbours(claim.forms, value.first, value.end)
    near = [place for place in found.passages if place.share >= slots.SAME_SUBJECT]
    rivals = list(_rivals(claim, value, around, found, near))
    result = slots.contest(rivals)
    if result.found and result.instead is None:
        return result
    words = claim.forms[value.first : value.end]
    far = [place for place in found.passages if place.share < slots.SAME_SUBJECT]
    if result.instead is None:
        far.sort(key=lambda place: not _holds(words, place, found))  # the likeliest first
        others = chain(far, found.elsewhere(words))
        return Contest(any(_the_same(value, around, found, others)), None)
    rivals += _the_same(value, around, found, far)
    if not any(rival.same for rival in rivals):
        rivals += _the_same(value, around, found, found.elsewhere(words))
    return slots.contest(rivals)


def _holds(words: Sequence[str], place: Aligned, found: Alignment) -> bool:
    forms = found.cited[place.source].passages[place.passage].forms
    return all(word in forms for word in words)


def _rivals(
    claim: ReadClaim,
    value: ValueToken,
    around: Neighbours,
    found: Alignment,
    places: Iterable[Aligned],
) -> Iterator[Rival]:
    """The same value, and others in its place."""
    for place in places:
        source = found.cited[place.source]
        passage = source.passages[place.passage]
        for each in source.values(place.passage)[: slots.MOST]:
            same = value_tokens.same(value, each, cell=passage.named > 0)
            alike = around.likeness(passage.forms, each.first, each.end)
            if same:
                yield Rival(True, place.share, alike, each.text)
            elif alike >= slots.SAME_PLACE:
                said = any(value_tokens.same(other, each) for other in claim.values[: slots.MOST])
                yield Rival(False, place.share, alike, each.text, said)


def _the_same(
    value: ValueToken, around: Neighbours, found: Alignment, places: Iterable[Aligned]
) -> Iterator[Rival]:
    for place in places:
        source = found.cited[place.source]
        passage = source.passages[place.passage]
        for each in source.values(place.passage)[: slots.MOST]:
            if value_tokens.same(value, each, cell=passage.named > 0):
                alike = around.likeness(passage.forms, each.first, each.end)
                yield Rival(True, place.share, alike, each.text)
