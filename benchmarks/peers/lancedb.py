"""LanceDB: one table, a full-text index, hybrid search with its reciprocal-rank reranker.

Vectors are scanned exhaustively, as a table without a vector index does. A row added later is
found at once: what the text index does not hold yet is scanned.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import lancedb
import pyarrow
from lancedb.rerankers import RRFReranker

from peers import contest
from peers.contest import CitedReply, Known, Passage

PACKAGES = ("lancedb",)
NOTE = "hybrid search, RRF, exhaustive vectors"
_TABLE = "passages"
_SCHEMA = pyarrow.schema(
    [
        ("id", pyarrow.string()),
        ("body", pyarrow.string()),
        ("vector", pyarrow.list_(pyarrow.float32(), contest.DIMENSIONS)),
    ]
)


def build(home: Path, passages: Sequence[Passage], known: Known) -> None:
    table = lancedb.connect(home).create_table(_TABLE, schema=_SCHEMA)
    for start in range(0, len(passages), 2_000):
        table.add(_rows(passages[start : start + 2_000], known))
    table.create_fts_index("body")
    table.optimize()


def open_up(home: Path, known: Known) -> "LanceTable":
    return LanceTable(home, known)


class LanceTable:
    """The table, open."""

    def __init__(self, home: Path, known: Known) -> None:
        self._known = known
        self._table = lancedb.connect(home).open_table(_TABLE)
        self._reranker = RRFReranker()

    def ask(self, question: str) -> CitedReply:
        rows = (
            self._table.search(query_type="hybrid", vector_column_name="vector")
            .vector(self._known.floats(question))
            .text(question)
            .limit(contest.CANDIDATES)
            .rerank(self._reranker)
            .select(["id", "body"])
            .to_list()
        )[: contest.SOURCES]
        prompt = contest.prompt_of(question, [row["body"] for row in rows])
        return contest.reply_of(contest.answer_of(prompt), [row["id"] for row in rows])

    def insert(self, passage: Passage) -> None:
        self._table.add(_rows([passage], self._known))

    def close(self) -> None:
        pass


def _rows(passages: Sequence[Passage], known: Known) -> Any:
    bodies = [passage.body for passage in passages]
    flat = pyarrow.array(known.matrix(bodies).reshape(-1))
    vectors = pyarrow.FixedSizeListArray.from_arrays(flat, contest.DIMENSIONS)
    ids = [passage.id for passage in passages]
    return pyarrow.Table.from_arrays(
        [pyarrow.array(ids), pyarrow.array(bodies), vectors], schema=_SCHEMA
    )
