"""The evidence of an answer: `of` its findings, each claim with what supports it and where.

A quote's `place` is what a person would open, told by the source's own fields:

    a document    the fields of `places.NAMES` that it has, and {columns} if the quote is not of its
                  `text`; None if it has none of them
    any other     {columns}: the column that is quoted

Offsets are code points: of the answer, and of the quoted text or column of the source.
"""

import json
from collections.abc import Mapping, Sequence

from redask.core import places
from redask.core.errors import BadUrn
from redask.core.model import Evidence, Kind, QuotedPassage, Source
from redask.core.rules import urn
from redask.core.rules.grounding import check
from redask.core.rules.grounding.check import Finding

_TEXT = "text"


def of(findings: Sequence[Finding], sources: Sequence[Source]) -> tuple[Evidence, ...]:
    """What was found of each claim, in the order of the answer."""
    documents: dict[int, Mapping[str, object] | None] = {}
    made = []
    for finding in findings:
        cited = check.cited_sources(finding.claim, len(sources))
        passages = []
        for quote in finding.judgement.quotes:
            index = cited[quote.source]
            if index not in documents:
                documents[index] = _document(sources[index])
            place = _place(documents[index], quote.field)
            span = quote.start, quote.end
            passages.append(QuotedPassage(sources[index].urn, span, quote.text, place))
        claim, verdict = finding.claim, finding.judgement.verdict.value
        made.append(Evidence(claim.span, claim.markers, verdict, tuple(passages)))
    return tuple(made)


def _place(document: Mapping[str, object] | None, field: str) -> Mapping[str, object] | None:
    if document is None:
        return {"columns": [field]}
    known = ((name, document.get(name)) for name in places.NAMES)
    told: dict[str, object] = {name: value for name, value in known if _tells(value)}
    if field != _TEXT:
        told["columns"] = [field]
    return told or None


def _document(source: Source) -> Mapping[str, object] | None:
    """The fields of a document; None of any other entity."""
    try:
        if urn.decode(source.urn).kind is not Kind.DOCUMENT:
            return None
        payload = json.loads(source.payload)
    except (BadUrn, ValueError, RecursionError):
        return {}
    return payload if isinstance(payload, dict) else {}


def _tells(value: object) -> bool:
    """Whether it is a text or a number of something."""
    if isinstance(value, int):
        return not isinstance(value, bool)
    return isinstance(value, str) and bool(value)
