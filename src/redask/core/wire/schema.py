"""JSON Schemas of asks and answers, made from the clauses and the envelope.

`ask()` describes `{question, options}`; `envelope()` the answer, `plan()` what EXPLAIN returns and
`hits()` what a search does. Transports that publish a schema (OpenAPI, MCP) take them from here, so
that a clause is described where it is defined. A schema refuses what the reader refuses, but for
what JSON Schema cannot say: bytes of UTF-8 (it counts characters), and the sum of a history.
"""

from redask.core.clauses import OPTIONS
from redask.core.rules.grounding.support import SupportVerdict
from redask.core.text import MAX_QUESTION_BYTES, QUESTION_PATTERN
from redask.core.wire.schema_parts import (
    BOOLEAN,
    COUNT,
    MARKER,
    MODE,
    NUMBER,
    TEXT,
    WIDE,
    items_of,
    or_null,
    shape,
)


def ask() -> dict[str, object]:
    """What an ASK takes."""
    described = {
        str(clause.option): {"description": clause.help, **(clause.schema or {})}
        for clause in OPTIONS
    }
    number = described["seed"]  # or digits: a browser cannot write a u64 as a number
    words = {"description": number.pop("description")}
    described["seed"] = {**words, "anyOf": [number, {**TEXT, "pattern": _digits_up_to(2**64 - 1)}]}
    options = shape("AskOptions", described, ())
    bypassed = {"properties": {"nocache": {"const": True}}, "required": ["cache", "nocache"]}
    question = {**TEXT, "pattern": QUESTION_PATTERN, "maxLength": MAX_QUESTION_BYTES}
    return shape(
        "AskRequest", {"question": question, "options": {**options, "not": bypassed}}, ("question",)
    )


def envelope() -> dict[str, object]:
    """What an ASK returns; `evidence` only if it was asked for."""
    whole = shape(
        "Answer",
        {
            "answer": TEXT,
            "cache_hit": BOOLEAN,
            "citations": items_of(shape("Citation", {"marker": MARKER, "urn": TEXT})),
            "completion_tokens": COUNT,
            "cost_usd": {"type": "number", "minimum": 0},
            "mode": MODE,
            "model": TEXT,
            "prompt_tokens": COUNT,
            "provider": TEXT,
            "retry_count": {"type": "integer", "minimum": 0, "maximum": 1},
            "sources_flat": items_of(source()),
            "validation": validation(),
        },
    )
    return {**whole, "properties": {**whole["properties"], "evidence": _evidence()}}


def source() -> dict[str, object]:
    """One source: its URN, and its payload as canonical JSON in a text."""
    return shape("Source", {"payload": TEXT, "urn": TEXT})


def validation() -> dict[str, object]:
    """The verdict on an answer."""
    notices = items_of(notice())
    return shape("Validation", {"errors": notices, "ok": BOOLEAN, "warnings": notices})


def notice() -> dict[str, object]:
    """An error or a warning."""
    return shape("Notice", {"detail": TEXT, "kind": TEXT})


def _evidence() -> dict[str, object]:
    quote = shape(
        "Quote",
        {
            "end": COUNT,
            "place": or_null({"type": "object"}),
            "start": COUNT,
            "text": TEXT,
            "urn": TEXT,
        },
    )
    return items_of(
        shape(
            "Evidence",
            {
                "claim": shape("Span", {"end": COUNT, "start": COUNT}),
                "markers": items_of(MARKER),
                "quotes": items_of(quote),
                "verdict": {**TEXT, "enum": [verdict.value for verdict in SupportVerdict]},
            },
        )
    )


def plan() -> dict[str, object]:
    """What EXPLAIN returns; `query` only if there is a statement."""
    whole = shape(
        "Plan",
        {
            "depth": COUNT,
            "determinism": shape("Knobs", {"seed": WIDE, "temperature": NUMBER}, ()),
            "estimated_cost": shape(
                "EstimatedCost", {"max_completion_tokens": COUNT, "prompt_tokens": COUNT}
            ),
            "fusion": shape("Fusion", {"algorithm": TEXT, "k_constant": COUNT, "limit": COUNT}),
            "mode": MODE,
            "provider": shape(
                "PlannedProvider",
                {
                    "model": TEXT,
                    "name": TEXT,
                    "supports_citations": BOOLEAN,
                    "supports_seed": BOOLEAN,
                },
            ),
            "question": TEXT,
            "retrieval": items_of(
                shape("Retrieval", {"bucket": TEXT, "min_score": NUMBER, "top_k": COUNT})
            ),
            "sources": items_of(
                shape("RankedSource", {"rank": COUNT, "rrf_score": NUMBER, "urn": TEXT})
            ),
        },
    )
    query = {"coverage": NUMBER, "intent": TEXT, "sql": or_null(TEXT)}
    return {**whole, "properties": {**whole["properties"], "query": shape("PlannedQuery", query)}}


def hits() -> dict[str, object]:
    """What a search returns, best first."""
    hit = shape("Hit", {"payload": TEXT, "score": NUMBER, "urn": TEXT})
    return shape("SearchResult", {"hits": items_of(hit)})


def _digits_up_to(most: int) -> str:
    """A pattern of the texts of digits whose number is at most this, no longer than it."""
    digits = str(most)
    below = [f"[0-9]{{1,{len(digits) - 1}}}"]
    for place, digit in enumerate(digits):
        if digit != "0":
            rest = len(digits) - place - 1
            below.append(f"{digits[:place]}[0-{int(digit) - 1}][0-9]{{{rest}}}")
    return f"^({'|'.join([*below, digits])})$"
