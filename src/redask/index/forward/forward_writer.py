"""Writing to the forward index: one `ForwardTransaction` is one transaction of SQLite.

Rows are replaced by key, so applying a change twice is idempotent. Statistics are updated by the
difference, and a group without entities is deleted, so that the result does not depend on
history. Names are written at the end, sorted. A row has a CRC of the values that scores depend
on, because SQLite detects a corrupt page, but not a changed value.
"""

import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar
from zlib import crc32

from redask.index.forward.entries import PROJECTION_BITS, EdgeEntry, Entry

_MAX_VARIABLES = 512  # bound variables in one statement
_Bound = TypeVar("_Bound", int, str)


class ForwardTransaction:
    """One transaction of changes. Replacing an entity by the same content changes nothing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        max_keys = connection.execute(
            "SELECT (SELECT max(key) FROM entities), (SELECT max(key) FROM edges)"
        ).fetchone()
        # A greater key is new: there is no old row to look up.
        self._max_key, self._max_edge_key = (key or 0 for key in max_keys)
        self._names: dict[int, tuple[bytes, int]] = {}
        found = connection.execute("SELECT value FROM meta WHERE name = 'columns'").fetchone()
        self._has_columns = bool(found)

    def set_watermark(self, watermark: int, history: str) -> None:
        """Record the last change that has been applied, and the store's last write."""
        self._connection.execute(
            "UPDATE position SET watermark = ?, history = ?", (watermark, history)
        )

    def set_folded(self, watermark: int, stamp: str, history: str) -> None:
        """Record that tantivy, at this stamp, has every change up to this one; empty the tail."""
        self._connection.execute("DELETE FROM tail")
        self._connection.execute(
            "UPDATE position SET watermark = ?, folded = ?, stamp = ?, history = ?",
            (watermark, watermark, stamp, history),
        )

    def set_meta(self, name: str, value: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (name, value))

    def note_changes(self) -> None:
        """From now on, changes are noted, whether there are columns yet or not."""
        if not self._has_columns:
            self.set_meta("columns", "")
            self._has_columns = True

    def set_columns(self, name: str, through: int) -> None:
        """Record a file of columns that holds all changes up to this one; later ones are noted."""
        self.set_meta("columns", name)
        self._connection.execute("DELETE FROM changed WHERE number <= ?", (through,))
        self._has_columns = True

    def save_bloom_filter(self, seq: int, bits: bytes) -> None:
        """Save the Bloom filter of name hashes, so that opening need not read every name."""
        self._connection.execute("DELETE FROM sieve")
        self._connection.execute("INSERT INTO sieve VALUES(?, ?)", (seq, bits))

    def apply(
        self,
        entries: Sequence[Entry],
        edges: Sequence[EdgeEntry],
        deleted: Iterable[int],
        *,
        seq: int,
        tail: bool,
    ) -> list[int]:
        """Replace these entities and edges and delete those keys, up to the change `seq`.

        With `tail`, tantivy has not been written: keep the versions that it still has. → the keys
        of the entities that were replaced or deleted
        """
        touched = sorted({*deleted, *(e.key for e in entries), *(e.key for e in edges)})
        change, removed = self._remove(touched, tail)
        if self._has_columns:
            self._connection.executemany(
                "INSERT INTO changed(entity) VALUES(?)",
                ((entity,) for entity in sorted({key >> PROJECTION_BITS for key in touched})),
            )
        if tail:
            self._connection.executemany(
                "INSERT OR IGNORE INTO tail VALUES(?, NULL, NULL, NULL)",
                ((e.key,) for e in entries),
            )
        self._insert(entries, edges, seq)
        for entry in entries:
            group = (entry.collection, entry.projection_key, entry.language)
            change[*group, "entities"] += 1
            change[*group, "tokens"] += len(entry.tokens) // 8
        self._update_statistics(change)
        return removed

    def add_words(self, words: Sequence[str]) -> None:
        """Add words to the list that misspelt ones are looked up in; known ones stay."""
        self._connection.executemany(
            "INSERT OR IGNORE INTO words(word) VALUES(?)", ((word,) for word in words)
        )

    def flush_names(self) -> None:
        """Write the names of this transaction: hashes are random, sorted they insert faster."""
        found = self._names.items()
        rows = [(name, key, seq) for key, (names, seq) in found for name in array("q", names)]
        self._connection.executemany("INSERT INTO names VALUES(?, ?, ?)", sorted(rows))

    def _remove(
        self, keys: Sequence[int], tail: bool
    ) -> tuple[Counter[tuple[str, ...]], list[int]]:
        """Delete these keys. → the difference in statistics, and the entities that were there"""
        change: Counter[tuple[str, ...]] = Counter()
        removed: list[int] = []
        for chunk, placeholders in chunks([key for key in keys if key <= self._max_key]):
            old = self._connection.execute(
                "SELECT key, collection, label, language, length(tokens) / 8, names FROM entities"
                f" WHERE key IN ({placeholders})",
                chunk,
            ).fetchall()
            removed += [row[0] for row in old]
            for key, collection, projection_key, language, size, names in old:
                change[collection, projection_key, language, "entities"] -= 1
                change[collection, projection_key, language, "tokens"] -= size
                if not self._names.pop(key, None):
                    self._connection.executemany(
                        "DELETE FROM names WHERE name = ? AND key = ?",
                        [(name, key) for name in array("q", names)],
                    )
            if tail:
                self._connection.execute(
                    "INSERT OR IGNORE INTO tail SELECT key, label, collection, tokens FROM entities"
                    f" WHERE key IN ({placeholders})",
                    chunk,
                )
            self._connection.execute(f"DELETE FROM entities WHERE key IN ({placeholders})", chunk)
        for chunk, placeholders in chunks([key for key in keys if key <= self._max_edge_key]):
            self._connection.execute(f"DELETE FROM edges WHERE key IN ({placeholders})", chunk)
        return change, removed

    def _insert(self, entries: Sequence[Entry], edges: Sequence[EdgeEntry], seq: int) -> None:
        self._connection.executemany(
            "INSERT INTO entities VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(*entry, row_crc(entry.tokens, entry.urn)) for entry in entries],
        )
        self._names.update(
            (entry.key, (entry.name_hashes, seq)) for entry in entries if entry.name_hashes
        )
        self._connection.executemany("INSERT INTO edges VALUES(?, ?, ?, ?, ?, ?, ?)", edges)
        self._max_key = max([self._max_key, *(entry.key for entry in entries)])
        self._max_edge_key = max([self._max_edge_key, *(edge.key for edge in edges)])

    def _update_statistics(self, change: Counter[tuple[str, ...]]) -> None:
        """Add a difference to the statistics; groups without entities are deleted."""
        for group in {key[:3] for key in change}:
            self._connection.execute(
                "INSERT INTO statistics VALUES(?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " entities = entities + excluded.entities, tokens = tokens + excluded.tokens",
                (*group, change[*group, "entities"], change[*group, "tokens"]),
            )
        self._connection.execute("DELETE FROM statistics WHERE entities = 0")


def row_crc(tokens: bytes, urn: str) -> int:
    """The checksum of a row."""
    return crc32(urn.encode(), crc32(tokens))


def chunks(values: Sequence[_Bound]) -> Iterator[tuple[Sequence[_Bound], str]]:
    """Chunks of a list, each with its SQL placeholders.

    A chunk is padded to a power of two by repeating its last value, so that there are few
    different statements and the driver's statement cache holds them prepared.
    """
    for begin in range(0, len(values), _MAX_VARIABLES):
        chunk = list(values[begin : begin + _MAX_VARIABLES])
        chunk += chunk[-1:] * ((1 << (len(chunk) - 1).bit_length()) - len(chunk))
        yield chunk, ",".join("?" * len(chunk))
