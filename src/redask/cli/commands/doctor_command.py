"""`redask doctor`: is everything there, whole and caught up?"""

import sys
import threading
from typing import TYPE_CHECKING, Any

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo
from redask.core.errors import Cancelled, StoreFailed
from redask.core.wire import json as canonical
from redask.core.wire.outcomes import OUTCOMES

if TYPE_CHECKING:
    from redask.api.sync import OpenDatabase


@click.command("doctor")
@click.option("--rebuild-index", is_flag=True, help="Throw the index away and build it anew.")
@click.option("--deep", is_flag=True, help="Read everything, and mend what is derived.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(db: str, *, rebuild_index: bool, deep: bool, as_json: bool) -> None:
    """Check the database and its index; say what is pending and what takes space."""
    with reports_errors(as_json):
        with opening.opened(db) as opened:
            report = _checked(opened, rebuild_index, deep)
        if as_json:
            echo(canonical.text(report))
        else:
            _show(report)
        if report["problems"]:
            sys.exit(OUTCOMES[StoreFailed].exit)


def _checked(opened: "OpenDatabase", rebuild_index: bool, deep: bool) -> dict[str, Any]:
    """The report; Ctrl-C ends a deep check after the rows that are being read."""
    stopped = threading.Event()

    def progress(done: int, total: int) -> None:
        if stopped.is_set():
            raise Cancelled("the check was ended")
        if sys.stderr.isatty():
            echo(f"\rchecking, {done} of {total} ", nl=done >= total, err=True)

    try:
        return opened.doctor(rebuild_index=rebuild_index, deep=deep, progress=progress)
    except KeyboardInterrupt:
        stopped.set()
        raise


def _show(report: dict[str, Any]) -> None:
    for part in ("store", "index", "embedding", "audit"):
        facts = ", ".join(f"{name} {value}" for name, value in report[part].items())
        echo(f"{part:10}{facts}")
    for name, size in report["files"].items():
        echo(f"{'':10}{name} {size / 1e6:.1f} MB")
    for collection, progress in report["relabelling"].items():
        echo(f"the policy of {collection} is being applied: {progress}")
    for problem in report["problems"]:
        echo(f"PROBLEM {problem}")
    for each in report["mended"]:
        echo(f"MENDED  {each}")
    for warning in report["warnings"]:
        echo(f"WARNING {warning}")
    if report["embedding"]["pending"]:
        echo("not everything is embedded: `redask embed` goes on with it")
    if not report["problems"] and not report["warnings"]:
        echo("all is well")
