"""What the arrays of `columns` are made of, and what changed since: part of a snapshot."""

import sqlite3
from collections.abc import Iterator

import numpy as np

from redask.index.corruption import corrupt
from redask.index.forward.columns import ColumnRow
from redask.index.forward.entries import PROJECTION_BITS
from redask.index.forward.forward_writer import row_crc


class ColumnReading:
    """One state of the forward index, as far as the arrays are concerned."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def meta_value(self, name: str) -> str:
        """One of the metadata; empty if it is not there."""
        found = self._connection.execute(
            "SELECT value FROM meta WHERE name = ?", (name,)
        ).fetchone()
        return str(found[0]) if found else ""

    def changed_entities(self) -> frozenset[int]:
        """What changed since the columns were made, without the number of a projection."""
        return frozenset(row[0] for row in self._connection.execute("SELECT entity FROM changed"))

    def change_count(self) -> int:
        """How many changes there were since the columns were made."""
        first, last = self._connection.execute(
            "SELECT (SELECT min(number) FROM changed), (SELECT max(number) FROM changed)"
        ).fetchone()
        return 0 if last is None else int(last - first) + 1

    def last_change(self) -> int:
        """The number of the last change that was noted, 0 for none."""
        found = self._connection.execute("SELECT max(number) FROM changed").fetchone()
        return int(found[0] or 0)

    def changed_names(self) -> Iterator[tuple[int, str, str, list[int]]]:
        """Key, projection key, collection and name hashes of each changed row that has a name."""
        bits = PROJECTION_BITS
        found = self._connection.execute(
            "SELECT DISTINCT key, label, collection, names FROM changed JOIN entities"
            f" ON key BETWEEN entity << {bits} AND (entity << {bits}) + {(1 << bits) - 1}"
            " WHERE length(names) > 0 ORDER BY key"
        )
        for key, label, collection, names in found:
            yield key, label, collection, np.frombuffer(names, np.uint64).tolist()

    def column_rows(self) -> Iterator[ColumnRow]:
        """Every row, ascending by key."""
        found = self._connection.execute(
            "SELECT key, urn, collection, label, called, names, ends, tokens, crc FROM entities"
            " ORDER BY key"
        )
        for *row, crc in found:
            made = ColumnRow(*row)
            if row_crc(made.tokens, made.urn) != crc:
                raise corrupt(f"forward.sqlite, row {made.key} fails its checksum")
            yield made
