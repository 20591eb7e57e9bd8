"""The forward index: the tokens, names and edges of every entity, by key.

One SQLite file in the partition, derived from the store's change log: when it is corrupt, which
`block_sums` tells, the partition is rebuilt.

    entities    key → urn, collection, label, language, called, names, columns, ends, tokens
    names       name hash → keys of the entities with that name
    sieve       the Bloom filter of all name hashes, as it was last saved
    edges       key → urn, source urn, target urn, relation; indexed by both ends
    statistics  (collection, label, language) → number of entities, number of tokens
    tail        key → the version that tantivy still has of a row changed since its last commit
    position    the watermark; the last change folded into tantivy; tantivy's stamp of that state;
                the last write of the store that was seen (`Store.history`)
    changed     number → the entities that changed since the arrays of `columns` were made
    words       number → every word of five letters or more that was ever written here
    meta        layout version, the store's identity, tantivy's files, the file of `columns`

The column `label` is the row's projection key, `called` the stems of its shortest name.

**tokens** is one array of unsigned 64-bit numbers for a row, in the order of its text:

    0 ──── ends[0] ──── ends[1] … ends[-1] ──── end       the words of each column, stop words
     column 0     column 1              literals          included, then parts and literals

A word is two 32-bit hashes, `stem << 32 | surface`. Term frequencies compare stems; names compare
surfaces (the lower-cased word), because stemming conflates "experience" and "experiment". A
literal is one 64-bit hash. So frequencies, lengths and name n-grams come from one blob, and
nothing is tokenised twice. A **name** is the `name_hash` of its surfaces; its stems as text are
what tantivy is searched with for texts that mention it.

A `transaction()` writes changes together with the new position, and is idempotent. A `snapshot()`
reads one state. An entity has one row for each of its projections, and no caller sees two of
them: keys are the store's with the number of the projection in their lowest bits, and never
influence an answer.
"""

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from redask.index import private_files
from redask.index.corruption import corrupt
from redask.index.forward.block_sums import BlockSums
from redask.index.forward.column_reading import ColumnReading
from redask.index.forward.entries import (
    I64,
    U64,
    GroupStatistics,
    Rows,
    Tail,
    TokenSequences,
    filter_key,
)
from redask.index.forward.forward_writer import ForwardTransaction, chunks, row_crc
from redask.index.graph.adjacency import Adjacency
from redask.index.sqlite_schema import foreign_parts, harden

LAYOUT = 6

_SCAN_BATCH = 1_024  # rows read at a time
_SCHEMA = """
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE position(
    watermark INTEGER NOT NULL, folded INTEGER NOT NULL, stamp TEXT NOT NULL,
    history TEXT NOT NULL);
INSERT INTO position VALUES(0, 0, '', '');
CREATE TABLE entities(
    key INTEGER PRIMARY KEY, urn TEXT NOT NULL, collection TEXT NOT NULL, label TEXT NOT NULL,
    language TEXT NOT NULL, called TEXT NOT NULL, names BLOB NOT NULL, columns TEXT NOT NULL,
    ends BLOB NOT NULL, tokens BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE INDEX entity_urn ON entities(urn);
CREATE TABLE names(
    name INTEGER, key INTEGER, seq INTEGER, PRIMARY KEY(name, key)) WITHOUT ROWID;
CREATE INDEX name_seq ON names(seq);
CREATE TABLE sieve(seq INTEGER NOT NULL, bits BLOB NOT NULL);
CREATE TABLE edges(
    key INTEGER PRIMARY KEY, urn TEXT NOT NULL, collection TEXT NOT NULL, label TEXT NOT NULL,
    source TEXT NOT NULL, target TEXT NOT NULL, relation TEXT NOT NULL);
CREATE INDEX edge_source ON edges(source);
CREATE INDEX edge_target ON edges(target);
CREATE TABLE statistics(
    collection TEXT, label TEXT, language TEXT, entities INTEGER NOT NULL,
    tokens INTEGER NOT NULL, PRIMARY KEY(collection, label, language)) WITHOUT ROWID;
CREATE TABLE words(number INTEGER PRIMARY KEY, word TEXT NOT NULL UNIQUE);
CREATE TABLE tail(key INTEGER PRIMARY KEY, label TEXT, collection TEXT, tokens BLOB);
CREATE TABLE changed(number INTEGER PRIMARY KEY, entity INTEGER NOT NULL);
"""


class Position(NamedTuple):
    """The last change applied; the last one folded into tantivy; tantivy's stamp of that state.

    `history` is the last write that the store had when it was last read.
    """

    watermark: int
    folded: int
    stamp: str
    history: str


class Snapshot(ColumnReading):
    """One state of the forward index, for reading."""

    def meta(self) -> dict[str, str]:
        """The metadata by name."""
        return dict(self._connection.execute("SELECT name, value FROM meta"))

    def position(self) -> Position:
        """Up to which change this file and tantivy are caught up."""
        found = self._connection.execute("SELECT watermark, folded, stamp, history FROM position")
        return Position(*found.fetchone())

    def statistics(self) -> list[GroupStatistics]:
        """The statistics of all groups, in a fixed order."""
        return [
            GroupStatistics(*row)
            for row in self._connection.execute(
                "SELECT collection, label, language, entities, tokens FROM statistics"
            )
        ]

    def token_sequences(self, keys: Iterable[int]) -> TokenSequences:
        """The tokens and URNs of the rows with these keys."""
        found: list[tuple[int, bytes, str, int]] = []
        for chunk, placeholders in chunks(sorted(keys)):
            found += self._connection.execute(
                f"SELECT key, tokens, urn, crc FROM entities WHERE key IN ({placeholders})", chunk
            )
        return _sequences(found)

    def fetch(self, keys: Iterable[int]) -> Rows:
        """The whole rows with these keys."""
        found: list[tuple[int, bytes, str, int, bytes, str, str, str]] = []
        for chunk, placeholders in chunks(sorted(keys)):
            found += self._connection.execute(
                f"SELECT {_ROW} FROM entities WHERE key IN ({placeholders})", chunk
            )
        return _rows(found)

    def scan_by_urn(self, limit: int) -> Iterator[Rows]:
        """The first `limit` rows ordered by URN, in batches."""
        after = ("", 0)
        for _ in range(0, limit, _SCAN_BATCH):
            found = self._connection.execute(
                f"SELECT {_ROW} FROM entities WHERE (urn, key) > (?, ?) ORDER BY urn, key LIMIT ?",
                (*after, _SCAN_BATCH),
            ).fetchall()
            if not found:
                return
            after = (found[-1][2], found[-1][0])
            yield _rows(found)

    def tail(self) -> Tail:
        """The whole tail."""
        keys = self._connection.execute("SELECT key FROM tail").fetchall()
        live = self._connection.execute(
            f"SELECT {_ROW} FROM entities WHERE key IN (SELECT key FROM tail) ORDER BY key"
        ).fetchall()
        stale = self._connection.execute(
            "SELECT key, tokens, label, collection FROM tail WHERE tokens IS NOT NULL ORDER BY key"
        ).fetchall()
        return Tail(
            frozenset(row[0] for row in keys),
            _rows(live),
            TokenSequences(
                [row[0] for row in stale], [], *_concatenated([row[1] for row in stale])
            ),
            [filter_key(row[2], row[3]) for row in stale],
        )

    def tail_keys(self) -> list[int]:
        """The keys of the tail, ascending."""
        return [row[0] for row in self._connection.execute("SELECT key FROM tail ORDER BY key")]

    def urns_of(self, keys: Iterable[int]) -> dict[int, str]:
        """The URNs of the rows with these keys; unknown keys are left out."""
        found: dict[int, str] = {}
        for chunk, placeholders in chunks(sorted(keys)):
            found.update(
                self._connection.execute(
                    f"SELECT key, urn FROM entities WHERE key IN ({placeholders})", chunk
                )
            )
        return found

    def keys(self, urns: Iterable[str], projection_keys: frozenset[str] | None) -> dict[str, int]:
        """The keys of the rows with these URNs and one of these projection keys (None: any).

        Edges and unknown URNs are left out.
        """
        found: dict[str, int] = {}
        for chunk, placeholders in chunks(sorted(urns)):
            rows = self._connection.execute(
                f"SELECT urn, key, label FROM entities WHERE urn IN ({placeholders})", chunk
            )
            found.update(
                (urn, key)
                for urn, key, own in rows
                if projection_keys is None or own in projection_keys
            )
        return found

    def words_since(self, number: int) -> list[tuple[int, str]]:
        """The words with greater numbers, in order; also those of rows that are gone."""
        return self._connection.execute(
            "SELECT number, word FROM words WHERE number > ? ORDER BY number", (number,)
        ).fetchall()

    def name_hashes_since(self, seq: int) -> U64:
        """The hashes of all names written after a change, in any order."""
        rows = self._connection.execute("SELECT name FROM names WHERE seq > ?", (seq,))
        return np.fromiter((row[0] for row in rows), np.int64).view(np.uint64)

    def bloom_filter(self) -> tuple[int, bytes] | None:
        """The saved Bloom filter of name hashes: its last change and its bits."""
        found: tuple[int, bytes] | None = self._connection.execute(
            "SELECT seq, bits FROM sieve"
        ).fetchone()
        return found

    def adjacency(
        self,
        projection_keys: frozenset[str] | None,
        withheld: frozenset[tuple[str, str]] = frozenset(),
    ) -> Adjacency:
        """Names and edges of the rows with these projection keys (None: all).

        `withheld` are projection keys that do not count in some collection.
        """
        return Adjacency(self._connection, projection_keys, withheld)


class ForwardIndex:
    """The file; threads and processes may share it."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self._path = path
        self._mode = "rwc" if create else "rw"
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        self._in_use = 0
        self._lock = threading.Lock()
        self.sums = BlockSums(path)
        self._last: sqlite3.Connection | None = None  # cannot write, and is closed last
        if create:
            private_files.make_file(path)  # its logs take its mode
            with self._pooled_connection() as connection:
                connection.executescript(_SCHEMA)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """A read transaction: what others commit meanwhile stays invisible."""
        with self._pooled_connection() as connection:
            connection.execute("BEGIN")
            try:
                yield Snapshot(connection)
            finally:
                connection.execute("COMMIT")

    @contextmanager
    def transaction(self) -> Iterator[ForwardTransaction]:
        """A write transaction, rolled back when the block fails."""
        with self._pooled_connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                transaction = ForwardTransaction(connection)
                yield transaction
                transaction.flush_names()
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def checkpoint(self) -> None:
        """Move what was written into the file, with its sums. Hold the partition's lock."""
        with self._pooled_connection() as connection:
            self.sums.checkpoint(connection)

    def close(self) -> None:
        """Close idle connections; one in use is closed when it is returned to the pool."""
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop().close()
            if self._last is not None and not self._in_use:
                self._last.close()
                self._last = None

    @contextmanager
    def _pooled_connection(self) -> Iterator[sqlite3.Connection]:
        """A connection from the pool until the block ends; a failed one is closed."""
        with self._lock:
            self._in_use += 1
            connection = self._idle.pop() if self._idle else None
        try:
            connection = connection or self._connect()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            self._idle.append(connection)
        finally:
            with self._lock:
                self._in_use -= 1
            if self._closed:
                self.close()

    def _connect(self) -> sqlite3.Connection:
        if self._mode == "rw" and not self._path.exists():
            raise corrupt("forward.sqlite is missing")
        connection = self._open(self._mode)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # derived data can be rebuilt
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        with self._lock:
            if self._last is None:
                self._last = self._open("ro")
                self._last.execute("SELECT count(*) FROM sqlite_master").fetchone()
                if self._mode == "rw":
                    _check_schema(self._last)
        return connection

    def _open(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?mode={mode}",
            uri=True,
            timeout=60,
            isolation_level=None,
            check_same_thread=False,
        )
        harden(connection)
        return connection


def _check_schema(connection: sqlite3.Connection) -> None:
    foreign = foreign_parts(connection, _SCHEMA.split(";\n"))
    if foreign:
        raise corrupt(f"forward.sqlite has what redask did not make: {foreign[0]}")


_ROW = "key, tokens, urn, crc, ends, collection, label, called"


def _sequences(found: Sequence[tuple[int, bytes, str, int]]) -> TokenSequences:
    for key, tokens, urn, crc in found:
        if row_crc(tokens, urn) != crc:
            raise corrupt(f"forward.sqlite, row {key} fails its checksum")
    starts, joined = _concatenated([row[1] for row in found])
    return TokenSequences([row[0] for row in found], [row[2] for row in found], starts, joined)


def _rows(found: Sequence[tuple[int, bytes, str, int, bytes, str, str, str]]) -> Rows:
    checked = _sequences([row[:4] for row in found])
    columns = map(list, zip(*found, strict=True)) if found else ([] for _ in range(8))
    *_, ends, collections, projection_keys, name_stems = columns
    word_counts = np.frombuffer(b"".join([end[-4:] for end in ends]), np.uint32).astype(np.int64)
    return Rows(
        checked.keys,
        checked.urns,
        checked.starts,
        checked.tokens,
        word_counts,
        collections,
        projection_keys,
        name_stems,
    )


def _concatenated(blobs: Sequence[bytes]) -> tuple[I64, U64]:
    """The offset of each array in their concatenation, and the concatenation."""
    starts = np.zeros(len(blobs) + 1, np.int64)
    np.cumsum([len(blob) >> 3 for blob in blobs], out=starts[1:])
    return starts, np.frombuffer(b"".join(blobs), np.uint64)
