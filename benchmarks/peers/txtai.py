"""txtai: a hybrid Embeddings database (its own sparse index, faiss for vectors, SQLite for text).

Vectors are looked up by an `external` transform. Above 5,000 rows txtai takes an approximate
faiss index by itself. Sources are numbered in the prompt, and [1] is looked up.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from txtai import Embeddings

from peers import contest
from peers.contest import CitedReply, Known, Passage

PACKAGES = ("txtai", "faiss-cpu", "torch")
NOTE = "hybrid Embeddings, content in SQLite"


def build(home: Path, passages: Sequence[Passage], known: Known) -> None:
    database = _database(known)
    database.index((passage.id, passage.body, None) for passage in passages)
    database.save(str(home / "index"))
    database.close()


def open_up(home: Path, known: Known) -> "TxtaiDatabase":
    return TxtaiDatabase(home, known)


class TxtaiDatabase:
    """The database, loaded."""

    def __init__(self, home: Path, known: Known) -> None:
        self._database = _database(known)
        self._database.load(str(home / "index"), config={"transform": _transform(known)})

    def ask(self, question: str) -> CitedReply:
        rows = self._database.search(question, contest.SOURCES)
        prompt = contest.prompt_of(question, [row["text"] for row in rows])
        return contest.reply_of(contest.answer_of(prompt), [row["id"] for row in rows])

    def insert(self, passage: Passage) -> None:
        self._database.upsert([(passage.id, passage.body, None)])

    def close(self) -> None:
        self._database.close()


def _database(known: Known) -> Any:
    return Embeddings(method="external", transform=_transform(known), hybrid=True, content=True)


def _transform(known: Known) -> Any:
    return lambda texts: known.matrix(texts)  # noqa: PLW0108 - txtai calls whatever is no function
