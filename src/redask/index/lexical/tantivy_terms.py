"""The inverted index in tantivy: candidates and document frequencies; `scoring` scores them.

    field       content                                            used for
    key         the row's key                                      finding and replacing it
    class       `filter_key`: projection key and collection        filtering
    body        stems and literals of all columns                  searching
    hidden      nothing: part of the layout, not written

A `TermSearcher` reads one committed state. Its candidates are ranked by tantivy's own scores, with
our idf in place of tantivy's, so that they differ from the exact ones only by the average length
(tantivy counts deleted documents until it merges) and by the rounding of lengths (tantivy rounds
them down, which makes its scores too high, never too low). Hence the bound, for any row:

    exact ≤ tantivy's × max(1, our average length / tantivy's) × a margin for 32-bit floats

A `TermWriter` writes; `commit` returns a stamp that changes with every commit and is kept in the
files, so that a crash between this commit and that of the forward index is detected. Any error
inside tantivy, panics included, is raised as `CorruptIndex`: the partition is derived and can be
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

from redask.index import private_files
from redask.index.corruption import corrupt
from redask.index.forward.entries import FilterKeys

MAX_TF_FACTOR = 2.2  # the limit of the term frequency factor: k1 + 1
_BULK_HEAP = 128_000_000  # bytes a bulk writer may use before it writes a segment
_SMALL_HEAP = 15_000_000  # the least tantivy accepts
_ROUNDING = 1 + 1e-5
_FREQ = "freq"


@dataclass(frozen=True, slots=True)
class CandidateKeys:
    """Keys by descending score, and an upper bound of the other scores (0: there are no others)."""

    keys: list[int]
    bound: float


def idf(entities: int, frequency: int) -> float:
    """BM25's weight of a term with this document frequency."""
    return log(1 + (entities - frequency + 0.5) / (frequency + 0.5))


def tantivy_idf(entities: int, frequency: int) -> float:
    """The same as tantivy computes it, in 32 bits: for a common term quite another number."""
    one, half = np.float32(1), np.float32(0.5)
    ratio = (np.float32(entities - frequency) + half) / (np.float32(frequency) + half)
    return float(np.log(one + ratio))


class InvertedIndex:
    """The index in a directory; created when there is none."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._verified: dict[str, tuple[int, int, int]] = {}  # size, time, CRC by name
        self._schema = _schema()
        with tantivy_errors():
            private_files.make_directory(directory)
            self._index = tantivy.Index(self._schema, path=str(directory))
            self._index.config_reader("manual")
            whitespace = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
            self._index.register_tokenizer("whitespace", whitespace)

    def stamp(self) -> str:
        """The stamp of the last commit."""
        try:
            return str(json.loads((self.directory / "meta.json").read_bytes())["opstamp"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise corrupt("tantivy's meta.json cannot be read") from error

    def file_checksums(self, known: dict[str, list[int]]) -> dict[str, list[int]]:
        """Size, mtime and CRC of the files of the last commit; those in `known` are reused."""
        meta = json.loads((self.directory / "meta.json").read_bytes())
        segments = {segment["segment_id"].replace("-", "") for segment in meta["segments"]}
        found = {}
        for path in sorted(self.directory.iterdir()):
            if path.name == "meta.json" or path.name.split(".")[0] in segments:
                size, time = _size_and_time(path)
                old = known.get(path.name)
                same = old is not None and old[:2] == [size, time]
                found[path.name] = [size, time, old[2] if old and same else _crc(path)]
        return found

    def verify_files(self, expected: dict[str, list[int]], most: int | None = None) -> None:
        """Raise `CorruptIndex` unless the files are those of `file_checksums`.

        They are never changed in place, so each is read once. Of those above `most` bytes in all,
        equal sizes and times are enough; where the times differ, the directory may have been
        copied, and the CRC decides.
        """
        large = most is not None and sum(size for size, *_ in expected.values()) > most
        for name, (size, time, crc) in expected.items():
            path = self.directory / name
            try:
                found = _size_and_time(path)
                sure = self._verified.get(name) == (*found, crc) or (large and found[1] == time)
                if found[0] != size or (not sure and _crc(path) != crc):
                    raise corrupt(f"tantivy's file {name} fails its checksum")
            except OSError as error:
                raise corrupt(f"tantivy's file {name} is missing") from error
            self._verified[name] = (*found, crc)

    def searcher(self) -> "TermSearcher":
        """A searcher of the last commit."""
        with tantivy_errors():
            self._index.reload()
            return TermSearcher(self._index.searcher(), self._schema)

    @contextmanager
    def writer(self, bulk: bool) -> "Iterator[TermWriter]":
        """A writer, rolled back when the block fails. Hold the partition's lock: one at a time."""
        with tantivy_errors():
            max_key = self.searcher().max_key()
            writer = self._index.writer(_BULK_HEAP if bulk else _SMALL_HEAP, num_threads=1)
            try:
                yield TermWriter(writer, self._schema, max_key)
            except BaseException:
                writer.rollback()
                raise
            finally:
                writer.wait_merging_threads()


class TermWriter:
    """Adds and deletes documents until `commit`."""

    def __init__(self, writer: tantivy.IndexWriter, schema: tantivy.Schema, max_key: int) -> None:
        self._writer = writer
        self._schema = schema
        self._max_key = max_key  # a greater key is new: nothing to delete

    def add(self, key: int, filter_key: str, body: str) -> None:
        """Add the document of a row, or replace it."""
        if key > self._max_key:
            self._max_key = key
        else:
            self.delete(key)
        document = tantivy.Document()
        document.add_unsigned("key", key)
        document.add_text("class", filter_key)
        document.add_text("body", body)
        self._writer.add_document(document)

    def delete(self, key: int) -> None:
        if key <= self._max_key:
            self._writer.delete_documents_by_query(Query.term_query(self._schema, "key", key))

    def commit(self) -> str:
        """Make it durable. → the stamp of this state."""
        return str(self._writer.commit())


class TermSearcher:
    """Searches one committed state."""

    def __init__(self, searcher: tantivy.Searcher, schema: tantivy.Schema) -> None:
        self._searcher = searcher
        self._schema = schema
        self._interned: dict[FilterKeys, FilterKeys] = {}
        self._frequencies: dict[tuple[str, FilterKeys], int] = {}
        self._matches: dict[tuple[tuple[str, ...], FilterKeys, int], tuple[list[int] | None]] = {}
        self._averages: tuple[int, float] | None = None

    def entities(self) -> int:
        """How many live documents there are."""
        return int(self._searcher.num_docs)

    def max_key(self) -> int:
        """The greatest key."""
        with tantivy_errors():
            found = self._searcher.aggregate(Query.all_query(), {"top": {"max": {"field": "key"}}})
        return int(found["top"]["value"] or 0)

    def document_frequency(self, term: str, allowed: FilterKeys) -> int:
        """How many live documents with an allowed filter key have a term."""
        allowed = self._interned.setdefault(allowed, allowed)  # one copy for all terms
        known = self._frequencies.get((term, allowed))
        if known is None:
            query = self._filtered(self._term(term), allowed)
            with tantivy_errors():
                if not self._searcher.doc_freq("body", term):
                    return 0  # not cached: there is no end of unknown words
                found: Any = self._searcher.search(query, limit=1, count=True)
            known = int(found.count)  # the stubs do not have it
            if len(self._frequencies) >= 20_000:
                self._frequencies.clear()
                self._interned.clear()
            self._frequencies[term, allowed] = known
        return known

    def candidates(
        self,
        weights: Sequence[tuple[str, float]],
        average_length: float,
        allowed: FilterKeys,
        limit: int,
    ) -> CandidateKeys:
        """The `limit` best by the sum of tantivy's BM25 scores with these weights as idf.

        `average_length` is the exact one, of live rows that the caller may see.
        """
        with tantivy_errors():
            raw = [(term, idf_, self._searcher.doc_freq("body", term)) for term, idf_ in weights]
            raw = [(term, idf_, count) for term, idf_, count in raw if count]
            if not raw:
                return CandidateKeys([], 0.0)
            entities, tantivy_average = self._tantivy_averages(raw[0][0])
            clauses = [
                (Occur.Should, self._weighted(term, idf_, tantivy_idf(entities, count)))
                for term, idf_, count in raw
            ]
            query = self._filtered(Query.boolean_query(clauses), allowed)
            hits = self._searcher.search(query, limit=limit, count=False).hits
            keys = self._searcher.fast_field_values("key", [address for _, address in hits])
            last = 0.0 if len(hits) < limit else float(hits[-1][0])
            return CandidateKeys(
                [int(key) for key in keys if key is not None],
                last * max(1.0, average_length / tantivy_average) * _ROUNDING,
            )

    def matching_all(
        self, terms: Sequence[str], allowed: FilterKeys, limit: int
    ) -> list[int] | None:
        """The keys of the documents that have all these terms; None when more than `limit`."""
        asked = tuple(terms), self._interned.setdefault(allowed, allowed), limit
        known = self._matches.get(asked)
        if known is not None:
            return known[0]
        clauses = [(Occur.Must, self._term(term)) for term in terms]
        query = self._filtered(Query.boolean_query(clauses), allowed)
        with tantivy_errors():
            hits = self._searcher.search(query, limit=limit + 1, count=False).hits
            keys = self._searcher.fast_field_values("key", [address for _, address in hits])
        found = [int(key) for key in keys if key is not None] if len(hits) <= limit else None
        if len(self._matches) >= 4_096:  # about a hundred keys each
            self._matches.clear()
        self._matches[asked] = (found,)
        return found

    def _weighted(self, term: str, weight: float, tantivy_weight: float) -> Query:
        """A term query with our weight in place of tantivy's.

        A weight that tantivy rounds to zero (a term in every one of ten million documents) cannot
        be scaled: then each match gets the greatest score that the term can give.
        """
        if tantivy_weight > 0:
            return Query.boost_query(self._term(term), weight / tantivy_weight)
        return Query.const_score_query(self._term(term), weight * MAX_TF_FACTOR)

    def _term(self, term: str) -> Query:
        return Query.term_query(self._schema, "body", term, index_option=_FREQ)

    def _filtered(self, query: Query, allowed: FilterKeys) -> Query:
        """The query restricted to allowed filter keys; scores stay as they are."""
        if allowed is None:
            return query
        terms = Query.term_set_query(self._schema, "class", sorted(allowed))
        clauses = [(Occur.Must, query), (Occur.Must, Query.const_score_query(terms, 0.0))]
        return Query.boolean_query(clauses)

    def term_statistics(self, term: str) -> dict[str, float]:
        """What tantivy's explanation of a term query computes with; empty without a match.

        `N` is the number of documents, `avgdl` their average length, `idf` the term's weight.
        """
        query = self._term(term)
        hits = self._searcher.search(query, limit=1, count=False).hits
        if not hits:
            return {}
        return _explained_numbers(json.loads(query.explain(self._searcher, hits[0][1]).to_json()))

    def _tantivy_averages(self, term: str) -> tuple[int, float]:
        """Tantivy's number of documents and their average length, deleted ones included."""
        if self._averages is None:
            statistics = self.term_statistics(term)
            if not statistics:  # every document with the term is deleted: it matches nothing
                return self.entities() + 1, 1.0
            self._averages = (int(statistics["N"]), statistics["avgdl"])
        return self._averages


@contextmanager
def tantivy_errors() -> Iterator[None]:
    """Turn any error of tantivy into `CorruptIndex`; a Rust panic is not an `Exception`."""
    try:
        yield
    except (ValueError, OSError) as error:
        raise corrupt("tantivy failed", detail=str(error)) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise corrupt("tantivy panicked", detail=str(error)) from None


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


def _explained_numbers(explanation: dict[str, object]) -> dict[str, float]:
    """The values of an explanation by name: each description begins with the name."""
    found: dict[str, float] = {}
    stack: list[object] = [explanation]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            found[str(part["description"]).split(",")[0]] = float(part["value"])
            stack += part.get("details") or []
    return found
