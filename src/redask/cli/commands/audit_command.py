"""`redask audit list|show|verify|export`: what was asked, and whether the log is whole."""

import sys
from typing import Any

import click

from redask.cli import opening
from redask.cli.opening import pretty, private_output, reports_errors
from redask.cli.terminal_text import echo
from redask.core.errors import BadAsk
from redask.core.wire import json as canonical
from redask.core.wire.outcomes import OUTCOMES

_PAGE = 1000


@click.group("audit", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Look at the audit log, verify it, export it. Without a word: list."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_rows)


@command.command("list")
@click.option("--limit", default=20, show_default=True, help="How many rows, newest first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def list_rows(db: str, limit: int = 20, as_json: bool = False) -> None:
    """The newest rows."""
    with reports_errors(as_json):
        with opening.opened(db) as opened:
            entries = opened.audit(limit)
        if as_json:
            echo(canonical.text([plain(entry) for entry in entries]))
            return
        for entry in entries:
            row: dict[str, Any] = entry.row
            kinds = ",".join(error["kind"] for error in row["errors"])
            outcome = "answered" if row["validation_ok"] else kinds or "failed"
            question = " ".join(row["question"].split())
            facts = f"{opening.utc_time(row['ts'])}  {row['user']}  {row['provider']}  {outcome}"
            echo(f"{entry.seq:6}  {facts}  {question}")


@command.command("show")
@click.argument("seq", type=int)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def show(db: str, seq: int, as_json: bool) -> None:
    """One row, whole."""
    with reports_errors(as_json):
        with opening.opened(db) as opened:
            found = opened.audit(1, before=seq + 1)
        if not found or found[0].seq != seq:
            raise BadAsk(f"there is no audit row {seq}")
        echo(canonical.text(plain(found[0])) if as_json else pretty(plain(found[0])))


@command.command("verify")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def verify(db: str, as_json: bool) -> None:
    """Check that every row is what was written; names the first that is not."""
    with reports_errors(as_json):
        from redask.core.errors import StoreFailed
        from redask.core.rules.audit_chain import Intact

        with opening.opened(db) as opened:
            verdict = opened.verify_audit()
        if isinstance(verdict, Intact):
            plain = {"head": verdict.head.hash, "ok": True, "rows": verdict.rows}
            text = f"{verdict.rows} rows, all as written; head {verdict.head.hash}"
            echo(canonical.text(plain) if as_json else text)
            return
        broken = {"ok": False, "reason": verdict.reason, "seq": verdict.seq}
        echo(canonical.text(broken) if as_json else f"BROKEN: {verdict.reason}")
        sys.exit(OUTCOMES[StoreFailed].exit)


@command.command("export")
@click.option("--output", type=click.Path(dir_okay=False), default="-", help="A file.")
@click.pass_obj
def export(db: str, output: str) -> None:
    """All rows, newest first, one JSON object a line, with number and hash."""
    with reports_errors(), opening.opened(db) as opened, private_output(output) as lines:
        before = None
        while entries := opened.audit(_PAGE, before=before):
            for entry in entries:
                lines.write(canonical.text(plain(entry)) + "\n")
            before = entries[-1].seq


def plain(entry: Any) -> dict[str, object]:
    """An entry of the log as plain data."""
    numbered = {"build": entry.build, "hash": entry.hash, "row": entry.row, "seq": entry.seq}
    return {**numbered, **entry.readings()}
