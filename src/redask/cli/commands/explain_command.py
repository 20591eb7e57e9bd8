"""`redask explain "…"`: the plan of an ask, which costs nothing."""

from typing import TYPE_CHECKING, Any

import click

from redask.cli import opening
from redask.cli.flags import clause_flags, options_of
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo, terminal_console
from redask.core.wire import json as canonical

if TYPE_CHECKING:
    from redask.api.sync import OpenDatabase

_FOR_SEARCH = ("collection", "limit", "min_score", "depth", "history")


@click.command("explain")
@click.argument("question")
@clause_flags()
@click.option("--json", "as_json", is_flag=True, help="Print exactly the plan.")
@click.pass_obj
def command(db: str, /, question: str, as_json: bool, **flags: Any) -> None:
    """Show what asking QUESTION would do: sources, provider, knobs, size."""
    with reports_errors(as_json), opening.opened(db) as opened:
        options = options_of(flags)
        if "using" not in options:
            opening.warn_of_providers(db)
        explain(opened, question, options, as_json)


def explain(opened: "OpenDatabase", question: str, options: dict[str, Any], as_json: bool) -> None:
    """Print the plan as canonical JSON, or as text with weights and what was left out."""
    plan = opened.explain(question, **options)
    if as_json:
        echo(canonical.text(plan))
        return

    from redask.cli.rendering import show_plan

    searched = {name: options[name] for name in _FOR_SEARCH if name in options}
    found = opened.search(question, **searched)
    in_force = opened.strictness(question, **options)
    lost = opened.query_plan(question, **options)["others"] if "query" in plan else ()
    console = terminal_console(highlight=False, soft_wrap=True)
    show_plan(console, plan, found, in_force, lost, judge=opened.judge())
