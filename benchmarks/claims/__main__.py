"""`make eval-claims`: what the check of claims catches, and its false alarms, on both halves.

    python -m claims [HALF …] [--most N] [--styles] [--list KIND]

A changed claim is caught when it has a finding (unsupported or contradicted) that the same sentence
did not have before the change. A false alarm is any such finding on an unchanged sentence or on a
paraphrase. `--styles` prints a row for each style of change; `--list` prints what was missed of a
kind, and the false alarms of `unchanged`, `people`, `paraphrases` or `fever`: of half a, unless it
is asked for, since rules are not written looking at half b. Only rows of half b are figures.
"""

import argparse
import importlib
import time
from collections.abc import Iterator

from claims import changes, material, respelling, verdicts
from claims.material import HALVES

MOST, UNCHANGED, PARAPHRASES = 2_000, 2_000, 1_000
_ROWS = "{:<34}{:>8}{:>8}{:>9}"


class Table:
    """Counts by row, in the order of the first one counted."""

    def __init__(self) -> None:
        self.counts: dict[str, list[int]] = {}

    def count(self, row: str, hit: bool) -> None:
        """One more of a row."""
        counts = self.counts.setdefault(row, [0, 0])
        counts[0] += hit
        counts[1] += 1

    def lines(self) -> Iterator[str]:
        """The rows, each with its rate."""
        for row, (hits, total) in self.counts.items():
            yield _ROWS.format(row, hits, total, f"{100 * hits / total:.2f} %")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m claims", description="Measure claim checks.")
    parser.add_argument("halves", nargs="*", metavar="HALF", help="a or b; both if none is named")
    parser.add_argument("--most", type=int, default=MOST, help="changes of a kind")
    parser.add_argument("--styles", action="store_true", help="a row for each style of change")
    parser.add_argument("--list", dest="listed", metavar="KIND", help="print what went wrong")
    options = parser.parse_args()
    chosen = ("a",) if options.listed else HALVES
    for half in options.halves or (() if options.listed == "fever" else chosen):
        begun = time.process_time()
        measure(half, options)
        print(f"({time.process_time() - begun:.0f} s)\n", flush=True)
    if options.listed in (None, "fever"):
        negated(options)


def measure(half: str, options: argparse.Namespace) -> None:
    """Print the table of a half."""
    made = importlib.import_module(f"claims.half_{half}")
    sentences = material.read(half)
    caught, alarms, changed_claims = Table(), Table(), set()
    styles = made.MUTATORS
    if options.listed:
        styles = {kind: each for kind, each in styles.items() if kind == options.listed}
    for change in changes.make(styles, sentences, options.most):
        row = f"{change.kind}: {change.style}" if options.styles else change.kind
        hit = verdicts.caught(change.text, change.sentence)
        caught.count(row, hit)
        changed_claims.add(change.sentence.id)
        if options.listed == change.kind and not hit:
            print(f"missed [{change.style}: {change.was} → {change.edit.now}] {change.text}")
    false_alarms(half, made.PARAPHRASES, options, alarms)
    print(f"half {half}: {len(changed_claims)} claims changed")
    print(_ROWS.format("kind of change", "caught", "total", "rate"), *caught.lines(), sep="\n")
    print(_ROWS.format("false alarms", "alarms", "total", "rate"), *alarms.lines(), sep="\n")


def negated(options: argparse.Namespace) -> None:
    """Print what is caught of negations that nobody here wrote."""
    counted = Table()
    for sentence, supported in material.negated_pairs():
        found = verdicts.unchanged(sentence)
        row = "supported, alarms" if supported else "contradicted, caught"
        counted.count(row, bool(found))
        if options.listed and bool(found) is supported:
            print(f"{row} {sorted(found)} {sentence.text}\n    {sentence.passage.text}")
    print("negations of fever_symmetric, each with a source for it and one against it")
    print(*counted.lines(), sep="\n")


def false_alarms(
    half: str,
    templates: dict[str, respelling.Template],
    options: argparse.Namespace,
    alarms: Table,
) -> None:
    """Count the findings on sentences that are true."""
    sentences = material.read(half)
    verbatim = [each for each in sentences if each.verbatim][:UNCHANGED]
    by_people = [each for each in sentences if not each.verbatim]
    for row, chosen in (("unchanged", verbatim), ("people", by_people)):
        for sentence in chosen if options.listed in (None, row) else ():
            found = verdicts.unchanged(sentence)
            alarms.count(f"{row}, in other words" if row == "people" else row, bool(found))
            alarms.count(f"  {row}, cut so that it is uncited", verdicts.uncited(sentence.text))
            if verdicts.uncited(sentence.text) and options.listed:
                print(f"uncited: {sentence.text}")
            if found and options.listed:
                print(f"alarm {sorted(found)} {sentence.text}\n    {sentence.passage.text[:1500]}")
    if options.listed not in (None, "paraphrases"):
        return
    for each in respelling.make(templates, sentences, PARAPHRASES):
        found = verdicts.wrong(each.text, each.sentence.passage)
        alarms.count("paraphrases", bool(found))
        if options.styles:
            alarms.count(f"  {each.template}", bool(found))
        if found and options.listed:
            print(f"alarm [{each.template}] {sorted(found)} {each.text}")


if __name__ == "__main__":
    main()
