"""The content of `pg_catalog` and `information_schema`: what one caller can read, as rows.

Filled are the tables below and those of `key_rows` and `session_rows`; the rest is there and empty,
because clients ask for rules, policies and comments, and an empty answer is the true one. A cell
that no row sets is false, 0, empty or NULL by its type: `DEFAULTS`, and NULL in
`information_schema`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from redask.core.sql.catalogue.key_rows import (
    BTREE,
    KEY_ROWS,
    CatalogueKeys,
    TableKey,
    attribute_row,
)
from redask.core.sql.catalogue.keywords import keyword_rows
from redask.core.sql.catalogue.object_ids import OWNER, PUBLIC, SCHEMAS, SYSTEM, numbered
from redask.core.sql.catalogue.session_rows import SESSION_ROWS
from redask.core.sql.catalogue.system_ids import FUNCTIONS, INTERNAL
from redask.core.sql.catalogue.type_rows import COLLATION, range_rows, type_rows
from redask.core.sql.types import SqlType

Row = dict[str, object]
DEFAULTS: dict[str, object] = {
    "bool": False, "oid": 0, "int2": 0, "int4": 0, "int8": 0, "char": "", "xid": 0, "float4": 0.0,
    "regproc": 0,
}  # fmt: skip
_NEVER_NULL = ("id", "urn", "seq", "hash")
_PRECISION: Mapping[str, Row] = {
    "int2": {"numeric_precision": 16, "numeric_precision_radix": 2, "numeric_scale": 0},
    "int4": {"numeric_precision": 32, "numeric_precision_radix": 2, "numeric_scale": 0},
    "int8": {"numeric_precision": 64, "numeric_precision_radix": 2, "numeric_scale": 0},
    "float4": {"numeric_precision": 24, "numeric_precision_radix": 2},
    "float8": {"numeric_precision": 53, "numeric_precision_radix": 2},
    "date": {"datetime_precision": 0},
    **{
        name: {"datetime_precision": 6} for name in ("time", "timestamp", "timestamptz", "interval")
    },
}


@dataclass(frozen=True)
class CatalogueFacts:
    """Who asks, where, the run-time parameters, what the caller can read; of its session."""

    user: str
    database: str
    settings: Mapping[str, str] = field(default_factory=dict)
    tables: Sequence[tuple[str, Sequence[tuple[str, SqlType]]]] = ()
    keys: Sequence[TableKey] = ()
    session: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def catalogue_keys(self) -> CatalogueKeys:
        """The keys with their names and numbers."""
        return CatalogueKeys(self.tables, self.keys)


def rows_of(schema: str, table: str, facts: CatalogueFacts) -> list[Row]:
    """The rows of one table of the catalogue."""
    make = _ROWS.get(f"{schema}.{table}")
    return [] if make is None else make(facts)


def is_fixed(schema: str, table: str) -> bool:
    """Whether a table of the catalogue is the same for everybody."""
    return f"{schema}.{table}" in _FIXED or f"{schema}.{table}" not in _ROWS


def _namespaces(_facts: CatalogueFacts) -> list[Row]:
    return [{"oid": oid, "nspname": name, "nspowner": OWNER} for name, oid in SCHEMAS.items()]


def _classes(facts: CatalogueFacts) -> list[Row]:
    oids, keys = numbered([name for name, _ in facts.tables]), facts.catalogue_keys
    tables: list[Row] = [
        {
            "oid": oids[name], "relname": name, "relnamespace": PUBLIC, "relowner": OWNER,
            "relam": 2, "reltuples": -1.0, "relpersistence": "p", "relkind": "r",
            "relnatts": len(columns), "relispopulated": True, "relreplident": "d",
            "relfilenode": oids[name], "relhasindex": keys.has_index(name),
            "relhastriggers": keys.is_referenced(name),
        }
        for name, columns in facts.tables
    ]  # fmt: skip
    return [*tables, *keys.index_classes()]


def _attributes(facts: CatalogueFacts) -> list[Row]:
    oids, keys = numbered([name for name, _ in facts.tables]), facts.catalogue_keys
    rows = []
    for table, columns in facts.tables:
        never = (*_NEVER_NULL, *keys.never_null(table))
        for number, (name, kind) in enumerate(columns, start=1):
            row = attribute_row(oids[table], name, kind, number)
            rows.append(row | {"attnotnull": name in never})
    return [*rows, *keys.index_attributes()]


def _tables(facts: CatalogueFacts) -> list[Row]:
    return [
        {"schemaname": "public", "tablename": name, "tableowner": facts.user,
         "hasindexes": facts.catalogue_keys.has_index(name)}
        for name, _ in facts.tables
    ]  # fmt: skip


def _user_tables(facts: CatalogueFacts) -> list[Row]:
    oids = numbered([name for name, _ in facts.tables])
    return [
        {"relid": oids[name], "schemaname": "public", "relname": name} for name, _ in facts.tables
    ]


def _databases(facts: CatalogueFacts) -> list[Row]:
    return [{
        "oid": 5, "datname": facts.database, "datdba": OWNER, "encoding": 6,
        "datlocprovider": "c", "datallowconn": True, "datconnlimit": -1, "datcollate": "C.UTF-8",
        "datctype": "C.UTF-8", "dattablespace": 1663,
    }]  # fmt: skip


def _roles(facts: CatalogueFacts) -> list[Row]:
    return [{"oid": OWNER, "rolname": facts.user, "rolinherit": True, "rolcanlogin": True,
             "rolconnlimit": -1, "rolpassword": "********"}]  # fmt: skip


def _settings(facts: CatalogueFacts) -> list[Row]:
    return [
        {"name": name, "setting": value, "vartype": "string", "context": "user",
         "source": "default", "sourceline": None}
        for name, value in sorted(facts.settings.items(), key=lambda each: each[0].lower())
    ]  # fmt: skip


def _schemata(facts: CatalogueFacts) -> list[Row]:
    return [
        {"catalog_name": facts.database, "schema_name": name, "schema_owner": facts.user}
        for name in sorted(SCHEMAS)
    ]


def _information_tables(facts: CatalogueFacts) -> list[Row]:
    return [
        {
            "table_catalog": facts.database, "table_schema": "public", "table_name": name,
            "table_type": "BASE TABLE", "is_insertable_into": "NO", "is_typed": "NO",
        }
        for name, _ in facts.tables
    ]  # fmt: skip


def _information_columns(facts: CatalogueFacts) -> list[Row]:
    return [
        {
            "table_catalog": facts.database, "table_schema": "public", "table_name": table,
            "column_name": name, "ordinal_position": number,
            "data_type": "ARRAY" if kind.is_array else kind.bare.sql_name,
            "is_nullable": "NO" if name in never else "YES",
            "udt_catalog": facts.database, "udt_schema": "pg_catalog",
            "udt_name": f"_{kind.name}" if kind.is_array else kind.name, "is_identity": "NO",
            "dtd_identifier": str(number), "is_self_referencing": "NO", "is_generated": "NEVER",
            "identity_cycle": "NO", "is_updatable": "NO", **_precision(kind),
        }
        for table, columns in facts.tables
        for never in [(*_NEVER_NULL, *facts.catalogue_keys.never_null(table))]
        for number, (name, kind) in enumerate(columns, start=1)
    ]  # fmt: skip


def _precision(kind: SqlType) -> Row:
    if kind.is_array:
        return {}
    if kind.name == "numeric":
        known: Row = {"numeric_precision_radix": 10}
        if kind.modifier:
            known |= {"numeric_precision": kind.modifier[0], "numeric_scale": kind.modifier[1]}
        return known
    return _PRECISION.get(kind.name, {})


def _privileges(facts: CatalogueFacts) -> list[Row]:
    return [
        {"grantor": facts.user, "grantee": facts.user, "table_catalog": facts.database,
         "table_schema": "public", "table_name": name, "privilege_type": "SELECT",
         "is_grantable": "NO", "with_hierarchy": "YES"}
        for name, _ in facts.tables
    ]  # fmt: skip


def _functions(_facts: CatalogueFacts) -> list[Row]:
    """What reads and writes values of a type: drivers know an array type by its functions."""
    return [
        {
            "oid": oid, "proname": name, "pronamespace": SYSTEM, "proowner": OWNER, "prolang": 12,
            "procost": 1.0, "prokind": "f", "proisstrict": True, "provolatile": "i",
            "proparallel": "s", "prorettype": INTERNAL, "proargtypes": [], "prosrc": name,
        }
        for name, oid in sorted(FUNCTIONS.items())
    ]  # fmt: skip


def _same(*rows: Row) -> Callable[[CatalogueFacts], list[Row]]:
    return lambda _facts: list(rows)


_ROWS: dict[str, Callable[[CatalogueFacts], list[Row]]] = {
    "pg_catalog.pg_namespace": _namespaces,
    "pg_catalog.pg_class": _classes,
    "pg_catalog.pg_attribute": _attributes,
    "pg_catalog.pg_tables": _tables,
    "pg_catalog.pg_stat_user_tables": _user_tables,
    "pg_catalog.pg_proc": _functions,
    "pg_catalog.pg_language": _same(
        {"oid": 12, "lanname": "internal", "lanowner": OWNER, "lanvalidator": 2246}
    ),
    "pg_catalog.pg_type": lambda _facts: type_rows(),
    "pg_catalog.pg_range": lambda _facts: range_rows(),
    "pg_catalog.pg_database": _databases,
    "pg_catalog.pg_roles": _roles,
    "pg_catalog.pg_user": lambda facts: [{"usesysid": OWNER, "usename": facts.user}],
    "pg_catalog.pg_am": _same(
        {"oid": 2, "amname": "heap", "amhandler": 3, "amtype": "t"},
        {"oid": BTREE, "amname": "btree", "amhandler": 330, "amtype": "i"},
    ),
    "pg_catalog.pg_collation": _same(
        {"oid": COLLATION, "collname": "default", "collnamespace": SYSTEM, "collowner": OWNER,
         "collprovider": "d", "collisdeterministic": True, "collencoding": -1},
        {"oid": 950, "collname": "C", "collnamespace": SYSTEM, "collowner": OWNER,
         "collprovider": "c", "collisdeterministic": True, "collencoding": -1,
         "collcollate": "C", "collctype": "C"},
    ),
    "pg_catalog.pg_tablespace": _same(
        {"oid": 1663, "spcname": "pg_default", "spcowner": OWNER}
    ),
    "pg_catalog.pg_settings": _settings,
    "pg_catalog.pg_get_keywords": lambda _facts: keyword_rows(),
    **KEY_ROWS,
    **SESSION_ROWS,
    "information_schema.schemata": _schemata,
    "information_schema.tables": _information_tables,
    "information_schema.columns": _information_columns,
    "information_schema.table_privileges": _privileges,
    "information_schema.role_table_grants": _privileges,
    "information_schema.information_schema_catalog_name": lambda facts: [
        {"catalog_name": facts.database}
    ],
    "information_schema.enabled_roles": lambda facts: [{"role_name": facts.user}],
}  # fmt: skip
_FIXED = frozenset(
    f"pg_catalog.pg_{name}"
    for name in (
        "namespace",
        "type",
        "range",
        "am",
        "collation",
        "tablespace",
        "get_keywords",
        "proc",
        "language",
    )
)
