"""`redask backup DEST`: a verified back-up, while the database is in use."""

import sys
from dataclasses import asdict

import click

from redask.cli import opening
from redask.cli.opening import reports_errors, utc_time
from redask.cli.terminal_text import echo
from redask.core.wire import json as canonical


@click.command("backup")
@click.argument("destination", type=click.Path(file_okay=False))
@click.option(
    "--keep", type=click.IntRange(1), help="Remove all but the last so many back-ups there."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(db: str, destination: str, keep: int | None, as_json: bool) -> None:
    """Add a back-up of the whole database to a directory, which is made if it is missing.

    Questions and writes go on meanwhile. What the directory has from earlier back-ups is not
    written again. Interrupted, it has lost nothing: run it again.
    """
    with reports_errors(as_json):
        with opening.opened(db, embedder="none") as opened:
            report = opened.backup(destination, keep=keep, progress=_show)
        if as_json:
            echo(canonical.text(asdict(report)))
        else:
            echo(
                f"backed up {report.bytes / 1e6:.1f} MB, {report.written / 1e6:.1f} MB newly"
                f" written, verified, as of {utc_time(report.made_at)} UTC"
            )
            if report.removed:
                echo(f"removed {report.removed} older back-ups")


def _show(done: int, total: int) -> None:
    if sys.stderr.isatty():
        echo(f"\rback-up {done / 1e6:.1f}/{total / 1e6:.1f} MB ", nl=done >= total, err=True)
