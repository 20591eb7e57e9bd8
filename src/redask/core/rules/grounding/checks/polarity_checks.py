"""Negations and directions of a claim against the passage it speaks of: `check`.

    negation of the claim      unsupported if its best passage negates nothing and holds at least
                               SAME_SUBJECT of its content; contradicted if NEAR_COPY of it, also
                               where the passage negates something else
    negation of the passage    contradicted if the claim says what the passage negates, in the same
                               place, and negates less than the passage
    direction                  contradicted if the opposite word stands in its place     `slots`

A negation turns the next word that carries meaning. Only plain negations (not, no, never …) are
looked for in what must be negated; any (fail, lack, unable …) answers them.
"""

from collections.abc import Iterator, Sequence

from redask.core.rules.grounding import polarity
from redask.core.rules.grounding.alignment import Aligned, Alignment
from redask.core.rules.grounding.checks import slots
from redask.core.rules.grounding.checks.faults import Fault
from redask.core.rules.grounding.checks.neighbours import Neighbours
from redask.core.rules.grounding.checks.slots import Rival
from redask.core.rules.grounding.claim_reading import ReadClaim
from redask.core.rules.grounding.source_text import SourceText
from redask.core.rules.grounding.stems import has_meaning

SAME_SUBJECT = 0.6
NEAR_COPY = 0.8
_SAME_PLACE = 2.0
_SCOPE = 4


def check(claim: ReadClaim, found: Alignment) -> Iterator[Fault]:
    """The negations and directions that the cited sources do not bear out."""
    if found.passages:
        yield from _negations(claim, found, found.passages[0])
        yield from _directions(claim, found, found.passages[0])


def _negations(claim: ReadClaim, found: Alignment, best: Aligned) -> Iterator[Fault]:
    source = found.cited[best.source]
    forms = source.passages[best.passage].forms
    ours, theirs = polarity.negations(claim.forms), polarity.negations(forms)
    turned = {_turned(forms, at) for at in theirs}
    extra = [at for at in ours if _turned(claim.forms, at) not in turned]
    plain = [at for at in extra if polarity.is_plain(claim.forms[at])]
    if plain and (not theirs or (best.share >= NEAR_COPY and len(ours) > len(theirs))):
        instead = source.text(best.passage) if best.share >= NEAR_COPY else None
        yield Fault(claim.written(plain[0], plain[0] + 1), instead)
    elif len(theirs) > len(ours) and best.share >= SAME_SUBJECT:
        yield from _denied(
            claim, found, best, [at for at in theirs if polarity.is_plain(forms[at])]
        )


def _denied(
    claim: ReadClaim, found: Alignment, best: Aligned, theirs: Sequence[int]
) -> Iterator[Fault]:
    """What the claim states and its passage negates."""
    source = found.cited[best.source]
    forms = source.passages[best.passage].forms
    ours = {_turned(claim.forms, at) for at in polarity.negations(claim.forms)}
    for at in theirs:
        word = _turned(forms, at)
        if word is None or word in ours or word not in claim.forms:
            continue
        there = forms.index(word, at)
        here = claim.forms.index(word)
        without = forms[:at] + forms[at + 1 :]
        around = Neighbours(claim.forms, here, here + 1)
        if around.likeness(without, there - 1, there) >= _SAME_PLACE:
            text = source.written(best.passage, at, there + 1)
            yield Fault(claim.written(here, here + 1), text)
            return


def _turned(forms: Sequence[str], at: int) -> str | None:
    """The word that a negation turns."""
    for form in forms[at + 1 : at + 1 + _SCOPE]:
        if has_meaning(form) and not polarity.is_negation(form):
            return form
    return None


def _directions(claim: ReadClaim, found: Alignment, best: Aligned) -> Iterator[Fault]:
    source = found.cited[best.source]
    for at in polarity.directed(claim.forms)[: slots.MOST]:
        if found.is_copy(claim.around(at, at + 1)):
            continue
        result = slots.contest(_rivals(claim, at, found))
        instead = result.instead
        if instead is None and best.share >= SAME_SUBJECT:
            instead = _only_opposite(claim.forms[at], source, best.passage)
        if instead is not None:
            yield Fault(claim.written(at, at + 1), instead)


def _only_opposite(form: str, source: SourceText, number: int) -> str | None:
    """The opposite of a word in a passage that says nothing in its direction."""
    ours = polarity.directions(form)
    passage = source.passages[number]
    instead = None
    for at in polarity.directed(passage.forms):
        theirs = polarity.directions(passage.forms[at])
        if polarity.alike(ours, theirs):
            return None
        if instead is None and polarity.opposite(ours, theirs):
            instead = source.written(number, at, at + 1)
    return instead


def _rivals(claim: ReadClaim, at: int, found: Alignment) -> Iterator[Rival]:
    """Words of direction in the aligned passages."""
    ours = polarity.directions(claim.forms[at])
    around = Neighbours(claim.forms, at, at + 1)
    for place in found.passages:
        source = found.cited[place.source]
        forms = source.passages[place.passage].forms
        for there in polarity.directed(forms):
            theirs = polarity.directions(forms[there])
            same = polarity.alike(ours, theirs)
            if same or polarity.opposite(ours, theirs):
                alike = around.likeness(forms, there, there + 1)
                text = source.written(place.passage, there, there + 1)
                yield Rival(same, place.share, alike, text, forms[there] in claim.forms)
