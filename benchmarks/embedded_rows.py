"""What rows lose by being embedded without numbers and codes: `make bench-rows`.

    python benchmarks/embedded_rows.py [DATABASES]

Each database of `../shared/data/compute` (70; fewer when a number is given) is searched twice, with
its rows embedded whole and by `embedding_text`. A question counts if its gold result has texts: the
rows that hold one of them in a column, in a table of the gold SQL, are what should be found. Then
Chinook: a song, an album, an artist or a customer is asked for by name.

nDCG@10 of the fused ranking for both, and how many entities and tokens are embedded.
"""

import json
import math
import os
import random
import re
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import redask
from redask.embedding.embedding_text import embedding_text
from redask.index.analysis import analyzer

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("REDASK_DATA", ROOT.parent / "shared" / "data"))
Asked = tuple[str, set[str]]  # a question, and the texts of which a row that is found has one
FROM_CHINOOK = {
    "Who composed the song {}?": "SELECT Name FROM Track WHERE Composer IS NOT NULL",
    "Which artist made the album {}?": "SELECT Title FROM Album",
    "Which albums are there by {}?": "SELECT Name FROM Artist",
    "Where does the customer {} live?": "SELECT FirstName || ' ' || LastName FROM Customer",
}


def whole_text(payload: str, hidden: frozenset[str]) -> str:
    """Every column, as rows were embedded before."""
    columns = analyzer.columns(payload)
    order: list[str] = [name for name in ("title", "name") if name in columns]
    order += [name for name in columns if name not in ("title", "name")]
    texts = [columns[name] for name in order if name != "id" and name not in hidden]
    return "\n".join(text for text in texts if text.strip())


def compute_questions(folder: Path) -> Iterator[Asked]:
    for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        cells = {cell for found in row["answer"] for cell in found if isinstance(cell, str)}
        worded = {cell for cell in cells if re.search("[A-Za-z]{3}", cell)}
        if worded and len(row["answer"]) <= 10 and not row.get("tie"):
            yield row["question"], worded


def chinook_questions(path: Path) -> Iterator[Asked]:
    chance = random.Random(5)
    with sqlite3.connect(path) as connection:
        for template, query in FROM_CHINOOK.items():
            names = sorted({name for (name,) in connection.execute(query)})
            for name in chance.sample(names, 50):
                yield template.format(name), {name}


def values_of(payload: str) -> set[str]:
    content = json.loads(payload)
    both = f"{content.get('FirstName')} {content.get('LastName')}"
    return {both, *(value for value in content.values() if isinstance(value, str))}


def gain(db: redask.OpenDatabase, asked: Asked, held: Counter[str]) -> float:
    """nDCG@10, each row that has one of the texts being worth 1."""
    question, texts = asked
    found = [bool(values_of(each.payload) & texts) for each in db.search(question).hits[:10]]
    best = min(10, max(sum(held[text] for text in texts), sum(found), 1))
    return sum(hit / math.log2(rank + 2) for rank, hit in enumerate(found)) / sum(
        1 / math.log2(rank + 2) for rank in range(best)
    )


def measure(
    path: Path, questions: list[Asked], text: Callable[..., str]
) -> tuple[list[float], int]:
    with (
        tempfile.TemporaryDirectory() as directory,
        mock.patch("redask.app.parts.embedding_text", text),
        redask.open(directory, embedder="minilm") as db,
    ):
        db.ingest(path)
        vectors = db.doctor()["store"]["vectors"]
        changes = db._async._app.backend.store.changes("local", 0, 10**6)
        held = Counter(
            text for each in changes if each.entity for text in values_of(each.entity.payload)
        )
        return [gain(db, each, held) for each in questions], vectors


def main(most: int) -> None:
    folders = sorted(each for each in (DATA / "compute").iterdir() if each.is_dir())[:most]
    packs = [(each / "database.sqlite", list(compute_questions(each))) for each in folders]
    chinook = DATA / "databases" / "chinook.sqlite"
    for title, group in (
        ("compute", [each for each in packs if each[0].stat().st_size < 300_000]),
        ("chinook", [(chinook, list(chinook_questions(chinook)))]),
    ):
        scores: dict[str, list[float]] = {"whole": [], "words": []}
        embedded = dict.fromkeys(scores, 0)
        for path, questions in group:
            for name, text in (("whole", whole_text), ("words", embedding_text)):
                found, vectors = measure(path, questions, text)
                scores[name] += found
                embedded[name] += vectors
        for name, found in scores.items():
            mean = sum(found) / len(found)
            print(f"{title}, {name}: nDCG@10 {mean:.4f}, {embedded[name]:,} vectors")
        differ = sum(a != b for a, b in zip(*scores.values(), strict=True))
        asked = len(scores["whole"])
        print(f"{title}: {asked} questions, {differ} of them differ", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 70)
