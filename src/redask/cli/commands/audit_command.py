"""`redask audit list|show|accept|export …`: what was asked, and whether the log is whole.

`audit_commands` has the others: verify, keygen, seal, prove, erase; `replay_commands` has stale.
"""

from typing import Any

import click

from redask.cli import opening
from redask.cli.audit_commands.sealing_commands import LOG, erase, keygen, prove, seal
from redask.cli.audit_commands.verify_command import verify
from redask.cli.opening import pretty, private_output, reports_errors
from redask.cli.replay_commands.stale_rows import stale
from redask.cli.terminal_text import echo
from redask.core.errors import BadAsk
from redask.core.rules.auditing.ask_outcomes import AskOutcome, outcome_of
from redask.core.wire import json as canonical

_PAGE = 1000


@click.group("audit", invoke_without_command=True)
@click.pass_context
def command(ctx: click.Context) -> None:
    """Look at the audit log, verify it, export it. Without a word: list."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_rows)


command.add_command(stale)


@command.command("list")
@click.option("--limit", default=20, show_default=True, help="How many rows, newest first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option(
    "--outcome",
    type=click.Choice([each.value for each in AskOutcome]),
    help="Only asks that ended so; a refusal says that the data does not hold an answer.",
)
@LOG
@click.pass_obj
def list_rows(
    db: str,
    limit: int = 20,
    as_json: bool = False,
    outcome: str | None = None,
    log: str = "ask",
) -> None:
    """The newest rows."""
    with reports_errors(as_json):
        if outcome is not None and log != "ask":
            raise BadAsk("--outcome is of the log of asks", detail="outcome")
        with opening.opened(db) as opened:
            entries = _found(opened, limit, outcome, log)
        if as_json:
            echo(canonical.text([plain(entry) for entry in entries]))
            return
        for entry in entries:
            row: dict[str, Any] = entry.row
            if log == "access":
                echo(f"{entry.seq:6}  {_access_facts(row)}")
                continue
            question = _told(row["question"])
            who = _told(row["user"])
            facts = f"{opening.utc_time(row['ts'])}  {who}  {row['provider']}  {_ending(entry)}"
            echo(f"{entry.seq:6}  {facts}  {question}")


@command.command("show")
@click.argument("seq", type=int)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@LOG
@click.pass_obj
def show(db: str, seq: int, as_json: bool, log: str) -> None:
    """One row, whole."""
    with reports_errors(as_json):
        with opening.opened(db) as opened:
            found = opened.audit(1, before=seq + 1, log=log)
        if not found or found[0].seq != seq:
            raise BadAsk(f"there is no audit row {seq}")
        echo(canonical.text(plain(found[0])) if as_json else pretty(plain(found[0])))


for each in (verify, keygen, seal, prove, erase):
    command.add_command(each)


@command.command("accept")
@click.option("--reason", required=True, help="Why; it goes into the log.")
@click.pass_obj
def accept(db: str, reason: str) -> None:
    """Take the log as it is now, though the store remembers another; that goes on record.

    For a database that was restored, or whose log was lost. Rows that were changed stay broken.
    """
    with reports_errors():
        with opening.opened(db) as opened:
            fault = opened.accept_logs(reason)
        echo(f"accepted, and on record: {fault}" if fault else "nothing is wrong with the log")


@command.command("export")
@click.option("--output", type=click.Path(dir_okay=False), default="-", help="A file.")
@click.option("--records", is_flag=True, help="Whole records, for `verify --export` elsewhere.")
@LOG
@click.pass_obj
def export(db: str, output: str, records: bool, log: str) -> None:
    """All rows, newest first, one JSON object a line, with number and hash.

    With --records, all that the log keeps, the oldest first: what was pruned or erased, salts.
    """
    with reports_errors(), opening.opened(db) as opened, private_output(output) as lines:
        if records:
            opened.export_audit_lines(lines.write, log=log)
            return
        before = None
        while entries := opened.audit(_PAGE, before=before, log=log):
            for entry in entries:
                lines.write(canonical.text(plain(entry)) + "\n")
            before = entries[-1].seq


def _found(opened: Any, limit: int, outcome: str | None, log: str) -> list[Any]:
    """The newest rows, or those of an outcome, however far back they are."""
    if outcome is None:
        return list(opened.audit(limit, log=log))
    found: list[Any] = []
    before = None
    while len(found) < limit and (page := opened.audit(_PAGE, before=before)):
        found += [each for each in page if outcome_of(each.row, each.refused) == outcome]
        before = page[-1].seq
    return found[:limit]


def _ending(entry: Any) -> str:
    """How an ask ended, and why: one word, or two with a comma-separated second."""
    outcome = outcome_of(entry.row, entry.refused)
    why = entry.refused
    if outcome is AskOutcome.FAILED:
        why = ",".join(error["kind"] for error in entry.row["errors"] or ())
    return f"{outcome}:{why}" if why else outcome


def _access_facts(row: dict[str, Any]) -> str:
    """A row of the access log on one line."""
    times = f" × {row['count']}" if row["count"] > 1 else ""
    who = _told(row["user"]) or "–"
    facts = f"{opening.utc_time(row['ts'])}  {who}  {row['action']}  {row['outcome']}"
    return f"{facts}{times}  {_told(row['subject'])}"


def _told(value: str | None) -> str:
    """A text of a row on one line, or that it was erased."""
    return "[erased]" if value is None else " ".join(value.split())


def plain(entry: Any) -> dict[str, object]:
    """An entry of the log as plain data."""
    numbered = {"build": entry.build, "hash": entry.hash, "row": entry.row, "seq": entry.seq}
    return {**numbered, **entry.readings()}
