"""`make eval-chinook`: questions of chinook.tsv over Chinook, the gold by SQL, without a model.

    python benchmarks/computing/chinook.py [--keep DIR] [--list]

A line of chinook.tsv is kind, question, SQL; kind `none`: the data does not hold it, so that a
refusal is right and an answer that was computed is wrong.

    right          the statement that was run has the rows of the gold, in any order
    wrong          another statement was run
    not answered   refused, or quoted from rows: nothing was computed

`--list` prints each question that is not right; `--keep` is where the ingested database stays.
"""

import argparse
import csv
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import redask
from redask.evaluation.result_comparison import is_right

HERE = Path(__file__).parent
DATA = Path(os.environ.get("REDASK_DATA") or Path(__file__).parents[3] / "shared" / "data")
VERDICTS = ("right", "wrong", "not answered")


@dataclass(frozen=True, slots=True)
class ShopQuestion:
    """A question; without `sql` there is nothing to compute."""

    kind: str
    question: str
    sql: str


@dataclass(frozen=True, slots=True)
class ShopVerdict:
    """What became of a question: one of VERDICTS, the statement that was run, the answer."""

    question: ShopQuestion
    verdict: str
    sql: str
    answer: str


def questions() -> list[ShopQuestion]:
    """The questions of chinook.tsv."""
    with (HERE / "chinook.tsv").open(encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [ShopQuestion(row["kind"], row["question"], row["sql"]) for row in rows]


def judge(db: redask.OpenDatabase, asked: ShopQuestion) -> ShopVerdict:
    """Ask one question and compare the rows of what was run with the gold's."""
    answer = db.ask(asked.question)
    sql = _statement(answer)
    if not sql:
        verdict = "not answered" if asked.sql else "right"
    elif asked.sql and is_right(_rows(db, sql), _rows(db, asked.sql), ordered=False):
        verdict = "right"
    else:
        verdict = "wrong"
    return ShopVerdict(asked, verdict, sql, answer.answer)


def _statement(answer: redask.CitedAnswer) -> str:
    """The statement behind an answer that was computed, or nothing."""
    for source in answer.sources_flat[:1]:
        if source.urn.startswith("urn:reddb:query:"):
            payload = json.loads(source.payload)
            return str(payload["sql"]) if payload["columns"] else ""
    return ""


def _rows(db: redask.OpenDatabase, sql: str) -> list[list[object]]:
    return [list(row.values()) for row in db.select(sql)]


def table(verdicts: list[ShopVerdict]) -> Iterator[str]:
    """The figures by kind, and of all."""
    yield f"{'kind':10} {'asked':>5}" + "".join(f"{name:>14}" for name in VERDICTS)
    for kind in [*dict.fromkeys(each.question.kind for each in verdicts), "all"]:
        found = Counter(each.verdict for each in verdicts if kind in ("all", each.question.kind))
        yield f"{kind:10} {found.total():5}" + "".join(f"{found[name]:14}" for name in VERDICTS)
    shares = Counter(each.verdict for each in verdicts)
    yield ", ".join(f"{name} {shares[name] / len(verdicts):.1%}" for name in VERDICTS)


def main() -> None:
    parser = argparse.ArgumentParser(description="Questions over Chinook that need computing.")
    parser.add_argument("--keep", type=Path, help="where the ingested database stays")
    parser.add_argument("--list", action="store_true", help="print what is not right")
    chosen = parser.parse_args()
    source = DATA / "databases" / "chinook.sqlite"
    with tempfile.TemporaryDirectory() as folder:
        place = chosen.keep or Path(folder) / "db"
        if not source.exists():
            parser.exit(1, f"no evaluation data at {DATA} (REDASK_DATA says where it is)\n")
        with redask.open(place, embedder="none") as db:
            db.ingest(source)
            db.search("shop")  # indexes what was ingested: an ask has a deadline, this has none
            verdicts = [judge(db, each) for each in questions()]
    for each in verdicts:
        if chosen.list and each.verdict != "right":
            shown = each.sql or each.answer.replace("\n", " / ")[:100]
            print(f"{each.verdict}: {each.question.question} | {shown}")
    print("\n".join(table(verdicts)))


if __name__ == "__main__":
    main()
