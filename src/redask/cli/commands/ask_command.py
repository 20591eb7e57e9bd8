"""`redask ask "…"`: the answer as it comes, its footnotes, and what it cost."""

import sys
from typing import Any

import click

from redask.cli import last_answer, opening
from redask.cli.answer_sources import show_sources
from redask.cli.flags import clause_flags, options_of
from redask.cli.opening import exit_with, reports_errors
from redask.cli.terminal_text import echo
from redask.core.errors import AskError
from redask.core.model import Answered, AnswerReset, AnswerToken, Event, Failed
from redask.core.wire import envelope
from redask.core.wire import json as canonical


@click.command("ask")
@click.argument("question")
@clause_flags()
@click.option("--json", "as_json", is_flag=True, help="Print exactly the response envelope.")
@click.option("--explain", is_flag=True, help="Show the plan instead of asking.")
@click.option("--stream/--no-stream", default=None, help="Print the answer while it is written.")
@click.option("--follow", is_flag=True, help="QUESTION may lean on the last answers printed here.")
@click.pass_obj
def command(
    db: str,
    /,
    question: str,
    *,
    as_json: bool,
    explain: bool,
    stream: bool | None,
    follow: bool,
    **flags: Any,
) -> None:
    """Answer QUESTION over your data, with footnotes to its sources."""
    with reports_errors(as_json), opening.opened(db) as opened:
        options = options_of(flags)
        caller = opened.whoami()
        earlier = last_answer.read(db, caller) if follow else last_answer.LastAnswer()
        if earlier.turns:
            options["history"] = list(earlier.turns)
        if "using" not in options:
            opening.warn_of_providers(db)
        if explain:
            from redask.cli.commands.explain_command import explain as show_plan

            show_plan(opened, question, options, as_json)
        elif as_json:
            answer = opened.ask(question, **options)
            echo(canonical.text(envelope.build(answer)))
        elif stream if stream is not None else sys.stdout.isatty():
            for event in opened.stream(question, **options):
                _show(event)
                if isinstance(event, Answered):
                    last_answer.keep(db, caller, question, event.answer, earlier)
        else:
            answer = opened.ask(question, **options)
            echo(answer.answer)
            _show(Answered(answer))
            last_answer.keep(db, caller, question, answer, earlier)


def _show(event: Event) -> None:
    match event:
        case AnswerToken(text):
            echo(text, nl=False)
        case AnswerReset(reason):
            echo(f"\n--- {reason}: the answer starts anew ---")
        case Answered(answer):
            echo()
            show_sources(answer)
        case Failed(error) if isinstance(error, AskError):
            echo()
            exit_with(error, as_json=False)
