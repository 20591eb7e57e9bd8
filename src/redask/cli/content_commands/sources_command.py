"""`redask sources`: the files that were ingested, and what is in each collection."""

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo
from redask.core.wire import json as canonical


@click.command("sources")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(db: str, as_json: bool) -> None:
    """List what was ingested: files with counts and when (for owners), and collections."""
    with reports_errors(as_json):
        with opening.opened(db) as opened:
            held = opened.sources()
        if as_json:
            files = [
                {"entities": dict(each.entities), "path": each.path, "read_at": each.read_at}
                for each in held.files
            ]
            collections = [{"entities": e.entities, "name": e.name} for e in held.collections]
            echo(canonical.text({"collections": collections, "files": files}))
            return
        for each in held.files:
            brought = ", ".join(f"{name} {count}" for name, count in each.entities.items())
            echo(f"{opening.utc_time(each.read_at):19}  {each.path}  {brought or 'nothing'}")
        if held.files:
            echo()
        for collection in held.collections:
            kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(collection.entities.items()))
            echo(f"{collection.name}  {kinds}")
        if not held.files and not held.collections:
            echo("nothing here yet")
