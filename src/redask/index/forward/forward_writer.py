"""Changing the forward index: one `ForwardTransaction` is one transaction.

Entities are replaced by key, so that the same change may come twice; the statistics are
changed by what goes and what comes, and a share that has become empty goes, so that no history
shows. Names are written at the end, in order. A row carries a CRC of what scores depend on,
because SQLite notices a damaged page, but not a damaged value.
"""

import sqlite3
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar
from zlib import crc32

from redask.index.forward.entries import Entry, Link

_CHUNK = 512  # bound variables in one statement
_Bound = TypeVar("_Bound", int, str)


class ForwardTransaction:
    """One transaction of changes. Replacing an entity by itself changes nothing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        tops = connection.execute(
            "SELECT (SELECT max(key) FROM entities), (SELECT max(key) FROM edges)"
        ).fetchone()
        # What is above them is new, and need not be looked for.
        self._top, self._top_edge = (top or 0 for top in tops)
        self._names: dict[int, tuple[bytes, int]] = {}

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

    def keep_bloom_filter(self, seq: int, bits: bytes) -> None:
        """Save the names' bloom_filter, so that opening need not read every name."""
        self._connection.execute("DELETE FROM sieve")
        self._connection.execute("INSERT INTO sieve VALUES(?, ?)", (seq, bits))

    def apply(
        self,
        entries: Sequence[Entry],
        links: Sequence[Link],
        deleted: Iterable[int],
        *,
        seq: int,
        tail: bool,
    ) -> list[int]:
        """Replace these entities and edges and remove those, up to the change `seq`.

        With `tail`, tantivy does not know of it yet: remember what it holds instead. → the
        keys of what was there and is replaced or removed
        """
        touched = sorted({*deleted, *(e.key for e in entries), *(e.key for e in links)})
        change, gone = self._remove(touched, tail)
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
        return gone

    def finish(self) -> None:
        """Write what was put off: names are random numbers, and in order they go in faster."""
        found = self._names.items()
        rows = [(name, key, seq) for key, (names, seq) in found for name in array("q", names)]
        self._connection.executemany("INSERT INTO names VALUES(?, ?, ?)", sorted(rows))

    def _remove(
        self, keys: Sequence[int], tail: bool
    ) -> tuple[Counter[tuple[str, ...]], list[int]]:
        """Take these keys out; what that takes from the statistics, and which were there."""
        change: Counter[tuple[str, ...]] = Counter()
        gone: list[int] = []
        for some, marks in chunks([key for key in keys if key <= self._top]):
            old = self._connection.execute(
                "SELECT key, collection, label, language, length(tokens) / 8, names FROM entities"
                f" WHERE key IN ({marks})",
                some,
            ).fetchall()
            gone += [row[0] for row in old]
            for key, collection, label, language, size, names in old:
                change[collection, label, language, "entities"] -= 1
                change[collection, label, language, "tokens"] -= size
                if not self._names.pop(key, None):
                    self._connection.executemany(
                        "DELETE FROM names WHERE name = ? AND key = ?",
                        [(name, key) for name in array("q", names)],
                    )
            if tail:
                self._connection.execute(
                    "INSERT OR IGNORE INTO tail SELECT key, label, collection, tokens FROM entities"
                    f" WHERE key IN ({marks})",
                    some,
                )
            self._connection.execute(f"DELETE FROM entities WHERE key IN ({marks})", some)
        for some, marks in chunks([key for key in keys if key <= self._top_edge]):
            self._connection.execute(f"DELETE FROM edges WHERE key IN ({marks})", some)
        return change, gone

    def _insert(self, entries: Sequence[Entry], links: Sequence[Link], seq: int) -> None:
        self._connection.executemany(
            "INSERT INTO entities VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(*entry, row_crc(entry.tokens, entry.urn)) for entry in entries],
        )
        self._names.update((entry.key, (entry.names, seq)) for entry in entries if entry.names)
        self._connection.executemany("INSERT INTO edges VALUES(?, ?, ?, ?, ?, ?, ?)", links)
        self._top = max([self._top, *(entry.key for entry in entries)])
        self._top_edge = max([self._top_edge, *(link.key for link in links)])

    def _count(self, change: Counter[tuple[str, ...]]) -> None:
        """Add to the statistics; a share without entities goes, so that no history shows."""
        for share in {key[:3] for key in change}:
            self._connection.execute(
                "INSERT INTO statistics VALUES(?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " entities = entities + excluded.entities, tokens = tokens + excluded.tokens",
                (*share, change[*share, "entities"], change[*share, "tokens"]),
            )
        self._connection.execute("DELETE FROM statistics WHERE entities = 0")


def row_crc(tokens: bytes, urn: str) -> int:
    """The check sum of a row."""
    return crc32(urn.encode(), crc32(tokens))


def chunks(values: Sequence[_Bound]) -> Iterator[tuple[Sequence[_Bound], str]]:
    """Pieces of a list with their placeholders.

    A piece is filled up to a power of two by repeating its last value, so that there are few
    different statements and the driver's cache holds them prepared.
    """
    for begin in range(0, len(values), _CHUNK):
        some = list(values[begin : begin + _CHUNK])
        some += some[-1:] * ((1 << (len(some) - 1).bit_length()) - len(some))
        yield some, ",".join("?" * len(some))
