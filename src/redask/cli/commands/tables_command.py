"""`redask tables`: what can be named in a SELECT, with names and types of the columns.

redask tables --set tickets.opened=timestamp     fix a column's type; for owners
redask tables --unset tickets.opened             let it come from the data again
"""

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo
from redask.core.errors import BadAsk
from redask.core.wire import json as canonical


@click.command("tables")
@click.option("--set", "fixed", multiple=True, metavar="TABLE.COLUMN=TYPE", help="Fix a type.")
@click.option("--unset", "free", multiple=True, metavar="TABLE.COLUMN", help="Fix it no longer.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(db: str, fixed: tuple[str, ...], free: tuple[str, ...], as_json: bool) -> None:
    """List the tables that a SELECT can name, with the types of their columns."""
    with reports_errors(as_json):
        wanted = [_read(each) for each in fixed]
        with opening.opened(db) as opened:
            for column, type_name in wanted:
                opened.fix_type(column, type_name)
            for column in free:
                opened.fix_type(column, None)
            tables = opened.tables()
        if as_json:
            shown = [
                {"columns": [{"name": n, "type": t} for n, t in each.columns], "name": each.name}
                for each in tables
            ]
            echo(canonical.text(shown))
            return
        for each in tables:
            echo(each.name)
            for name, kind in each.columns:
                echo(f"  {name}  {kind}")


def _read(written: str) -> tuple[str, str]:
    column, sign, type_name = written.rpartition("=")
    if not sign:
        raise BadAsk(f"--set takes TABLE.COLUMN=TYPE, not {written[:100]!a}", detail="set")
    return column, type_name
