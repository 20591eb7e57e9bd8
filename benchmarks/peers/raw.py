"""The bare engines: tantivy for words, faiss for vectors, ranks fused, one durable commit.

The floor that no database over the same engines gets under: it keeps texts in SQLite and writes
one row for each answer (WAL, synchronous FULL), but checks no permission, breaks no ties, keeps no
index up to date with anything, and loses its vectors on a crash. The vectors are searched as ours
are: exactly below 20,000, above it by one-bit codes with 2,000 candidates rescored.
"""

import sqlite3
import time
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import tantivy

from peers import contest
from peers.contest import CitedReply, Known, Passage
from redask.core.rules import terms

PACKAGES = ("tantivy", "faiss-cpu")
NOTE = "tantivy + faiss + one SQLite commit"
EXACT_BELOW = 20_000
RESCORED = 2_000


def build(home: Path, passages: Sequence[Passage], known: Known) -> None:
    (home / "words").mkdir(parents=True)
    texts = _texts(home)
    texts.execute("CREATE TABLE passages (id TEXT, body TEXT)")
    texts.execute("CREATE TABLE answers (row TEXT)")
    texts.execute("BEGIN")
    texts.executemany("INSERT INTO passages VALUES (?, ?)", ((p.id, p.body) for p in passages))
    texts.execute("COMMIT")
    texts.close()
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("key", stored=True, indexed=True, fast=True)
    builder.add_text_field("body", tokenizer_name="en_stem")
    index = tantivy.Index(builder.build(), path=str(home / "words"))
    writer = index.writer(128_000_000, 1)
    for key, passage in enumerate(passages, start=1):
        _add(writer, key, passage.body)
    writer.commit()
    writer.wait_merging_threads()
    floats = known.matrix([passage.body for passage in passages])
    np.save(home / "floats.npy", floats)
    if len(passages) >= EXACT_BELOW:
        faiss.write_index(_codes(floats), str(home / "codes.faiss"))


def open_up(home: Path, known: Known) -> "RawEngines":
    return RawEngines(home, known)


class RawEngines:
    """The engines, open; `parts` are the seconds of each, question by question."""

    def __init__(self, home: Path, known: Known) -> None:
        self.parts: dict[str, list[float]] = defaultdict(list)
        self._known = known
        self._texts = _texts(home)
        self._words = tantivy.Index.open(str(home / "words"))
        self._searcher = self._words.searcher()
        self._floats = np.load(home / "floats.npy", mmap_mode="r").view(np.ndarray)
        coded = home / "codes.faiss"
        self._coded = coded.is_file()
        self._near: Any = faiss.IndexFlatIP(contest.DIMENSIONS)
        if self._coded:
            self._near = faiss.read_index(str(coded))
        else:
            self._near.add(self._floats)

    def ask(self, question: str) -> CitedReply:
        started = time.perf_counter()
        ranked = contest.fused([self._by_words(question), self._by_vector(question)])
        keys = ranked[: contest.SOURCES]
        self._note("engines", started)
        marks = ", ".join("?" * len(keys))
        rows = self._texts.execute(
            f"SELECT rowid, id, body FROM passages WHERE rowid IN ({marks})", keys
        ).fetchall()
        found = {key: (name, body) for key, name, body in rows}
        prompt = contest.prompt_of(question, [found[key][1] for key in keys])
        reply = contest.reply_of(contest.answer_of(prompt), [found[key][0] for key in keys])
        started = time.perf_counter()
        self._texts.execute("BEGIN IMMEDIATE")
        self._texts.execute("INSERT INTO answers VALUES (?)", (f"{question} {reply}",))
        self._texts.execute("COMMIT")
        self._note("commit", started)
        return reply

    def insert(self, passage: Passage) -> None:
        row = self._texts.execute(
            "INSERT INTO passages VALUES (?, ?)", (passage.id, passage.body)
        ).lastrowid
        writer = self._words.writer(15_000_000, 1)
        _add(writer, int(row or 0), passage.body)
        writer.commit()
        self._words.reload()
        self._searcher = self._words.searcher()
        vector = self._known.row(passage.body)[None]
        self._near.add(vector)
        if self._coded:
            self._floats = np.concatenate([self._floats, vector])

    def close(self) -> None:
        self._texts.close()

    def _note(self, part: str, started: float) -> None:
        self.parts[part].append(time.perf_counter() - started)

    def _by_words(self, question: str) -> list[int]:
        words = " ".join(terms.extract(question).words).lower()
        query = self._words.parse_query(words, ["body"])
        hits = self._searcher.search(query, limit=contest.CANDIDATES, count=False).hits
        return [self._searcher.doc(address)["key"][0] for _, address in hits]

    def _by_vector(self, question: str) -> list[int]:
        point = self._known.row(question)
        if not self._coded:
            rows = self._near.search(point[None], contest.CANDIDATES)[1][0]
        else:
            near = self._near.search(point[None], RESCORED)[1][0]
            near = near[near >= 0]
            best = np.argsort(-(self._floats[near] @ point))[: contest.CANDIDATES]
            rows = near[best]
        return [int(row) + 1 for row in rows]


def _texts(home: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(home / "texts.sqlite", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def _add(writer: Any, key: int, body: str) -> None:
    document = tantivy.Document()
    document.add_unsigned("key", key)
    document.add_text("body", body)
    writer.add_document(document)


def _codes(floats: contest.Matrix) -> Any:
    codes = faiss.IndexIVFRaBitQFastScan(
        faiss.IndexFlatL2(contest.DIMENSIONS), contest.DIMENSIONS, 1, faiss.METRIC_INNER_PRODUCT
    )
    codes.quantizer.add(np.zeros((1, contest.DIMENSIONS), dtype=np.float32))
    codes.is_trained = True
    codes.add(floats)
    return codes
