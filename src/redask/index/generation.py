"""One build of a partition's files: the forward index, the words and the vectors together.

    forward.sqlite   what each entity says, and up to which change everything is known
    words/           tantivy
    vectors/<n>/     vectors of n dimensions; a store has one such n at a time

`follow` applies the store's changes, under the partition's lock. Few changes go to the forward
index alone, as its tail: one small transaction, no fsync. Many, or a full tail, are folded:
tantivy commits first, then the forward index with tantivy's stamp. A crash between the two is
seen by the stamp, and folding again from the last known change mends it.

The forward index also keeps the last change that touched the vectors of n dimensions
(`vectors.n`) and what tantivy's files look like (`files`: name → size, time, CRC).

`state` gives a consistent pair of snapshot and view. Files of tantivy are immutable, so their
sizes and times tell damage; other times alone (a copied directory) are settled by the CRC.
Whatever does not fit together raises `Damaged`, and the partition builds a new generation.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from redask.core.errors import Damaged, StoreFailed
from redask.core.ports import Change, Entity, Store
from redask.index.analysis import analyzer
from redask.index.analysis.vocabulary import number_of
from redask.index.forward.entries import PROJECTIONS, Entry, Link, Share, Tail, class_of
from redask.index.forward.forward_index import LAYOUT, Forward, Snapshot
from redask.index.forward.forward_writer import ForwardTransaction
from redask.index.graph.mentions import BloomFilter
from redask.index.lexical.tantivy_terms import TermWriter, View, WordIndex
from redask.index.vector.nearest import VectorIndex

TAIL = 512
_BATCH = 500  # changes read at a time
_GROUP = 250_000  # changes between two commits of a long fold
_NAMES = 20_000  # names read at opening, in about 10 ms
_SYSTEM = "red_"  # collections that are never sources

# SQLite's ways of saying that a file is not what it was: ERROR, CORRUPT, SCHEMA, MISMATCH,
# NOTADB, and short reads. A full disk or a missing permission is none of them.
_BROKEN = frozenset((1, 11, 17, 20, 26, 522))


@dataclass(frozen=True, slots=True)
class State:
    """What one search reads, all of one moment."""

    snapshot: Snapshot
    view: View
    watermark: int
    shares: tuple[Share, ...]
    tail: Tail


class Generation:
    """An open build; `create` makes an empty one."""

    def __init__(self, directory: Path, identity: str) -> None:
        self.directory = directory
        self._known: tuple[str, View] | None = None
        self._read: tuple[int, tuple[Share, ...], Tail] | None = None
        self._vectors: dict[int, VectorIndex] = {}
        self.bloom_filter = BloomFilter()
        if not (directory / "forward.sqlite").is_file():
            raise Damaged("the forward index is missing")
        with sound():
            self.forward = Forward(directory / "forward.sqlite")
            self.words = WordIndex(directory / "words")
            with self.forward.snapshot() as snapshot:
                meta = snapshot.meta()
                saved = snapshot.bloom_filter()
        self._sieve_saved, bits = saved or (0, b"")
        if saved:
            self.bloom_filter.restore(self._sieve_saved, bits)
        if meta.get("layout") != str(LAYOUT):
            raise Damaged(f"the index has layout {meta.get('layout')}, not {LAYOUT}")
        if meta.get("identity") != identity:
            raise Damaged("the index belongs to another store")

    @staticmethod
    def create(directory: Path, identity: str) -> None:
        """An empty build for a store."""
        directory.mkdir(parents=True)
        words = WordIndex(directory / "words")
        forward = Forward(directory / "forward.sqlite", create=True)
        with forward.writing() as writing:
            writing.meta("layout", str(LAYOUT))
            writing.meta("identity", identity)
            _note(writing, words, 0, {})
        forward.close()

    def close(self) -> None:
        self.forward.close()

    # --- reading ---------------------------------------------------------------------------

    @contextmanager
    def state(self, at_least: int) -> Iterator[State | None]:
        """The present state, or None when it is behind, or needs a view only the lock can give."""
        with sound(), self.forward.snapshot() as snapshot:
            watermark, _, stamp = snapshot.position()
            known = self._known
            if watermark < at_least or known is None or known[0] != stamp:
                yield None
                return
            read = self._read
            if read is None or read[0] != watermark:
                read = (watermark, tuple(snapshot.statistics()), snapshot.tail())
                self._read = read
            yield State(snapshot, known[1], *read)

    def load(self) -> None:
        """Make the view fit the forward index; under the lock, so that nothing moves."""
        with sound(), self.forward.snapshot() as snapshot:
            stamp = snapshot.position().stamp
            if self._known is not None and self._known[0] == stamp:
                return
            if self._is_unclean(stamp):
                return
            self.words.check(json.loads(snapshot.meta()["files"]))
            view = self.words.view()
            tail = snapshot.tail()
            live = sum(share.entities for share in snapshot.statistics())
            if view.entities() != live - len(tail.rows.keys) + len(tail.held_classes):
                raise Damaged(f"the word index holds {view.entities()} entities, not {live}")
            self._known = (stamp, view)

    def vectors(self, dimensions: int) -> VectorIndex | None:
        """The vectors of so many dimensions, if there are any."""
        path = self.directory / "vectors" / str(dimensions)
        if dimensions not in self._vectors and path.exists():
            self._vectors[dimensions] = VectorIndex(path, dimensions)
        return self._vectors.get(dimensions)

    # --- writing ---------------------------------------------------------------------------

    def follow(self, store: Store, tenant: str) -> None:
        """Apply what the store has and this build has not. Hold the partition's lock."""
        with sound():
            self.load()
            while self._step(store, tenant):
                pass
            for dimensions in self._dimensions():
                index = self.vectors(dimensions)
                if index is not None and index.wants_fold:
                    index.fold()
        self.load()

    def _keep_bloom_filter(self) -> None:
        """Save the bloom_filter when reading the names since the last time would take a while."""
        with self.forward.snapshot() as snapshot:
            if len(snapshot.names_since(self._sieve_saved)) < _NAMES:
                return
            self.bloom_filter.follow(snapshot.names_since, snapshot.position().watermark)
        self._sieve_saved, bits = self.bloom_filter.saved()
        with self.forward.writing() as writing:
            writing.keep_bloom_filter(self._sieve_saved, bits)

    def _step(self, store: Store, tenant: str) -> bool:
        """Apply some changes. → whether there may be more"""
        with self.forward.snapshot() as snapshot:
            watermark, folded, stamp = snapshot.position()
            meta = snapshot.meta()
            waiting = snapshot.tail_keys()
        target = store.watermark(tenant)
        if watermark > target:
            raise Damaged(f"the index knows change {watermark}, the store only {target}")
        clean = not self._is_unclean(stamp)
        start = min([watermark, *self._behind(meta)])
        changes = store.changes(tenant, start, TAIL) if start < target else []
        if clean and not changes:
            if watermark < target:
                with self.forward.writing() as writing:
                    writing.moved(target)
            return False
        if clean and len(waiting) + len(changes) < TAIL:
            with self.forward.writing() as writing:
                self._apply(writing, changes, None)
                writing.moved(max(target, changes[-1].seq))
            return False
        return self._fold(store, tenant, (min(folded, start), target), waiting)

    def _is_unclean(self, stamp: str) -> bool:
        """Whether a crash came between tantivy's commit and ours; folding again mends it."""
        found = self.words.stamp()
        if int(found) < int(stamp):
            raise Damaged(f"the word index is older than it was: {found}, not {stamp}")
        return found != stamp

    def _fold(
        self, store: Store, tenant: str, span: tuple[int, int], waiting: Sequence[int]
    ) -> bool:
        """Bring tantivy up to date, for a group of changes. → whether there are more

        What `waiting` rows say is void in tantivy: they come again, or are gone.
        """
        after, target = span
        done, more = 0, True
        with self.forward.writing() as writing:
            with self.words.writing(many=target - after > TAIL * 8) as writer:
                for row in waiting:
                    writer.delete(row)
                while more and done < _GROUP:
                    changes = store.changes(tenant, after, _BATCH)
                    self._apply(writing, changes, writer)
                    more = len(changes) == _BATCH
                    after = changes[-1].seq if changes else after
                    done += len(changes)
                writer.commit()
            with self.forward.snapshot() as snapshot:
                files = json.loads(snapshot.meta()["files"])
            _note(writing, self.words, max(after, 0 if more else target), files)
        self._keep_bloom_filter()
        return more

    def _apply(
        self, writing: ForwardTransaction, changes: Sequence[Change], writer: TermWriter | None
    ) -> None:
        """Put changes everywhere; without a writer, into the tail."""
        if not changes:
            return
        texts: list[tuple[Change, int, str, str]] = []  # change, row, projection_key, payload
        links: list[Link] = []
        for change in changes:
            entity = change.entity
            if entity is None or change.collection.startswith(_SYSTEM):
                continue
            for number, (projection_key, payload) in enumerate(_projections(change, entity)):
                row = change.key << PROJECTIONS | number
                if entity.source is None or entity.target is None:
                    texts.append((change, row, projection_key, payload))
                elif link := _link(
                    change, row, projection_key, payload, (entity.source, entity.target)
                ):
                    links.append(link)
        analysed = analyzer.entities([(payload, each.language) for each, *_, payload in texts])
        vectors: dict[int, list[tuple[int, int, tuple[float, ...]]]] = {}
        for change, row, _, _ in texts:
            vector = change.entity.vector if change.entity else None
            if vector and any(vector) and row == change.key << PROJECTIONS:
                kind = vector_class(class_of(change.class_key, change.collection))
                vectors.setdefault(len(vector), []).append((row, kind, vector))
        seq = changes[-1].seq
        touched = [change.key << PROJECTIONS for change in changes]
        self._apply_vectors(writing, vectors, touched, seq)
        entries = [
            Entry(row, change.urn, change.collection, key, *found[:-1])
            for (change, row, key, _), found in zip(texts, analysed, strict=True)
        ]
        rows = [first + projection for first in touched for projection in range(1 << PROJECTIONS)]
        gone = writing.apply(entries, links, rows, seq=seq, tail=writer is None)
        if writer:
            for row in {*touched, *gone}.difference(entry.key for entry in entries):
                writer.delete(row)
            for entry, found in zip(entries, analysed, strict=True):
                writer.add(entry.key, class_of(entry.label, entry.collection), found.words)

    def _apply_vectors(
        self,
        writing: ForwardTransaction,
        added: dict[int, list[tuple[int, int, tuple[float, ...]]]],
        touched: Sequence[int],
        seq: int,
    ) -> None:
        for dimensions in sorted({*added, *self._dimensions()}):
            index = self.vectors(dimensions)
            if index is None:
                path = self.directory / "vectors" / str(dimensions)
                index = self._vectors[dimensions] = VectorIndex(path, dimensions)
            index.apply(added.get(dimensions, []), touched, seq)
            writing.meta(f"vectors.{dimensions}", str(seq))

    def _dimensions(self) -> list[int]:
        folder = self.directory / "vectors"
        return sorted(int(path.name) for path in folder.iterdir()) if folder.exists() else []

    def _behind(self, meta: dict[str, str]) -> Iterator[int]:
        """Where vectors stop that a power cut took back; usually nothing."""
        for name, seq in meta.items():
            if name.startswith("vectors."):
                index = self.vectors(int(name.removeprefix("vectors.")))
                if index is None or index.seq < int(seq):
                    yield index.seq if index else 0


@contextmanager
def sound() -> Iterator[None]:
    """Tell damaged files from other trouble with them."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 1) in _BROKEN:
            raise Damaged("the forward index is damaged", detail=str(error)) from error
        raise StoreFailed("the forward index failed", detail=str(error)) from error
    except OSError as error:
        raise StoreFailed("the index cannot be used", detail=str(error)) from error


def vector_class(kind: str) -> int:
    """The number vectors have in place of a class."""
    return number_of(kind) >> 1  # their numbers are signed


def _note(
    writing: ForwardTransaction, words: WordIndex, watermark: int, files: dict[str, list[int]]
) -> None:
    """Write down that tantivy knows everything up to a change."""
    writing.folded(watermark, words.stamp())
    writing.meta("files", json.dumps(words.measure(files)))


def _projections(change: Change, entity: Entity) -> tuple[tuple[str, str], ...]:
    return change.projections or ((change.class_key, entity.payload),)


def _link(
    change: Change, row: int, projection_key: str, payload: str, ends: tuple[str, str]
) -> Link | None:
    """An edge as one projection shows it; None when it does not show the ends."""
    content = json.loads(payload)
    if (content.get("from"), content.get("to")) != ends:
        return None
    said = str(content.get("label", ""))
    return Link(row, change.urn, change.collection, projection_key, *ends, said)
