"""`redask providers`: who can answer, whether their keys are there, what they can do."""

import sys
from typing import Any

import click

from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo
from redask.core.errors import Misconfigured, ProviderRefused
from redask.core.provider_table import PROVIDERS
from redask.core.wire import json as canonical
from redask.core.wire.outcomes import OUTCOMES

_FLAGS = ("citations", "seed", "temperature_zero", "streaming")


@click.command("providers")
@click.argument("names", nargs=-1)
@click.option(
    "--check",
    is_flag=True,
    help="Make one tiny call to each of NAMES; without names, to each that is ready.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(db: str, names: tuple[str, ...], check: bool, as_json: bool) -> None:
    """List the providers, or only NAMES. A key is never shown."""
    with reports_errors(as_json):
        from redask.api.sync import check_providers, missing_packages, providers_at

        rows = providers_at(db)
        if not check:
            shown = [row for row in rows if not names or row["name"] in names]
            if as_json:
                echo(canonical.text(shown))
            else:
                _show(shown, missing_packages(db))
            return
        chosen = list(names) or [str(row["name"]) for row in rows if _ready(row)]
        checked = check_providers(db, chosen)
        echo(canonical.text(checked)) if as_json else _show_checks(checked)
        failed = [each for each in checked if not each["ok"]]
        if failed:
            kind = Misconfigured if failed[0]["kind"] == Misconfigured.kind else ProviderRefused
            sys.exit(OUTCOMES[kind].exit)


def _ready(row: dict[str, Any]) -> bool:
    """Whether somebody set it up: a key is there, or it needs neither key nor server."""
    return bool(row["key"] == "present" or PROVIDERS[row["name"]].built_in)


def _show(rows: list[dict[str, Any]], packages: dict[str, str]) -> None:
    head = ("provider", "key", "installed", *_FLAGS)
    echo(_line(head, "model"))
    for row in rows:
        can = [row["capabilities"][f"supports_{flag}"] for flag in _FLAGS]
        marks = ["yes" if flag else "–" for flag in can]
        installed = "yes" if row["installed"] else f"redask[{row['extra']}]"
        echo(_line((row["name"], row["key"], installed, *marks), row["model"] or "–"))
    idle = [packages[row["name"]] for row in rows if row["name"] in packages]
    if idle:
        echo("\n" + "\n".join(idle))
    missing = [row for row in rows if row["key"] == "missing"]
    if missing:
        names = ", ".join(row["key_variable"] for row in missing)
        echo(f"\nset a key to use a provider: {names}")


def _line(cells: tuple[str, ...], last: str) -> str:
    widths = (13, 12, 21, 11, 6, 18, 11)
    padded = (f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True))
    return "".join(padded) + last


def _show_checks(checked: list[dict[str, Any]]) -> None:
    for each in checked:
        if each["ok"]:
            build = f", {each['build']}" if each["build"] else ""
            echo(f"{each['name']:13}ok     {each['milliseconds']} ms, {each['model']}{build}")
        else:
            echo(f"{each['name']:13}FAILED {each['kind']}: {each['message']}")
