"""`redask attach URL --tables …`: ask your own PostgreSQL tables where they are.

Without a URL: what is attached. With --sync: read what changed since.
"""

from dataclasses import asdict

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo
from redask.core.wire import json as canonical


@click.command("attach")
@click.argument("url", required=False)
@click.option("--tables", help="The tables, separated by commas: orders,sales.customers.")
@click.option("--name", default="", help="Its name here; that of the database if not given.")
@click.option("--role", help="The role there that reads; whom the URL signs in if not given.")
@click.option("--readers", default="", help="Roles here that read as it, separated by commas.")
@click.option(
    "--changes",
    default="polling",
    show_default=True,
    help="How changes are noticed: polling, polling:COLUMN, triggers, logical, reading, or auto.",
)
@click.option("--prefix", help="Put before the names of collections, with a point.")
@click.option("--sync", is_flag=True, help="Read what changed; of one attachment with --name.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(  # noqa: PLR0917 - one for each option
    db: str,
    url: str | None,
    tables: str | None,
    name: str,
    role: str | None,
    readers: str,
    changes: str,
    prefix: str | None,
    sync: bool,
    as_json: bool,
) -> None:
    """Attach tables of the PostgreSQL at URL; without URL, list what is attached. For owners."""
    with reports_errors(as_json):
        if url is None and not sync:
            _list(db, as_json)
            return
        with opening.opened(db, make=url is not None) as opened:
            if url is None:
                done = opened.sync(name or None)
            else:
                done = opened.attach(
                    *(url, _names(tables or "")),
                    name=name,
                    role=role,
                    readers=_names(readers),
                    changes=changes,
                    prefix=prefix,
                )
        if as_json:
            echo(canonical.text(asdict(done)))
        elif done.busy:
            echo("another process reads it just now")
        else:
            echo(f"{done.written} written, {done.removed} removed")


def _list(db: str, as_json: bool) -> None:
    with opening.opened(db) as opened:
        found = opened.attachments()
    if as_json:
        echo(canonical.text([asdict(each) for each in found]))
        return
    for each in found:
        who = f"as {each.role}" if each.role else "as whom the URL names"
        readers = ", ".join(each.readers) or "owners only"
        echo(f"{each.name}  {each.url}  {who}, for {readers}, by {each.changes}")
        for table in each.tables:
            told = f": {table.comment}" if table.comment else ""
            echo(f"  {table.collection}  {table.name}, {len(table.columns)} columns{told}")
    if not found:
        echo("nothing is attached")


def _names(written: str) -> list[str]:
    return [each.strip() for each in written.split(",") if each.strip()]
