"""`redask eval` of packs that need computing: runs them, and prints the table."""

import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from redask.cli.terminal_text import echo
from redask.core.wire import json as canonical
from redask.evaluation.compute_packs import ComputePack, is_pack, read, read_all
from redask.evaluation.compute_running import (
    ComputeReport,
    ComputeTally,
    Mistake,
    PlannedRows,
    certain,
    measure,
)

_COLUMNS = ("asked", "answered", "right", "wrong", "failed", "coverage", "precision")


def told(
    folder: Path,
    *,
    keep: Path | None,
    half: str | None,
    questions: int | None,
    wrong: bool,
    as_json: bool,
) -> str:
    """Ask, and print: the counts, after the mistakes if they are wanted."""
    report, seconds = run(folder, keep=keep, half=half, questions=questions)
    counts = printed(report, seconds, as_json=as_json)
    return f"{listed(report.mistakes)}\n\n{counts}" if wrong and not as_json else counts


def run(
    folder: Path,
    planner: PlannedRows = certain,
    *,
    keep: Path | None = None,
    half: str | None = None,
    questions: int | None = None,
) -> tuple[ComputeReport, dict[str, float]]:
    """Ask the questions of a pack, or of all packs in a folder. → counts, and seconds by stage

    Databases are ingested into `keep`, where the next run finds them, or for this run only.
    """
    from redask.api.sync import open_database

    packs = [read(folder)] if is_pack(folder) else read_all(folder, half)
    report, seconds = ComputeReport(), {"ingesting": 0.0, "asking": 0.0}
    with ExitStack() as stack:
        home = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="redask-eval-")))
        for number, pack in enumerate(packs, start=1):
            begun = time.monotonic()
            with open_database(home / pack.name, embedder="none") as db:
                db.ingest(pack.database)
                ingested = time.monotonic()
                report.add(measure(db, _first(pack, questions), planner))
            seconds["ingesting"] += ingested - begun
            seconds["asking"] += time.monotonic() - ingested
            _progress(pack.name, number, len(packs))
    return report, seconds


def printed(report: ComputeReport, seconds: Mapping[str, float], *, as_json: bool) -> str:
    """The counts as a table, or as JSON."""
    if as_json:
        return canonical.text(
            {
                "total": report.total().figures(),
                "kinds": _figures(report.kinds),
                "joins": _figures(report.joins),
                "refusals": _figures(report.refusals),
                "seconds": dict(seconds),
            }
        )
    every = {**report.kinds, **report.joins, "all": report.total(), **report.refusals}
    width = max(map(len, every))
    lines = [f"{'':{width}}  " + "  ".join(f"{name:>9}" for name in _COLUMNS)]
    for part in (report.kinds, report.joins, {"all": report.total()}, report.refusals):
        lines += [_line(name, width, tally) for name, tally in sorted(part.items())]
        lines.append("")
    spent = ", ".join(f"{name} {each:.0f} s" for name, each in seconds.items())
    return "\n".join([*lines, spent])


def listed(mistakes: list[Mistake]) -> str:
    """Each mistake with its statement and the gold one."""
    return "\n".join(
        f"{each.pack} {each.kind}: {each.question}\n  {each.sql}\n  {each.gold}\n  {each.problem}"
        for each in mistakes
    )


def _first(pack: ComputePack, questions: int | None) -> ComputePack:
    return replace(
        pack,
        questions=pack.questions[:questions],
        unanswerable=pack.unanswerable[:questions],
        near=pack.near[:questions],
    )


def _figures(tallies: Mapping[str, ComputeTally]) -> dict[str, dict[str, float]]:
    return {name: tally.figures() for name, tally in sorted(tallies.items())}


def _line(name: str, width: int, tally: ComputeTally) -> str:
    figures = tally.figures()
    cells = [f"{figures[each]:9.0f}" for each in _COLUMNS[:5]]
    cells += [f"{figures[each]:9.1%}" for each in _COLUMNS[5:]]
    return f"{name:{width}}  " + "  ".join(cells)


def _progress(name: str, done: int, total: int) -> None:
    if sys.stderr.isatty():
        echo(f"\r{name} {done}/{total} {'':30}", nl=done == total, err=True)
