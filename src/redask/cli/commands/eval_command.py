"""`redask eval PACK`: how good retrieval and answers are on a pack of questions."""

import sys
import tempfile
from pathlib import Path

import click

from redask.cli.opening import reports_errors
from redask.core.wire import json as canonical


@click.command("eval")
@click.argument("pack", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--embedder", help="Where vectors come from, instead of the configured one.")
@click.option("--depth", default=2, show_default=True, help="Hops along edges.")
@click.option("--questions", type=int, help="Only the first so many questions.")
@click.option(
    "--keep", type=click.Path(file_okay=False, path_type=Path), help="Keep ingested databases here."
)
@click.option("--half", type=click.Choice(["even", "odd"]), help="Every second pack, by name.")
@click.option("--wrong", is_flag=True, help="List what was answered wrong.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(  # noqa: PLR0917 - click passes them by name
    pack: Path,
    embedder: str | None,
    depth: int,
    questions: int | None,
    keep: Path | None,
    half: str | None,
    wrong: bool,
    as_json: bool,
) -> None:
    """Measure retrieval (and answers, if the pack has them) on PACK, a folder in BEIR layout.

    A PACK with a database.sqlite, or a folder of such, has questions that need computing: how many
    are planned with certainty, and how many of these are right. --keep, --half and --wrong are for
    these; --embedder and --depth for the others.
    """
    with reports_errors(as_json):
        from redask.evaluation import compute_packs

        if compute_packs.is_pack(pack) or compute_packs.is_collection(pack):
            from redask.cli.commands import compute_table

            told = compute_table.told(
                pack, keep=keep, half=half, questions=questions, wrong=wrong, as_json=as_json
            )
            click.echo(told, nl=True)
            return
        from redask.api.sync import open_database
        from redask.evaluation import packs, running

        read = packs.read(pack).first(questions)
        with (
            tempfile.TemporaryDirectory(prefix="redask-eval-") as directory,
            open_database(directory, embedder=embedder) as db,
        ):
            running.load(db, read, _progress)
            report: dict[str, object] = {
                "pack": read.name,
                "passages": len(read.passages),
                "questions": len(read.questions),
                "retrieval": running.retrieval(db, read, _progress, depth),
            }
            if read.has_answers:
                report["answers"] = running.answers(db, read, _progress)
        click.echo(canonical.text(report) if as_json else _table(report), nl=as_json)


def _progress(stage: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\r{stage} {done}/{total} ", nl=done == total, err=True)


def _table(report: dict[str, object]) -> str:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, width=100)
    with console.capture() as capture:
        console.print(
            f"{report['pack']}: {report['passages']} passages, {report['questions']} questions"
        )
        for part in ("retrieval", "answers"):
            rows = report.get(part)
            if not isinstance(rows, dict):
                continue
            table = Table(title=part, title_justify="left")
            names = list(dict.fromkeys(name for row in rows.values() for name in row))
            for column in ("", *names):
                table.add_column(column)
            for name, row in rows.items():
                table.add_row(name, *(f"{row[each]:.3f}" if each in row else "" for each in names))
            console.print(table)
    return capture.get()
