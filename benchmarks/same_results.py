"""The same sources and scores from two trees: `dump` with each, then `compare` the files.

    PYTHONPATH=<tree>/src python benchmarks/same_results.py dump OUT [QUESTIONS]
    python benchmarks/same_results.py compare OUT OUT

For a change that must change no result, over REDASK_DATA. Four packs, each in a database with a
policy and in one without, with edges and a deterministic embedder. Its questions are asked in turn
in four states: as folded, after unfolded writes and deletions, after new names, and reopened; by
the owner, and where there is a policy by users who see some rows, one without some columns. A line
is a question: its buckets with all scores, the fused sources with theirs, and the plan, whole.
"""

import hashlib
import itertools
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import redask
from redask.evaluation import packs

PACKS = ("qa/squad2_dev_half", "qa/clapnq_dev", "retrieval/2wiki_101", "retrieval/scifact")
PASSAGES = 1_500
QUESTIONS = 300  # of a pack
LATE = 120  # passages written last, so that they stay unfolded
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"collection": "topics", "limit": 5},
    {"depth": 3, "limit": 30},
    {"depth": 1, "limit": 10},
)
POLICY = {
    "read": [
        {"roles": ["reader"], "rows": "shelf < 5"},
        {"roles": ["visitor"], "rows": "shelf = 3", "hide": ["title"]},
    ]
}


def dump(out: Path, count: int) -> None:
    """Write what is found, a line a question."""
    data = Path(os.environ.get("REDASK_DATA", Path(__file__).parents[2] / "shared" / "data"))
    with out.open("w", encoding="utf-8") as file:
        for name, guarded in itertools.product(PACKS, (True, False)):
            folder = Path(tempfile.mkdtemp())
            try:
                for line in found_in(data / name, folder, count, guarded=guarded):
                    file.write(f"{name} {'with' if guarded else 'without'} a policy {line}\n")
            finally:
                shutil.rmtree(folder)


def found_in(pack: Path, folder: Path, count: int, *, guarded: bool) -> Iterator[str]:
    """The lines of one pack."""
    read = packs.read(pack)
    chance = random.Random(7)
    rows: list[dict[str, Any]] = [
        {**row, "shelf": chance.randrange(8)} for row in read.passages[:PASSAGES]
    ]
    questions = [each.text for each in read.questions[:count]]
    parts = [questions[start::4] for start in range(4)]
    with redask.open(folder, embedder="hashed") as db:
        db._async._app.backend.store.edge_key = b"the same for all"  # else each store has its own
        db.put("passages", rows[:-LATE], kind="document")
        urns = [f"urn:reddb:document:passages/{row['id']}" for row in rows[:-LATE]]
        titles = sorted({str(row["title"]) for row in rows})[:200]
        db.put("topics", [{"id": n, "name": each} for n, each in enumerate(titles)], kind="node")
        for first, second in itertools.islice(zip(urns, urns[7:], strict=False), 0, 400, 2):
            db.link(first, chance.choice(["cites", "follows", "contradicts"]), second)
        tokens: list[str] = []
        if guarded:
            db.set_policy("passages", POLICY)
            for user, role in (("mia", "reader"), ("tom", "visitor")):
                db.add_user(user, role=role)
                tokens.append(db.make_token(user))
        db.catch_up()
        yield from asked(db, tokens, parts[0], "folded")
        db.put("passages", rows[-LATE:], kind="document")
        db.put(
            "passages",
            [{**row, "text": f"{row['text']} Late."} for row in rows[::40]],
            kind="document",
        )
        db.delete(*urns[5::60])
        yield from asked(db, tokens, parts[1], "unfolded")
        db.put(
            "topics",
            [{"id": f"n{n}", "name": w} for n, w in enumerate(_words(parts[2]))],
            kind="node",
        )
        yield from asked(db, tokens, parts[2], "new names")
    with redask.open(folder, embedder="hashed") as db:
        yield from asked(db, tokens, parts[3], "reopened")


def asked(
    db: redask.OpenDatabase, tokens: list[str], questions: list[str], state: str
) -> Iterator[str]:
    """What the owner and the users find."""
    users = [db, *(db.signed_in(token) for token in tokens)]
    for who, each in zip(("owner", "reader", "visitor"), users, strict=False):
        for question, options in zip(questions, itertools.cycle(OPTIONS), strict=False):
            found = each.search(question, **options)
            told = repr((found.buckets, found.to_dict(), each.explain(question, **options)))
            whole = hashlib.sha256(told.encode()).hexdigest()
            yield f"{state} {who} {sorted(options)} {question!r} {whole} {told[:300]}"


def _words(questions: list[str]) -> list[str]:
    """Words of questions, which become names."""
    return sorted({word for question in questions for word in question.split() if len(word) > 6})[
        :80
    ]


def compare(one: Path, other: Path) -> int:
    """Print how many lines differ, and the first of them."""
    lines = [path.read_text(encoding="utf-8").splitlines() for path in (one, other)]
    differ = [pair for pair in itertools.zip_longest(*lines) if pair[0] != pair[1]]
    print(f"{len(lines[0])} and {len(lines[1])} searches, {len(differ)} differ")
    for pair in differ[:3]:
        print("\n".join(map(str, pair)))
    return bool(differ)


if __name__ == "__main__":
    if sys.argv[1] == "compare":
        sys.exit(compare(Path(sys.argv[2]), Path(sys.argv[3])))
    dump(Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else QUESTIONS)
