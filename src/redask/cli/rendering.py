"""Output for terminals: plans and progress; answers are in `answer_sources`."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from redask.api.results import SearchResult
from redask.cli.terminal_text import echo
from redask.core.model import Strictness
from redask.core.wire import query_source

_HELD_TO = {
    Strictness.OFF: "what is wrong with an answer is a warning",
    Strictness.ON: "citations must be right",
    Strictness.SUPPORTED: "citations must be right, and every claim supported by what it cites",
}


def show_plan(
    console: Console,
    plan: dict[str, Any],
    found: SearchResult,
    in_force: Strictness,
    lost: Sequence[Mapping[str, str]] = (),
    *,
    judge: str = "",
) -> None:
    """Print an EXPLAIN plan: strictness in force, judge, statements that lost, weights, notes."""
    provider, knobs = plan["provider"], plan["determinism"]
    sent = ", ".join(f"{name} {value}" for name, value in knobs.items()) or "no knobs"
    cost = plan["estimated_cost"]
    buckets = ", ".join(
        f"{step['bucket']} (top {step['top_k']}, floor {step['min_score']}"
        f"{_weight(', weight ', found.weights[step['bucket']])})"
        for step in plan["retrieval"]
    )
    console.print(f"[bold]{escape(plan['question'])}[/]")
    console.print(f"would ask   {escape(provider['name'])} {escape(provider['model'])}, {sent}")
    console.print(f"mode        {plan['mode']} ({in_force.value}: {_HELD_TO[in_force]})")
    if judge:
        console.print(
            f"judge       {escape(judge)}, of claims in which the checks find nothing wrong"
        )
    console.print(
        f"tokens      about {cost['prompt_tokens']} in, at most {cost['max_completion_tokens']} out"
    )
    if query := plan.get("query"):
        told = query["sql"] or "is not written yet"
        console.print(f"query       {escape(told)}")
        console.print(f"            {escape(query['intent'])}, coverage {query['coverage']:g}")
        for each in lost:
            console.print(f"lost        {escape(each['sql'])}")
            console.print(f"            {escape(each['why'])}")
    if buckets:
        console.print(f"retrieval   {buckets}; {plan['depth']} hops")
        console.print(f"fusion      {fusion_formula(plan['fusion']['k_constant'])}")
        for reason in weight_reasons(found):
            console.print(f"            {escape(reason)}")
    for note in found.notes:
        console.print(f"            [yellow]{escape(note)}[/]")
    table = Table(box=None, padding=(0, 2))
    for column in ("rank", "score", "source"):
        table.add_column(column, justify="right" if column == "rank" else "left")
    for item in plan["sources"]:
        said = "the result of the query" if _is_query(item["urn"]) else escape(item["urn"])
        table.add_row(str(item["rank"]), f"{item['rrf_score']:.5f}", said)
    console.print(table)


def _is_query(urn: str) -> bool:
    return query_source.statement_of(urn) is not None


def fusion_formula(k_constant: int) -> str:
    """How a score comes about, so that it can be computed again."""
    return f"score = Σ weight / ({k_constant} + rank in the bucket)"


def weights_line(found: SearchResult) -> str:
    """`vector weight 0.4, graph weight 1.4`: those that are not 1."""
    named = (_weight(f"{bucket} weight ", weight) for bucket, weight in found.weights.items())
    return ", ".join(filter(None, named))


def weight_reasons(found: SearchResult) -> list[str]:
    """`bm25, vector: …`: why the buckets weigh what they do, one line a reason."""
    by_reason: dict[str, list[str]] = {}
    for bucket, reason in found.reasons.items():
        by_reason.setdefault(reason, []).append(bucket)
    return [f"{', '.join(named)}: {reason}" for reason, named in by_reason.items() if reason]


def _weight(before: str, weight: float) -> str:
    return "" if weight == 1 else f"{before}{weight:g}"


class EmbeddingLine:
    """A progress line with the rate and the remaining time, on a terminal."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._left = ""

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """What is embedded within may be ended by Ctrl-C: it says what is left, and who goes on."""
        try:
            yield
        except KeyboardInterrupt:
            which = self._left or "not everything is"
            told = f"\n{which} embedded yet; what is done stays. `redask embed` goes on, and so do"
            echo(f"{told} the next `redask ingest` and `redask serve`", err=True)
            sys.exit(130)

    def __call__(self, done: int, total: int) -> None:
        self._left = f"{total - done} of {total} are not"
        if not sys.stderr.isatty():
            return
        rate = done / max(time.monotonic() - self._started, 1e-9)
        left = (total - done) / rate if rate else 0.0
        line = f"\rembedding {done}/{total}, {rate:.0f}/s, {left:.0f} s left "
        echo(line, nl=done >= total, err=True)
