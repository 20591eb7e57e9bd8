"""Numbers and dates of a claim against the cited sources: `check`.

    a value is supported    if the same value stands in the cited sources, or can be derived from
                            their cells (`derived_values`), and nothing else stands in its place
    contradicted            if another value stands in its place                         `slots`
    unsupported             otherwise; the word "one" never is, it is an article too often

Aligned passages are read first, the others only for a value that is not in those.
"""

from collections.abc import Iterable, Iterator

from redask.core.rules.grounding import value_tokens
from redask.core.rules.grounding.alignment import Aligned, Alignment, likeness
from redask.core.rules.grounding.checks import derived_values, slots
from redask.core.rules.grounding.checks.faults import Fault
from redask.core.rules.grounding.checks.slots import Rival
from redask.core.rules.grounding.claim_reading import ReadClaim
from redask.core.rules.grounding.value_tokens import ValueToken

_ARTICLE = "one"


def check(claim: ReadClaim, found: Alignment) -> Iterator[Fault]:
    """The values of a claim that are not supported, in its order."""
    for value in claim.values[: slots.MOST]:
        if found.is_copy(claim.around(value.first, value.end)):
            continue
        rivals = list(_rivals(claim, value, found, found.passages))
        if not any(rival.same for rival in rivals):
            words = claim.forms[value.first : value.end]
            others = _rivals(claim, value, found, found.elsewhere(words))
            rivals += [rival for rival in others if rival.same]
        result = slots.contest(rivals)
        if result.found and result.instead is None:
            continue
        if not result.found and derived_values.holds(value, found.cited):
            continue
        if result.instead is not None or value.text.lower() != _ARTICLE:
            yield Fault(value.text, result.instead)
    for value in claim.values[slots.MOST :]:
        if not found.holds(claim.forms[value.first : value.end]):
            yield Fault(value.text)


def _rivals(
    claim: ReadClaim, value: ValueToken, found: Alignment, places: Iterable[Aligned]
) -> Iterator[Rival]:
    at = value.first, value.end
    for place in places:
        source = found.cited[place.source]
        passage = source.passages[place.passage]
        for each in source.values(place.passage)[: slots.MOST]:
            alike = likeness(claim.forms, at, passage.forms, (each.first, each.end))
            same = value_tokens.same(value, each, cell=passage.named > 0)
            said = (
                not same
                and alike >= slots.SAME_PLACE
                and any(value_tokens.same(other, each) for other in claim.values[: slots.MOST])
            )
            yield Rival(same, place.share, alike, each.text, said)
