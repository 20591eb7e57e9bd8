"""`redask cost`: what was spent by UTC day, tenant and provider."""

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo
from redask.core.wire import json as canonical


@click.command("cost")
@click.option(
    "--days",
    type=click.IntRange(1, 36_500),
    default=30,
    show_default=True,
    help="So many days, today included.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(db: str, days: int, as_json: bool) -> None:
    """Show what was spent, in US dollars, newest day first; days are UTC.

    Reserved is what was set aside for calls that are running or never ended.
    """
    with reports_errors(as_json):
        with opening.opened(db) as opened:
            lines = opened.spending(days)
        if as_json:
            echo(canonical.text(lines))
            return
        if not lines:
            echo("nothing was spent")
            return
        echo(f"{'day':12}{'tenant':16}{'provider':14}{'spent $':>16}{'reserved $':>16}")
        for line in lines:
            named = f"{line['day']:12}{line['tenant']:16}{line['provider'] or '–':14}"
            unknown = f"  + {calls} of unknown price" if (calls := line["unpriced_calls"]) else ""
            echo(f"{named}{line['spent_usd']:>16.9f}{line['reserved_usd']:>16.9f}{unknown}")
