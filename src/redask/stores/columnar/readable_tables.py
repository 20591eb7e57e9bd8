"""What one caller may SELECT from, in one state: `ReadableTables`, for one statement.

    collection                                               to the caller
    the caller reads something in it                         a table
    nothing, but a policy names it or it has a language      a table without rows
    its policy gives the caller nothing                      `Denied`
    anything else, and other names that start with `red_`    unknown

So what is invisible does not make a collection known. Names are PostgreSQL's: see `column_names`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redask.core.access.policy import AUDITORS
from redask.core.errors import Denied
from redask.core.model import Caller
from redask.core.ports import AuditLog, StoreView
from redask.core.sql.column_names import sql_names
from redask.core.sql.fixed_types import fits, value_fits
from redask.core.sql.types import SqlType
from redask.stores.columnar.audit_table import (
    ACCESS_LOG,
    AUDIT,
    LOG_COLUMNS,
    make_audit_table,
)
from redask.stores.columnar.duckdb_connections import columnar_errors
from redask.stores.columnar.edge_groups import is_readable
from redask.stores.columnar.entity_values import is_system
from redask.stores.columnar.generations.open_generation import OpenGeneration
from redask.stores.columnar.row_counts import GroupCounts
from redask.stores.columnar.table_patches import MaterialisedTable
from redask.stores.columnar.typed_tables import TableColumn, table_columns, table_query

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FactsKey = tuple[str, tuple[tuple[str, int], ...], tuple[TableColumn, ...]]
TypedColumns = tuple[tuple[str, SqlType, str], ...]


@dataclass(frozen=True, slots=True)
class Declared:
    """What was declared besides the data: collections by policies and languages, types by key."""

    collections: Callable[[], frozenset[str]]
    types: Mapping[str, Mapping[str, SqlType]]


class ReadableTables:
    """The tables of one caller; `cursor` runs statements over them. For one thread."""

    def __init__(
        self,
        opened: OpenGeneration,
        caller: Caller,
        view: StoreView,
        declared: Declared,
        logs: Mapping[str, AuditLog | None],
    ) -> None:
        self._opened = opened
        self._state = opened.state
        self._caller = caller
        self._visibility = view.visibility
        self._declared = declared
        self._logs = logs
        projections = view.visibility.projections
        self._classes = frozenset(() if projections is None else projections.values())
        self._named: dict[str, str] = {}  # what `physical` gave
        self._kept: list[MaterialisedTable] = []
        self._shapes: dict[str, tuple[TableColumn, ...]] = {}
        self._by_name: Mapping[str, str] | None = None
        self.owner = opened  # whose functions are registered once
        self.cursor: DuckDBPyConnection = opened.connection.cursor()

    def names(self) -> list[str]:
        """What the caller can SELECT from, sorted; the access log only for who may audit."""
        audits = self._caller.role in AUDITORS and ACCESS_LOG in self._logs
        return sorted([*self._collections(), AUDIT, *([ACCESS_LOG] if audits else [])])

    def columns(self, name: str) -> TypedColumns | None:
        """Name, type and name in DuckDB of each column; None when there is no such table."""
        if name in self._logs:
            return LOG_COLUMNS[name]
        collection = self._collection(name)
        if collection is None:
            return None
        return tuple((each.name, each.type, each.physical) for each in self._shape(collection))

    def physical(self, name: str) -> str:
        """The qualified name of the table in DuckDB, which is made if it is not there yet."""
        if name not in self._named:
            with columnar_errors():
                self._named[name] = self._make(name)
        return self._named[name]

    def collection(self, name: str) -> str | None:
        """The collection behind a table, as the caller knows it; None when there is none."""
        return None if name in self._logs else self._collection(name)

    def facts(self, name: str) -> FactsKey:
        """What tells the present content of a caller's table from any other of the generation."""
        collection = self._collection(name) or ""
        groups = self._groups(collection)
        stamps = tuple(sorted((group, each.changed) for group, each in groups.items()))
        return collection, stamps, self._shape(collection)

    def changed(self, name: str, after: int) -> tuple[str, str] | None:
        """Queries of the rows of a table that changed after a step: typed, as they were and are."""
        collection = self._collection(name) or ""
        groups, columns = self._groups(collection), self._shape(collection)
        if not groups or any(each.unfit for each in columns):
            return None
        found = self._opened.changed_rows(collection, groups, after, self._state.step)
        return found and (table_query(columns, found[0]), table_query(columns, found[1]))

    @property
    def step(self) -> int:
        """The step of the state that is read."""
        return self._state.step

    def has_ids(self, name: str) -> bool:
        """Whether some row that the caller reads has an `id` of its own."""
        collection = self._collection(name) or ""
        groups = self._groups(collection)
        return bool(groups) and self._opened.has_ids(collection, groups, self._state.step)

    @property
    def state_key(self) -> tuple[object, ...]:
        """Equal where everything that the caller reads in this generation is equal."""
        projections = self._visibility.projections
        seen = None if projections is None else frozenset(projections)
        visibility = self._visibility
        return self._state.step, visibility.version, seen, visibility.denied, visibility.withheld

    def key(self, name: str, column: str) -> tuple[str, str] | None:
        """The collection and the payload's key behind a column; None when there is none."""
        collection = None if name in self._logs else self._collection(name)
        if collection is None:
            return None
        keys = [each.key for each in self._shape(collection) if each.name == column]
        return (collection, keys[0]) if keys and keys[0] is not None else None

    def misfits(self, collection: str, key: str, kind: SqlType) -> tuple[int, str]:
        """How many values of a column would not fit a type, and the first URN that has one."""
        groups = self._groups(collection)
        classes = {each for group in groups.values() for each in group.columns.get(key, ())}
        if all(fits(kind, each) for each in classes):
            return 0, ""
        found = self._opened.rows(collection, groups, self._state.step)
        urns = [urn for urn, content in found if not value_fits(kind, content.get(key))]
        return len(urns), min(urns, default="")

    def close(self) -> None:
        """Let go of the tables."""
        for table in self._kept:
            self._opened.tables.release(table)
        self._kept.clear()
        self.cursor.close()

    def _make(self, name: str) -> str:
        if name in self._logs:
            return make_audit_table(self.cursor, name, self._logs[name], self._caller)
        collection = self._collection(name)
        if collection is None:
            raise ValueError(f"no such table: {name!r}")
        physical, table = self._opened.tables.name(
            collection, self._groups(collection), self._shape(collection), self._state.step
        )
        if table is not None:
            self._kept.append(table)
        return physical

    def _shape(self, collection: str) -> tuple[TableColumn, ...]:
        if collection not in self._shapes:
            fixed = self._declared.types.get(collection, {})
            self._shapes[collection] = table_columns(self._groups(collection).values(), fixed)
        return self._shapes[collection]

    def _groups(self, collection: str) -> dict[str, GroupCounts]:
        """The groups of a collection that the caller reads."""
        return {
            group: counts
            for group, counts in self._state.collections.get(collection, {}).items()
            if is_readable(group, collection, self._visibility, self._classes)
        }

    def _collection(self, name: str) -> str | None:
        """The collection of this name in SQL, as the caller knows it."""
        if name in self._visibility.denied:
            raise Denied(f"your role may not read the collection {name!a}", detail=name)
        if is_system(name):
            return None
        if self._groups(name):  # it may still be a name that only a longer collection has
            return name if sql_names([name]) == {name: name} else None
        return self._collections().get(name)

    def _collections(self) -> Mapping[str, str]:
        """The collections that the caller knows, by their names in SQL."""
        if self._by_name is None:
            held = {name for name in self._state.collections if self._groups(name)}
            known = {name for name in held | self._declared.collections() if not is_system(name)}
            names = sql_names(known - self._visibility.denied)
            self._by_name = {name: collection for collection, name in names.items()}
        return self._by_name
