"""Questions of newcomers: `questions` reads them, `databases` holds the documents, `judge` asks.

The questions are those of the evaluation data (folder `newcomer`, 33) and of questions.jsonl beside
this file, in the same form, over the same documents: `folder`, `kind`, `question`, `holds` (regular
expressions that must all be found in the answer) or `refuse`. Those that are `aside` were asked
once before anybody looked at them; docs/quality.md has the figures of that time.

    verdict    when
    right      every pattern is found, and sources are cited; or a refusal was due, and it is one
    refused    a refusal, though the documents have the answer
    wrong      otherwise
"""

import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import redask
from redask.core.settings import Settings

HERE = Path(__file__).parent
DATA = Path(os.environ.get("REDASK_DATA") or Path(__file__).parents[3] / "shared" / "data")
VERDICTS = ("right", "wrong", "refused")


@dataclass(frozen=True, slots=True)
class NewcomerQuestion:
    """A question to the documents of a folder; without patterns a refusal is due."""

    folder: str
    kind: str
    question: str
    holds: tuple[str, ...]
    aside: bool


@dataclass(frozen=True, slots=True)
class NewcomerVerdict:
    """What became of a question: one of VERDICTS, and the answer."""

    asked: NewcomerQuestion
    verdict: str
    answer: str


def questions() -> list[NewcomerQuestion]:
    """All questions, those of the evaluation data first."""
    files = (DATA / "newcomer" / "questions.jsonl", HERE / "questions.jsonl")
    rows = [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]
    return [
        NewcomerQuestion(
            row["folder"],
            "refuse" if row["refuse"] else row["kind"],
            row["question"],
            tuple(row["holds"] or ()),
            row.get("aside", False),
        )
        for row in rows
    ]


@contextmanager
def databases(home: Path, embedder: str) -> Iterator[dict[str, redask.OpenDatabase]]:
    """A database for each folder of documents."""
    with ExitStack() as stack:
        found = {}
        for folder in ("httpx", "datasette"):
            opened = redask.open(home / folder, settings=Settings(), embedder=embedder)
            db = found[folder] = stack.enter_context(opened)
            db.ingest(DATA / "newcomer" / folder)
            db.search("documentation")  # indexes what was ingested: an ask has a deadline
        yield found


def judge(db: redask.OpenDatabase, asked: NewcomerQuestion) -> NewcomerVerdict:
    """Ask a question."""
    answer = db.ask(asked.question)
    is_refusal = not answer.citations or any(
        each.kind == "refused" for each in answer.validation.warnings
    )
    held = all(re.search(pattern, answer.answer) for pattern in asked.holds)
    if is_refusal:
        verdict = "refused" if asked.holds else "right"
    else:
        verdict = "right" if asked.holds and held else "wrong"
    return NewcomerVerdict(asked, verdict, answer.answer)
