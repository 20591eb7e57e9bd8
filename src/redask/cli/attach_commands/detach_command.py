"""`redask detach NAME`: let go of attached tables; in the source they are as they were before."""

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo
from redask.core.wire import json as canonical


@click.command("detach")
@click.argument("name")
@click.option(
    "--forget-source", is_flag=True, help="The source is gone: remove nothing there, only here."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(db: str, name: str, forget_source: bool, as_json: bool) -> None:
    """Detach NAME: what was read of it goes, the tables stay. For owners."""
    with reports_errors(as_json):
        with opening.opened(db) as opened:
            gone = opened.detach(name, forget_source=forget_source)
        echo(canonical.text({"entities": gone}) if as_json else f"detached {name}: {gone} went")
