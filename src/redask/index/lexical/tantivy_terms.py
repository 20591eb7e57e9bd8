"""Words in tantivy: which entities hold a term. It proposes and counts; `lexical` scores.

    field       holds                                              for
    key         the store's number of the entity                   finding and replacing it
    class       its label and its collection, `class_of`           filtering
    body        stems and literals of all columns nobody hides     proposing
    hidden      the same by column, for columns some policy hides  callers who may see those

A `View` is one committed state. Its `Proposal`s carry tantivy's own scores with our weights in
place of tantivy's, so that they differ from the exact ones only by the average length (tantivy
counts deleted entities until it merges) and by the rounding of lengths (tantivy rounds them
down, which makes its scores too high, never too low). Hence the bound, for any entity:

    exact ≤ raw × max(1, our average length / tantivy's) × a little for 32-bit floats

A `TermWriter` writes; `commit` returns a stamp that changes with every commit and is kept in the
files, so that a crash between this commit and the forward index's is noticed. What goes wrong
inside tantivy, panics included, is raised as `Damaged`: the partition is derived and can be
rebuilt.
"""

import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import tantivy
from tantivy import Occur, Query

from redask.core.errors import Damaged
from redask.index.forward.entries import Classes

MOST = 2.2  # what a term's weight is multiplied by at most: k1 + 1
_HEAP = 128_000_000  # bytes a bulk writer may use before it writes a segment
_SMALL_HEAP = 15_000_000  # the least tantivy accepts
_ROUNDING = 1 + 1e-5
_FREQ = "freq"


@dataclass(frozen=True, slots=True)
class Proposal:
    """Keys by falling raw score, and the raw score nobody left out can exceed (0: nobody is)."""

    keys: list[int]
    rest: float


def idf(entities: int, holding: int) -> float:
    """BM25's weight of a term that so many of so many entities hold."""
    return log(1 + (entities - holding + 0.5) / (holding + 0.5))


def raw_idf(entities: int, holding: int) -> float:
    """The same as tantivy computes it, in 32 bits: for a common term quite another number."""
    one, half = np.float32(1), np.float32(0.5)
    ratio = (np.float32(entities - holding) + half) / (np.float32(holding) + half)
    return float(np.log(one + ratio))


class WordIndex:
    """The index in a directory; made when there is none."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._schema = _schema()
        with guarded():
            directory.mkdir(parents=True, exist_ok=True)
            self._index = tantivy.Index(self._schema, path=str(directory))
            self._index.config_reader("manual")
            whitespace = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
            self._index.register_tokenizer("whitespace", whitespace)

    def stamp(self) -> str:
        """What the last commit left in the files."""
        try:
            return str(json.loads((self._directory / "meta.json").read_bytes())["opstamp"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Damaged("the word index has no readable meta.json") from error

    def measure(self, known: dict[str, list[int]]) -> dict[str, list[int]]:
        """Size, time and CRC of the files of the last commit; `known` saves reading them again."""
        meta = json.loads((self._directory / "meta.json").read_bytes())
        segments = {segment["segment_id"].replace("-", "") for segment in meta["segments"]}
        found = {}
        for path in sorted(self._directory.iterdir()):
            if path.name == "meta.json" or path.name.split(".")[0] in segments:
                size, time = _size_and_time(path)
                old = known.get(path.name)
                same = old is not None and old[:2] == [size, time]
                found[path.name] = [size, time, old[2] if old and same else _crc(path)]
        return found

    def check(self, measured: dict[str, list[int]]) -> None:
        """Raise `Damaged` unless the files are as they were measured.

        Files are never changed in place, so equal sizes and times are enough; where only the
        times differ, the directory may have been copied, and the CRC decides.
        """
        for name, (size, time, crc) in measured.items():
            path = self._directory / name
            try:
                found = _size_and_time(path)
                if found[0] != size or (found[1] != time and _crc(path) != crc):
                    raise Damaged(f"the word index has a damaged file: {name}")
            except OSError as error:
                raise Damaged(f"the word index lacks a file: {name}") from error

    def view(self) -> "View":
        """The state of the last commit."""
        with guarded():
            self._index.reload()
            return View(self._index.searcher(), self._schema)

    @contextmanager
    def writing(self, many: bool) -> "Iterator[TermWriter]":
        """Write; only one process at a time can, so hold the partition's lock."""
        with guarded():
            view = self.view()
            writer = self._index.writer(_HEAP if many else _SMALL_HEAP, num_threads=1)
            try:
                yield TermWriter(writer, self._schema, view.top_key())
            except BaseException:
                writer.rollback()
                raise
            finally:
                writer.wait_merging_threads()


class TermWriter:
    """Adds and deletes until `commit`."""

    def __init__(self, writer: tantivy.IndexWriter, schema: tantivy.Schema, top: int) -> None:
        self._writer = writer
        self._schema = schema
        self._top = top  # above it there is nothing to delete

    def add(self, key: int, kind: str, body: str) -> None:
        """Replace what is known of an entity; `kind` is its class."""
        if key > self._top:
            self._top = key
        else:
            self.delete(key)
        document = tantivy.Document()
        document.add_unsigned("key", key)
        document.add_text("class", kind)
        document.add_text("body", body)
        self._writer.add_document(document)

    def delete(self, key: int) -> None:
        if key <= self._top:
            self._writer.delete_documents_by_query(Query.term_query(self._schema, "key", key))

    def commit(self) -> str:
        """Make it durable. → the stamp of this state."""
        return str(self._writer.commit())


class View:
    """One committed state, for searching."""

    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema) -> None:
        self._searcher = searcher
        self._schema = schema
        self._classes: dict[Classes, Classes] = {}
        self._counts: dict[tuple[str, Classes], int] = {}
        self._holders: dict[tuple[tuple[str, ...], Classes, int], tuple[list[int] | None]] = {}
        self._averages: tuple[int, float] | None = None

    def entities(self) -> int:
        """How many entities there are."""
        return int(self._searcher.num_docs)

    def top_key(self) -> int:
        """The greatest key there is."""
        with guarded():
            found = self._searcher.aggregate(Query.all_query(), {"top": {"max": {"field": "key"}}})
        return int(found["top"]["value"] or 0)

    def count(self, term: str, among: Classes) -> int:
        """How many live entities of these classes hold a term."""
        among = self._classes.setdefault(among, among)  # kept once, not with every term
        known = self._counts.get((term, among))
        if known is None:
            query = self._filtered(self._term(term), among)
            with guarded():
                if not self._searcher.doc_freq("body", term):
                    return 0  # and not remembered: people ask for words without end
                found: Any = self._searcher.search(query, limit=1, count=True)
            known = int(found.count)  # its type is untold
            if len(self._counts) >= 20_000:
                self._counts.clear()
                self._classes.clear()
            self._counts[term, among] = known
        return known

    def propose(
        self, weights: Sequence[tuple[str, float]], average: float, among: Classes, limit: int
    ) -> Proposal:
        """The best `limit` entities by the sum of BM25 scores with these weights as idf.

        `average` is the true average length.
        """
        with guarded():
            raw = [(term, idf_, self._searcher.doc_freq("body", term)) for term, idf_ in weights]
            raw = [(term, idf_, count) for term, idf_, count in raw if count]
            if not raw:
                return Proposal([], 0.0)
            entities, raw_average = self._raw_averages(raw[0][0])
            clauses = [
                (Occur.Should, self._weighted(term, idf_, raw_idf(entities, count)))
                for term, idf_, count in raw
            ]
            query = self._filtered(Query.boolean_query(clauses), among)
            hits = self._searcher.search(query, limit=limit, count=False).hits
            keys = self._searcher.fast_field_values("key", [address for _, address in hits])
            rest = 0.0 if len(hits) < limit else float(hits[-1][0])
            return Proposal(
                [int(key) for key in keys if key is not None],
                rest * max(1.0, average / raw_average) * _ROUNDING,
            )

    def holding(self, terms: Sequence[str], among: Classes, limit: int) -> list[int] | None:
        """The keys of the entities that hold all these terms; None when more than `limit`."""
        asked = tuple(terms), self._classes.setdefault(among, among), limit
        known = self._holders.get(asked)
        if known is not None:
            return known[0]
        clauses = [(Occur.Must, self._term(term)) for term in terms]
        query = self._filtered(Query.boolean_query(clauses), among)
        with guarded():
            hits = self._searcher.search(query, limit=limit + 1, count=False).hits
            keys = self._searcher.fast_field_values("key", [address for _, address in hits])
        found = [int(key) for key in keys if key is not None] if len(hits) <= limit else None
        if len(self._holders) >= 4_096:  # of a hundred keys or so each
            self._holders.clear()
        self._holders[asked] = (found,)
        return found

    def _weighted(self, term: str, wanted: float, own: float) -> Query:
        """A term with our weight in place of tantivy's own.

        Nothing can be made of a weight that tantivy rounds to nothing (a term in every one of
        ten million entities): then each holder gets the most the term could give.
        """
        if own > 0:
            return Query.boost_query(self._term(term), wanted / own)
        return Query.const_score_query(self._term(term), wanted * MOST)

    def _term(self, term: str) -> Query:
        return Query.term_query(self._schema, "body", term, index_option=_FREQ)

    def _filtered(self, query: Query, among: Classes) -> Query:
        """The query among entities of these classes, with its own scores."""
        if among is None:
            return query
        admitted = Query.term_set_query(self._schema, "class", sorted(among))
        clauses = [(Occur.Must, query), (Occur.Must, Query.const_score_query(admitted, 0.0))]
        return Query.boolean_query(clauses)

    def told(self, term: str) -> dict[str, float]:
        """What tantivy says it computes with for a term; nothing when nobody holds it.

        `N` is its number of entities, `avgdl` their average length, `idf` the term's weight.
        """
        query = self._term(term)
        hits = self._searcher.search(query, limit=1, count=False).hits
        if not hits:
            return {}
        return _told(json.loads(query.explain(self._searcher, hits[0][1]).to_json()))

    def _raw_averages(self, term: str) -> tuple[int, float]:
        """What tantivy takes for the number of entities and for their average length."""
        if self._averages is None:
            told = self.told(term)
            if not told:  # all that held it are deleted: nothing will be found for it either
                return self.entities() + 1, 1.0
            self._averages = (int(told["N"]), told["avgdl"])
        return self._averages


@contextmanager
def guarded() -> Iterator[None]:
    """Turn what tantivy raises into `Damaged`; a Rust panic is no `Exception` at all."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise Damaged("the word index failed", detail=str(error)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise Damaged("the word index failed", detail=f"tantivy panicked: {error}") from None


def _size_and_time(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _crc(path: Path) -> int:
    crc = 0
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            crc = zlib.crc32(block, crc)
    return crc


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("key", indexed=True, fast=True)
    builder.add_text_field("class", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("body", tokenizer_name="whitespace", index_option=_FREQ)
    builder.add_json_field("hidden", tokenizer_name="whitespace", index_option=_FREQ)
    return builder.build()


def _told(explanation: dict[str, object]) -> dict[str, float]:
    """The named numbers in an explanation: its descriptions begin with their names."""
    found: dict[str, float] = {}
    waiting: list[object] = [explanation]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            found[str(part["description"]).split(",")[0]] = float(part["value"])
            waiting += part.get("details") or []
    return found
