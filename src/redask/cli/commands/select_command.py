"""`redask select "SELECT …"`: rows as a table, or with `--json` as JSON."""

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.core.wire import json as canonical


@click.command("select")
@click.argument("sql")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
@click.pass_obj
def command(db: str, sql: str, as_json: bool) -> None:
    """Run SQL, one SELECT over your collections as tables."""
    with reports_errors(as_json):
        with opening.opened(db) as opened:
            rows = opened.select(sql)
        if as_json:
            click.echo(canonical.text(rows))
        else:
            _show(rows)


def _show(rows: list[dict[str, object]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if rows:
        table = Table(box=box.SIMPLE_HEAD)
        for name, value in rows[0].items():
            number = isinstance(value, int | float)
            table.add_column(Text(name), justify="right" if number else "left", overflow="fold")
        for row in rows:
            table.add_row(*(Text("" if each is None else str(each)) for each in row.values()))
        console.print(table)
    console.print(f"{len(rows)} row{'' if len(rows) == 1 else 's'}")
