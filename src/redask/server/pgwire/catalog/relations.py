"""The content of `pg_catalog` and `information_schema`: what one caller can SELECT from, as rows.

`catalogue_tables.txt` has the tables with PostgreSQL's own columns, `schema.table column:type …`.
Filled are those below; the rest is there and empty, because clients ask for indexes, keys,
rules, policies and comments, and an empty answer is the true one.

A table's OID is made of its name alone: the same on every connection, whatever else there is.
A cell that no row sets is false, 0 or NULL by its type.
"""

import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources

from redask.core.ports import TableShape
from redask.server.pgwire.types.oids import BOOL, FLOAT8, INT8, TEXT, TYPES, VOID, type_oid

OWNER, PUBLIC, SYSTEM, INFORMATION = 10, 2200, 11, 13_000
FIRST = 16_384
SYSTEM_TABLES = {
    "pg_class": 1259, "pg_type": 1247, "pg_attribute": 1249, "pg_proc": 1255,
    "pg_namespace": 2615, "pg_constraint": 2606, "pg_extension": 3079, "pg_database": 1262,
    "pg_description": 2609, "pg_index": 2610, "pg_attrdef": 2604, "pg_authid": 1260,
}  # fmt: skip
FORMATS = {
    BOOL: "boolean", INT8: "bigint", FLOAT8: "double precision", 21: "smallint", 23: "integer",
    700: "real", 1043: "character varying", 1042: "character", 18: '"char"',
    1083: "time without time zone", 1114: "timestamp without time zone",
    1184: "timestamp with time zone",
}  # fmt: skip
_COLLATED = "S"
_NEVER_NULL = ("id", "urn", "seq", "hash")
Row = dict[str, object]


@cache
def layout() -> dict[str, dict[str, str]]:
    """Columns and types of each table; those of `information_schema` begin with `is_`."""
    text = resources.files("redask.server.pgwire.catalog").joinpath("relations.txt").read_text()
    found = {}
    for line in text.splitlines():
        table, *columns = line.split(" ")
        schema, _, name = table.partition(".")
        known = name if schema == "pg_catalog" else f"is_{name}"
        found[known] = dict(column.split(":") for column in columns)
    return found


def numbered(names: Sequence[str]) -> dict[str, int]:
    """The OID of each table."""
    taken: dict[int, str] = {}
    for name in sorted(names):
        oid = FIRST + zlib.crc32(name.encode()) % (1 << 30)
        while oid in taken:
            oid += 1
        taken[oid] = name
    return {name: oid for oid, name in taken.items()}


def format_type(oid: int) -> str:
    """The name of a type in SQL."""
    known = TYPES.get(oid)
    if known is None:
        return "???"
    if known.items and known.name.startswith("_"):
        return f"{format_type(known.items)}[]"
    return FORMATS.get(oid, known.name)


def content(
    tables: Sequence[TableShape], user: str, database: str, settings: Sequence[tuple[str, str]]
) -> dict[str, list[Row]]:
    """The rows of each table that has some."""
    oids = numbered([table.name for table in tables])
    return {
        "pg_namespace": [
            {"oid": oid, "nspname": name, "nspowner": OWNER}
            for oid, name in (
                (SYSTEM, "pg_catalog"),
                (PUBLIC, "public"),
                (INFORMATION, "information_schema"),
            )
        ],
        "pg_class": [_class(table, oids[table.name]) for table in tables],
        "pg_attribute": [row for table in tables for row in _attributes(table, oids[table.name])],
        "pg_tables": [
            {"schemaname": "public", "tablename": table.name, "tableowner": user}
            for table in tables
        ],
        "pg_stat_user_tables": [
            {"relid": oids[table.name], "schemaname": "public", "relname": table.name}
            for table in tables
        ],
        "pg_type": _types(),
        "pg_database": [_database(database)],
        "pg_roles": [{"oid": OWNER, **_role(user)}],
        "pg_user": [{"usesysid": OWNER, "usename": user}],
        "pg_am": [{"oid": 2, "amname": "heap", "amtype": "t"}],
        "pg_collation": [
            {"oid": 100, "collname": "default", "collnamespace": SYSTEM, "collprovider": "d"}
        ],
        "pg_tablespace": [{"oid": 1663, "spcname": "pg_default", "spcowner": OWNER}],
        "pg_settings": [
            {"name": name, "setting": value, "vartype": "string", "context": "user"}
            for name, value in settings
        ],
        "is_schemata": [
            {"catalog_name": database, "schema_name": name, "schema_owner": user}
            for name in ("information_schema", "pg_catalog", "public")
        ],
        "is_tables": [_information_table(table, database) for table in tables],
        "is_columns": [row for table in tables for row in _information_columns(table, database)],
        "is_table_privileges": [
            {"grantee": user, "table_catalog": database, "table_schema": "public",
             "table_name": table.name, "privilege_type": "SELECT", "is_grantable": "NO"}
            for table in tables
        ],
        "is_information_schema_catalog_name": [{"catalog_name": database}],
        "is_enabled_roles": [{"role_name": user}],
    }  # fmt: skip


def _class(table: TableShape, oid: int) -> Row:
    return {
        "oid": oid, "relname": table.name, "relnamespace": PUBLIC, "relowner": OWNER, "relam": 2,
        "reltuples": -1.0, "relpersistence": "p", "relkind": "r", "relnatts": len(table.columns),
        "relispopulated": True, "relreplident": "d", "relrowsecurity": False,
    }  # fmt: skip


def _attributes(table: TableShape, oid: int) -> list[Row]:
    rows: list[Row] = []
    for number, (name, kind) in enumerate(table.columns, start=1):
        known = TYPES[type_oid(kind)]
        rows.append({
            "attrelid": oid, "attname": name, "atttypid": known.oid, "attstattarget": -1,
            "attlen": known.size, "attnum": number, "attcacheoff": -1, "atttypmod": -1,
            "attbyval": known.size in (1, 2, 4, 8), "attalign": "i", "attstorage": "p",
            "attnotnull": name in _NEVER_NULL, "attislocal": True,
            "attcollation": 100 if known.category == _COLLATED else 0,
        })  # fmt: skip
    return rows


def _types() -> list[Row]:
    rows: list[Row] = []
    for known in TYPES.values():
        rows.append({
            "oid": known.oid, "typname": known.name, "typnamespace": SYSTEM, "typowner": OWNER,
            "typlen": known.size, "typbyval": known.size in (1, 2, 4, 8),
            "typtype": "p" if known.oid in (VOID, 705) else "b", "typcategory": known.category,
            "typispreferred": known.oid in (TEXT, BOOL, FLOAT8), "typisdefined": True,
            "typdelim": ",", "typelem": known.items, "typarray": known.array, "typalign": "i",
            "typinput": "array_in" if known.name.startswith("_") else f"{known.name}in",
            "typoutput": f"{known.name}out", "typreceive": f"{known.name}recv",
            "typsend": f"{known.name}send", "typstorage": "p", "typtypmod": -1,
            "typcollation": 100 if known.category == _COLLATED else 0,
        })  # fmt: skip
    return rows


def _database(name: str) -> Row:
    return {
        "oid": 5, "datname": name, "datdba": OWNER, "encoding": 6, "datlocprovider": "c",
        "datallowconn": True, "datconnlimit": -1, "datcollate": "C.UTF-8", "datctype": "C.UTF-8",
        "dattablespace": 1663,
    }  # fmt: skip


def _role(user: str) -> Row:
    return {"rolname": user, "rolinherit": True, "rolcanlogin": True, "rolconnlimit": -1,
            "rolpassword": "********"}  # fmt: skip


def _information_table(table: TableShape, database: str) -> Row:
    return {
        "table_catalog": database, "table_schema": "public", "table_name": table.name,
        "table_type": "BASE TABLE", "is_insertable_into": "NO", "is_typed": "NO",
    }  # fmt: skip


def _information_columns(table: TableShape, database: str) -> list[Row]:
    precision: Mapping[int, Row] = {
        INT8: {"numeric_precision": 64, "numeric_precision_radix": 2, "numeric_scale": 0},
        FLOAT8: {"numeric_precision": 53, "numeric_precision_radix": 2},
    }
    rows: list[Row] = []
    for number, (name, kind) in enumerate(table.columns, start=1):
        oid = type_oid(kind)
        rows.append({
            "table_catalog": database, "table_schema": "public", "table_name": table.name,
            "column_name": name, "ordinal_position": number, "data_type": format_type(oid),
            "is_nullable": "NO" if name in _NEVER_NULL else "YES", "udt_catalog": database,
            "udt_schema": "pg_catalog", "udt_name": TYPES[oid].name, "is_identity": "NO",
            "dtd_identifier": str(number), "is_self_referencing": "NO", "is_generated": "NEVER",
            "identity_cycle": "NO", "is_updatable": "NO", **precision.get(oid, {}),
        })  # fmt: skip
    return rows
