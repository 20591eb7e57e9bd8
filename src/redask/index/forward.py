"""The forward index: what each entity says, as numbers, beside its address.

One SQLite file in the partition, derived from the store's log: when it is damaged, the
partition is rebuilt.

    entities    key → urn, collection, label, language, called, names, columns, ends, tokens
    names       name number → keys of the entities called so
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
is the class of callers who may see a row. Keys are the store's and never influence an answer.
"""

import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar
from zlib import crc32

import numpy as np

from redask.errors import Damaged
from redask.index.adjacency import Adjacency
from redask.index.records import I64, U64, Entry, Link, Rows, Sequences, Share, Tail, class_of

LAYOUT = 1
T = TypeVar("T", int, str)

_CHUNK = 512  # bound variables in one statement
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
        for some, marks in _chunks(sorted(keys)):
            found += self._connection.execute(
                f"SELECT key, tokens, urn, crc FROM entities WHERE key IN ({marks})", some
            )
        return _sequences(found)

    def fetch(self, keys: Iterable[int]) -> Rows:
        """All that is known of the entities of these keys."""
        found: list[tuple[int, bytes, str, int, bytes, str, str, str]] = []
        for some, marks in _chunks(sorted(keys)):
            found += self._connection.execute(
                f"SELECT {_ROW} FROM entities WHERE key IN ({marks})", some
            )
        return _rows(found)

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

    def tail_size(self) -> int:
        """How many changed since tantivy's last commit."""
        return int(self._connection.execute("SELECT count(*) FROM tail").fetchone()[0])

    def addresses(self, keys: Iterable[int]) -> dict[int, str]:
        """The URNs of these keys; unknown ones are left out."""
        found: dict[int, str] = {}
        for some, marks in _chunks(sorted(keys)):
            found.update(
                self._connection.execute(
                    f"SELECT key, urn FROM entities WHERE key IN ({marks})", some
                )
            )
        return found

    def keys(self, urns: Iterable[str]) -> dict[str, int]:
        """Which keys these URNs have; edges and unknown URNs are left out."""
        found: dict[str, int] = {}
        for some, marks in _chunks(sorted(urns)):
            found.update(
                self._connection.execute(
                    f"SELECT urn, key FROM entities WHERE urn IN ({marks})", some
                )
            )
        return found

    def names_since(self, seq: int) -> U64:
        """The numbers of all names that came after a sequence, in any order."""
        rows = self._connection.execute("SELECT name FROM names WHERE seq > ?", (seq,))
        return np.fromiter((row[0] for row in rows), np.int64).view(np.uint64)

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
    def writing(self) -> "Iterator[Writing]":
        """Change the file; all of it or, when the block fails, nothing."""
        with self._borrowed() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield Writing(connection)
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


class Writing:
    """One transaction of changes. Replacing an entity by itself changes nothing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        (top,) = connection.execute("SELECT max(key) FROM entities").fetchone()
        self._top = top or 0  # what is above it is new, and need not be looked for

    def moved(self, watermark: int) -> None:
        """Everything is known up to this change."""
        self._connection.execute("UPDATE position SET watermark = ?", (watermark,))

    def folded(self, watermark: int, stamp: str) -> None:
        """Tantivy, too, knows everything up to this change."""
        self._connection.execute("DELETE FROM tail")
        self._connection.execute(
            "UPDATE position SET watermark = ?, folded = ?, stamp = ?",
            (watermark, watermark, stamp),
        )

    def meta(self, name: str, value: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (name, value))

    def apply(
        self,
        entries: Sequence[Entry],
        links: Sequence[Link],
        deleted: Iterable[int],
        *,
        seq: int,
        tail: bool,
    ) -> None:
        """Replace these entities and edges and remove those, up to the change `seq`.

        With `tail`, tantivy does not know of it yet: remember what it holds instead.
        """
        touched = sorted({*deleted, *(e.key for e in entries), *(e.key for e in links)})
        change = self._remove(touched, tail)
        if tail:
            self._connection.executemany(
                "INSERT OR IGNORE INTO tail VALUES(?, NULL, NULL, NULL)",
                ((e.key,) for e in entries),
            )
        self._insert(entries, links, seq)
        for entry in entries:
            share = (entry.collection, entry.label, entry.language)
            change[*share, "entities"] += 1
            change[*share, "tokens"] += len(entry.tokens) // 8
        self._count(change)

    def _remove(self, keys: Sequence[int], tail: bool) -> Counter[tuple[str, ...]]:
        """Take these keys out; what that takes from the statistics."""
        change: Counter[tuple[str, ...]] = Counter()
        for some, marks in _chunks([key for key in keys if key <= self._top]):
            old = self._connection.execute(
                "SELECT key, collection, label, language, length(tokens) / 8, names FROM entities"
                f" WHERE key IN ({marks})",
                some,
            ).fetchall()
            for key, collection, label, language, size, names in old:
                change[collection, label, language, "entities"] -= 1
                change[collection, label, language, "tokens"] -= size
                for name in array("q", names):
                    self._connection.execute(
                        "DELETE FROM names WHERE name = ? AND key = ?", (name, key)
                    )
            if tail:
                self._connection.execute(
                    "INSERT OR IGNORE INTO tail SELECT key, label, collection, tokens FROM entities"
                    f" WHERE key IN ({marks})",
                    some,
                )
            self._connection.execute(f"DELETE FROM entities WHERE key IN ({marks})", some)
        for some, marks in _chunks(keys):
            self._connection.execute(f"DELETE FROM edges WHERE key IN ({marks})", some)
        return change

    def _insert(self, entries: Sequence[Entry], links: Sequence[Link], seq: int) -> None:
        self._connection.executemany(
            "INSERT INTO entities VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(*entry, _crc(entry.tokens, entry.urn)) for entry in entries],
        )
        self._connection.executemany(
            "INSERT OR REPLACE INTO names VALUES(?, ?, ?)",
            (
                (name, entry.key, seq)
                for entry in entries
                if entry.names
                for name in array("q", entry.names)
            ),
        )
        self._connection.executemany("INSERT INTO edges VALUES(?, ?, ?, ?, ?, ?, ?)", links)
        self._top = max([self._top, *(entry.key for entry in entries)])

    def _count(self, change: Counter[tuple[str, ...]]) -> None:
        """Add to the statistics; a share without entities goes, so that no history shows."""
        for share in {key[:3] for key in change}:
            self._connection.execute(
                "INSERT INTO statistics VALUES(?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " entities = entities + excluded.entities, tokens = tokens + excluded.tokens",
                (*share, change[*share, "entities"], change[*share, "tokens"]),
            )
        self._connection.execute("DELETE FROM statistics WHERE entities = 0")


_ROW = "key, tokens, urn, crc, ends, collection, label, called"


def _sequences(found: Sequence[tuple[int, bytes, str, int]]) -> Sequences:
    for key, tokens, urn, crc in found:
        if _crc(tokens, urn) != crc:
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


def _crc(tokens: bytes, urn: str) -> int:
    """SQLite notices a damaged page, but not a damaged value."""
    return crc32(urn.encode(), crc32(tokens))


def _joined(blobs: Sequence[bytes]) -> tuple[I64, U64]:
    """Arrays one after the other, and where each begins."""
    starts = np.zeros(len(blobs) + 1, np.int64)
    np.cumsum([len(blob) >> 3 for blob in blobs], out=starts[1:])
    return starts, np.frombuffer(b"".join(blobs), np.uint64)


def _chunks(values: Sequence[T]) -> Iterator[tuple[Sequence[T], str]]:
    """Pieces of a list with their placeholders.

    A piece is filled up to a power of two by repeating its last value, so that there are few
    different statements and the driver's cache holds them prepared.
    """
    for begin in range(0, len(values), _CHUNK):
        some = list(values[begin : begin + _CHUNK])
        some += some[-1:] * ((1 << (len(some) - 1).bit_length()) - len(some))
        yield some, ",".join("?" * len(some))
