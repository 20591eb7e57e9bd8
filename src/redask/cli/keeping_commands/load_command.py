"""`redask load FILE`: a dump into a tenant."""

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo


@click.command("load")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option(
    "--replace-policies", is_flag=True, help="Also where a collection has another policy here."
)
@click.option("--embedder", help="Instead of the configured one.")
@click.pass_obj
def command(db: str, file: str, replace_policies: bool, embedder: str | None) -> None:
    """Read a dump into a tenant; the database is made if it is missing.

    The file is checked as a whole before anything is written, and refused if it has another policy
    for a collection that is here. What has the same address is replaced; loading a dump twice
    changes nothing.
    """
    with reports_errors():
        with opening.opened(db, make=True, embedder=embedder) as opened:
            counts = opened.load(file, replace_policies=replace_policies)
        echo(f"{counts.entities} entities, {counts.policies} policies, {counts.users} users")
        if counts.replaced:
            echo(f"policies that were replaced: {', '.join(counts.replaced)}")
        if counts.kept:
            names = ", ".join(counts.kept)
            echo(f"users who differ here stay as they are ({len(counts.kept)}): {names}")
