"""Measures questions that need computing and writes the table into docs/quality.md: `make eval`.

    python tools/evaluate_compute.py [--keep DIR]

Every second database, by name, is the half that rules were tuned on; of the other half no question
was read.
With `--keep` the ingested databases stay in a directory, where the next run finds them.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from evaluate import PAGE, data, row, written

from redask.cli.commands import compute_table
from redask.evaluation.compute_packs import HALVES
from redask.evaluation.compute_running import ComputeReport, ComputeTally

MARKERS = ("<!-- compute, made by make eval -->", "<!-- end of compute, made by make eval -->")
NOTHING = ComputeTally()


def table(tuned: ComputeReport, read: ComputeReport) -> str:
    """The figures of both halves as Markdown."""
    lines = [
        "Without a model. Answered: a statement was certain, and ran; right: of the answered,",
        "those with the rows of the gold. Rules were tuned on every second database; the first",
        "figures are of the others: none of their questions was read, but which classes of",
        "statements were wrong there was counted, so that less is to be expected elsewhere.",
        "",
        *row("", "asked", "answered", "right", "wrong", "tuned on: asked", "answered", "right"),
        *row(*["---"] * 8),
    ]
    for name in ("kinds", "joins"):
        lines += _rows(getattr(tuned, name), getattr(read, name))
    lines += _rows({"**all**": tuned.total()}, {"**all**": read.total()})
    lines += ["", "Not to be answered:", ""]
    lines += row("", "asked", "answered", "tuned on: asked", "answered")
    lines += row(*["---"] * 5)
    for name in sorted({*tuned.refusals, *read.refusals}):
        ours, theirs = read.refusals.get(name, NOTHING), tuned.refusals.get(name, NOTHING)
        lines += row(name, *_refused(ours), *_refused(theirs))
    return "\n".join(lines)


def _rows(tuned: dict[str, ComputeTally], read: dict[str, ComputeTally]) -> Iterator[str]:
    for name in sorted({*tuned, *read}):
        ours, theirs = read.get(name, NOTHING), tuned.get(name, NOTHING)
        yield from row(name, *_answered(ours), str(ours.wrong), *_answered(theirs))


def _answered(tally: ComputeTally) -> list[str]:
    figures = tally.figures()
    right = f"{figures['precision']:.1%}" if tally.answered else ""
    return [str(tally.asked), f"{figures['coverage']:.1%}", right]


def _refused(tally: ComputeTally) -> list[str]:
    return [str(tally.asked), str(tally.answered)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure questions that need computing.")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    folder = data() / "compute"
    halves = [compute_table.run(folder, keep=options.keep, half=half)[0] for half in HALVES]
    made = table(*halves)
    print(made)
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), made, MARKERS), encoding="utf-8")


if __name__ == "__main__":
    main()
