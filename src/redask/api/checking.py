"""The check of claims alone: `check(answer, sources)`, for answers of any system.

    a source       a text; or a mapping with `text` or `payload` (a text, or a mapping of columns)
                   and perhaps `urn`; `[^N]` cites the N-th
    a claim        supported · unsupported · contradicted · uncited · nothing_to_check, with the
                   tokens that no cited source holds, what the sources say instead, and the
                   passages it rests on; spans are code points into `answer`
    answer         as given, but that `[^1, ^2]` is `[^1][^2]`
    issues         what is wrong, as `validation` of an ask says it: claims, markers that are
                   malformed or cite no source, an empty answer

No database, model or network is used; equal input, equal result.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from redask.core.errors import BadAsk
from redask.core.model import Notice, Source
from redask.core.rules import validation
from redask.core.rules.grounding import check as grounding
from redask.core.rules.grounding import marker_groups
from redask.core.rules.grounding.support import SupportVerdict
from redask.core.wire import envelope

GivenSource = str | Mapping[str, object]
_WRONG = (SupportVerdict.UNSUPPORTED, SupportVerdict.CONTRADICTED, SupportVerdict.UNCITED)


@dataclass(frozen=True, slots=True)
class CheckedQuote:
    """A passage of a source that a claim rests on; offsets are code points into its field."""

    marker: int
    urn: str | None
    field: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim of the answer, and what its sources say to it."""

    text: str
    span: tuple[int, int]
    markers: tuple[int, ...]
    verdict: str
    tokens: tuple[str, ...]
    instead: tuple[str, ...]
    quotes: tuple[CheckedQuote, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found: it is supported, or has nothing that can be checked."""
        return self.verdict not in _WRONG


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """The claims of an answer, in its order, and what is wrong with them and with its markers."""

    answer: str
    claims: tuple[CheckedClaim, ...]
    issues: tuple[Notice, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.issues and all(claim.ok for claim in self.claims)

    def to_dict(self) -> dict[str, object]:
        """The result as plain data."""
        return {
            "answer": self.answer,
            "claims": [_plain(claim) for claim in self.claims],
            "issues": envelope.notices(self.issues),
            "ok": self.ok,
        }


def check(answer: str, sources: Iterable[GivenSource]) -> CheckedAnswer:
    """What the sources say to each claim of an answer."""
    if not isinstance(answer, str):
        raise BadAsk(f"an answer is a text, not {type(answer).__name__}")
    if not _has_utf8(answer):
        raise BadAsk(f"the answer {_NO_UTF8}")
    if isinstance(sources, str | bytes | Mapping):
        raise BadAsk("sources are a list: of texts, or of {text or payload, urn}")
    given: list[Source] = []
    for number, source in enumerate(sources, start=1):
        if (wrong := fault(source)) is not None:
            raise BadAsk(f"source {number} {wrong}")
        given.append(_source(source))
    text = marker_groups.rewrite(answer)
    examined = validation.examine(text, given)
    claims = tuple(_claim(found, given) for found in examined.findings)
    issues = tuple(Notice(each.kind, each.detail) for each in examined.issues)
    return CheckedAnswer(text, claims, issues)


def fault(given: object) -> str | None:
    """What keeps a value from being a source, in words that complete "the source …", or None."""
    if isinstance(given, str):
        return None if _has_utf8(given) else _NO_UTF8
    if not isinstance(given, Mapping):
        return "is neither a text nor an object"
    urn, text, payload = given.get("urn"), given.get("text"), given.get("payload")
    if not isinstance(urn, str | None):
        return "has an `urn` that is not a text"
    if (text is None) is (payload is None):
        return "needs one of `text` and `payload`"
    if not isinstance(text, str | None):
        return "has a `text` that is not a text"
    if not isinstance(payload, str | Mapping | None):
        return "has a `payload` that is neither a text nor an object"
    try:
        return None if _has_utf8(_source(given).payload + (urn or "")) else _NO_UTF8
    except (TypeError, ValueError, RecursionError) as error:
        return f"has a `payload` without JSON: {error}"


_NO_UTF8 = "holds half a character (a lone surrogate)"


def _has_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _source(given: GivenSource) -> Source:
    if isinstance(given, str):
        return Source("", _json({"text": given}))
    urn, text, payload = given.get("urn"), given.get("text"), given.get("payload")
    whole = (
        payload
        if isinstance(payload, str)
        else _json({"text": text} if payload is None else payload)
    )
    return Source(str(urn or ""), whole)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _claim(found: grounding.Finding, sources: list[Source]) -> CheckedClaim:
    claim, judgement = found.claim, found.judgement
    cited = grounding.cited_sources(claim, len(sources))
    quotes = tuple(
        CheckedQuote(
            cited[quote.source] + 1,
            sources[cited[quote.source]].urn or None,
            quote.field,
            quote.start,
            quote.end,
            quote.text,
        )
        for quote in judgement.quotes
    )
    return CheckedClaim(
        claim.text,
        claim.span,
        claim.markers,
        str(judgement.verdict),
        judgement.tokens,
        judgement.instead,
        quotes,
    )


def _plain(claim: CheckedClaim) -> dict[str, object]:
    return {
        "claim": {"end": claim.span[1], "start": claim.span[0]},
        "instead": list(claim.instead),
        "markers": list(claim.markers),
        "quotes": [
            {
                "end": quote.end,
                "field": quote.field,
                "marker": quote.marker,
                "start": quote.start,
                "text": quote.text,
                "urn": quote.urn,
            }
            for quote in claim.quotes
        ],
        "text": claim.text,
        "tokens": list(claim.tokens),
        "verdict": claim.verdict,
    }
