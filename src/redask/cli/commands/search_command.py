"""`redask search "…"`: what the data holds, and with `--explain` how it was ranked."""

from typing import TYPE_CHECKING, Any

import click

from redask.cli import opening
from redask.cli.flags import clause_flags, options_of
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo, terminal_console
from redask.core.wire import json as canonical

if TYPE_CHECKING:
    from redask.api.results import SearchResult

_NOT_FOR_SEARCH = (
    "using",
    "model",
    "strict",
    "temperature",
    "seed",
    "cache",
    "nocache",
    "evidence",
)


@click.command("search")
@click.argument("question")
@clause_flags(*_NOT_FOR_SEARCH)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--explain", is_flag=True, help="Show each bucket's ranks and scores.")
@click.pass_obj
def command(db: str, /, question: str, as_json: bool, explain: bool, **flags: Any) -> None:
    """Find what the data holds on QUESTION."""
    with reports_errors(as_json):
        with opening.opened(db) as opened:
            found = opened.search(question, **options_of(flags))
        if as_json:
            result = found.to_dict()
            if explain:
                result["buckets"] = _buckets(found)
            echo(canonical.text(result))
            return
        _show(found, explain)


def _show(found: "SearchResult", explain: bool) -> None:
    from rich.markup import escape

    from redask.cli.rendering import fusion_formula, weight_reasons, weights_line
    from redask.core.rules import fusion
    from redask.core.wire.plain_text import snippet

    console = terminal_console(highlight=False, soft_wrap=True)
    if explain and len(found):
        reasons = weight_reasons(found)
        facts = filter(None, (fusion_formula(fusion.K), weights_line(found), *reasons))
        console.print(f"[dim]{'; '.join(facts)}[/]")
    for rank, hit in enumerate(found, start=1):
        console.print(f"[bold]{rank:3}[/]  {hit.score:.5f}  [cyan]{escape(hit.urn)}[/]")
        if explain:
            console.print(f"     {_places(found, hit.urn)}")
        console.print(f"     [dim]{escape(snippet(hit.payload))}[/]")
    if not len(found):
        console.print("nothing found")


def _places(found: "SearchResult", urn: str) -> str:
    """Where each bucket has it: `bm25 #2 (0.351) · graph #1 (0.800)`."""
    places = [
        f"{bucket.bucket} #{rank} ({score:.3f})"
        for bucket in found.buckets
        for rank, (each, score) in enumerate(bucket.candidates, start=1)
        if each == urn
    ]
    return " · ".join(places)


def _buckets(found: "SearchResult") -> list[dict[str, object]]:
    return [
        {
            "bucket": bucket.bucket,
            "candidates": [
                {"rank": rank, "score": float(score), "urn": urn}
                for rank, (urn, score) in enumerate(bucket.candidates, start=1)
            ],
        }
        for bucket in found.buckets
    ]
