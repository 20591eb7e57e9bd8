"""The tables that a statement of one caller can name: `CallerSchema`, collections and catalogue.

A name without a schema means `pg_catalog` first and then `public`, as PostgreSQL's search path.
"""

from redask.core.model import Caller
from redask.core.sql.binder.context import TableDefinition
from redask.stores.columnar.readable_tables import ReadableTables


class CallerSchema:
    """See `binder.context.Schema`; `cursor` runs statements over the tables."""

    def __init__(self, tables: ReadableTables, caller: Caller) -> None:
        self._tables = tables
        self._caller = caller
        self.cursor = tables.cursor
        self.owner = tables.owner

    def table(self, schema: str | None, name: str) -> TableDefinition | None:
        """A collection of the caller's, or a table of the catalogue."""
        if schema not in (None, "public"):
            return None
        columns = self._tables.columns(name)
        return None if columns is None else TableDefinition("public", name, columns)

    def physical(self, table: TableDefinition) -> str:
        """The table's name in DuckDB."""
        return self._tables.physical(table.name)
