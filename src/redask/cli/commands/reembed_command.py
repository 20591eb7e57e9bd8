"""`redask reembed`: every vector anew with the configured embedder, or only those missing."""

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.rendering import EmbeddingLine
from redask.cli.terminal_text import echo
from redask.core.wire import json as canonical


@click.command("reembed")
@click.option("--pending", is_flag=True, help="Only what has no vector yet.")
@click.option("--embedder", help="Instead of the configured one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(db: str, pending: bool, embedder: str | None, as_json: bool) -> None:
    """Make all vectors anew with the configured embedder; needed after choosing another one.

    Interrupted, it has lost nothing: `redask reembed --pending` goes on.
    """
    with reports_errors(as_json):
        with opening.opened(db, embedder=embedder) as opened:
            done = opened.embed(anew=not pending, progress=EmbeddingLine())
            report = opened.doctor()["embedding"] | {"embedded": done}
        if as_json:
            echo(canonical.text(report))
        else:
            echo(f"{done} embedded by {report['embedder']}, {report['pending']} pending")
