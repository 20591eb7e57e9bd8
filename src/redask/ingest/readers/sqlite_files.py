"""SQLite databases: every table a collection, every row an entity, every foreign key an edge.

    table         all but views, virtual tables and SQLite's own; its name is the collection,
                  `<requested collection>.<name>` when one was requested
    id            the primary key, several columns joined by commas; else the rowid
    content       every column under its own name; a blob, and text that is not UTF-8, as its size
                  and digest; an infinity as text
    foreign key   an edge to the referenced row, labelled with its columns in words and without a
                  last "id": `SupportRepId` → "support rep". A dangling reference gives no edge
    keys          primary and foreign ones as they are declared, for who plans a SELECT

The file is opened read-only, checked with `quick_check` first, and read in one transaction, so
that concurrent writes are not seen. No code in its schema is run.
"""

import math
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from redask.core.errors import BadAsk
from redask.core.model import Kind, Urn
from redask.core.ports import DeclaredKey
from redask.ingest.records import OpenedFile, ReadEdge, ReadItem, ReadKey, ReadRecord

BUSY_TIMEOUT_SECONDS = 2.0
_PROGRESS_ROWS = 256
# About values, not about damage; and SQLite 3.40 finds NULLs in keys where there are none.
_NOT_DAMAGE = re.compile(r"\w+(?:-\w+)? value in |CHECK constraint failed")
_MESSAGES = {
    sqlite3.SQLITE_BUSY: "is locked by another program: try again when it is done",
    sqlite3.SQLITE_LOCKED: "is locked by another program: try again when it is done",
    sqlite3.SQLITE_NOTADB: "is not a SQLite database, or is damaged or encrypted",
    sqlite3.SQLITE_CORRUPT: "is damaged",
}


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table of the file: its columns, and those of its primary key."""

    name: str
    collection: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    has_rowid: bool


@dataclass(frozen=True, slots=True)
class SourceReference:
    """A foreign key: its columns, the table that it references, and the columns there."""

    columns: tuple[str, ...]
    parent: SourceTable
    referenced: tuple[str, ...]


def read(file: OpenedFile) -> Iterator[ReadRecord]:
    """The rows of all tables, then an edge for every foreign key that references a row."""
    uri = Path(file.found.path).as_uri()
    try:
        with closing(
            sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=BUSY_TIMEOUT_SECONDS)
        ) as connection:
            connection.isolation_level = None
            connection.text_factory = _text
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("BEGIN")
            _check(connection)
            tables = _tables(connection, file.found.requested_collection)
            yield from _rows(connection, tables, file)
            by_name = {each.name.lower(): each for each in tables}
            references = {each.name: _references(connection, each, by_name) for each in tables}
            for table in tables:
                yield from _keys(table, references[table.name])
            for table in tables:
                yield from _edges(connection, table, references[table.name])
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise BadAsk(_MESSAGES.get(code, f"cannot be read: {error}")) from None


def _check(connection: sqlite3.Connection) -> None:
    for (verdict,) in connection.execute("PRAGMA quick_check"):
        if verdict != "ok" and not _NOT_DAMAGE.match(verdict):
            raise BadAsk(f"is damaged: {' '.join(str(verdict).split())[:200]}")


def _tables(connection: sqlite3.Connection, requested: str | None) -> list[SourceTable]:
    listed = connection.execute(
        "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).fetchall()
    prefix = f"{requested}." if requested else ""
    tables = []
    for name, without_rowid in listed:
        columns = connection.execute(
            "SELECT name, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid", (name,)
        ).fetchall()
        key = [column for column, index in sorted(columns, key=lambda one: one[1]) if index]
        names = tuple(column for column, _ in columns)
        tables.append(SourceTable(name, prefix + name, names, tuple(key), not without_rowid))
    return tables


def _rows(
    connection: sqlite3.Connection, tables: list[SourceTable], file: OpenedFile
) -> Iterator[ReadItem]:
    counts = [
        connection.execute(f"SELECT count(*) FROM {_quoted(table.name)}").fetchone()[0]
        for table in tables
    ]
    total, done = max(1, sum(counts)), 0
    for table in tables:
        names = [*map(_quoted, table.columns), *_address_columns(table, "")]
        width = len(table.columns)
        for row in connection.execute(f"SELECT {', '.join(names)} FROM {_quoted(table.name)}"):
            done += 1
            if not done % _PROGRESS_ROWS:
                file.advance(file.found.size * done // total)
            content = dict(zip(table.columns, map(_value, row[:width]), strict=True))
            yield ReadItem(_address(table, row[width:]), content)


def _references(
    connection: sqlite3.Connection, table: SourceTable, tables: dict[str, SourceTable]
) -> list[SourceReference]:
    """The foreign keys of a table that reference columns there are."""
    listed = connection.execute(
        'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq',
        (table.name,),
    ).fetchall()
    found = []
    for number in sorted({row[0] for row in listed}):
        pairs = [row for row in listed if row[0] == number]
        parent = tables.get(pairs[0][1].lower())
        if parent is None:
            continue
        spelt = {column.lower(): column for column in parent.columns}
        named = [row[3] for row in pairs]
        referenced = parent.key if None in named else [spelt.get(each.lower()) for each in named]
        columns = tuple(row[2] for row in pairs)
        known = tuple(each for each in referenced if each is not None)
        if len(referenced) == len(columns) == len(known):
            found.append(SourceReference(columns, parent, known))
    return found


def _keys(table: SourceTable, references: list[SourceReference]) -> Iterator[ReadKey]:
    if table.key:
        yield ReadKey(DeclaredKey(table.collection, table.key))
    for each in references:
        target = each.parent.collection
        yield ReadKey(DeclaredKey(table.collection, each.columns, target, each.referenced))


def _edges(
    connection: sqlite3.Connection, table: SourceTable, references: list[SourceReference]
) -> Iterator[ReadEdge]:
    for each in references:
        name = DeclaredKey(table.collection, each.columns).label
        parent = each.parent
        child_columns = _address_columns(table, "child.")
        parent_columns = _address_columns(parent, "parent.")
        condition = " AND ".join(
            f"child.{_quoted(a)} = parent.{_quoted(b)}"
            for a, b in zip(each.columns, each.referenced, strict=True)
        )
        for row in connection.execute(
            f"SELECT {', '.join((*child_columns, *parent_columns))}"
            f" FROM {_quoted(table.name)} AS child"
            f" JOIN {_quoted(parent.name)} AS parent ON {condition}"
        ):
            width = len(child_columns)
            yield ReadEdge(_address(table, row[:width]), name, _address(parent, row[width:]))


def _address_columns(table: SourceTable, prefix: str) -> list[str]:
    """The columns that make a row's address: the primary key, and the rowid if there is one."""
    rowid = next(
        (name for name in ("rowid", "_rowid_", "oid") if name not in map(str.lower, table.columns)),
        None,
    )
    columns = [f"{prefix}{_quoted(name)}" for name in table.key]
    return [*columns, f"{prefix}{rowid}"] if table.has_rowid and rowid else columns


def _address(table: SourceTable, values: tuple[object, ...]) -> Urn:
    key = values[: len(table.key)]
    if key and None not in key:
        name = ",".join(map(_part, key))
    elif len(values) > len(key):
        name = str(values[-1]) if not key else f"rowid {values[-1]}"
    else:
        raise BadAsk(f"has a NULL in a primary key and no rowid, in the table {table.name}")
    return Urn(Kind.ROW, table.collection, name)


def _part(value: object) -> str:
    """One column of a key, escaped so that different keys give different ids."""
    if isinstance(value, bytes):
        return value.hex() if value else "''"
    text = str(value).replace("%", "%25").replace(",", "%2C")
    return text or "''"


def _value(value: object) -> object:
    if isinstance(value, bytes):
        return f"<{len(value)} bytes, sha256 {sha256(value).hexdigest()[:16]}>"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _text(raw: bytes) -> str | bytes:
    """A text, or the bytes if they are not UTF-8 or hold a NUL."""
    try:
        found = raw.decode()
    except UnicodeDecodeError:
        return raw
    return raw if "\0" in found else found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
