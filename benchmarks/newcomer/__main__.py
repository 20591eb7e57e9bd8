"""`make eval-newcomer`: right, wrong and refused answers to the questions of newcomers, by kind.

    python -m newcomer [--embedder NAME] [--keep DIR] [--list | --all] [--without-aside] [FOLDER …]

`--list` prints what is not right, `--all` every answer; `--without-aside` leaves out the questions
that are kept aside, for whoever changes rules. `--keep` is where the ingested databases stay.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from newcomer.asking import DATA, VERDICTS, NewcomerVerdict, databases, judge, questions


def table(verdicts: Sequence[NewcomerVerdict]) -> list[str]:
    """The counts by kind, and of all, in Markdown."""
    counts: dict[str, Counter[str]] = {}
    for each in verdicts:
        groups = (each.asked.kind, "all", "of these, aside" if each.asked.aside else "all")
        for group in dict.fromkeys(groups):
            counts.setdefault(group, Counter())[each.verdict] += 1
    order = sorted(counts, key=lambda kind: (kind.startswith(("all", "of these")), kind))
    lines = ["| kind | asked | " + " | ".join(VERDICTS) + " |", "| --- |" + " --- |" * 4]
    for kind in order:
        figures = [counts[kind].total(), *(counts[kind][verdict] for verdict in VERDICTS)]
        lines.append(f"| {kind} | " + " | ".join(map(str, figures)) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description="What a new user asks of documentation.")
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--list", action="store_true", help="print what is not right")
    parser.add_argument("--all", action="store_true", help="print every answer")
    parser.add_argument("--without-aside", action="store_true")
    chosen = parser.parse_args()
    if not (DATA / "newcomer").is_dir():
        parser.exit(1, f"no evaluation data at {DATA} (REDASK_DATA says where it is)\n")
    asked = [
        each
        for each in questions()
        if (not chosen.folders or each.folder in chosen.folders)
        and not (chosen.without_aside and each.aside)
    ]
    with tempfile.TemporaryDirectory(prefix="redask-newcomer-") as temporary:
        home = chosen.keep or Path(temporary)
        with databases(home, chosen.embedder) as found:
            verdicts = [judge(found[each.folder], each) for each in asked]
    for each in verdicts:
        if chosen.all or (chosen.list and each.verdict != "right"):
            print(f"{each.verdict} ({each.asked.kind}): {each.asked.question}\n{each.answer}\n")
    print("\n".join(table(verdicts)))


if __name__ == "__main__":
    main()
