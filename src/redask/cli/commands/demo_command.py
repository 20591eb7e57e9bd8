"""`redask demo`: a small company, three questions, a plan, and the audit row that proves it.

It has a database of its own, `./redask-demo`: REDASK_DB, REDASK_TOKEN and REDASK_TENANT are about
the user's data and are left aside. With `--db` it is a command like the others, and the database
must be new, empty, or hold the sample alone. It asks the provider that is built in, whatever keys
are set, unless `--using` names another. Every command it prints can be typed again.
"""

import shlex
from typing import TYPE_CHECKING

import click

from redask.cli import global_options, opening
from redask.cli.opening import pretty, reports_errors
from redask.cli.terminal_text import terminal_console
from redask.core.errors import BadAsk
from redask.core.rules import failover

if TYPE_CHECKING:
    from rich.console import Console

    from redask.api.sync import OpenDatabase

DIRECTORY = "redask-demo"
QUESTIONS = (
    "When does a gold customer get money back for a late delivery?",
    "Which certificate and country has the supplier of order FDD-12316?",
    "What is the shoe size of the managing director in Tokyo?",
)


@click.command("demo")
@click.option(
    "--using",
    default=failover.BUILT_IN,
    show_default=True,
    metavar="NAME",
    help="The provider; others than the built-in one may cost money.",
)
@click.pass_context
def command(ctx: click.Context, using: str) -> None:
    """Load a small sample company into ./redask-demo and ask it three questions.

    With --db into another directory, which must be new or hold nothing else.
    """
    with reports_errors():
        from redask.api.sync import open_database, shown
        from redask.evaluation import sample

        named = ctx.meta[global_options.NAMED]
        place = ctx.obj if named else DIRECTORY
        console, told = terminal_console(highlight=False, soft_wrap=True), shown(place)
        with opening.opened(place, make=True) if named else open_database(place) as opened:
            if not sample.is_alone(opened):
                raise BadAsk(
                    f"{told} holds other data than the sample, which stays as it is: "
                    "name a new directory with --db"
                )
            console.print(f"[dim]loaded {sample.load(opened)} entities into {told}[/]\n")
            _tour(console, opened, told, using)


def _tour(console: "Console", opened: "OpenDatabase", place: str, using: str) -> None:
    """What a user would type, and what that prints."""
    from redask.cli.answer_sources import show_sources
    from redask.cli.commands.audit_command import plain
    from redask.cli.rendering import show_plan
    from redask.core.rules.audit_chain import Intact

    def prompt(typed: str) -> None:
        line = f"$ redask {typed} --db {shlex.quote(place)}"
        console.print(line, style="bold cyan", markup=False)

    default = opened.explain(QUESTIONS[0])["provider"]["name"]
    named = "" if using == default else f" --using {using}"
    for question in QUESTIONS:
        prompt(f'ask "{question}"{named}')
        answer = opened.ask(question, using=using)
        console.print(f"{answer.answer}\n", markup=False)
        show_sources(answer)
        console.print()
    prompt(f'explain "{QUESTIONS[1]}"{named}')
    plan = opened.explain(QUESTIONS[1], using=using)
    in_force = opened.strictness(QUESTIONS[1], using=using)
    show_plan(console, plan, opened.search(QUESTIONS[1]), in_force)
    entry = opened.audit(2)[1]
    console.print()
    prompt(f"audit show {entry.seq}")
    console.print(pretty(plain(entry)), markup=False)
    verdict = opened.verify_audit()
    console.print()
    prompt("audit verify")
    if isinstance(verdict, Intact):
        console.print(f"{verdict.rows} rows, all as written; head {verdict.head.hash}")
