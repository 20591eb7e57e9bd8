"""The audit row of a call: `record` it. Exactly twenty keys, twenty-one with the answer.

    ts (epoch ns) · tenant · user · role · question (verbatim, or `sha256:<hex>`) ·
    sources_urns (what entered the prompt, in fusion order) · provider · model ·
    prompt_tokens · completion_tokens · cost_usd (totals over all attempts) ·
    answer_hash · citations (distinct markers, first appearance) · cache_hit · mode (effective) ·
    temperature · seed (as sent; null = not sent) · validation_ok · retry_count ·
    errors [{kind, detail}]

    answer    only with `include_answer`; no other key changes

Values are kept as given, in the given order. No clock and no sequence is added: the store has
its own columns (sequence, hash chain) next to the row. The engine calls it once per ASK, whatever
the outcome, before the caller gets a result.
"""

import hashlib
from collections.abc import Sequence

from redask.core.model import Mode, Notice

KEYS = (
    *("ts", "tenant", "user", "role", "question", "sources_urns", "provider", "model"),
    *("prompt_tokens", "completion_tokens", "cost_usd", "answer_hash", "citations", "cache_hit"),
    *("mode", "temperature", "seed", "validation_ok", "retry_count", "errors"),
)


def record(
    *,
    ts: int,
    tenant: str,
    user: str,
    role: str,
    question: str,
    sources_urns: Sequence[str],
    provider: str,
    model: str,
    prompt_tokens: int,
    completion_tokens: int,
    cost_usd: float,
    answer: str,
    citations: Sequence[int],
    cache_hit: bool,
    mode: Mode,
    temperature: float | None,
    seed: int | None,
    validation_ok: bool,
    retry_count: int,
    errors: Sequence[Notice],
    include_answer: bool = False,
    hash_question: bool = False,
) -> dict[str, object]:
    """The audit row as plain data for the canonical encoder."""
    row: dict[str, object] = {
        "ts": ts,
        "tenant": tenant,
        "user": user,
        "role": role,
        "question": f"sha256:{answer_hash(question)}" if hash_question else question,
        "sources_urns": list(sources_urns),
        "provider": provider,
        "model": model,
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "cost_usd": float(cost_usd),
        "answer_hash": answer_hash(answer),
        "citations": list(citations),
        "cache_hit": cache_hit,
        "mode": mode.value,
        "temperature": None if temperature is None else float(temperature),
        "seed": seed,
        "validation_ok": validation_ok,
        "retry_count": retry_count,
        "errors": [{"kind": notice.kind, "detail": notice.detail} for notice in errors],
    }
    if include_answer:
        row["answer"] = answer
    return row


def answer_hash(text: str) -> str:
    """The lower-case hex SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).hexdigest()
