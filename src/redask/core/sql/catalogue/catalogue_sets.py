"""Functions of the catalogue that return rows, and the records that they return.

of a table      the rows of a table of the catalogue: pg_show_all_settings()
empty           what would be read from something that nobody has here: privileges (aclexplode),
                partitions, parsers of text search
expanded        _pg_expandarray(smallint[]): an item with its place
"""

from typing import TYPE_CHECKING

from redask.core.sql.binder.bound import BOOL, INT4, TEXT, Bound, fail, unsupported
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    from redask.core.sql.binder.expressions import Expressions

_OID, _NAME = SqlType("oid"), SqlType("name")
RECORD = SqlType("record")
TABLES = {
    "pg_show_all_settings": "pg_settings",
    "pg_get_keywords": "pg_get_keywords",
    "pg_available_extensions": "pg_available_extensions",
    "pg_available_extension_versions": "pg_available_extension_versions",
    "pg_timezone_names": "pg_timezone_names",
    "pg_timezone_abbrevs": "pg_timezone_abbrevs",
    "pg_prepared_statement": "pg_prepared_statements",
    "pg_cursor": "pg_cursors",
}
EMPTY: dict[str, tuple[tuple[str, SqlType], ...]] = {
    "aclexplode": (
        ("grantor", _OID),
        ("grantee", _OID),
        ("privilege_type", TEXT),
        ("is_grantable", BOOL),
    ),
    "pg_options_to_table": (("option_name", TEXT), ("option_value", TEXT)),
    "pg_partition_ancestors": (("relid", SqlType("regclass")),),
    "pg_partition_tree": (
        ("relid", SqlType("regclass")),
        ("parentrelid", SqlType("regclass")),
        ("isleaf", BOOL),
        ("level", INT4),
    ),
    "pg_get_publication_tables": (("relid", _OID), ("attrs", TEXT), ("qual", TEXT)),
    "pg_tablespace_databases": (("pg_tablespace_databases", _OID),),
    "pg_listening_channels": (("pg_listening_channels", TEXT),),
    "ts_token_type": (("tokid", INT4), ("alias", TEXT), ("description", TEXT)),
}
_FIELDS = {
    "x": SqlType("int2"),
    "n": INT4,
    **{name: kind for columns in EMPTY.values() for name, kind in columns},
}
_INTEGERS = ("int2", "int4", "int8", "oid")


def expanded(values: list[Bound], location: int) -> str:
    """information_schema._pg_expandarray(): a list of records of an item and its place."""
    value = values[0] if len(values) == 1 else None
    if value is None or not value.type.is_array or value.type.name not in _INTEGERS:
        unsupported("_pg_expandarray of anything but integers", location)
    return (
        f"list_transform({value.sql}, lambda v, i:"
        " struct_pack(x := CAST(v AS SMALLINT), n := CAST(i AS INTEGER)))"
    )


def record_field(value: Bound, name: str) -> Bound:
    """A field of a record that one of these functions gave."""
    if name not in _FIELDS:
        fail("42703", f'column "{name}" not found in data type record', value.location)
    return value.like(f"struct_extract({value.sql}, '{name}')", type=_FIELDS[name])


def no_records(name: str) -> str:
    """The empty list of what a function gives in a select list."""
    columns = EMPTY[name]
    fields = ", ".join(f"{own} {kind.duckdb_type}" for own, kind in columns)
    kind = columns[0][1].duckdb_type if len(columns) == 1 else f"STRUCT({fields})"
    return f"CAST([] AS {kind}[])"


def checked(self: "Expressions", values: list[Bound]) -> None:
    """Arguments that nothing is done with must still be something."""
    for each in values:
        if each.is_untyped:
            self.coercion.coerce(each, TEXT)
