"""Materialised tables: each holds what some callers may read of a collection, and nothing else.

Callers who read the same groups share a table. It is made when somebody first names it, from the
rows of that caller's state. A table of the generation serves as long as no row of its collection
changed since. Tables that nobody uses go when there are more than `MAX_TABLES`, or when they are
larger than `MAX_BYTES` by an estimate, the longest unused first; those of older states at once.

A table's name is never used again, so that a running statement is not disturbed: DuckDB keeps what
is dropped until the statements that read it end, and a reader keeps what it named until it ends.
"""

import itertools
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redask.core.access.policy import OPEN
from redask.stores.columnar.row_counts import GroupCounts
from redask.stores.columnar.row_log import RowLog
from redask.stores.columnar.typed_tables import TableColumn, empty_query, table_query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_TABLES = 256
MAX_BYTES = 1 << 30
_CELL_BYTES = 24  # of a cell in memory, by and large

_Key = tuple[str, tuple[tuple[str, int], ...]]  # collection; groups, and when each changed


@dataclass(slots=True)
class MaterialisedTable:
    """A table in memory and how many readers have named it."""

    name: str
    collection: str
    groups: tuple[str, ...]
    cells: int
    readers: int = 0
    used: int = 0


class TableCache:
    """The tables of one generation in this process."""

    def __init__(
        self, connection: "DuckDBPyConnection", log: RowLog, typed: Mapping[str, str]
    ) -> None:
        self._connection = connection
        self._log = log
        self._typed = typed
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._clock = itertools.count(1)
        self._tables: dict[_Key, MaterialisedTable] = {}

    def name(
        self,
        collection: str,
        groups: Mapping[str, GroupCounts],
        columns: Sequence[TableColumn],
        step: int,
    ) -> tuple[str, MaterialisedTable | None]:
        """The table of these groups in the state of a step; `release` it if there is one."""
        unchanged = set(groups) == {OPEN} and not groups[OPEN].changed
        if unchanged and collection in self._typed:
            return f"generation.main.{self._typed[collection]}", None
        key = (collection, tuple(sorted((name, each.changed) for name, each in groups.items())))
        with self._lock:
            table = self._tables.get(key)
            if table is None:
                table = self._tables[key] = self._make(key, groups, columns, step)
            table.readers += 1
            table.used = next(self._clock)
            self._drop_unused(table)
        return f"memory.main.{table.name}", table

    def release(self, table: MaterialisedTable) -> None:
        """A reader that named the table ended."""
        with self._lock:
            table.readers -= 1

    def _make(
        self,
        key: _Key,
        groups: Mapping[str, GroupCounts],
        columns: Sequence[TableColumn],
        step: int,
    ) -> MaterialisedTable:
        collection, stamps = key
        name = f"t{next(self._numbers)}"
        query = empty_query(columns)
        if groups:
            query = table_query(columns, self._log.rows_at(step, collection, groups))
        self._connection.execute(f"CREATE TABLE memory.main.{name} AS {query}")
        rows = sum(each.rows for each in groups.values())
        named = tuple(group for group, _ in stamps)
        return MaterialisedTable(name, collection, named, (rows + 1) * len(columns))

    def _drop_unused(self, newest: MaterialisedTable) -> None:
        idle = [
            (key, table)
            for key, table in self._tables.items()
            if not table.readers and table is not newest
        ]
        count = len(self._tables)
        size = sum(table.cells for table in self._tables.values()) * _CELL_BYTES
        for key, table in sorted(idle, key=lambda each: each[1].used):
            older = (table.collection, table.groups) == (newest.collection, newest.groups)
            if older or count > MAX_TABLES or size > MAX_BYTES:
                self._connection.execute(f"DROP TABLE memory.main.{table.name}")
                del self._tables[key]
                count, size = count - 1, size - table.cells * _CELL_BYTES
