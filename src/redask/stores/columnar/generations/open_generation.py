"""A generation as this process has it open: the file, read-only, and a tail in memory.

Whoever reads counts as a reader until the end; a generation that is retired is closed when its last
reader ends. `catch_up` is for one thread at a time; it disturbs no reader, who has a `State`.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from redask.core.ports import Store
from redask.stores.columnar.duckdb_connections import columnar_errors, open_reader
from redask.stores.columnar.generations.generation_builder import (
    LAYOUT,
    read_changes,
    unusable_generation,
)
from redask.stores.columnar.row_counts import ProjectionState
from redask.stores.columnar.row_log import RowLog
from redask.stores.columnar.table_cache import TableCache

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_VIEWS = "SELECT 1 FROM duckdb_views() WHERE database_name = 'generation' AND NOT internal LIMIT 1"
MAX_DIFFERENCE = 1_000  # rows: beyond, what is known of a table is counted anew


class OpenGeneration:
    """An opened generation; None is an empty one, which has no file."""

    def __init__(self, path: Path | None, store: Store, tenant: str) -> None:
        """`CorruptIndex` when the file cannot be used."""
        self.path = path
        self._store = store
        self._tenant = tenant
        self.readers = 0
        self.retired = False
        with columnar_errors():
            self.connection = open_reader(path)
            try:
                self.loaded = ProjectionState()
                typed: dict[str, str] = {}
                if path is not None:
                    self.loaded, typed = _read(self.connection, store)
                base = None if path is None else "generation.main"
                self._log = RowLog(self.connection.cursor(), "memory.main", base)
                self.tables = TableCache(self.connection.cursor(), self._log, self.loaded, typed)
            except BaseException:
                self.connection.close()
                raise
        self.state = self.loaded

    @property
    def tail_rows(self) -> int:
        """How many rows the tail has, those that ended included."""
        return self._log.tail_rows

    def catch_up(self) -> None:
        """Apply what the store has and the state has not."""
        with columnar_errors():
            self.state = read_changes(self._log, self.state, self._store, self._tenant)

    def rows(
        self, collection: str, groups: Iterable[str], step: int
    ) -> Iterator[tuple[str, dict[str, object]]]:
        """URN and content of each row of these groups, `id` included, after a step."""
        cursor = self.connection.cursor()
        with columnar_errors():
            cursor.execute(self._log.rows_at(step, collection, groups))
            while page := cursor.fetchmany(10_000):
                for urn, own_id, payload in page:
                    content = json.loads(payload)
                    yield urn, content if own_id is None else {**content, "id": own_id}

    def changed_rows(
        self, collection: str, groups: Iterable[str], after: int, step: int
    ) -> tuple[str, str] | None:
        """Queries of what changed after one step, up to another: as it was, and as it is then.

        None when that is more than `MAX_DIFFERENCE` rows.
        """
        query = f"{self._log.changed(collection, after, step)} LIMIT {MAX_DIFFERENCE + 1}"
        with columnar_errors():
            keys = [key for key, _ in self.connection.cursor().execute(query).fetchall()]
        if not keys or len(keys) > MAX_DIFFERENCE:
            return None
        mine = frozenset(groups)
        before = self._log.rows_at(after, collection, mine, keys)
        return before, self._log.rows_at(step, collection, mine, keys)

    def has_ids(self, collection: str, groups: Iterable[str], step: int) -> bool:
        """Whether a row of these groups has an `id` of its own, after a step."""
        rows = self._log.rows_at(step, collection, groups)
        with columnar_errors():
            query = f"SELECT 1 FROM ({rows}) WHERE own_id IS NULL LIMIT 1"
            return self.connection.cursor().execute(query).fetchone() is not None

    def leave(self) -> None:
        """A reader ended."""
        self.readers -= 1
        self.close_if_idle()

    def close_if_idle(self) -> None:
        """Close it if it is retired and nobody reads it."""
        if self.retired and not self.readers:
            self.connection.close()


def _read(connection: "DuckDBPyConnection", store: Store) -> tuple[ProjectionState, dict[str, str]]:
    import duckdb

    if connection.execute(_VIEWS).fetchone():  # they would read what whoever wrote the file likes
        raise unusable_generation("it has views")
    try:
        found = connection.execute("SELECT name, value FROM generation.main.meta").fetchall()
    except duckdb.CatalogException as error:
        raise unusable_generation("it has other tables") from error
    facts = dict(found)
    if facts.get("layout") != str(LAYOUT):
        raise unusable_generation(f"it has layout {facts.get('layout')}, not {LAYOUT}")
    if facts.get("identity") != store.identity:
        raise unusable_generation("it belongs to another store")
    try:
        watermark, history = int(facts["watermark"]), facts["history"]
        state = ProjectionState.load(facts["counts"], watermark, history)
    except (KeyError, ValueError) as error:
        raise unusable_generation("its counts cannot be read") from error
    typed = connection.execute("SELECT collection, name FROM generation.main.typed").fetchall()
    return state, dict(typed)
