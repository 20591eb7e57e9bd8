"""`redask replay SEQ`: ask again what an audit row asked, and say what differs."""

import sys
from collections.abc import Iterator

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo
from redask.core.rules.auditing.replay_report import ReplayReport
from redask.core.rules.auditing.replay_verdict import ReplayVerdict, SourceChange
from redask.core.wire import json as canonical
from redask.core.wire import query_source

EXITS = {
    ReplayVerdict.EQUAL: 0,
    ReplayVerdict.SOURCES: 10,
    ReplayVerdict.POLICY: 11,
    ReplayVerdict.PROMPT: 12,
    ReplayVerdict.INDEX: 13,
    ReplayVerdict.SETTINGS: 14,
    ReplayVerdict.DRIFT: 15,
    ReplayVerdict.NOT_REPLAYABLE: 16,
}
_WORDS = {
    ReplayVerdict.EQUAL: "equal: the same sources, the same prompt",
    ReplayVerdict.SOURCES: "sources changed",
    ReplayVerdict.POLICY: "policy changed",
    ReplayVerdict.PROMPT: "prompt changed",
    ReplayVerdict.INDEX: "index or embedder changed",
    ReplayVerdict.SETTINGS: "settings changed",
    ReplayVerdict.DRIFT: "model drifted",
    ReplayVerdict.NOT_REPLAYABLE: "cannot be replayed",
}
_CHANGES = {
    SourceChange.ADDED: "new",
    SourceChange.CHANGED: "changed",
    SourceChange.GONE: "gone",
    SourceChange.LEFT_OUT: "left out",
    SourceChange.SHOWN_OTHERWISE: "other excerpt",
    SourceChange.MOVED: "moved",
}


@click.command("replay")
@click.argument("seq", type=int)
@click.option("--live", is_flag=True, help="Ask the provider of then, too; that is audited.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def command(db: str, seq: int, live: bool, as_json: bool) -> None:
    """Find the sources of an answer again, as who asked, and say what differs.

    SEQ is the number of an audit row. Ends with 0 if all is equal, with 10 sources, 11 policy, 12
    prompt, 13 index or embedder, 14 settings changed, 15 model drifted, 16 cannot be replayed.
    """
    with reports_errors(as_json):
        with opening.opened(db) as opened:
            report = opened.replay(seq, live=live)
        for line in [canonical.text(report.plain())] if as_json else _lines(report):
            echo(line)
    sys.exit(EXITS[report.verdict])


def _lines(report: ReplayReport) -> Iterator[str]:
    also = [_WORDS[each] for each in report.changes if each is not report.verdict]
    more = f" (also: {', '.join(also)})" if also else ""
    yield f"row {report.seq}: {_WORDS[report.verdict]}{more}"
    yield from (f"  {why}" for why in report.reasons)
    if report.changes and report.same_prompt:
        yield "  the prompt is the same"
    for source in report.sources:
        shown = query_source.statement_of(source.urn) or source.urn
        yield f"{_CHANGES[source.change]:>13}  {shown}"
        yield from (f"{'':15}{line}" for line in source.diff.splitlines())
    if report.hidden:
        yield f"{report.hidden} new sources that you may not read"
    if report.answer is not None:
        yield "the answer is the same" if report.answer.same else "the answer is another:"
        if not report.answer.same:
            told = report.answer.diff or report.answer.text
            yield from (f"  {line}" for line in told.splitlines())
