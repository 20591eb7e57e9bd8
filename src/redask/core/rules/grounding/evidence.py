"""The evidence of an answer: `of` its findings, each claim with what supports it and where.

A quote's `place` is what a person would open, told by the source's own fields:

    a document    the fields of `places.NAMES` that it has, `line` that of the quote, and {columns}
                  if the quote is not of its `text`; None if it has none of them
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
from redask.core.rules.grounding.support import Quote

_TEXT = "text"


def of(findings: Sequence[Finding], sources: Sequence[Source]) -> tuple[Evidence, ...]:
    """What was found of each claim, in the order of the answer."""
    told: dict[int, tuple[Mapping[str, object], str]] = {}
    made = []
    for finding in findings:
        cited = check.cited_sources(finding.claim, len(sources))
        passages = []
        for quote in finding.judgement.quotes:
            index = cited[quote.source]
            if index not in told:
                told[index] = _told(sources[index])
            place = _place(*told[index], quote, _is_document(sources[index]))
            span = quote.start, quote.end
            passages.append(QuotedPassage(sources[index].urn, span, quote.text, place))
        claim, verdict = finding.claim, finding.judgement.verdict.value
        made.append(Evidence(claim.span, claim.markers, verdict, tuple(passages)))
    return tuple(made)


def _place(
    told: Mapping[str, object], text: str, quote: Quote, is_document: bool
) -> Mapping[str, object] | None:
    if not is_document or quote.field != _TEXT:
        return {**told, "columns": [quote.field]}
    line = told.get("line")
    if isinstance(line, int):
        return {**told, "line": line + text.count("\n", 0, quote.start)}
    return told or None


def _told(source: Source) -> tuple[Mapping[str, object], str]:
    """What a source's own fields tell of its place, and its text."""
    try:
        payload = json.loads(source.payload)
    except (ValueError, RecursionError):
        return {}, ""
    if not isinstance(payload, dict):
        return {}, ""
    if not _is_document(source):
        return places.of_row(payload), ""
    known = ((name, payload.get(name)) for name in places.NAMES)
    text = payload.get(_TEXT)
    told = {name: value for name, value in known if _tells(value)}
    return told, text if isinstance(text, str) else ""


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
