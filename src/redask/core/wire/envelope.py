"""The response envelope of all transports: `build` it from an Answer.

Exactly twelve keys: answer · cache_hit · citations [{marker, urn}], stably sorted by marker ·
completion_tokens · cost_usd · mode · model · prompt_tokens · provider · retry_count ·
sources_flat [{payload, urn}] in fusion order, so that `[^N]` is `sources_flat[N-1]` ·
validation {errors, ok, warnings} of {detail, kind}. One more only if it was asked for:
evidence [{claim {end, start}, markers, quotes [{end, place, start, text, urn}], verdict}] in the
order of the answer; offsets are code points of the answer, and of the source's text.

A payload is canonical JSON as a string, the same as in the prompt. Nothing is deduplicated, no
list is ever missing, and seed and temperature are not in it: they are in the audit row and in
EXPLAIN. `wire.json.encode` makes the bytes: equal answers, equal bytes.
"""

from collections.abc import Iterable

from redask.core.model import Answer, Evidence, Footnote, Notice, Source


def build(answer: Answer) -> dict[str, object]:
    """The envelope as plain data for the canonical encoder."""
    whole: dict[str, object] = {
        "answer": answer.answer,
        "cache_hit": answer.cache_hit,
        "citations": citations(answer.citations),
        "completion_tokens": answer.completion_tokens,
        "cost_usd": float(answer.cost_usd),
        "mode": answer.mode.value,
        "model": answer.model,
        "prompt_tokens": answer.prompt_tokens,
        "provider": answer.provider,
        "retry_count": answer.retry_count,
        "sources_flat": sources(answer.sources_flat),
        "validation": {
            "errors": notices(answer.validation.errors),
            "ok": answer.validation.ok,
            "warnings": notices(answer.validation.warnings),
        },
    }
    if answer.evidence is not None:
        whole["evidence"] = evidence(answer.evidence)
    return whole


def citations(footnotes: Iterable[Footnote]) -> list[dict[str, object]]:
    """The footnotes by marker; equal markers keep their order."""
    ordered = sorted(footnotes, key=lambda footnote: footnote.marker)
    return [{"marker": footnote.marker, "urn": footnote.urn} for footnote in ordered]


def sources(found: Iterable[Source]) -> list[dict[str, object]]:
    return [{"payload": source.payload, "urn": source.urn} for source in found]


def notices(given: Iterable[Notice]) -> list[dict[str, object]]:
    return [{"detail": notice.detail, "kind": notice.kind} for notice in given]


def evidence(given: Iterable[Evidence]) -> list[dict[str, object]]:
    """What was found of each claim."""
    return [
        {
            "claim": {"end": each.span[1], "start": each.span[0]},
            "markers": list(each.markers),
            "quotes": [
                {
                    "end": passage.span[1],
                    "place": None if passage.place is None else dict(passage.place),
                    "start": passage.span[0],
                    "text": passage.text,
                    "urn": passage.urn,
                }
                for passage in each.passages
            ],
            "verdict": each.verdict,
        }
        for each in given
    ]
