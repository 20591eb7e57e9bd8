"""`redask copy SRC DST`: a whole database into another place, of whatever kind."""

from dataclasses import asdict

import click

from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo
from redask.core.wire import json as canonical


@click.command("copy")
@click.argument("source")
@click.argument("destination")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(*, source: str, destination: str, as_json: bool) -> None:
    """Copy a database between a directory and PostgreSQL, either way, and verify the copy.

    The source may be in use. Copy again to go on with a copy that was interrupted, and to bring
    what was written since: stop the old server, copy once more, start the new one. Not copied: the
    answer cache, the search index, redask.toml and synonyms.toml.
    """
    from redask.api.keeping import copy

    with reports_errors(as_json):
        report = copy(source, destination)
        if as_json:
            echo(canonical.text(asdict(report)))
            return
        echo(
            f"{report.rows} rows, {report.written} of them written now; {report.audit_rows} audit"
            f" rows verified; sha256 {report.sha256}"
        )
