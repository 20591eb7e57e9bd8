"""`redask doctor`: is everything there, whole and caught up?"""

import sys
from typing import Any

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo
from redask.core.errors import StoreFailed
from redask.core.wire import json as canonical
from redask.core.wire.outcomes import OUTCOMES


@click.command("doctor")
@click.option("--rebuild-index", is_flag=True, help="Throw the index away and build it anew.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(db: str, rebuild_index: bool, as_json: bool) -> None:
    """Check the database and its index; say what is pending and what takes space."""
    with reports_errors(as_json):
        with opening.opened(db) as opened:
            report = opened.doctor(rebuild_index=rebuild_index)
        if as_json:
            echo(canonical.text(report))
        else:
            _show(report)
        if report["problems"]:
            sys.exit(OUTCOMES[StoreFailed].exit)


def _show(report: dict[str, Any]) -> None:
    for part in ("store", "index", "embedding", "audit"):
        facts = ", ".join(f"{name} {value}" for name, value in report[part].items())
        echo(f"{part:10}{facts}")
    for name, size in report["files"].items():
        echo(f"{'':10}{name} {size / 1e6:.1f} MB")
    for problem in report["problems"]:
        echo(f"PROBLEM {problem}")
    for warning in report["warnings"]:
        echo(f"WARNING {warning}")
    if report["embedding"]["pending"]:
        echo("not everything is embedded: `redask reembed --pending` goes on with it")
    if not report["problems"] and not report["warnings"]:
        echo("all is well")
