"""`redask restore SRC`: a database from a back-up, all or nothing."""

from dataclasses import asdict

import click

from redask.cli.opening import reports_errors, utc_time
from redask.cli.terminal_text import echo
from redask.core.wire import json as canonical


@click.command("restore")
@click.argument("source", type=click.Path())
@click.option("--to", help="The directory to make, instead of that of --db.")
@click.option("--at", help="The last back-up made by this time (ISO 8601; UTC without a zone).")
@click.option("--overwrite", is_flag=True, help="Replace what is there; it is kept beside it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(
    db: str, *, source: str, to: str | None, at: str | None, overwrite: bool, as_json: bool
) -> None:
    """Make a database from the last back-up in a directory, or from an earlier one.

    Everything is checked before anything is put in its place. The search index is built anew by the
    first question.
    """
    from redask.api.keeping import restore

    with reports_errors(as_json):
        report = restore(source, to=to or db, at=at, overwrite=overwrite)
        if as_json:
            echo(canonical.text(asdict(report)))
            return
        echo(f"restored {report.directory} as of {utc_time(report.made_at)} UTC")
        if report.replaced:
            echo(f"what was there is in {report.replaced}: remove it when you are sure")
