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

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from redask.core.rules.grounding import stems
from redask.core.rules.grounding.claims import Claim
from redask.core.rules.grounding.source_text import SourceText

_NUMBER = re.compile(r"[0-9]++(?:[.,:][0-9]++)*+")


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


def judge(claim: Claim, cited: Sequence[SourceText]) -> Judgement:
    """The judgement on a claim that cites these sources."""
    if not cited:
        return Judgement(SupportVerdict.UNCITED)
    wanted = stems.content(map(stems.stem, stems.words(claim.text)))
    numbers = [_plain(found) for found in _NUMBER.findall(claim.text)]
    if not wanted and not numbers:
        return Judgement(SupportVerdict.NOTHING_TO_CHECK)
    held = {stem for stem in wanted if any(source.holding(stem) for source in cited)}
    overlap = len(held) / len(wanted) if wanted else 1.0
    known = {
        _plain(number)
        for source in cited
        for field in source.fields
        for number in _NUMBER.findall(field.text)
    }
    missing = tuple(number for number in numbers if number not in known)
    verdict = SupportVerdict.UNSUPPORTED if missing else SupportVerdict.SUPPORTED
    return Judgement(verdict, missing, (), _quotes(wanted, cited), overlap)


def _plain(number: str) -> str:
    return number.replace(",", "")


def _quotes(wanted: Sequence[str], cited: Sequence[SourceText]) -> tuple[Quote, ...]:
    """The passage of each source that holds most of these stems."""
    quotes: list[Quote] = []
    for number, source in enumerate(cited):
        counts: dict[int, int] = {}
        for stem in wanted:
            for passage in source.holding(stem):
                counts[passage] = counts.get(passage, 0) + 1
        if counts:
            best = source.passages[max(counts, key=lambda each: (counts[each], -each))]
            field = source.fields[best.field]
            text = field.text[best.start : best.end]
            quotes.append(Quote(number, field.name, best.start, best.end, text))
    return tuple(quotes)
