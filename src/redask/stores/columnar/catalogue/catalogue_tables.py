"""A table of the catalogue in DuckDB: `make_catalogue_table(connection, definition, facts)`.

It is a temporary table of the connection, and goes with it.
"""

import json
from typing import TYPE_CHECKING

from redask.core.sql.binder.context import TableDefinition
from redask.core.sql.catalogue.catalogue_rows import DEFAULTS, CatalogueFacts, rows_of
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


def make_catalogue_table(
    connection: "DuckDBPyConnection", table: TableDefinition, facts: CatalogueFacts
) -> str:
    """Make the table; its name in DuckDB."""
    shape = ", ".join(f"{column} {kind.duckdb_type}" for _, kind, column in table.columns)
    name = f"{table.schema}_{table.name}"
    connection.execute(f"CREATE TEMP TABLE {name} ({shape})")
    rows = rows_of(table.schema, table.name, facts)
    if rows:
        items = ", ".join(
            f"unnest(from_json(?, '[\"{kind.duckdb_type}\"]'))" for _, kind, _ in table.columns
        )
        columns = [
            json.dumps([row.get(key, _default(kind)) for row in rows])
            for key, kind, _ in table.columns
        ]
        connection.execute(f"INSERT INTO {name} SELECT {items}", columns)
    return f"temp.main.{name}"


def _default(kind: SqlType) -> object:
    return None if kind.is_array else DEFAULTS.get(kind.name)
