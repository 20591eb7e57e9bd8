"""The `plan` that EXPLAIN returns: what an ASK would do, without doing it.

Exactly these keys: depth · determinism {seed?, temperature?} · estimated_cost
{max_completion_tokens, prompt_tokens} · fusion {algorithm, k_constant, limit} · mode ·
provider {model, name, supports_citations, supports_seed} · question (verbatim) ·
retrieval [{bucket, min_score, top_k}] · sources [{rank, rrf_score, urn}]; and, only when the
question is computed, query {coverage, intent, sql}, sql null where a model would have to write it.

A knob the provider lacks is absent; seed 0 and temperature 0.0 are present. Knobs come as
they would be *sent*. `retrieval` and `sources` keep the order they are given in; rank counts
from 1. The engine passes bm25, vector, graph, and the first provider in failover order; it makes
no provider call, checks no limit, writes no audit row and caches nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from redask.core.model import Capabilities, Knobs, Mode
from redask.core.rules.fusion import Fused


@dataclass(frozen=True, slots=True)
class Retrieval:
    """How one bucket is searched, what it weighs and why; the JSON of the plan has no weights."""

    bucket: str
    top_k: int
    min_score: float = 0.0
    weight: Decimal = Decimal(1)
    reason: str = ""


def plan(
    *,
    question: str,
    mode: Mode,
    provider: str,
    model: str,
    capabilities: Capabilities,
    knobs: Knobs,
    retrieval: Sequence[Retrieval],
    sources: Sequence[Fused],
    depth: int,
    limit: int,
    k_constant: int,
    prompt_tokens: int,
    max_completion_tokens: int,
    query: dict[str, object] | None = None,
) -> dict[str, object]:
    """The plan as plain data for the canonical encoder."""
    determinism: dict[str, object] = {}
    if knobs.seed is not None:
        determinism["seed"] = knobs.seed
    if knobs.temperature is not None:
        determinism["temperature"] = float(knobs.temperature)
    plan: dict[str, object] = {
        "depth": depth,
        "determinism": determinism,
        "estimated_cost": {
            "max_completion_tokens": max_completion_tokens,
            "prompt_tokens": prompt_tokens,
        },
        "fusion": {"algorithm": "rrf", "k_constant": k_constant, "limit": limit},
        "mode": mode.value,
        "provider": {
            "model": model,
            "name": provider,
            "supports_citations": capabilities.supports_citations,
            "supports_seed": capabilities.supports_seed,
        },
        "question": question,
        "retrieval": [
            {"bucket": step.bucket, "min_score": float(step.min_score), "top_k": step.top_k}
            for step in retrieval
        ],
        "sources": [
            {"rank": rank, "rrf_score": float(item.score), "urn": item.urn}
            for rank, item in enumerate(sources, start=1)
        ],
    }
    if query is not None:
        plan["query"] = query
    return plan
