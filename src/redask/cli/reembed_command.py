"""`redask reembed`: every vector anew with the configured embedder, or only those missing."""

import sys
import time

import click

from redask.cli.session import existing, polite
from redask.wire import json as canonical


@click.command("reembed")
@click.option("--pending", is_flag=True, help="Only what has no vector yet.")
@click.option("--embedder", help="Instead of the configured one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(db: str, pending: bool, embedder: str | None, as_json: bool) -> None:
    """Make all vectors anew with the configured embedder; needed after choosing another one.

    Interrupted, it has lost nothing: `redask reembed --pending` goes on.
    """
    with polite(as_json):
        from redask.api import open_database

        with open_database(existing(db), embedder=embedder) as opened:
            done = opened.embed(anew=not pending, progress=_Progress())
            report = opened.doctor()["embedding"] | {"embedded": done}
        if as_json:
            click.echo(canonical.text(report))
        else:
            click.echo(f"{done} embedded by {report['embedder']}, {report['pending']} pending")


class _Progress:
    """A line that says how far it is, how fast, and how long it will take, on a terminal."""

    def __init__(self) -> None:
        self._started = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if not sys.stderr.isatty():
            return
        rate = done / max(time.monotonic() - self._started, 1e-9)
        left = (total - done) / rate if rate else 0.0
        line = f"\rembedding {done}/{total}, {rate:.0f}/s, {left:.0f} s left "
        click.echo(line, nl=done >= total, err=True)
