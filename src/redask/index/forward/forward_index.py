"""The forward index: what each entity says, as numbers, beside its address.

One SQLite file in the partition, derived from the store's log: when it is damaged, the
partition is rebuilt.

    entities    key → urn, collection, label, language, called, names, columns, ends, tokens
    names       name number → keys of the entities called so;  bloom_filter: which numbers are names
    edges       key → urn, source urn, target urn, relation; found from either end
    statistics  (collection, label, language) → how many entities, how many tokens
    tail        key → what tantivy still holds of an entity that changed since its last commit
    position    the watermark; up to where tantivy knows; tantivy's stamp of that state
    meta        layout version, the store's identity, tantivy's files

**tokens** is one array of unsigned 64-bit numbers for an entity, in the order of its text:

    0 ──── ends[0] ──── ends[1] … ends[-1] ──── end       the words of each column, stop words
     column 0     column 1              literals          included, then the literals

A word is two halves, `stem << 32 | surface`: frequencies compare stems; names compare surfaces
(the lower-cased word), because stemming makes one of "experience" and "experiment". A
literal is one 64-bit hash. So frequencies, lengths and name n-grams come from one blob, and
nothing is tokenised twice. A **name** is the number `name_of` makes of its surfaces; `called`
holds the stems of the name as text, to ask tantivy who mentions it.

Writing is one `writing()` block, one transaction with the new position, and repeating it
changes nothing. Reading is through a `snapshot()`, which sees one state until it ends. `label`
is the class of callers who may see a row. An entity has one row for each of its projections, and no
caller sees two: keys are the store's with the number of the projection in their lowest bits, and
never influence an answer.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from redask.core.errors import Damaged
from redask.index.forward.entries import I64, U64, Rows, Sequences, Share, Tail, class_of
from redask.index.forward.forward_writer import ForwardTransaction, chunks, row_crc
from redask.index.graph.adjacency import Adjacency

LAYOUT = 2

_STEP = 1_024  # entities walked at a time
_SCHEMA = """
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE position(watermark INTEGER NOT NULL, folded INTEGER NOT NULL, stamp TEXT NOT NULL);
INSERT INTO position VALUES(0, 0, '');
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
CREATE TABLE tail(key INTEGER PRIMARY KEY, label TEXT, collection TEXT, tokens BLOB);
"""


class Position(NamedTuple):
    """The last change known here; the last one tantivy knows; tantivy's stamp of that state."""

    watermark: int
    folded: int
    stamp: str


class Snapshot:
    """One state of the forward index, for reading."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def meta(self) -> dict[str, str]:
        """What the index knows of itself."""
        return dict(self._connection.execute("SELECT name, value FROM meta"))

    def position(self) -> Position:
        """Up to which change everything is known."""
        found = self._connection.execute("SELECT watermark, folded, stamp FROM position")
        return Position(*found.fetchone())

    def statistics(self) -> list[Share]:
        """All live statistics, in a fixed order."""
        return [
            Share(*row)
            for row in self._connection.execute(
                "SELECT collection, label, language, entities, tokens FROM statistics"
            )
        ]

    def sequences(self, keys: Iterable[int]) -> Sequences:
        """The tokens and URNs of the entities of these keys."""
        found: list[tuple[int, bytes, str, int]] = []
        for some, marks in chunks(sorted(keys)):
            found += self._connection.execute(
                f"SELECT key, tokens, urn, crc FROM entities WHERE key IN ({marks})", some
            )
        return _sequences(found)

    def fetch(self, keys: Iterable[int]) -> Rows:
        """All that is known of the entities of these keys."""
        found: list[tuple[int, bytes, str, int, bytes, str, str, str]] = []
        for some, marks in chunks(sorted(keys)):
            found += self._connection.execute(
                f"SELECT {_ROW} FROM entities WHERE key IN ({marks})", some
            )
        return _rows(found)

    def walk(self, limit: int) -> Iterator[Rows]:
        """The first `limit` entities in the order of their URNs, some at a time."""
        after = ("", 0)
        for _ in range(0, limit, _STEP):
            found = self._connection.execute(
                f"SELECT {_ROW} FROM entities WHERE (urn, key) > (?, ?) ORDER BY urn, key LIMIT ?",
                (*after, _STEP),
            ).fetchall()
            if not found:
                return
            after = (found[-1][2], found[-1][0])
            yield _rows(found)

    def tail(self) -> Tail:
        """What tantivy does not know yet, in all."""
        keys = self._connection.execute("SELECT key FROM tail").fetchall()
        live = self._connection.execute(
            f"SELECT {_ROW} FROM entities WHERE key IN (SELECT key FROM tail) ORDER BY key"
        ).fetchall()
        held = self._connection.execute(
            "SELECT key, tokens, label, collection FROM tail WHERE tokens IS NOT NULL ORDER BY key"
        ).fetchall()
        return Tail(
            frozenset(row[0] for row in keys),
            _rows(live),
            Sequences([row[0] for row in held], [], *_joined([row[1] for row in held])),
            [class_of(row[2], row[3]) for row in held],
        )

    def tail_keys(self) -> list[int]:
        """What changed since tantivy's last commit."""
        return [row[0] for row in self._connection.execute("SELECT key FROM tail ORDER BY key")]

    def addresses(self, keys: Iterable[int]) -> dict[int, str]:
        """The URNs of these keys; unknown ones are left out."""
        found: dict[int, str] = {}
        for some, marks in chunks(sorted(keys)):
            found.update(
                self._connection.execute(
                    f"SELECT key, urn FROM entities WHERE key IN ({marks})", some
                )
            )
        return found

    def keys(self, urns: Iterable[str], labels: frozenset[str] | None) -> dict[str, int]:
        """Which keys these URNs have, with these labels; edges and unknown URNs are left out."""
        found: dict[str, int] = {}
        for some, marks in chunks(sorted(urns)):
            rows = self._connection.execute(
                f"SELECT urn, key, label FROM entities WHERE urn IN ({marks})", some
            )
            found.update((urn, key) for urn, key, own in rows if labels is None or own in labels)
        return found

    def names_since(self, seq: int) -> U64:
        """The numbers of all names that came after a sequence, in any order."""
        rows = self._connection.execute("SELECT name FROM names WHERE seq > ?", (seq,))
        return np.fromiter((row[0] for row in rows), np.int64).view(np.uint64)

    def bloom_filter(self) -> tuple[int, bytes] | None:
        """What was saved of the names' bloom_filter: up to which change, and its bits."""
        found: tuple[int, bytes] | None = self._connection.execute(
            "SELECT seq, bits FROM sieve"
        ).fetchone()
        return found

    def adjacency(self, labels: frozenset[str] | None) -> Adjacency:
        """Names and edges, of what callers with these labels may see."""
        return Adjacency(self._connection, labels)


class Forward:
    """The file: writes by `apply`, reads by `snapshot`. Several threads and processes may."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self._path = path
        self._mode = "rwc" if create else "rw"
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        if create:
            with self._borrowed() as connection:
                connection.executescript(_SCHEMA)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """See one state; what others commit meanwhile stays invisible."""
        with self._borrowed() as connection:
            connection.execute("BEGIN")
            try:
                yield Snapshot(connection)
            finally:
                connection.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[ForwardTransaction]:
        """Change the file; all of it or, when the block fails, nothing."""
        with self._borrowed() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                writing = ForwardTransaction(connection)
                yield writing
                writing.finish()
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def close(self) -> None:
        """Let go of the file; what is being read stays open until it is given back."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _borrowed(self) -> Iterator[sqlite3.Connection]:
        """A connection of our own until the block ends; a failed one is not used again."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        if self._closed:
            self.close()

    def _connect(self) -> sqlite3.Connection:
        if self._mode == "rw" and not self._path.exists():
            raise Damaged("the forward index is gone")
        connection = sqlite3.connect(
            f"{self._path.absolute().as_uri()}?mode={self._mode}",
            uri=True,
            timeout=60,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # derived data: a rebuild mends it
        return connection


_ROW = "key, tokens, urn, crc, ends, collection, label, called"


def _sequences(found: Sequence[tuple[int, bytes, str, int]]) -> Sequences:
    for key, tokens, urn, crc in found:
        if row_crc(tokens, urn) != crc:
            raise Damaged(f"the forward index has a damaged row: {key}")
    starts, numbers = _joined([row[1] for row in found])
    return Sequences([row[0] for row in found], [row[2] for row in found], starts, numbers)


def _rows(found: Sequence[tuple[int, bytes, str, int, bytes, str, str, str]]) -> Rows:
    checked = _sequences([row[:4] for row in found])
    columns = map(list, zip(*found, strict=True)) if found else ([] for _ in range(8))
    *_, ends, collections, labels, called = columns
    words = np.frombuffer(b"".join([end[-4:] for end in ends]), np.uint32).astype(np.int64)
    return Rows(
        checked.keys,
        checked.urns,
        checked.starts,
        checked.tokens,
        words,
        collections,
        labels,
        called,
    )


def _joined(blobs: Sequence[bytes]) -> tuple[I64, U64]:
    """Arrays one after the other, and where each begins."""
    starts = np.zeros(len(blobs) + 1, np.int64)
    np.cumsum([len(blob) >> 3 for blob in blobs], out=starts[1:])
    return starts, np.frombuffer(b"".join(blobs), np.uint64)
