"""Measures every pack and writes the table into docs/quality.md: `make eval`.

    python tools/evaluate.py [--embedder NAME] [--keep DIR] [--most N] [PACK …]

Retrieval packs: nDCG@10 of each bucket and of the fused list. Packs with answers: also how often
`extractive` holds and cites the gold. The baselines of the data's README are next to it.

With `--keep` databases and figures stay in a directory: the next run embeds only what is missing,
and a pack that was measured with the same code, settings and questions is not measured again. With
`--most`, of a pack of more questions only every second, third, … is asked, as the table shows.
A run over some packs prints its table and leaves the page alone. `make eval` keeps in `.eval`, and
takes `make eval PACKS="qa/clapnq_dev" MOST=500`.
"""

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import redask
from redask.core.settings import Settings
from redask.evaluation import packs, running

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "quality.md"
BEGIN, END = "<!-- made by make eval -->", "<!-- end of what make eval made -->"
REPORT_SECONDS = 30.0
ANSWER_COLUMNS = {
    "holds gold": "contains_gold",
    "gold words": "gold_words",
    "cites gold": "cites_gold",
    "cites all gold": "cites_all_gold",
    "cited are gold": "gold_precision",
    "characters": "characters",
}
BUCKETS = ("bm25", "vector", "graph", "fused")


@dataclass(frozen=True)
class Baseline:
    """A pack, and what bm25s (or others) reach on the same files."""

    path: str
    text: str
    all_evidence: str = ""


BASELINES = (
    Baseline("retrieval/scifact", "0.679 (BGE-base 0.741)"),
    Baseline(
        "retrieval/2wiki_101",
        "0.697",
        "0.337 (vector 0.42, GraphRAG 0.73, fast-graphrag 0.93)",
    ),
    Baseline("retrieval/xquad/de", "0.927"),
    Baseline("retrieval/xquad/es", "0.946"),
    Baseline("retrieval/xquad/zh", "0.106 by words, 0.963 by n-grams"),
    Baseline("qa/clapnq_dev", "0.946"),
    Baseline("qa/squad2_dev_half", "0.891"),
)


@dataclass(frozen=True)
class Measured:
    """One pack's figures; `share`: one in how many questions was asked."""

    baseline: Baseline
    share: int
    retrieval: dict[str, dict[str, float]]
    answers: dict[str, dict[str, float]] | None


def measure(baseline: Baseline, home: Path, options: argparse.Namespace) -> Measured:
    """One pack's figures, as they are kept, else measured."""
    pack = packs.read(data() / baseline.path)
    share = -(-len(pack.questions) // (options.most or len(pack.questions)))
    pack = replace(pack, questions=pack.questions[::share])
    kept, stamp = home / f"{baseline.path}.json", f"{code()} {options.embedder} {share}"
    if kept.is_file() and (figures := json.loads(kept.read_text()))["stamp"] == stamp:
        return Measured(baseline, share, figures["retrieval"], figures["answers"])
    show = progress(baseline.path)
    with redask.open(home / baseline.path, settings=Settings(), embedder=options.embedder) as db:
        running.load(db, pack, show)
        found = running.retrieval(db, pack, show, 2)
        answers = running.answers(db, pack, show).rates if pack.has_answers else None
    kept.write_text(json.dumps({"stamp": stamp, "retrieval": found, "answers": answers}))
    return Measured(baseline, share, found, answers)


def code() -> str:
    """A digest of the source code."""
    digest = hashlib.sha256()
    for file in sorted((ROOT / "src").rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def data() -> Path:
    """The folder of the evaluation data."""
    return Path(os.environ.get("REDASK_DATA", ROOT.parent / "shared" / "data"))


def progress(name: str) -> running.EvalProgress:
    """Progress and time left: one line on a terminal, else one each REPORT_SECONDS."""
    begun: dict[str, float] = {}
    reported = last = time.monotonic()

    def show(stage: str, done: int, total: int) -> None:
        nonlocal reported, last
        now = time.monotonic()
        spent = now - begun.setdefault(stage, last)  # a stage begins where the one before ended
        last = now
        on_terminal = sys.stderr.isatty()
        if done == total:
            ending = f"took {spent:.0f} s"
        elif on_terminal or now - reported > REPORT_SECONDS:
            ending = f"{spent * (total - done) / done:.0f} s left"
        else:
            return
        reported = now
        start, end = ("\r", "" if done < total else "\n") if on_terminal else ("", "\n")
        line = f"{start}{name}: {stage} {done}/{total}, {ending}   "
        print(line, end=end, file=sys.stderr, flush=True)

    return show


def table(measured: Sequence[Measured], embedder: str) -> str:
    """The figures as Markdown."""
    lines = [
        f"Embedder `{embedder}`; nDCG@10, and for 2wiki_101 the share of questions with all",
        "evidence in the top 8. Baseline: bm25s (Lucene variant, same k1 and b), or as named.",
        "",
        *row("pack", "words (bm25)", "vector", "graph", "**fused**", "best bucket", "baseline"),
        *row(*["---"] * 7),
    ]
    for each in measured:
        lines += ranked(each, "ndcg@10", "", each.baseline.text)
        if each.baseline.all_evidence:
            lines += ranked(each, "all_evidence@8", ", all evidence@8", each.baseline.all_evidence)
    lines += ["", "`extractive`; what the columns mean is in `evaluation/answers.py`:", ""]
    lines += row("pack", *ANSWER_COLUMNS, "refused, answerable", "refused, unanswerable")
    lines += row(*["---"] * (len(ANSWER_COLUMNS) + 3))
    for each in measured:
        if each.answers:
            known, unknown = each.answers["answerable"], each.answers.get("unanswerable", {})
            figures = [known[name] for name in ANSWER_COLUMNS.values()] + [known["refused"]]
            figures.append(unknown.get("refused", 0.0))
            shown = [f"{each:.3f}" if each <= 1 else f"{each:.0f}" for each in figures]
            lines += row(name_of(each), *shown)
    return "\n".join(lines)


def ranked(each: Measured, metric: str, suffix: str, baseline: str) -> Iterator[str]:
    figures = {name: each.retrieval[name][metric] for name in BUCKETS}
    shown = [f"{figures[name]:.3f}" for name in BUCKETS]
    if figures["vector"] < 0.01:  # a question or two in a language that was not recognised
        shown[1] = "left out"
    best = max(figures[name] for name in BUCKETS[:-1])
    lead = figures["fused"] - best
    verdict = "reached" if lead > -0.0005 else f"{lead:+.3f}"
    yield from row(name_of(each) + suffix, *shown, verdict, baseline)


def name_of(each: Measured) -> str:
    name = each.baseline.path.removeprefix("retrieval/").removeprefix("qa/").replace("/", " ")
    return f"{name} (one question in {each.share})" if each.share > 1 else name


def row(*cells: str) -> list[str]:
    return ["| " + " | ".join(cells) + " |"]


def written(page: str, made: str, markers: tuple[str, str] = (BEGIN, END)) -> str:
    """The page with the text between the markers replaced."""
    head, begin, rest = page.partition(markers[0])
    _, end, tail = rest.partition(markers[1])
    if not begin or not end:
        raise SystemExit(f"{PAGE} lacks the markers {markers[0]} and {markers[1]}")
    return f"{head}{begin}\n\n{made}\n\n{end}{tail}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure every pack.")
    parser.add_argument("packs", nargs="*", metavar="PACK")
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--most", type=int, metavar="N", help="questions of a pack")
    options = parser.parse_args()
    chosen = [each for each in BASELINES if not options.packs or each.path in options.packs]
    with tempfile.TemporaryDirectory(prefix="redask-eval-") as temporary:
        home = options.keep or Path(temporary)
        measured = [measure(each, home, options) for each in chosen]
    made = table(measured, options.embedder)
    print(made)
    if len(chosen) == len(BASELINES):
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")


if __name__ == "__main__":
    main()
