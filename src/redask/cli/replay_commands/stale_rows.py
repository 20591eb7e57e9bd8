"""`redask audit stale`: answers whose cited sources are not what they were."""

import click

from redask.cli import opening
from redask.cli.opening import reports_errors, utc_time
from redask.cli.terminal_text import echo
from redask.core.rules.auditing.replay_report import StaleAnswer
from redask.core.wire import json as canonical
from redask.core.wire import query_source


@click.command("stale")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")
@click.pass_obj
def stale(db: str, as_json: bool) -> None:
    """Answers whose cited sources changed, or are gone, since they were given; newest first."""
    with reports_errors(as_json), opening.opened(db) as opened:
        rows = unknown = found = 0
        report = opened.stale_answers()
        while True:
            rows, unknown, found = (
                rows + report.rows,
                unknown + report.unknown,
                found + len(report.answers),
            )
            for each in report.answers:
                _show(each, as_json)
            if report.next is None:
                break
            report = opened.stale_answers(before=report.next)
        if not as_json:
            more = f"; of {unknown} it is not kept what made them" if unknown else ""
            echo(f"{found} of {rows} rows are stale{more}")


def _show(stale_one: StaleAnswer, as_json: bool) -> None:
    row = stale_one.row
    if as_json:
        sources = [{"change": change.value, "urn": urn} for urn, change in stale_one.sources]
        told = {name: row.get(name) for name in ("question", "ts", "user")}
        echo(canonical.text({**told, "seq": stale_one.seq, "sources": sources}))
        return
    question = " ".join(str(row.get("question", "")).split())
    echo(f"{stale_one.seq:6}  {utc_time(row.get('ts'))}  {row.get('user', '')}  {question}")
    for urn, change in stale_one.sources:
        echo(f"{change.value:>14}  {query_source.statement_of(urn) or urn}")
