"""One generation of a partition's files: forward index, inverted index and vector index.

    forward.sqlite   the forward index, and the watermark of the generation
    columns-…        its rows as arrays, see `forward.column_builds`
    words/           the inverted index, in tantivy
    vectors/<n>/     vectors of n dimensions; a store has one such n at a time

`catch_up` applies the store's changes, under the partition's lock. Few changes are written to the
forward index alone, as its tail: one small transaction, no fsync. Many, or a full tail, are
folded: tantivy commits first, then the forward index with tantivy's stamp. A crash between the two
commits is detected by the stamp and repaired by folding again from the last recorded change.

The metadata of the forward index also has the last change applied to the vectors of n dimensions
(`vectors.n`) and the checksums of tantivy's files (`files`: name → size, mtime, CRC).

`state` gives a snapshot and a searcher of the same state. Every file is compared with its checksum
when it is opened; very large ones, by `verify` (`doctor --deep`). What is corrupt or inconsistent
raises `CorruptIndex`, and the partition builds a new generation; arrays are only made again.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from redask.core.ports import Change, Entity, Store
from redask.index import private_files
from redask.index.analysis import analyzer
from redask.index.analysis.vocabulary import NewWords, hash64
from redask.index.corruption import corrupt, index_errors, unusable
from redask.index.forward import column_builds
from redask.index.forward.column_builds import ColumnBuilds
from redask.index.forward.entries import (
    PROJECTION_BITS,
    EdgeEntry,
    Entry,
    GroupStatistics,
    Tail,
    filter_key,
)
from redask.index.forward.forward_index import LAYOUT, ForwardIndex, Snapshot
from redask.index.forward.forward_writer import ForwardTransaction
from redask.index.graph.column_entities import ChangedRows
from redask.index.graph.mentions import BloomFilter
from redask.index.lexical.tantivy_terms import InvertedIndex, TermSearcher, TermWriter
from redask.index.lexical.word_list import WordList
from redask.index.vector.nearest import VectorIndex

MAX_TAIL = 512  # rows in the tail
READ_AT_OPENING = 512 * 2**20  # bytes that are compared with their checksums, in 0.2 s
_READ_BATCH = 500  # changes read at a time
_COMMIT_BATCH = 250_000  # changes between two commits of a long fold
_MAX_UNSAVED_NAMES = 20_000  # read at opening, in about 10 ms
_FEW_WORDS, _MANY_WORDS = 12, 20  # bits of the table of words that a transaction has written
_SYSTEM_PREFIX = "red_"  # collections that are never sources


_Read = tuple[int, tuple[GroupStatistics, ...], Tail, ChangedRows | None]
_ReadAt = tuple[tuple[int, str], _Read]  # by watermark and file of arrays


@dataclass(frozen=True, slots=True)
class State:
    """What one search reads, all at one watermark."""

    snapshot: Snapshot
    searcher: TermSearcher
    history: str  # the store's last write that was seen
    watermark: int
    statistics: tuple[GroupStatistics, ...]
    tail: Tail
    changed: ChangedRows | None  # since the arrays were made; None: there are none


class Generation:
    """An open generation; `create` writes an empty one."""

    def __init__(self, directory: Path, identity: str) -> None:
        self.directory = directory
        self._searcher: tuple[str, TermSearcher] | None = None
        self._cached: _ReadAt | None = None
        self.columns = ColumnBuilds(directory, READ_AT_OPENING)
        self._vectors: dict[int, VectorIndex] = {}
        self.bloom_filter = BloomFilter()
        self.word_list = WordList()
        if not (directory / "forward.sqlite").is_file():
            raise corrupt("forward.sqlite is missing")
        with index_errors():
            self.forward = ForwardIndex(directory / "forward.sqlite")
            self.forward.sums.verify(READ_AT_OPENING)
            self.inverted = InvertedIndex(directory / "words")
            with self.forward.snapshot() as snapshot:
                meta = snapshot.meta()
                saved = snapshot.bloom_filter()
        self._bloom_filter_seq, bits = saved or (0, b"")
        if saved:
            self.bloom_filter.restore(self._bloom_filter_seq, bits)
        if meta.get("layout") != str(LAYOUT):
            raise unusable(f"the index has layout {meta.get('layout')}, not {LAYOUT}")
        if meta.get("identity") != identity:
            raise unusable("the index belongs to another store")

    @staticmethod
    def create(directory: Path, identity: str) -> None:
        """Write an empty generation for a store."""
        private_files.make_directory(directory)
        inverted = InvertedIndex(directory / "words")
        forward = ForwardIndex(directory / "forward.sqlite", create=True)
        with forward.transaction() as transaction:
            transaction.set_meta("layout", str(LAYOUT))
            transaction.set_meta("identity", identity)
            _record_fold(transaction, inverted, (0, ""), {})
        forward.checkpoint()
        forward.close()
        private_files.narrow(directory)

    def close(self) -> None:
        self.forward.close()

    # --- reading ---------------------------------------------------------------------------

    @contextmanager
    def state(self, at_least: int) -> Iterator[State | None]:
        """The present state; None when it is behind, or the searcher is not of this state."""
        with index_errors(), self.forward.snapshot() as snapshot:
            watermark, _, stamp, history = snapshot.position()
            searcher = self._searcher
            if watermark < at_least or searcher is None or searcher[0] != stamp:
                yield None
                return
            cached, at = self._cached, (watermark, snapshot.meta_value("columns"))
            if cached is None or cached[0] != at:
                read = tuple(snapshot.statistics()), snapshot.tail()
                self._cached = cached = (at, (watermark, *read, self.columns.changed(snapshot)))
            yield State(snapshot, searcher[1], history, *cached[1])

    def open_searcher(self) -> None:
        """Open a searcher of the state that the forward index is at. Hold the partition's lock."""
        with index_errors(), self.forward.snapshot() as snapshot:
            stamp = snapshot.position().stamp
            if self._searcher is not None and self._searcher[0] == stamp:
                return
            if self._is_half_committed(stamp):
                return
            self.inverted.verify_files(json.loads(snapshot.meta()["files"]), READ_AT_OPENING)
            searcher = self.inverted.searcher()
            tail = snapshot.tail()
            live = sum(group.entities for group in snapshot.statistics())
            expected = live - len(tail.rows.keys) + len(tail.stale_filter_keys)
            if searcher.entities() != expected:
                raise corrupt(f"tantivy has {searcher.entities()} documents, not {expected}")
            self._searcher = (stamp, searcher)

    def verify(self) -> None:
        """Read every file; raise `CorruptIndex` if one is not what was written."""
        with index_errors():
            self.forward.sums.verify()
            with self.forward.snapshot() as snapshot:
                meta = snapshot.meta()
                self.columns.verify(snapshot)
            InvertedIndex(self.directory / "words").verify_files(json.loads(meta["files"]))
            applied = {**dict.fromkeys(self._dimensions(), 0), **_applied_vectors(meta)}
            for dimensions, seq in applied.items():
                path = self.directory / "vectors" / str(dimensions)
                VectorIndex(path, dimensions).verify(applied=seq)

    def vectors(self, dimensions: int) -> VectorIndex | None:
        """The vector index of this number of dimensions, if there is one."""
        path = self.directory / "vectors" / str(dimensions)
        if dimensions not in self._vectors and path.exists():
            self._vectors[dimensions] = VectorIndex(path, dimensions)
        return self._vectors.get(dimensions)

    # --- writing ---------------------------------------------------------------------------

    def catch_up(self, store: Store, tenant: str, *, most: int | None = None) -> None:
        """Apply the store's changes since the watermark. Hold the partition's lock.

        Arrays of at most so many rows (None: WAITED_ROWS) are made, too, where they are due.
        """
        with index_errors():
            self.open_searcher()
            while self._apply_next(store, tenant):
                self.forward.checkpoint()
            if self.forward.sums.is_due:
                self.forward.checkpoint()
            waited = column_builds.WAITED_ROWS if most is None else most
            self.columns.make(self.forward, most=waited)
            for dimensions in self._dimensions():
                index = self.vectors(dimensions)
                if index is not None and index.needs_fold:
                    index.fold()
        self.open_searcher()

    def _save_bloom_filter(self) -> None:
        """Save the Bloom filter when many names were written since it was last saved."""
        with self.forward.snapshot() as snapshot:
            if len(snapshot.name_hashes_since(self._bloom_filter_seq)) < _MAX_UNSAVED_NAMES:
                return
            self.bloom_filter.catch_up(snapshot.name_hashes_since, snapshot.position().watermark)
        self._bloom_filter_seq, bits = self.bloom_filter.dump()
        with self.forward.transaction() as transaction:
            transaction.save_bloom_filter(self._bloom_filter_seq, bits)

    def _apply_next(self, store: Store, tenant: str) -> bool:
        """Apply the next changes, to the tail or by a fold. → whether there may be more"""
        with self.forward.snapshot() as snapshot:
            watermark, folded, stamp, seen = snapshot.position()
            meta = snapshot.meta()
            tail_keys = snapshot.tail_keys()
        target = store.watermark(tenant)
        if problem := foreign(store, tenant, watermark, seen):
            raise unusable(problem)
        consistent = not self._is_half_committed(stamp)
        start = min([watermark, *self._lost_vectors(meta)])
        changes = store.changes(tenant, start, MAX_TAIL) if start < target else []
        history = store.history(tenant)  # after the changes: it holds all that they came from
        if consistent and not changes:
            if watermark < target or seen != history:
                with self.forward.transaction() as transaction:
                    transaction.set_watermark(target, history)
            return False
        if consistent and len(tail_keys) + len(changes) < MAX_TAIL:
            with self.forward.transaction() as transaction:
                self._apply(transaction, changes, None, NewWords(_FEW_WORDS))
                transaction.set_watermark(max(target, changes[-1].seq), history)
            return False
        return self._fold(store, tenant, (min(folded, start), target), tail_keys)

    def _is_half_committed(self, stamp: str) -> bool:
        """Whether tantivy committed and the forward index did not; folding again repairs it."""
        found = self.inverted.stamp()
        if int(found) < int(stamp):
            raise corrupt(f"tantivy is at commit {found}, the forward index at {stamp}")
        return found != stamp

    def _fold(
        self, store: Store, tenant: str, span: tuple[int, int], tail_keys: Sequence[int]
    ) -> bool:
        """Fold the next changes after `span[0]` into tantivy, in one commit. → whether more follow

        The rows of the tail are deleted from tantivy first: live ones are among the changes.
        """
        after, target = span
        done, more = 0, True
        new_words = NewWords(_FEW_WORDS if target - after <= MAX_TAIL * 8 else _MANY_WORDS)
        with self.forward.transaction() as transaction:
            with self.inverted.writer(bulk=target - after > MAX_TAIL * 8) as writer:
                for row in tail_keys:
                    writer.delete(row)
                while more and done < _COMMIT_BATCH:
                    changes = store.changes(tenant, after, _READ_BATCH)
                    self._apply(transaction, changes, writer, new_words)
                    more = len(changes) == _READ_BATCH
                    after = changes[-1].seq if changes else after
                    done += len(changes)
                writer.commit()
            private_files.narrow(self.inverted.directory)
            with self.forward.snapshot() as snapshot:
                files = json.loads(snapshot.meta()["files"])
            read = (max(after, 0 if more else target), store.history(tenant))
            _record_fold(transaction, self.inverted, read, files)
        self._save_bloom_filter()
        return more

    def _apply(
        self,
        transaction: ForwardTransaction,
        changes: Sequence[Change],
        writer: TermWriter | None,
        new_words: NewWords,
    ) -> None:
        """Apply changes to all three indexes; without a writer, to the tail in place of tantivy.

        `new_words` belongs to the transaction: what is rolled back must be collected again.
        """
        if not changes:
            return
        texts: list[tuple[Change, int, str, str]] = []  # change, row, projection_key, payload
        edges: list[EdgeEntry] = []
        for change in changes:
            entity = change.entity
            if entity is None or change.collection.startswith(_SYSTEM_PREFIX):
                continue
            for number, (projection_key, payload) in enumerate(_projections(change, entity)):
                row = change.key << PROJECTION_BITS | number
                if entity.source is None or entity.target is None:
                    texts.append((change, row, projection_key, payload))
                elif edge := _edge_entry(
                    change, row, projection_key, payload, (entity.source, entity.target)
                ):
                    edges.append(edge)
        given = [(payload, each.language) for each, *_, payload in texts]
        analysed = analyzer.entities(given, new_words)
        transaction.add_words(new_words.take())
        vectors: dict[int, list[tuple[int, int, tuple[float, ...]]]] = {}
        for change, row, _, _ in texts:
            vector = change.entity.vector if change.entity else None
            if vector and any(vector) and row == change.key << PROJECTION_BITS:
                filter_hash = filter_key_hash(filter_key(change.class_key, change.collection))
                vectors.setdefault(len(vector), []).append((row, filter_hash, vector))
        seq = changes[-1].seq
        touched = [change.key << PROJECTION_BITS for change in changes]
        self._apply_vectors(transaction, vectors, touched, seq)
        entries = [
            Entry(row, change.urn, change.collection, key, *found[:-1])
            for (change, row, key, _), found in zip(texts, analysed, strict=True)
        ]
        rows = [
            first + projection for first in touched for projection in range(1 << PROJECTION_BITS)
        ]
        removed = transaction.apply(entries, edges, rows, seq=seq, tail=writer is None)
        if writer:
            for row in {*touched, *removed}.difference(entry.key for entry in entries):
                writer.delete(row)
            for entry, found in zip(entries, analysed, strict=True):
                own_filter = filter_key(entry.projection_key, entry.collection)
                writer.add(entry.key, own_filter, found.body)

    def _apply_vectors(
        self,
        transaction: ForwardTransaction,
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
            transaction.set_meta(f"vectors.{dimensions}", str(seq))

    def _dimensions(self) -> list[int]:
        folder = self.directory / "vectors"
        return sorted(int(path.name) for path in folder.iterdir()) if folder.exists() else []

    def _lost_vectors(self, meta: dict[str, str]) -> Iterator[int]:
        """The last changes of vector indexes that lost later ones in a power cut; usually none."""
        for dimensions, seq in _applied_vectors(meta).items():
            index = self.vectors(dimensions)
            if index is None or index.seq < seq:
                yield index.seq if index else 0


def _applied_vectors(meta: Mapping[str, str]) -> dict[int, int]:
    """The last change applied to the vectors, by their number of dimensions."""
    found = ((name.partition("vectors."), seq) for name, seq in meta.items())
    return {int(number): int(seq) for (before, dot, number), seq in found if dot and not before}


def foreign(store: Store, tenant: str, watermark: int, seen: str) -> str | None:
    """Why the store is not the one that an index was made from; None if it is."""
    target = store.watermark(tenant)
    if watermark > target:
        return f"the index is at change {watermark}, the store only at {target}"
    if not store.follows(tenant, seen):
        return "the index is of another history: the store was replaced by another state of it"
    return None


def filter_key_hash(key: str) -> int:
    """The filter key of a row in the vector index."""
    return hash64(key) >> 1  # to fit a signed integer


def _record_fold(
    transaction: ForwardTransaction,
    inverted: InvertedIndex,
    read: tuple[int, str],
    files: dict[str, list[int]],
) -> None:
    """Record up to which change tantivy has all, of which history, and its files' checksums."""
    watermark, history = read
    transaction.set_folded(watermark, inverted.stamp(), history)
    transaction.set_meta("files", json.dumps(inverted.file_checksums(files)))


def _projections(change: Change, entity: Entity) -> tuple[tuple[str, str], ...]:
    return change.projections or ((change.class_key, entity.payload),)


def _edge_entry(
    change: Change, row: int, projection_key: str, payload: str, ends: tuple[str, str]
) -> EdgeEntry | None:
    """One projection of an edge; None when it hides the ends."""
    content = json.loads(payload)
    if (content.get("from"), content.get("to")) != ends:
        return None
    relation = str(content.get("label", ""))
    return EdgeEntry(row, change.urn, change.collection, projection_key, *ends, relation)
