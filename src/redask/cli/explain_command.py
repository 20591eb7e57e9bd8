"""`redask explain "…"`: the plan of an ask, which costs nothing."""

from typing import Any

import click

from redask.cli import session
from redask.cli.flags import clause_flags, options_of
from redask.cli.session import polite
from redask.wire import json as canonical


@click.command("explain")
@click.argument("question")
@clause_flags()
@click.option("--json", "as_json", is_flag=True, help="Print exactly the plan.")
@click.pass_obj
def command(db: str, /, question: str, as_json: bool, **flags: Any) -> None:
    """Show what asking QUESTION would do: sources, provider, knobs, size."""
    with polite(as_json), session.opened(db) as opened:
        print_plan(opened.explain(question, **options_of(flags)), as_json)


def print_plan(plan: dict[str, Any], as_json: bool) -> None:
    """The plan as canonical JSON or for people."""
    if as_json:
        click.echo(canonical.text(plan))
        return
    from rich.console import Console

    from redask.cli.rendering import show_plan

    show_plan(Console(highlight=False, soft_wrap=True), plan)
