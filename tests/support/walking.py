"""A small index built by hand, with labels, to walk in: for tests of the graph."""

import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from redask.core.model import Kind, Urn
from redask.core.ports import Query
from redask.core.rules import terms
from redask.core.rules import urn as urns
from redask.core.wire.json import text
from redask.index.analysis import analyzer
from redask.index.forward.entries import Entry, Link, class_of
from redask.index.forward.forward_index import Forward, Snapshot
from redask.index.graph import traversal
from redask.index.graph.mentions import BloomFilter
from redask.index.lexical.bm25 import Lexical, Totals
from redask.index.lexical.tantivy_terms import WordIndex

Found = list[tuple[str, float]]


class World:
    """Entities and edges to put together; `searched` gives them an index."""

    def __init__(self) -> None:
        self.entities: list[tuple[str, str, str, str]] = []
        self.links: list[tuple[str, str, str, str, str, str]] = []

    def put(self, id_: str, label: str = "all", collection: str = "t", **columns: object) -> str:
        """An entity with an id. → its URN"""
        urn = urns.encode(Urn(Kind.ROW, collection, id_))
        self.entities.append((urn, collection, label, text(columns)))
        return urn

    def link(
        self, source: str, relation: str, target: str, label: str = "all", collection: str = "e"
    ) -> str:
        """An edge between two URNs. → its own"""
        urn = urns.encode(Urn(Kind.EDGE, collection, f"{source} {relation} {target}"))
        self.links.append((urn, collection, label, source, target, relation))
        return urn

    @contextmanager
    def searched(self, seed: int = 0) -> "Iterator[Searched]":
        """An index in which the keys are in another order for every seed."""
        numbers = random.Random(seed).sample(
            range(1, 1 + len(self.entities) + len(self.links)), len(self.entities + self.links)
        )
        with tempfile.TemporaryDirectory() as folder:
            forward = Forward(Path(folder) / "forward.sqlite", create=True)
            words = WordIndex(Path(folder) / "words")
            entries = []
            analysed = analyzer.entities([(payload, None) for *_, payload in self.entities])
            with words.writing(many=False) as pen:
                for (urn, collection, label, _), found in zip(self.entities, analysed, strict=True):
                    key = numbers.pop()
                    pen.add(key, class_of(label, collection), found.words)
                    parts = (found.called, found.names, found.columns, found.ends, found.tokens)
                    entries.append(Entry(key, urn, collection, label, found.language, *parts))
                pen.commit()
            links = [Link(numbers.pop(), *link) for link in self.links]
            with forward.writing() as writing:
                writing.apply(entries, links, (), seq=1, tail=False)
            yield Searched(forward, words)
            forward.close()

    def walk(self, question: str, **options: object) -> Found:
        with self.searched() as index:
            return index.walk(question, **options)  # type: ignore[arg-type]

    def reached(self, question: str, **options: object) -> list[str]:
        return [urn for urn, _ in self.walk(question, **options)]


class Searched:
    """The built index."""

    def __init__(self, forward: Forward, words: WordIndex) -> None:
        self._forward = forward
        self._view = words.view()
        self._sieve = BloomFilter()

    def words(self, question: str, limit: int = 20) -> Found:
        """The bucket bm25."""
        with self._forward.snapshot() as snapshot:
            lexical, spoken = self._lexical(snapshot, None)
            wanted = analyzer.question(question, (), spoken)
            found = lexical.search(wanted, limit, None, lambda _: {})
            return [(hit.urn, hit.score) for hit in found]

    def walk(
        self,
        question: str,
        hits: Sequence[tuple[str, float]] = (),
        *,
        depth: int = 2,
        top_k: int = 20,
        labels: frozenset[str] | None = None,
        collections: tuple[str, ...] = (),
    ) -> Found:
        """The bucket graph."""
        query = Query(question, terms.extract(question), None, collections, top_k, depth)
        with self._forward.snapshot() as snapshot:
            return traversal.walk(query, hits, self._reading(snapshot, labels))

    def _reading(self, snapshot: Snapshot, labels: frozenset[str] | None) -> traversal.Reading:
        self._sieve.follow(snapshot.names_since, 1)
        lexical, spoken = self._lexical(snapshot, labels)
        adjacency = snapshot.adjacency(labels)
        return traversal.Reading(snapshot, adjacency, lexical, self._sieve, labels, spoken)

    def _lexical(
        self, snapshot: Snapshot, labels: frozenset[str] | None
    ) -> tuple[Lexical, list[str]]:
        """The words, and the languages spoken."""
        shares = [s for s in snapshot.statistics() if labels is None or s.label in labels]
        totals = Totals(sum(s.entities for s in shares), sum(s.tokens for s in shares))
        classes = frozenset(class_of(share.label, share.collection) for share in shares)
        readable = None if labels is None else classes
        lexical = Lexical(self._view, snapshot, snapshot.tail(), readable, totals)
        return lexical, sorted({share.language for share in shares})
