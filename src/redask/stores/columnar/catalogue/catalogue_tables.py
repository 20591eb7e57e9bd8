"""The tables of the catalogue in DuckDB: `catalogue_table(opened, cursor, definition, facts)`.

One that is the same for everybody is made once for an open generation, in memory; what depends on
the caller is a temporary table of the caller's cursor, and goes with it. The rows come as one JSON
text, without the columns that have their default in every row.
"""

import json
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

from redask.core.sql.binder.context import TableDefinition
from redask.core.sql.catalogue.catalogue_rows import DEFAULTS, CatalogueFacts, is_fixed, rows_of
from redask.core.sql.types import SqlType
from redask.stores.columnar.generations.open_generation import OpenGeneration

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_lock = threading.Lock()
_made: "weakref.WeakKeyDictionary[OpenGeneration, set[str]]" = weakref.WeakKeyDictionary()


def catalogue_table(
    opened: OpenGeneration,
    cursor: "DuckDBPyConnection",
    table: TableDefinition,
    facts: Callable[[], CatalogueFacts],
) -> str:
    """The table's name in DuckDB; it is made if it is not there."""
    name = f"{table.schema}_{table.name}"
    if not is_fixed(table.schema, table.name):
        _make(cursor, f"TEMP TABLE {name}", name, table, facts())
        return f"temp.main.{name}"
    with _lock:
        known = _made.setdefault(opened, set())
        if name not in known:
            _make(cursor, f"TABLE memory.main.{name}", f"memory.main.{name}", table, _NOBODY)
            known.add(name)
    return f"memory.main.{name}"


_NOBODY = CatalogueFacts("", "")


def _make(
    cursor: "DuckDBPyConnection",
    what: str,
    name: str,
    table: TableDefinition,
    facts: CatalogueFacts,
) -> None:
    shape = ", ".join(
        f"{column} {kind.duckdb_type} DEFAULT {_default(table, kind)}"
        for _, kind, column in table.columns
    )
    cursor.execute(f"CREATE {what} ({shape})")
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
        cursor.execute(
            f"INSERT INTO {name} ({columns})"
            f" SELECT unnest(u) FROM (SELECT unnest(from_json(?, '[{{{structure}}}]')) AS u)",
            [json.dumps(values)],
        )


def _value(table: TableDefinition, kind: SqlType) -> object:
    return DEFAULTS.get(str(kind)) if table.schema == "pg_catalog" else None


def _default(table: TableDefinition, kind: SqlType) -> str:
    value = _value(table, kind)
    return "false" if value is False else "NULL" if value is None else "''" if value == "" else "0"
