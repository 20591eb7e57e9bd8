"""`redask select "SELECT …"`: rows as a table, or in a format for other programs."""

import click

from redask.cli import opening
from redask.cli.opening import reports_errors

_FORMATS = ("table", "csv", "json", "jsonl", "parquet", "md")


@click.command("select")
@click.argument("sql")
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMATS),
    default="table",
    show_default=True,
    help="How the rows are printed.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.pass_obj
def command(db: str, sql: str, form: str, as_json: bool) -> None:
    """Run SQL, one SELECT over your collections as tables."""
    chosen = "json" if as_json else form
    with reports_errors(chosen in ("json", "jsonl")):
        from redask.cli import result_formats

        with opening.opened(db) as opened:
            rows = opened.select(sql)
        result_formats.write(rows, chosen)
