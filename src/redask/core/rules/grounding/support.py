"""Whether the cited sources support a claim: `judge` it by what can be checked in it.

    verdict             when
    uncited             no source is cited
    nothing_to_check    the claim has neither a checkable token nor a word with meaning
    contradicted        a source has the claim's subject with another value: `instead` says it
    unsupported         a token is in none of the cited sources: `tokens` names it
    supported           otherwise

`quotes` are the passages that the claim rests on, `overlap` is the share of its words that the
cited sources hold.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from redask.core.rules.grounding import claim_reading, stems
from redask.core.rules.grounding.alignment import Alignment
from redask.core.rules.grounding.checks import (
    literal_checks,
    name_checks,
    polarity_checks,
    value_checks,
)
from redask.core.rules.grounding.checks.faults import Fault
from redask.core.rules.grounding.claim_reading import ReadClaim
from redask.core.rules.grounding.claims import Claim
from redask.core.rules.grounding.source_text import SourceText


class SupportVerdict(StrEnum):
    """What was found of a claim."""

    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    CONTRADICTED = "contradicted"
    UNCITED = "uncited"
    NOTHING_TO_CHECK = "nothing_to_check"


@dataclass(frozen=True, slots=True)
class Quote:
    """A passage of a cited source: offsets are code points into the text of its field."""

    source: int
    field: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a claim: tokens without support, what the sources say instead, and where."""

    verdict: SupportVerdict
    tokens: tuple[str, ...] = ()
    instead: tuple[str, ...] = ()
    quotes: tuple[Quote, ...] = ()
    overlap: float = 0.0


CLOSE = 0.55
CLOSE_WITH_TOKENS = 0.45


CHECKS: tuple[Callable[[ReadClaim, Alignment], Iterator[Fault]], ...] = (
    value_checks.check,
    name_checks.check,
    literal_checks.check,
    polarity_checks.check,
)


def judge(claim: Claim, cited: Sequence[SourceText]) -> Judgement:
    """The judgement on a claim that cites these sources."""
    if not cited:
        return Judgement(SupportVerdict.UNCITED)
    forms = stems.forms(claim.text)
    found = Alignment(stems.content(forms), cited)
    if found.is_copy(claim.text):
        return Judgement(SupportVerdict.SUPPORTED, (), (), _quotes(found), found.overlap)
    read = claim_reading.read(claim.text, forms)
    if not found.content and not read.has_tokens:
        return Judgement(SupportVerdict.NOTHING_TO_CHECK)
    faults = [fault for check in CHECKS for fault in check(read, found)]
    instead = tuple(fault.instead for fault in faults if fault.instead)
    least = CLOSE_WITH_TOKENS if read.has_tokens else CLOSE
    if instead:
        verdict = SupportVerdict.CONTRADICTED
    elif faults or found.closeness < least:
        verdict = SupportVerdict.UNSUPPORTED
    else:
        verdict = SupportVerdict.SUPPORTED
    tokens = tuple(fault.token for fault in faults)
    return Judgement(verdict, tokens, instead, _quotes(found), found.overlap)


def _quotes(found: Alignment) -> tuple[Quote, ...]:
    """The best passage of each source."""
    quotes: dict[int, Quote] = {}
    for place in found.passages:
        source = found.cited[place.source]
        passage = source.passages[place.passage]
        name = source.fields[passage.field].name
        text = source.text(place.passage)
        quote = Quote(place.source, name, passage.start, passage.end, text)
        quotes.setdefault(place.source, quote)
    return tuple(quotes[source] for source in sorted(quotes))
