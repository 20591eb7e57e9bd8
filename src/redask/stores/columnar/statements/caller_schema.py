"""The tables that a statement of one caller can name: `CallerSchema`, collections and catalogue.

A name without a schema means `pg_catalog` first and then `public`, as PostgreSQL's search path;
`information_schema` must be named. The catalogue holds what the caller can read and nothing else;
a table of it is made when a statement names it.
"""

from collections.abc import Callable, Mapping, Sequence

from redask.core.model import Caller
from redask.core.ports import DeclaredKey
from redask.core.sql.binder.context import TableDefinition
from redask.core.sql.catalogue.catalogue_rows import CatalogueFacts
from redask.core.sql.catalogue.key_rows import TableKey
from redask.core.sql.catalogue.object_ids import numbered
from redask.core.sql.catalogue.system_ids import SYSTEM_TABLES
from redask.core.sql.types import SqlType
from redask.stores.columnar.catalogue.catalogue_layout import SYSTEM, definition
from redask.stores.columnar.catalogue.catalogue_tables import catalogue_table
from redask.stores.columnar.duckdb_connections import columnar_errors
from redask.stores.columnar.readable_tables import ReadableTables


class CallerSchema:
    """See `binder.context.Schema`; `cursor` runs statements over the tables."""

    def __init__(
        self,
        tables: ReadableTables,
        caller: Caller,
        facts: Mapping[str, str] | None = None,
        keys: Callable[[str], Sequence[DeclaredKey]] | None = None,
    ) -> None:
        self._tables = tables
        self._caller = caller
        self._session = facts or {}
        self._keys = keys
        self._catalogue: dict[TableDefinition, str] = {}
        self._facts: CatalogueFacts | None = None
        self.cursor = tables.cursor
        self.owner = tables.owner

    def table(self, schema: str | None, name: str) -> TableDefinition | None:
        """A table of the catalogue, or a collection of the caller's."""
        known = definition(schema or SYSTEM, name)
        if known is not None or schema not in (None, "public"):
            return known
        columns = self._tables.columns(name)
        return None if columns is None else TableDefinition("public", name, columns)

    def physical(self, table: TableDefinition) -> str:
        """The table's name in DuckDB."""
        if table.schema == "public":
            return self._tables.physical(table.name)
        if table not in self._catalogue:
            with columnar_errors():
                self._catalogue[table] = catalogue_table(
                    self.owner, self.cursor, table, self._known
                )
        return self._catalogue[table]

    def oid(self, schema: str | None, name: str) -> int | None:
        """The OID of a table that the caller can name, or None."""
        if definition(schema or SYSTEM, name) is not None:
            return SYSTEM_TABLES.get(name) or numbered([name])[name]
        if schema not in (None, "public"):
            return None
        names = self._tables.names()
        if name in names:
            return numbered(names)[name]
        return self._known().catalogue_keys.indexes.get(name)

    def _known(self) -> CatalogueFacts:
        if self._facts is None:
            shapes = [(name, self._shape(name)) for name in self._tables.names()]
            settings = {
                name: value
                for name, value in self._session.items()
                if not name.startswith("session:")
            }
            user = self._session.get("session:user", self._caller.user)
            database = self._session.get("session:database", self._caller.tenant)
            self._facts = CatalogueFacts(
                *(user, database, settings, shapes, self._declared()), self._session
            )
        return self._facts

    def _declared(self) -> list[TableKey]:
        """The declared keys of which the caller reads every column, in the caller's names."""
        declared = self._keys(self._caller.tenant) if self._keys is not None else ()
        if not declared:
            return []
        names = {self._tables.collection(name): name for name in self._tables.names()}
        found = []
        for key in declared:
            own = self._named(names, key.collection, key.columns)
            if own is not None and key.target is None:
                found.append(TableKey(*own))
            elif own is not None and key.target is not None:
                other = self._named(names, key.target, key.target_columns)
                found += [] if other is None else [TableKey(*own, *other)]
        return found

    def _named(
        self, names: Mapping[str | None, str], collection: str, keys: Sequence[str]
    ) -> tuple[str, tuple[str, ...]] | None:
        table = names.get(collection)
        if table is None:
            return None
        columns = {self._tables.key(table, own): own for own, _ in self._shape(table)}
        found = tuple(columns[collection, key] for key in keys if (collection, key) in columns)
        return (table, found) if len(found) == len(keys) else None

    def _shape(self, name: str) -> list[tuple[str, SqlType]]:
        return [(own, kind) for own, kind, _ in self._tables.columns(name) or ()]
