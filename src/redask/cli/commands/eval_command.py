"""`redask eval PACK`: how good retrieval, answers and the check of claims are on a pack."""

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo, terminal_console
from redask.core.errors import BadAsk
from redask.core.wire import json as canonical

if TYPE_CHECKING:
    from redask.evaluation.gates import Gate
    from redask.evaluation.packs import Pack

_TABLES = ("retrieval", "answers", "support")


@click.command("eval")
@click.argument("pack", type=click.Path(exists=True, path_type=Path))
@click.option("--embedder", help="Where vectors come from, instead of the configured one.")
@click.option("--depth", default=2, show_default=True, help="Hops along edges.")
@click.option("--questions", type=int, help="Only the first so many questions.")
@click.option(
    "--keep", type=click.Path(file_okay=False, path_type=Path), help="Keep ingested databases here."
)
@click.option("--half", type=click.Choice(["even", "odd"]), help="Every second pack, by name.")
@click.option("--wrong", is_flag=True, help="List what was answered wrong.")
@click.option(
    "--gate",
    "gate_texts",
    multiple=True,
    metavar="BOUND",
    help='Exit with 1 unless the report keeps it: "citation_precision>=0.9". Repeatable.',
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    *,
    pack: Path,
    embedder: str | None,
    depth: int,
    questions: int | None,
    keep: Path | None,
    half: str | None,
    wrong: bool,
    gate_texts: tuple[str, ...],
    as_json: bool,
) -> None:
    """Measure retrieval (and answers, if the pack has them) on PACK, a folder in BEIR layout.

    A PACK with a database.sqlite, or a folder of such, has questions that need computing: how many
    are planned with certainty, and how many of these are right. --keep, --half and --wrong are for
    these; --embedder and --depth for the others.

    Or the check of claims on PACK, a file of lines {"claim", "source", "supported"}.
    """
    with reports_errors(as_json):
        from redask.evaluation import compute_packs, gates, packs

        if pack.is_dir() and (compute_packs.is_pack(pack) or compute_packs.is_collection(pack)):
            from redask.cli.commands import compute_table

            told = compute_table.told(
                pack, keep=keep, half=half, questions=questions, wrong=wrong, as_json=as_json
            )
            echo(told, nl=True)
            return
        bounds = [gates.parse(text) for text in gate_texts]
        if pack.is_file():
            report = _support(pack)
        else:
            report = _questions(packs.read(pack).first(questions), embedder, depth)
        echo(canonical.text(report) if as_json else _shown(report), nl=as_json)
        _keep(bounds, report)


def _keep(bounds: "Sequence[Gate]", report: Mapping[str, object]) -> None:
    """Exit with 1 when a bound is not kept; a metric that is not there is a usage error.

    The report is on standard output by then, so that a long run is not lost.
    """
    from redask.evaluation import gates

    try:
        failed = gates.failures(bounds, report)
    except BadAsk as error:
        opening.exit_with(error, as_json=False)
    for said in failed:
        echo(f"redask: {said}", err=True)
    if failed:
        sys.exit(1)


def _questions(pack: "Pack", embedder: str | None, depth: int) -> dict[str, object]:
    """Load a pack into a database of its own, and measure it there."""
    from redask.api.sync import open_database
    from redask.evaluation import running

    report: dict[str, object] = {
        "pack": pack.name,
        "passages": len(pack.passages),
        "questions": len(pack.questions),
    }
    with (
        tempfile.TemporaryDirectory(prefix="redask-eval-") as directory,
        open_database(directory, embedder=embedder) as db,
    ):
        running.load(db, pack, _progress)
        report["retrieval"] = running.retrieval(db, pack, _progress, depth)
        if pack.has_answers:
            figures = running.answers(db, pack, _progress)
            report["answers"] = figures.rates
            report["citations"] = figures.citations
    return report


def _support(file: Path) -> dict[str, object]:
    from redask.evaluation import support_pack

    rows = support_pack.read(file)
    figures = support_pack.measure(rows, _progress)
    return {"pack": file.stem, "claims": len(rows), "support": figures}


def _progress(stage: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        echo(f"\r{stage} {done}/{total} ", nl=done == total, err=True)


def _shown(report: Mapping[str, object]) -> str:
    from rich.table import Table

    console = terminal_console(highlight=False, width=100)
    counts = (
        f"{report[name]} {name}" for name in ("passages", "questions", "claims") if name in report
    )
    with console.capture() as capture:
        console.print(f"{report['pack']}: {', '.join(counts)}")
        for part in _TABLES:
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
        citations = report.get("citations")
        if isinstance(citations, dict):
            for name, value in citations.items():
                shown = "nothing to measure" if value is None else f"{value:.3f}"
                console.print(f"{name.replace('_', ' ')}: {shown}")
    return capture.get()
