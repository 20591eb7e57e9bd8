"""The claims of an answer and what its sources say to each: `examine` it.

Each source that is cited is read once. A marker beyond the sources cites nothing (and is an issue
of `rules.citations`). A quote's `source` is an index into the claim's cited sources: those of its
markers that exist, in their order (`cited_sources`).

A claim that cites a statement's result must have its numbers from there (`query_cells`): `computed`
says that it does not, which is wrong in every strict mode. So must a claim that cites nothing where
there is a result: a wrong count does not pass for want of a marker. Names and identifiers are
judged as in any claim.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from redask.core.equivalence.identifiers import find_identifiers
from redask.core.model import Source
from redask.core.rules.grounding import claims, query_cells, source_text, support
from redask.core.rules.grounding.claims import Claim
from redask.core.rules.grounding.query_cells import KnownNumbers
from redask.core.rules.grounding.source_text import SourceText
from redask.core.rules.grounding.support import Judgement, SupportVerdict

_PASSED = (SupportVerdict.SUPPORTED, SupportVerdict.NOTHING_TO_CHECK)


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim and the judgement on it; `computed`: its numbers are not those of the result.

    `judge` is the model that found no support for it, where the checks had found nothing wrong.
    """

    claim: Claim
    judgement: Judgement
    computed: bool = False
    judge: str = ""


def examine(
    answer: str,
    sources: Sequence[Source],
    read: dict[int, SourceText] | None = None,
    question: str = "",
) -> tuple[Finding, ...]:
    """The findings on an answer that was made from these sources, in its order.

    `read` keeps the sources that were read, for whoever examines more than one text with them.
    """
    texts = {} if read is None else read
    results = tuple(index for index, one in enumerate(sources) if query_cells.is_query(one))
    known: dict[tuple[int, ...], KnownNumbers] = {}
    findings: list[Finding] = []
    for claim in claims.split(answer):
        cited = cited_sources(claim, len(sources))
        for index in cited:
            if index not in texts:
                texts[index] = source_text.read(sources[index])
        judged = support.judge(claim, [texts[index] for index in cited])
        within = cited or results
        if not any(index in results for index in within):
            findings.append(Finding(claim, judged))
            continue
        if within not in known:
            known[within] = query_cells.known([sources[index] for index in within], question)
        findings.append(_computed(claim, judged, known[within]))
    return tuple(findings)


def _computed(claim: Claim, judged: Judgement, told: KnownNumbers) -> Finding:
    """The finding on a claim that cites a result, some of whose numbers may be wrong."""
    if wrong := query_cells.wrong(claim.text, told):
        judged = replace(judged, verdict=SupportVerdict.UNSUPPORTED, tokens=wrong, instead=())
        return Finding(claim, judged, computed=True)
    names = [each for each in judged.tokens if _is_name(each, claim.text, told)]
    if (
        not names and judged.verdict is not SupportVerdict.UNCITED
    ):  # the numbers are cells, and words like "nothing" are no names
        judged = replace(judged, verdict=SupportVerdict.SUPPORTED, tokens=(), instead=())
    return Finding(claim, judged)


def _is_name(token: str, claim: str, told: KnownNumbers) -> bool:
    """Whether a token needs a cell, and is no number."""
    if any(map(str.isdigit, token)):
        return bool(find_identifiers(token))
    return not query_cells.is_told(token, claim, told)


def judgeable(findings: Sequence[Finding], sources_count: int) -> tuple[int, ...]:
    """The findings that a judge is asked about: of claims that cite and passed every check."""
    return tuple(
        number
        for number, finding in enumerate(findings)
        if finding.judgement.verdict in _PASSED and cited_sources(finding.claim, sources_count)
    )


def doubted(finding: Finding, judge: str) -> Finding:
    """A finding of the checks that this judge does not share: there is no support."""
    judgement = replace(finding.judgement, verdict=SupportVerdict.UNSUPPORTED)
    return replace(finding, judgement=judgement, judge=judge)


def cited_sources(claim: Claim, sources_count: int) -> tuple[int, ...]:
    """The indexes of the sources that a claim cites, in the order of its markers."""
    return tuple(marker - 1 for marker in claim.markers if marker <= sources_count)
