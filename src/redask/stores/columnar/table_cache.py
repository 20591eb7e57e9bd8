"""Materialised tables: each holds what some callers may read of a collection, and nothing else.

Callers who read the same groups share a table. It is made when somebody first names it, from the
rows of that caller's state: of JSON, or (when columns and types are the same) of an earlier state
of the table and what changed since. A table of the generation serves as long as no row of its
collection changed. Tables that nobody uses go when there are more than `MAX_TABLES`, or when they
are larger than `MAX_BYTES` by an estimate, the longest unused first; those of older states at once.

A name is never used again, so that a running statement is not disturbed: DuckDB keeps what is
dropped until the statements that read it end, and a reader keeps what it named until it ends.
"""

import itertools
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from redask.core.access.policy import OPEN
from redask.stores.columnar.row_counts import GroupCounts, ProjectionState
from redask.stores.columnar.row_log import RowLog
from redask.stores.columnar.table_patches import MaterialisedTable, Patcher, SortedTable
from redask.stores.columnar.typed_tables import (
    TableColumn,
    empty_query,
    failing_view,
    table_columns,
    table_query,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_TABLES = 256
MAX_BYTES = 1 << 30
MAX_CHANGED = 10_000  # rows, or a quarter of the table: beyond, it is made of JSON again
_CELL_BYTES = 24  # of a cell in memory, by and large

# collection; groups, and when each changed; columns
_Key = tuple[str, tuple[tuple[str, int], ...], tuple[TableColumn, ...]]


class TableCache:
    """The tables of one generation in this process."""

    def __init__(
        self,
        connection: "DuckDBPyConnection",
        log: RowLog,
        loaded: ProjectionState,
        typed: Mapping[str, str],
    ) -> None:
        """`loaded` is the state of the generation, `typed` its tables by collection."""
        self._connection = connection
        self._log = log
        self._loaded = loaded
        self._typed = typed
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._clock = itertools.count(1)
        self._tables: dict[_Key, MaterialisedTable] = {}
        self._of_generation: dict[str, MaterialisedTable] = {}
        self._patcher = Patcher(connection, self._new_name)

    def name(
        self,
        collection: str,
        groups: Mapping[str, GroupCounts],
        columns: tuple[TableColumn, ...],
        step: int,
    ) -> tuple[str, MaterialisedTable | None]:
        """The table of these groups in the state of a step; `release` it if there is one."""
        if collection in self._typed and set(groups) == {OPEN} and not groups[OPEN].changed:
            first = self._generation_table(collection)
            if first.columns == columns:
                return first.name, None
        stamps = tuple(sorted((name, each.changed) for name, each in groups.items()))
        key = (collection, stamps, columns)
        with self._lock:
            table = self._tables.get(key)
            if table is None:
                table = self._tables[key] = self._make(key, step)
            table.readers += 1
            table.used = next(self._clock)
            self._drop_unused(table)
        return table.name, table

    def release(self, table: MaterialisedTable) -> None:
        """A reader that named the table ended."""
        with self._lock:
            table.readers -= 1

    def _make(self, key: _Key, step: int) -> MaterialisedTable:
        collection, stamps, columns = key
        groups = tuple(group for group, _ in stamps)

        def rows(keys: Sequence[int]) -> str:
            changed = self._log.changed_rows_at(step, collection, groups, keys)
            return table_query(columns, changed)

        unfit = any(each.unfit for each in columns)
        old = None
        if groups and not unfit:
            old = self._earlier(collection, groups, columns, step)
        if old is not None:
            query = self._log.changed(collection, old.step, step)
            most = max(MAX_CHANGED, old.sorted.rows // 4)
            changed = self._connection.execute(f"{query} LIMIT {most}").fetchall()
            if len(changed) < most:
                return self._patcher.next_table(old, changed, rows, step)
        name = table = self._new_name("t")
        query = empty_query(columns)
        if groups:
            query = table_query(columns, self._log.rows_at(step, collection, groups))
        self._connection.execute(f"CREATE TABLE {table} AS {query}")
        if unfit:
            name = self._new_name("v")
            self._connection.execute(f"CREATE VIEW {name} AS {failing_view(columns, table)}")
        (count,) = self._connection.execute(f"SELECT count(*) FROM {table}").fetchone() or (0,)
        return MaterialisedTable(name, collection, groups, columns, step, SortedTable(table, count))

    def _earlier(
        self,
        collection: str,
        groups: tuple[str, ...],
        columns: tuple[TableColumn, ...],
        step: int,
    ) -> MaterialisedTable | None:
        """The last earlier state of a table that has the same columns."""
        found = [
            table
            for table in self._tables.values()
            if (table.collection, table.groups, table.columns) == (collection, groups, columns)
            and table.step <= step
        ]
        if collection in self._typed and groups == (OPEN,):
            first = self._generation_table(collection)
            if first.columns == columns:
                found.append(first)
        return max(found, key=lambda table: table.step, default=None)

    def _generation_table(self, collection: str) -> MaterialisedTable:
        found = self._of_generation.get(collection)
        if found is None:
            held = self._loaded.collections[collection]
            name = f"generation.main.{self._typed[collection]}"
            found = self._of_generation[collection] = MaterialisedTable(
                name,
                collection,
                (OPEN,),
                table_columns(held.values()),
                0,
                SortedTable(name, held[OPEN].rows, owned=False),
            )
        return found

    def _new_name(self, letter: str) -> str:
        return f"memory.main.{letter}{next(self._numbers)}"

    # --- bounds ----------------------------------------------------------------------------

    def _drop_unused(self, newest: MaterialisedTable) -> None:
        idle = [
            (key, table)
            for key, table in self._tables.items()
            if not table.readers and table is not newest
        ]
        for key, table in sorted(idle, key=lambda each: each[1].used):
            older = (table.collection, table.groups) == (newest.collection, newest.groups)
            if older or len(self._tables) > MAX_TABLES or self._bytes() > MAX_BYTES:
                del self._tables[key]
                self._drop(table)

    def _bytes(self) -> int:
        tables = self._tables.values()
        return sum(each.sorted.rows * len(each.columns) for each in tables) * _CELL_BYTES

    def _drop(self, table: MaterialisedTable) -> None:
        if table.name != table.sorted.name:
            self._connection.execute(f"DROP VIEW {table.name}")
        self._connection.execute(f"DROP TABLE {table.sorted.name}")
