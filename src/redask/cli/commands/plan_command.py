"""`redask plan "…"`: the SELECT that would answer a question, or what is unclear about it."""

from typing import Any

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo
from redask.core.wire import json as canonical


@click.command("plan")
@click.argument("question")
@click.option("--collection", multiple=True, help="Only this table; may be given several times.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(db: str, /, question: str, collection: tuple[str, ...], as_json: bool) -> None:
    """Show the SELECT that would answer QUESTION; nothing is run."""
    with reports_errors(as_json), opening.opened(db) as opened:
        options: dict[str, Any] = {"collection": list(collection)} if collection else {}
        plan = opened.query_plan(question, **options)
        echo(canonical.text(plan) if as_json else "\n".join(_lines(plan)))


def _lines(plan: dict[str, Any]) -> list[str]:
    lost = [f"lost: {each['sql']}\n      {each['why']}" for each in plan["others"]]
    if plan["sql"] is not None:
        return [plan["sql"], f"intent {plan['intent']}, coverage {plan['coverage']:.2f}", *lost]
    if plan["reason"] is None:
        return ["no statement: this question is looked up by search"]
    about = f": {', '.join(plan['missing'])}" if plan["missing"] else ""
    lines = [f"no statement is certain, {plan['reason']}{about}"]
    return [*lines, *([f"nearest: {plan['nearest']}"] if plan["nearest"] else []), *lost]
