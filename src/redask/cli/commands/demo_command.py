"""`redask demo`: a small company, three questions, a plan, and the audit row that proves it."""

import click

from redask.cli import opening
from redask.cli.opening import pretty, reports_errors

QUESTIONS = (
    "When does a gold customer get money back for a late delivery?",
    "Which certificate and country has the supplier of order FDD-12316?",
    "What is the shoe size of the managing director in Tokyo?",
)


@click.command("demo")
@click.pass_obj
def command(db: str) -> None:
    """Load a small sample company into the database and ask it three questions."""
    with reports_errors():
        from rich.console import Console

        from redask.cli.commands.audit_command import plain
        from redask.cli.rendering import show_plan, show_sources
        from redask.core.rules.audit_chain import Intact
        from redask.evaluation import sample

        console = Console(highlight=False, soft_wrap=True)
        with opening.opened(db, make=True) as opened:
            console.print(f"[dim]loaded {sample.load(opened)} entities into {db}[/]\n")
            for question in QUESTIONS:
                console.print(f'[bold cyan]$ redask ask "{question}"[/]')
                answer = opened.ask(question)
                console.print(answer.answer, markup=False)
                show_sources(console, answer)
                console.print()
            console.print(f'[bold cyan]$ redask explain "{QUESTIONS[1]}"[/]')
            show_plan(console, opened.explain(QUESTIONS[1]))
            entry = opened.audit(2)[1]
            console.print(f"\n[bold cyan]$ redask audit show {entry.seq}[/]")
            console.print(pretty(plain(entry)), markup=False)
            verdict = opened.verify_audit()
            console.print("\n[bold cyan]$ redask audit verify[/]")
            if isinstance(verdict, Intact):
                console.print(f"{verdict.rows} rows, all as written; head {verdict.head.hash}")
