"""Citation precision and recall of answers: a `CitationTally` counts, answer by answer.

    a claim      a statement of the answer in which something can be checked, or that cites nothing
    covered      the sources it cites support it, together
    right        a citation whose source supports the claim alone, or without which the others
                 that the claim cites do not support it
    citation_precision    right citations, of all citations of claims
    citation_recall       covered claims, of all claims

What supports a claim is decided by `core/rules/grounding`. A marker without a source is a
citation that is wrong. Without a citation (or a claim) there is no precision (or recall): None.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from redask.core.model import Source
from redask.core.rules.grounding import claims, source_text, support
from redask.core.rules.grounding.claims import Claim
from redask.core.rules.grounding.source_text import SourceText
from redask.core.rules.grounding.support import SupportVerdict


@dataclass(slots=True)
class CitationTally:
    """Counts of claims and of citations."""

    claims: int = 0
    covered: int = 0
    citations: int = 0
    right: int = 0

    def add(self, answer: str, sources: Sequence[Source]) -> None:
        """Count the claims and citations of an answer that was made from these sources."""
        texts: dict[int, SourceText] = {}
        for claim in claims.split(answer):
            for marker in claim.markers:
                if marker <= len(sources) and marker not in texts:
                    texts[marker] = source_text.read(sources[marker - 1])
            self._count(claim, texts)

    def _count(self, claim: Claim, texts: dict[int, SourceText]) -> None:
        cited = [texts[marker] for marker in claim.markers if marker in texts]
        verdict = support.judge(claim, cited).verdict
        if verdict is SupportVerdict.NOTHING_TO_CHECK:
            return
        covered = verdict is SupportVerdict.SUPPORTED
        self.claims += 1
        self.covered += covered
        self.citations += len(claim.markers)
        for number, source in enumerate(cited):
            others = [*cited[:number], *cited[number + 1 :]]
            alone = _supports(claim, [source])
            self.right += alone or (covered and not _supports(claim, others))

    def rates(self) -> dict[str, float | None]:
        """Precision and recall."""
        return {
            "citation_precision": self.right / self.citations if self.citations else None,
            "citation_recall": self.covered / self.claims if self.claims else None,
        }


def _supports(claim: Claim, sources: Sequence[SourceText]) -> bool:
    return support.judge(claim, sources).verdict is SupportVerdict.SUPPORTED
