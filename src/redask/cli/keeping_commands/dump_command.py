"""`redask dump FILE`: a tenant's data as JSON Lines."""

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo


@click.command("dump")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@click.pass_obj
def command(db: str, file: str) -> None:
    """Write users, policies and data of a tenant to a file; `-` is standard output.

    Not in it: tokens, the audit log, spending, configuration, and which file something came from.
    """
    with reports_errors():
        with opening.opened(db, embedder="none") as opened:
            if file == "-":
                opened.dump_lines(lambda line: echo(line, nl=False))
                return
            counts = opened.dump(file)
        echo(f"{counts.entities} entities, {counts.policies} policies, {counts.users} users")
