"""The columns of a collection as a table, and the query that makes its rows from JSON payloads.

    id        the payload's own; of an entity without one, the id of its URN
    urn       its URN
    the rest  the top-level keys of what the caller may read, by code points

Names are those of `column_names`, types those of `column_typing`. In DuckDB the columns are `c1`,
`c2` and so on, because DuckDB does not tell `Name` from `name`.

A type that the owner fixed is the column's type. While some value does not fit it, `u1` and so on
say in which rows, and `failing_view` fails there when the column is read.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from redask.core.sql.column_names import sql_names
from redask.core.sql.column_typing import NULL, column_type, is_mixed
from redask.core.sql.fixed_types import fits
from redask.core.sql.types import SqlType
from redask.stores.columnar.duckdb_connections import literal
from redask.stores.columnar.row_counts import GroupCounts

_TEXT = SqlType("text")
_UNFIT = "pg:22P02:a value does not fit the fixed type of its column"
_UTC = "make_timestamp(epoch_us(CAST({} AS TIMESTAMPTZ)))"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: its name in SQL, its type, its name in DuckDB, and the key it comes from.

    `mixed` is a text column with values that are no text, `unfit` one of a fixed type with values
    that do not fit it.
    """

    name: str
    type: SqlType
    physical: str
    key: str | None
    mixed: bool = False
    unfit: bool = False

    @property
    def flag(self) -> str:
        """The name of the column that says where a value does not fit."""
        return f"u{self.physical[1:]}"


def table_columns(
    groups: Iterable[GroupCounts], fixed: Mapping[str, SqlType] = MappingProxyType({})
) -> tuple[TableColumn, ...]:
    """The columns of a table that holds these groups; `fixed` are types by key."""
    classes: defaultdict[str, set[str]] = defaultdict(set, {"id": {NULL}})
    for group in groups:
        for key, counts in group.columns.items():
            classes[key].update(counts)
    keys = sorted(classes.keys() - {"id"})
    names = sql_names(keys, taken=("id", "urn"))
    columns = [
        _column("id", "c1", "id", classes["id"], fixed),
        TableColumn("urn", _TEXT, "c2", None),
    ]
    for number, key in enumerate(keys, start=3):
        columns.append(_column(names[key], f"c{number}", key, classes[key], fixed))
    return tuple(columns)


def _column(
    name: str, physical: str, key: str, classes: set[str], fixed: Mapping[str, SqlType]
) -> TableColumn:
    kind = fixed.get(key)
    if kind is None:
        return TableColumn(name, column_type(classes), physical, key, is_mixed(classes))
    mixed = kind == _TEXT and any(not each.startswith("t-") for each in classes - {NULL})
    unfit = not all(fits(kind, each) for each in classes)
    return TableColumn(name, kind, physical, key, mixed, unfit)


def table_query(columns: Sequence[TableColumn], rows: str) -> str:
    """The typed rows, in the order of URNs, of a query that gives `urn, own_id, payload`."""
    keyed = [each for each in columns if each.key is not None]
    as_text = [each for each in keyed if each.unfit or not _needs_json(each)]
    as_json = [each for each in keyed if each.unfit or _needs_json(each)]
    texts = {each: f"v[{place}]" for place, each in enumerate(as_text, start=1)}
    jsons = {
        each: f"nullif(CAST(j[{place}] AS VARCHAR), 'null')"
        for place, each in enumerate(as_json, start=1)
    }
    values = []
    for column in columns:
        text, json = texts.get(column, ""), jsons.get(column, "")
        if column.key == "id":
            text = f"coalesce({text}, own_id)"
        if column.key is None:
            value = "urn"
        elif column.unfit:
            if column.key == "id":
                json = f"coalesce({json}, CAST(to_json(own_id) AS VARCHAR))"
            fit = f"coalesce(redask_value_fits({json}, {literal(str(column.type))}), true)"
            values.append(f"NOT {fit} AS {column.flag}")
            plain = _from_json(column, json) if _needs_json(column) else _from_text(column, text)
            value = f"CASE WHEN {fit} THEN {plain.replace('CAST(', 'TRY_CAST(')} END"
        elif _needs_json(column):
            value = _from_json(column, json)
            if column.key == "id":
                value = f"coalesce({value}, CAST(own_id AS {column.type.duckdb_type}))"
        else:
            value = _from_text(column, text)
        values.append(f"{value} AS {column.physical}")
    extracted = [
        f"{function}(payload, [{', '.join(map(_pointer, wanted))}]) AS {name}"
        for function, wanted, name in (
            ("json_extract_string", as_text, "v"),
            ("json_extract", as_json, "j"),
        )
        if wanted
    ]
    inner = ", ".join(["urn", "own_id", *extracted])
    return f"SELECT {', '.join(values)} FROM (SELECT {inner} FROM ({rows})) ORDER BY urn"


def failing_view(columns: Sequence[TableColumn], table: str) -> str:
    """The columns of a table; one with values that do not fit fails where it is read."""
    values = [
        f"CASE WHEN {each.flag} THEN error('{_UNFIT} (' || c2 || ')') ELSE {each.physical} END"
        f" AS {each.physical}"
        if each.unfit
        else each.physical
        for each in columns
    ]
    return f"SELECT {', '.join(values)} FROM {table}"


def empty_query(columns: Sequence[TableColumn]) -> str:
    """No rows, with the types of the columns."""
    values = (f"CAST(NULL AS {each.type.duckdb_type}) AS {each.physical}" for each in columns)
    return f"SELECT {', '.join(values)} LIMIT 0"


def _needs_json(column: TableColumn) -> bool:
    return column.mixed or column.type.is_array or column.type.name == "jsonb"


def _from_text(column: TableColumn, value: str) -> str:
    kind = column.type
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
