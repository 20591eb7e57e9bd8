"""The evidence of an answer: `of` its findings, each claim with what supports it and where.

A quote's `place` is what a person would open, told by the source's own fields:

    a document    the fields of `places.NAMES` that it has, and {columns} if the quote is not of its
                  `text`; None if it has none of them
    any other     {columns}: the column that is quoted; for a row of a sheet its place, too

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
    told: dict[int, Mapping[str, object]] = {}
    made = []
    for finding in findings:
        cited = check.cited_sources(finding.claim, len(sources))
        passages = []
        for quote in finding.judgement.quotes:
            index = cited[quote.source]
            if index not in told:
                told[index] = _told(sources[index])
            place = _place(told[index], quote.field, _is_document(sources[index]))
            span = quote.start, quote.end
            passages.append(QuotedPassage(sources[index].urn, span, quote.text, place))
        claim, verdict = finding.claim, finding.judgement.verdict.value
        made.append(Evidence(claim.span, claim.markers, verdict, tuple(passages)))
    return tuple(made)


def _place(
    told: Mapping[str, object], field: str, is_document: bool
) -> Mapping[str, object] | None:
    if is_document and field == _TEXT:
        return told or None
    return {**told, "columns": [field]}


def _told(source: Source) -> Mapping[str, object]:
    """What a source's own fields tell of its place."""
    try:
        payload = json.loads(source.payload)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(payload, dict):
        return {}
    if not _is_document(source):
        return places.of_row(payload)
    known = ((name, payload.get(name)) for name in places.NAMES)
    return {name: value for name, value in known if _tells(value)}


def _is_document(source: Source) -> bool:
    try:
        return urn.decode(source.urn).kind is Kind.DOCUMENT
    except BadUrn:
        return True


def _tells(value: object) -> bool:
    """Whether it is a text or a number of something."""
    if isinstance(value, int):
        return not isinstance(value, bool)
    return isinstance(value, str) and bool(value)
