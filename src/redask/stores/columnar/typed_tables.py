"""The columns of a collection as a table, and the query that makes its rows from JSON payloads.

    id        the payload's own; of an entity without one, the id of its URN
    urn       its URN
    the rest  the top-level keys of what the caller may read, by code points

Names are those of `column_names`, types those of `column_typing`. In DuckDB the columns are `c1`,
`c2` and so on, because DuckDB does not tell `Name` from `name`.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from redask.core.sql.column_names import sql_names
from redask.core.sql.column_typing import NULL, column_type, is_mixed
from redask.core.sql.types import SqlType
from redask.stores.columnar.connections import literal
from redask.stores.columnar.row_counts import GroupCounts

_TEXT = SqlType("text")
_UTC = "make_timestamp(epoch_us(CAST({} AS TIMESTAMPTZ)))"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: its name in SQL, its type, its name in DuckDB, and the key it comes from.

    `mixed` is a text column with values that are no text.
    """

    name: str
    type: SqlType
    physical: str
    key: str | None
    mixed: bool = False


def table_columns(groups: Iterable[GroupCounts]) -> tuple[TableColumn, ...]:
    """The columns of a table that holds these groups."""
    classes: defaultdict[str, set[str]] = defaultdict(set, {"id": {NULL}})
    for group in groups:
        for key, counts in group.columns.items():
            classes[key].update(counts)
    keys = sorted(classes.keys() - {"id"})
    names = sql_names(keys, taken=("id", "urn"))
    columns = [
        TableColumn("id", column_type(classes["id"]), "c1", "id", is_mixed(classes["id"])),
        TableColumn("urn", _TEXT, "c2", None),
    ]
    for number, key in enumerate(keys, start=3):
        found = classes[key]
        columns.append(
            TableColumn(names[key], column_type(found), f"c{number}", key, is_mixed(found))
        )
    return tuple(columns)


def table_query(columns: Sequence[TableColumn], rows: str) -> str:
    """The typed rows, in the order of URNs, of a query that gives `urn, own_id, payload`."""
    as_text = [each for each in columns if each.key is not None and not _needs_json(each)]
    as_json = [each for each in columns if each.key is not None and _needs_json(each)]
    values = []
    for column in columns:
        if column.key is None:
            value = "urn"
        elif _needs_json(column):
            place = as_json.index(column) + 1
            value = _from_json(column, f"nullif(CAST(j[{place}] AS VARCHAR), 'null')")
        else:
            value = _from_text(column.type, f"v[{as_text.index(column) + 1}]")
        if column.key == "id":
            value = f"coalesce({value}, {_from_text(column.type, 'own_id')})"
        values.append(f"{value} AS {column.physical}")
    extracted = [
        f"{function}(payload, [{', '.join(_pointer(each) for each in wanted)}]) AS {name}"
        for function, wanted, name in (
            ("json_extract_string", as_text, "v"),
            ("json_extract", as_json, "j"),
        )
        if wanted
    ]
    inner = ", ".join(["urn", "own_id", *extracted])
    return f"SELECT {', '.join(values)} FROM (SELECT {inner} FROM ({rows})) ORDER BY urn"


def empty_query(columns: Sequence[TableColumn]) -> str:
    """No rows, with the types of the columns."""
    values = (f"CAST(NULL AS {each.type.duckdb_type}) AS {each.physical}" for each in columns)
    return f"SELECT {', '.join(values)} LIMIT 0"


def _needs_json(column: TableColumn) -> bool:
    return column.mixed or column.type.is_array or column.type.name == "jsonb"


def _from_text(kind: SqlType, value: str) -> str:
    if kind.name == "timestamptz" and not kind.is_array:
        return _UTC.format(value)
    return value if kind == _TEXT else f"CAST({value} AS {kind.duckdb_type})"


def _from_json(column: TableColumn, value: str) -> str:
    if column.type.is_array:
        texts = f"from_json({value}, '[\"VARCHAR\"]')"
        if column.type.name == "timestamptz":
            return f"list_transform({texts}, lambda x: {_UTC.format('x')})"
        return f"CAST({texts} AS {column.type.duckdb_type})"
    return f"redask_{'plain' if column.mixed else 'jsonb'}_text({value})"


def _pointer(column: TableColumn) -> str:
    return literal("/" + str(column.key).replace("~", "~0").replace("/", "~1"))
