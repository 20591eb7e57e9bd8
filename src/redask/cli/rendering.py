"""Output for terminals: answers with their sources, plans, and progress."""

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from redask.core.model import Answer, Source

_SNIPPET = 160


def show_sources(console: Console, answer: Answer) -> None:
    """The footnotes of an answer, and what else is worth knowing."""
    for note in answer.citations:
        source = answer.sources_flat[note.marker - 1]
        console.print(f"[bold]\\[^{note.marker}][/] [cyan]{escape(note.urn)}[/]")
        console.print(f"     [dim]{escape(snippet(source))}[/]")
    for warning in answer.validation.warnings:
        console.print(f"[yellow]{escape(warning.kind)}[/]: {escape(warning.detail)}")
    retried = ", after one retry" if answer.retry_count else ""
    cached = ", from the cache" if answer.cache_hit else ""
    console.print(
        f"[dim]{escape(answer.provider)} {escape(answer.model)} · {answer.mode.value} · "
        f"{len(answer.sources_flat)} sources · {answer.prompt_tokens}+{answer.completion_tokens} "
        f"tokens · ${answer.cost_usd:.6g}{retried}{cached}[/]"
    )


def snippet(source: Source) -> str:
    """The beginning of a source's text, on one line; rows as their columns."""
    try:
        value: Any = json.loads(source.payload)
    except ValueError:
        value = source.payload
    if isinstance(value, dict):
        text = value.get("text")
        parts = [f"{key}: {item}" for key, item in value.items() if key != "id"]
        value = text if isinstance(text, str) else ", ".join(parts)
    line = " ".join(str(value).split())
    return line if len(line) <= _SNIPPET else line[: _SNIPPET - 1] + "…"


def show_plan(console: Console, plan: dict[str, Any], notes: Sequence[str] = ()) -> None:
    """Print an EXPLAIN plan, and notes about the search."""
    provider, knobs = plan["provider"], plan["determinism"]
    sent = ", ".join(f"{name} {value}" for name, value in knobs.items()) or "no knobs"
    cost = plan["estimated_cost"]
    buckets = ", ".join(
        f"{step['bucket']} (top {step['top_k']}, floor {step['min_score']})"
        for step in plan["retrieval"]
    )
    console.print(f"[bold]{escape(plan['question'])}[/]")
    console.print(f"would ask   {escape(provider['name'])} {escape(provider['model'])}, {sent}")
    console.print(f"mode        {plan['mode']}")
    console.print(
        f"tokens      about {cost['prompt_tokens']} in, at most {cost['max_completion_tokens']} out"
    )
    console.print(f"retrieval   {buckets}; {plan['depth']} hops")
    for note in notes:
        console.print(f"            [yellow]{escape(note)}[/]")
    table = Table(box=None, padding=(0, 2))
    for column in ("rank", "score", "source"):
        table.add_column(column, justify="right" if column == "rank" else "left")
    for item in plan["sources"]:
        table.add_row(str(item["rank"]), f"{item['rrf_score']:.5f}", escape(item["urn"]))
    console.print(table)


class EmbeddingLine:
    """A progress line with the rate and the remaining time, on a terminal."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if not sys.stderr.isatty():
            return
        rate = done / max(time.monotonic() - self._started, 1e-9)
        left = (total - done) / rate if rate else 0.0
        line = f"\rembedding {done}/{total}, {rate:.0f}/s, {left:.0f} s left "
        click.echo(line, nl=done >= total, err=True)
