"""JSON Schemas of requests and replies, made from the clauses and the envelope.

`ask()` describes `{question, options}`; `envelope()` the answer, `plan()` what EXPLAIN returns and
`hits()` what a search does. Transports that publish a schema (OpenAPI, MCP) take them from here, so
that a clause is described where it is defined.
"""

from typing import Any

from redask.core.clauses import OPTIONS
from redask.core.rules.grounding.support import SupportVerdict
from redask.core.text import MAX_QUESTION_BYTES

_TEXT: dict[str, object] = {"type": "string"}
_COUNT: dict[str, object] = {"type": "integer", "minimum": 0}
_NUMBER: dict[str, object] = {"type": "number"}
_BOOLEAN: dict[str, object] = {"type": "boolean"}
_MODE: dict[str, object] = {"type": "string", "enum": ["strict", "lenient"]}


def ask() -> dict[str, object]:
    """What an ASK takes."""
    options = {
        str(clause.option): {"description": clause.help, **(clause.schema or {})}
        for clause in OPTIONS
    }
    question = {**_TEXT, "pattern": r"\S", "maxLength": MAX_QUESTION_BYTES}
    return _object({"question": question, "options": _object(options, required=())}, ("question",))


def envelope() -> dict[str, object]:
    """What an ASK returns; `evidence` only if it was asked for."""
    notices = _list(_object({"detail": _TEXT, "kind": _TEXT}))
    whole = _object(
        {
            "answer": _TEXT,
            "cache_hit": _BOOLEAN,
            "citations": _list(
                _object({"marker": {"type": "integer", "minimum": 1}, "urn": _TEXT})
            ),
            "completion_tokens": _COUNT,
            "cost_usd": {"type": "number", "minimum": 0},
            "mode": _MODE,
            "model": _TEXT,
            "prompt_tokens": _COUNT,
            "provider": _TEXT,
            "retry_count": {"type": "integer", "minimum": 0, "maximum": 1},
            "sources_flat": _list(_object({"payload": _TEXT, "urn": _TEXT})),
            "validation": _object({"errors": notices, "ok": _BOOLEAN, "warnings": notices}),
        }
    )
    return {**whole, "properties": {**whole["properties"], "evidence": _evidence()}}


def _evidence() -> dict[str, object]:
    quote = _object(
        {
            "end": _COUNT,
            "place": {"anyOf": [{"type": "object"}, {"type": "null"}]},
            "start": _COUNT,
            "text": _TEXT,
            "urn": _TEXT,
        }
    )
    return _list(
        _object(
            {
                "claim": _object({"end": _COUNT, "start": _COUNT}),
                "markers": _list({"type": "integer", "minimum": 1}),
                "quotes": _list(quote),
                "verdict": {
                    "type": "string",
                    "enum": [verdict.value for verdict in SupportVerdict],
                },
            }
        )
    )


def plan() -> dict[str, object]:
    """What EXPLAIN returns. A seed may be a string, for clients in JavaScript."""
    seed: dict[str, object] = {"type": ["integer", "string"]}
    knobs = _object({"seed": seed, "temperature": _NUMBER}, required=())
    return _object(
        {
            "depth": _COUNT,
            "determinism": knobs,
            "estimated_cost": _object({"max_completion_tokens": _COUNT, "prompt_tokens": _COUNT}),
            "fusion": _object({"algorithm": _TEXT, "k_constant": _COUNT, "limit": _COUNT}),
            "mode": _MODE,
            "provider": _object(
                {
                    "model": _TEXT,
                    "name": _TEXT,
                    "supports_citations": _BOOLEAN,
                    "supports_seed": _BOOLEAN,
                }
            ),
            "question": _TEXT,
            "retrieval": _list(_object({"bucket": _TEXT, "min_score": _NUMBER, "top_k": _COUNT})),
            "sources": _list(_object({"rank": _COUNT, "rrf_score": _NUMBER, "urn": _TEXT})),
        }
    )


def hits() -> dict[str, object]:
    """What a search returns, best first."""
    return _object({"hits": _list(_object({"payload": _TEXT, "score": _NUMBER, "urn": _TEXT}))})


def _object(
    properties: dict[str, dict[str, object]], required: tuple[str, ...] | None = None
) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
        "additionalProperties": False,
    }


def _list(items: dict[str, object]) -> dict[str, object]:
    return {"type": "array", "items": items}
