"""Functions that return sets of rows: in FROM, or alone in a select list.

Each is bound to a DuckDB list (`as_list`) that is unnested; generate_series of constants in FROM
is DuckDB's own, which makes its rows one by one.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import (
    INT4,
    INT8,
    NUMERIC,
    TEXT,
    Bound,
    fail,
    numeric_text,
    unsupported,
)
from redask.core.sql.binder.namespace import RelationColumn
from redask.core.sql.catalogue import catalogue_sets
from redask.core.sql.catalogue.catalogue_sets import RECORD
from redask.core.sql.catalogue.vectors import as_array, is_vector
from redask.core.sql.functions import regexp_functions, text_functions
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_JSON_SETS = {
    "jsonb_array_elements": ("jsonb", "value", "jsonb"),
    "jsonb_array_elements_text": ("jsonb", "value", "text"),
    "jsonb_object_keys": ("jsonb", "jsonb_object_keys", "text"),
    "json_array_elements": ("json", "value", "json"),
    "json_array_elements_text": ("json", "value", "text"),
    "json_object_keys": ("json", "json_object_keys", "text"),
}
_EACH = {
    f"{kind}_each{suffix}": (SqlType(kind), bool(suffix))
    for kind in ("json", "jsonb")
    for suffix in ("", "_text")
}
_CATALOGUE = ("_pg_expandarray", *catalogue_sets.TABLES, *catalogue_sets.EMPTY)
_NAMES = frozenset(
    (
        *("generate_series", "unnest", "generate_subscripts"),
        *("regexp_matches", "regexp_split_to_table", "string_to_table"),
        *_EACH,
        *_JSON_SETS,
        *_CATALOGUE,
    )
)


@dataclass(frozen=True, slots=True)
class SetResult:
    """The rows of a call: a list in DuckDB, or (`table`) a query that gives them as `c1`.

    `lists` are those that the query puts side by side.
    """

    sql: str
    columns: tuple[RelationColumn, ...]
    table: str | None = None
    lists: tuple[str, ...] = ()


def is_set(name: str) -> bool:
    """Whether a function returns a set."""
    return name in _NAMES


def as_list(self: "Expressions", name: str, values: list[Bound], location: int) -> SetResult:
    """The call as a list."""
    counts_from_0 = any(is_vector(each.type) for each in values)
    values = [as_array(each) for each in values]
    if name in _CATALOGUE:
        return _of_catalogue(self, name, values, location)
    if name == "generate_series":
        return _series(self, values, location)
    if name == "unnest" and len(values) > 1 and all(each.type.is_array for each in values):
        return _several("unnest", [(each.sql, "unnest", each.type.element) for each in values])
    if name in _EACH and len(values) == 1:
        kind, is_text = _EACH[name]
        value = self.coercion.coerce(values[0], kind)
        suffix, gives = ("_text", TEXT) if is_text else ("", kind)
        return _several(name, [
            (f"pg_{kind.name}_each_keys({value.sql})", "key", TEXT),
            (f"pg_{kind.name}_each_values{suffix}({value.sql})", "value", gives),
        ])  # fmt: skip
    if name == "regexp_matches":
        found = regexp_functions.matches(self, values)
        if found is None:
            fail("42883", "function regexp_matches does not exist for these arguments", location)
        return _one(found, name, SqlType("text", (), True))
    if name in ("regexp_split_to_table", "string_to_table"):
        return _one(_as_array(self, name, values, location).sql, name, TEXT)
    if name == "unnest":
        if len(values) != 1 or not values[0].type.is_array:
            unsupported("unnest of anything but one array", location)
        return _one(values[0].sql, "unnest", values[0].type.element)
    if name == "generate_subscripts":
        if len(values) != 2 or not values[0].type.is_array:
            unsupported("generate_subscripts of anything but an array", location)
        first, last = ("0", " - 1") if counts_from_0 else ("1", "")
        listed = f"CAST(generate_series({first}, len({values[0].sql}){last}) AS INTEGER[])"
        return _one(listed, name, INT4)
    given, column, item = _JSON_SETS[name]
    if len(values) != 1:
        unsupported(name, location)
    value = self.coercion.coerce(values[0], SqlType(given))
    return _one(f"pg_{name}({value.sql})", column, SqlType(item))


def _of_catalogue(self: "Expressions", name: str, values: list[Bound], location: int) -> SetResult:
    """The rows of a table of the catalogue, or none: what the function reads is not there."""
    if name == "_pg_expandarray":
        return _one(catalogue_sets.expanded(values, location), name, RECORD)
    if name in catalogue_sets.TABLES:
        table = self.context.schema.table("pg_catalog", catalogue_sets.TABLES[name])
        assert table is not None, name
        found = tuple(RelationColumn(own, physical, kind) for own, kind, physical in table.columns)
        listed = ", ".join(each.sql for each in found)
        return SetResult("", found, f"SELECT {listed} FROM {self.context.marker(table)}")
    catalogue_sets.checked(self, values)
    columns = tuple(
        RelationColumn(own, f"c{place}", kind)
        for place, (own, kind) in enumerate(catalogue_sets.EMPTY[name], 1)
    )
    nulls = ", ".join(f"CAST(NULL AS {each.type.duckdb_type}) AS {each.sql}" for each in columns)
    return SetResult(catalogue_sets.no_records(name), columns, f"SELECT {nulls} WHERE false")


def _one(sql: str, name: str, type: SqlType, table: str | None = None) -> SetResult:
    return SetResult(sql, (RelationColumn(name, "c1", type),), table)


def _several(name: str, parts: list[tuple[str, str, SqlType]]) -> SetResult:
    """Columns side by side; the shorter ones end with NULLs."""
    items = ", ".join(f"unnest({text}) AS c{place}" for place, (text, _, _) in enumerate(parts, 1))
    columns = tuple(
        RelationColumn(own, f"c{place}", type) for place, (_, own, type) in enumerate(parts, 1)
    )
    return SetResult("", columns, f"SELECT {items}", tuple(text for text, _, _ in parts))


def _as_array(self: "Expressions", name: str, values: list[Bound], location: int) -> Bound:
    if name == "regexp_split_to_table":
        found = regexp_functions.SPECIAL["regexp_split_to_array"](self, values, location)
    else:
        found = text_functions.SPECIAL["string_to_array"](self, values, location)
    if found is None:
        fail("42883", f"function {name} does not exist for these arguments", location)
    return found


def _series(self: "Expressions", values: list[Bound], location: int) -> SetResult:
    if not 2 <= len(values) <= 3:
        fail("42883", "function generate_series does not exist for these arguments", location)
    first = self.coercion.common_type(values[:2], "generate_series")
    name = "generate_series"
    if first.name in ("int2", "int4", "int8"):
        type = self.coercion.common_type([*values, _int4()], name)
        type = INT8 if type.name == "int8" else INT4
        cast = [self.coercion.coerce(each, type) for each in values]
        if len(cast) == 3 and (cast[2].integer == 0 or cast[2].columns):
            fail("22023", "step size cannot equal zero", location)
        arguments = ", ".join(each.sql for each in cast)
        listed = f"CAST(generate_series({arguments}) AS {type.duckdb_type}[])"
        table = (
            f"SELECT CAST(generate_series AS {type.duckdb_type}) AS c1"
            f" FROM generate_series({arguments})"
        )
        return _one(listed, name, type, None if any(each.columns for each in cast) else table)
    if first.name in ("date", "timestamp", "timestamptz") and len(values) == 3:
        kind = SqlType("timestamp" if first.name == "timestamp" else "timestamptz")
        cast = [self.coercion.coerce(each, kind) for each in values[:2]]
        step = self.coercion.coerce(values[2], SqlType("interval"))
        if step.columns:
            unsupported("generate_series with a step that is no constant", location)
        if kind.name == "timestamptz" and self.coercion.zone != "UTC":
            unsupported(f"generate_series in the time zone {self.coercion.zone}", location)
        arguments = f"{cast[0].sql}, {cast[1].sql}, {step.sql}"
        return _one(f"generate_series({arguments})", name, kind)
    if first.name == "numeric":
        step = values[2] if len(values) == 3 else Bound("CAST(1 AS INTEGER)", INT4, integer=1)
        numbers = [self.coercion.coerce(each, NUMERIC) for each in (*values[:2], step)]
        return _one(f"pg_numeric_series({', '.join(map(numeric_text, numbers))})", name, NUMERIC)
    return unsupported(f"generate_series of {first.sql_name}", location)


def _int4() -> Bound:
    return Bound("0", INT4)
