"""What a source says of its tables: `read_tables(connection, names, prefix)`.

A name is `table` or `schema.table`, as they are spelt; without a schema it is one of `public`.
A table needs a primary key, or a unique key of columns that are never null: rows have no other
address. Columns that the role may not SELECT are not there. A foreign key counts if both tables
are attached and all its columns may be read.
"""

from collections.abc import Sequence
from dataclasses import replace

from redask.core.errors import BadAsk
from redask.stores.attached.attachment import AttachedTable, SourceColumn, SourceForeignKey
from redask.stores.attached.source_connection import Connection
from redask.stores.entity_rows import collection_fault

_COLUMNS = """SELECT a.attname, format_type(a.atttypid, a.atttypmod),
    coalesce(col_description(c.oid, a.attnum), '')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p')
    AND has_column_privilege(c.oid, a.attnum, 'SELECT') ORDER BY a.attnum"""
_TABLE = """SELECT c.oid, coalesce(obj_description(c.oid, 'pg_class'), '')
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p')"""
_KEYS = """SELECT array_agg(a.attname ORDER BY place.n), bool_and(a.attnotnull)
    FROM pg_index i CROSS JOIN unnest(i.indkey::smallint[]) WITH ORDINALITY AS place(number, n)
    LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = place.number
    WHERE i.indrelid = $1 AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
    AND place.n <= i.indnkeyatts
    GROUP BY i.indexrelid, i.indisprimary HAVING bool_and(a.attname IS NOT NULL)
    ORDER BY i.indisprimary DESC, i.indexrelid"""
_REFERENCES = """SELECT
    (SELECT array_agg(a.attname ORDER BY k.n) FROM unnest(f.conkey) WITH ORDINALITY AS k(c, n)
     JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = k.c),
    n.nspname || '.' || c.relname,
    (SELECT array_agg(a.attname ORDER BY k.n) FROM unnest(f.confkey) WITH ORDINALITY AS k(c, n)
     JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = k.c)
    FROM pg_constraint f JOIN pg_class c ON c.oid = f.confrelid
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE f.conrelid = $1 AND f.contype = 'f' AND f.conparentid = 0 ORDER BY f.conname"""
_ROLE = "SELECT current_user, rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"


def check_role(connection: Connection) -> str:
    """The role that reads; `BadAsk` for one that no row level security holds for."""
    found = connection.execute(_ROLE).fetchone()
    name, is_exempt = found or ("", True)
    if is_exempt:
        raise BadAsk(
            f"row level security does not hold for the role {name[:100]!a} (SUPERUSER or"
            " BYPASSRLS): choose another by --role",
            detail="role",
        )
    return str(name)


def read_tables(
    connection: Connection, names: Sequence[str], prefix: str | None = None
) -> tuple[AttachedTable, ...]:
    """These tables, as the role of the connection may read them."""
    if not names:
        raise BadAsk("name the tables to attach by --tables", detail="tables")
    tables: dict[str, AttachedTable] = {}
    for name in names:
        table = _table(connection, name, prefix)
        tables[table.full_name] = table
    collections = [each.collection for each in tables.values()]
    twice = sorted({each for each in collections if collections.count(each) > 1})
    if twice:
        raise BadAsk(f"two tables would be the collection {twice[0]!a}", detail="tables")
    return tuple(_with_known_references(each, tables) for each in tables.values())


def _table(connection: Connection, written: str, prefix: str | None) -> AttachedTable:
    schema, _, name = written.rpartition(".")
    schema = schema or "public"
    found = connection.execute(_TABLE, (schema, name)).fetchone()
    columns = connection.execute(_COLUMNS, (schema, name)).fetchall() if found else []
    if found is None or not columns:
        raise BadAsk(
            f"there is no table {written[:200]!a} that this role may read", detail="tables"
        )
    oid, comment = found
    readable = {column for column, *_ in columns}
    listed = connection.execute(_KEYS, (oid,)).fetchall()
    keys = [tuple(key) for key, is_given in listed if is_given and set(key) <= readable]
    if not keys:
        raise BadAsk(
            f"the table {written[:200]!a} has no primary key, and no unique key of columns that"
            " are never null, that this role may read: its rows have no address",
            detail="tables",
        )
    references = tuple(
        SourceForeignKey(tuple(own), target, tuple(there))
        for own, target, there in connection.execute(_REFERENCES, (oid,)).fetchall()
    )
    collection = f"{prefix}.{name}" if prefix else name
    fault = collection_fault(collection)
    if fault:
        raise BadAsk(f"the collection name {collection[:200]!a} {fault}", detail="prefix")
    made = tuple(SourceColumn(*column) for column in columns)
    return AttachedTable(schema, name, collection, made, keys[0], references, comment)


def _with_known_references(table: AttachedTable, tables: dict[str, AttachedTable]) -> AttachedTable:
    own = {each.name for each in table.columns}
    kept: dict[tuple[tuple[str, ...], str], SourceForeignKey] = {}
    for each in table.references:
        target = tables.get(each.target)
        there = set() if target is None else {column.name for column in target.columns}
        if set(each.columns) <= own and set(each.target_columns) <= there:
            kept.setdefault((each.columns, each.target), each)  # two would make each edge twice
    return replace(table, references=tuple(kept.values()))
