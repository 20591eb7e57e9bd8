"""A table of the catalogue in DuckDB: `make_catalogue_table(connection, definition, facts)`.

It is a temporary table of the connection, and goes with it. The rows come as one JSON text, without
the columns that have their default in every row.
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
    name = f"{table.schema}_{table.name}"
    shape = ", ".join(
        f"{column} {kind.duckdb_type} DEFAULT {_default(table, kind)}"
        for _, kind, column in table.columns
    )
    connection.execute(f"CREATE TEMP TABLE {name} ({shape})")
    rows = rows_of(table.schema, table.name, facts)
    keys = {key for row in rows for key in row}
    given = [(key, kind, column) for key, kind, column in table.columns if key in keys]
    if given:
        structure = ", ".join(f'"{column}": "{kind.duckdb_type}"' for _, kind, column in given)
        columns = ", ".join(column for _, _, column in given)
        values = [
            {column: row.get(key, _value(table, kind)) for key, kind, column in given}
            for row in rows
        ]
        connection.execute(
            f"INSERT INTO {name} ({columns})"
            f" SELECT unnest(u) FROM (SELECT unnest(from_json(?, '[{{{structure}}}]')) AS u)",
            [json.dumps(values)],
        )
    return f"temp.main.{name}"


def _value(table: TableDefinition, kind: SqlType) -> object:
    return DEFAULTS.get(str(kind)) if table.schema == "pg_catalog" else None


def _default(table: TableDefinition, kind: SqlType) -> str:
    value = _value(table, kind)
    return "false" if value is False else "NULL" if value is None else "''" if value == "" else "0"
