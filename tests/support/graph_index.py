"""A small index built by hand, with projection keys: for tests of the graph."""

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
from redask.index.forward.entries import EdgeEntry, Entry, filter_key
from redask.index.forward.forward_index import ForwardIndex, Snapshot
from redask.index.graph import traversal
from redask.index.graph.graph_reader import GraphReader
from redask.index.graph.mentions import BloomFilter
from redask.index.lexical.bm25 import CorpusStatistics, LexicalSearcher
from redask.index.lexical.tantivy_terms import InvertedIndex

Found = list[tuple[str, float]]


class World:
    """Entities and edges to index; `indexed` builds the index."""

    def __init__(self) -> None:
        self.entities: list[tuple[str, str, str, str]] = []
        self.links: list[tuple[str, str, str, str, str, str]] = []

    def put(
        self, id_: str, projection_key: str = "all", collection: str = "t", **columns: object
    ) -> str:
        """An entity with an id. → its URN"""
        urn = urns.encode(Urn(Kind.ROW, collection, id_))
        self.entities.append((urn, collection, projection_key, text(columns)))
        return urn

    def link(
        self,
        source: str,
        relation: str,
        target: str,
        projection_key: str = "all",
        collection: str = "e",
    ) -> str:
        """An edge between two URNs. → its own"""
        urn = urns.encode(Urn(Kind.EDGE, collection, f"{source} {relation} {target}"))
        self.links.append((urn, collection, projection_key, source, target, relation))
        return urn

    @contextmanager
    def indexed(self, seed: int = 0) -> "Iterator[IndexedWorld]":
        """An index in which the keys are in another order for every seed."""
        keys = random.Random(seed).sample(
            range(1, 1 + len(self.entities) + len(self.links)), len(self.entities + self.links)
        )
        with tempfile.TemporaryDirectory() as folder:
            forward = ForwardIndex(Path(folder) / "forward.sqlite", create=True)
            inverted = InvertedIndex(Path(folder) / "words")
            entries = []
            analysed = analyzer.entities([(payload, None) for *_, payload in self.entities])
            with inverted.writer(bulk=False) as writer:
                for (urn, collection, own, _), found in zip(self.entities, analysed, strict=True):
                    key = keys.pop()
                    writer.add(key, filter_key(own, collection), found.body)
                    entries.append(Entry(key, urn, collection, own, *found[:-1]))
                writer.commit()
            edges = [EdgeEntry(keys.pop(), *link) for link in self.links]
            with forward.transaction() as transaction:
                transaction.apply(entries, edges, (), seq=1, tail=False)
            yield IndexedWorld(forward, inverted)
            forward.close()

    def traverse(self, question: str, **options: object) -> Found:
        with self.indexed() as index:
            return index.traverse(question, **options)  # type: ignore[arg-type]

    def reached(self, question: str, **options: object) -> list[str]:
        return [urn for urn, _ in self.traverse(question, **options)]


class IndexedWorld:
    """The built index."""

    def __init__(self, forward: ForwardIndex, inverted: InvertedIndex) -> None:
        self._forward = forward
        self._searcher = inverted.searcher()
        self._bloom_filter = BloomFilter()

    def words(self, question: str, limit: int = 20) -> Found:
        """The bucket bm25."""
        with self._forward.snapshot() as snapshot:
            lexical, languages = self._lexical(snapshot, None)
            query = analyzer.question(question, (), languages)
            found = lexical.search(query, limit, None, lambda _: {})
            return [(hit.urn, hit.score) for hit in found]

    def traverse(
        self,
        question: str,
        hits: Sequence[tuple[str, float]] = (),
        *,
        depth: int = 2,
        top_k: int = 20,
        projection_keys: frozenset[str] | None = None,
        collections: tuple[str, ...] = (),
    ) -> Found:
        """The bucket graph."""
        query = Query(question, terms.extract(question), None, collections, top_k, depth)
        with self._forward.snapshot() as snapshot:
            return traversal.traverse(
                query, hits, self._reader(snapshot, projection_keys)
            ).candidates

    def _reader(self, snapshot: Snapshot, projection_keys: frozenset[str] | None) -> GraphReader:
        self._bloom_filter.catch_up(snapshot.name_hashes_since, 1)
        lexical, languages = self._lexical(snapshot, projection_keys)
        return GraphReader(
            snapshot,
            snapshot.adjacency(projection_keys),
            lexical,
            self._bloom_filter,
            projection_keys,
            languages,
        )

    def _lexical(
        self, snapshot: Snapshot, projection_keys: frozenset[str] | None
    ) -> tuple[LexicalSearcher, list[str]]:
        """The searcher of the inverted index, and the languages of the entities."""
        groups = [
            group
            for group in snapshot.statistics()
            if projection_keys is None or group.projection_key in projection_keys
        ]
        statistics = CorpusStatistics.of(groups)
        allowed = frozenset(filter_key(group.projection_key, group.collection) for group in groups)
        readable = None if projection_keys is None else allowed
        lexical = LexicalSearcher(self._searcher, snapshot, snapshot.tail(), readable, statistics)
        return lexical, sorted({group.language for group in groups})
