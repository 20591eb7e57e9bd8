"""`redask remove PATH|URN|COLLECTION`: take something out of the database, and say what went."""

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo
from redask.core.wire import json as canonical


@click.command("remove")
@click.argument("target")
@click.option("--collection", is_flag=True, default=None, help="TARGET is a collection.")
@click.option("--yes", is_flag=True, help="Do not ask before a collection or several files go.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; needs --yes where it would ask.")
@click.pass_obj
def command(db: str, target: str, collection: bool | None, yes: bool, as_json: bool) -> None:
    """Remove TARGET: an ingested file or folder, a URN, or a collection. For owners."""
    with reports_errors(as_json), opening.opened(db) as opened:
        what = opened.removable(target, collection=collection)
        if what != "urn" and not yes:
            if as_json:
                raise click.UsageError(f"{target} is a {what}: give --yes to remove it")
            click.confirm(f"Remove the {what} {target} with all that came of it?", abort=True)
        gone = opened.remove(target, collection=collection)
        if as_json:
            told = {"entities": gone.entities, "files": list(gone.files), "what": gone.what}
            echo(canonical.text(told))
            return
        echo(f"removed {_counted(gone.entities, 'entity', 'entities')} of the {what} {target}")
        for path in gone.files:
            echo(f"  {path}")


def _counted(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"
