"""The claims of an answer and what its sources say to each: `examine` it.

Each source that is cited is read once. A marker beyond the sources cites nothing (and is an issue
of `rules.citations`). A quote's `source` is an index into the claim's cited sources: those of its
markers that exist, in their order (`cited_sources`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from redask.core.model import Source
from redask.core.rules.grounding import claims, source_text, support
from redask.core.rules.grounding.claims import Claim
from redask.core.rules.grounding.source_text import SourceText
from redask.core.rules.grounding.support import Judgement


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim and the judgement on it."""

    claim: Claim
    judgement: Judgement


def examine(
    answer: str, sources: Sequence[Source], read: dict[int, SourceText] | None = None
) -> tuple[Finding, ...]:
    """The findings on an answer that was made from these sources, in its order.

    `read` keeps the sources that were read, for whoever examines more than one text with them.
    """
    texts = {} if read is None else read
    findings: list[Finding] = []
    for claim in claims.split(answer):
        cited = cited_sources(claim, len(sources))
        for index in cited:
            if index not in texts:
                texts[index] = source_text.read(sources[index])
        findings.append(Finding(claim, support.judge(claim, [texts[index] for index in cited])))
    return tuple(findings)


def cited_sources(claim: Claim, sources_count: int) -> tuple[int, ...]:
    """The indexes of the sources that a claim cites, in the order of its markers."""
    return tuple(marker - 1 for marker in claim.markers if marker <= sources_count)
