"""Proper names of a claim against the cited sources: `check`.

    a word of a name is held    if the sources have its form, or it with another short ending
                                (German, Germany), or the whole name is an acronym of words there,
                                or words whose acronym is there
    unsupported                 if a word is not held: the words that are not
    contradicted                if another name stands in its place: of the whole name, or of one
                                word of it (Albert Earth)                                `slots`

Surname alone is fine: its form is there. The first word of a sentence, when it may be any word,
is only ever contradicted.
"""

from collections.abc import Iterator, Sequence

from redask.core.rules.grounding import names
from redask.core.rules.grounding.alignment import Aligned, Alignment
from redask.core.rules.grounding.checks import slots
from redask.core.rules.grounding.checks.faults import Fault
from redask.core.rules.grounding.checks.neighbours import Neighbours
from redask.core.rules.grounding.checks.slots import Rival
from redask.core.rules.grounding.claim_reading import ReadClaim
from redask.core.rules.grounding.names import Name
from redask.core.rules.grounding.source_text import SourceText
from redask.core.rules.grounding.stems import ROOT

_SAME_PLACE = 3.5
_PLACES = 16
_PRONOUNS = frozenset("he she it they his her its their this these the".split())
_ACRONYM = range(2, 7)


def check(claim: ReadClaim, found: Alignment) -> Iterator[Fault]:
    """The names of a claim that are not supported, in its order."""
    for name in claim.names[: slots.MOST]:
        if found.is_copy(claim.around(name.first, name.end)):
            continue
        missing = [at for at in range(name.first, name.end) if not _is_held(claim.forms[at], found)]
        if missing and name.sure:
            if _is_defined(claim, name) or _is_antecedent(name, missing, found):
                continue
            if not _is_abbreviated(claim.forms[name.first : name.end], found):
                result = slots.contest(_rivals(claim, name.first, name.end, found))
                yield Fault(claim.written(missing[0], missing[-1] + 1), result.instead)
            continue
        for first, end in _parts(name):
            result = slots.contest(_rivals(claim, first, end, found), _SAME_PLACE)
            if result.instead is not None and (missing or result.found):
                yield Fault(claim.written(first, end), result.instead)
                break
    for name in claim.names[slots.MOST :]:
        if name.sure and not found.holds(claim.forms[name.first : name.end]):
            yield Fault(claim.written(name.first, name.end))


def _parts(name: Name) -> list[tuple[int, int]]:
    """The whole name, then its words."""
    whole = [(name.first, name.end)]
    if name.end - name.first == 1:
        return whole
    return whole + [(at, at + 1) for at in range(name.first, name.end)]


def _is_held(form: str, found: Alignment) -> bool:
    return any(source.holds(form) or _inflects(form, source) for source in found.cited)


def _inflects(form: str, source: SourceText) -> bool:
    """Whether a source has the name with another ending: its root says where to look."""
    places = source.holding(form[:ROOT])[:_PLACES]
    if len(form) < ROOT:
        places = []
    return any(
        names.inflected(form, each) for place in places for each in source.passages[place].forms
    )


def _is_defined(claim: ReadClaim, name: Name) -> bool:
    """Whether it is the acronym of the words before it, as in "World Health Organization (WHO)"."""
    acronym = claim.forms[name.first]
    start = name.first - len(acronym)
    return (
        name.end - name.first == 1
        and start >= 0
        and names.initials(claim.forms[start : name.first]) == acronym
    )


def _is_antecedent(name: Name, missing: Sequence[int], found: Alignment) -> bool:
    """Whether a claim's subject may be what a text without any heading calls "it" or "she"."""
    if name.first > 1 or len(missing) < name.end - name.first or not found.passages:
        return False
    best = found.passages[0]
    source = found.cited[best.source]
    opening = source.passages[best.passage].forms[:3]
    return (
        best.passage == 0 and len(source.fields) == 1 and any(form in _PRONOUNS for form in opening)
    )


def _is_abbreviated(words: tuple[str, ...], found: Alignment) -> bool:
    """Whether the sources have the acronym of a name, or the name of an acronym."""
    if len(words) > 1:
        return any(source.holds(names.initials(words)) for source in found.cited)
    return len(words[0]) in _ACRONYM and any(
        words[0] in names.initials(found.cited[place.source].passages[place.passage].forms)
        for place in found.passages
    )


def _rivals(claim: ReadClaim, first: int, end: int, found: Alignment) -> Iterator[Rival]:
    """The names of the aligned passages, and wherever the words of this one stand."""
    ours = frozenset(claim.forms[first:end])
    said = frozenset(claim.forms)
    around = Neighbours(claim.forms, first, end)
    for place in _places(ours, found):
        source = found.cited[place.source]
        forms = source.passages[place.passage].forms
        # what stands on another subject speaks against no name
        known = source.names(place.passage) if place.share >= slots.SAME_SUBJECT else ()
        for spot in _spots(known, single=end - first == 1):
            theirs = forms[slice(*spot)]
            if ours.isdisjoint(theirs):
                alike = around.likeness(forms, *spot)
                if alike >= slots.SAME_PLACE:
                    text = source.written(place.passage, *spot)
                    yield Rival(False, place.share, alike, text, not said.isdisjoint(theirs))
        for at, form in () if ours.isdisjoint(forms) else enumerate(forms):
            if form in ours:
                alike = around.likeness(forms, at, at + 1)
                yield Rival(True, place.share, alike, form)


def _places(ours: frozenset[str], found: Alignment) -> list[Aligned]:
    """The aligned passages, and those that hold a word of the name."""
    places = list(found.passages)
    known = {(place.source, place.passage) for place in places}
    for number, source in enumerate(found.cited):
        for form in sorted(ours):
            for passage in source.holding(form[:ROOT])[:_PLACES]:
                if (number, passage) not in known:
                    known.add((number, passage))
                    places.append(found.place(number, passage))
    return places


def _spots(found: tuple[Name, ...], *, single: bool) -> Iterator[tuple[int, int]]:
    """The places of names; for a single word also those of their words."""
    for name in found:
        yield name.first, name.end
        if single and name.end - name.first > 1:
            yield from ((at, at + 1) for at in range(name.first, name.end))
