"""SQLite databases: every table a collection, every row an entity, every foreign key an edge.

    table         all but views, virtual tables and SQLite's own; its name is the collection's,
                  `<collection asked for>.<name>` when one was
    id            the primary key, several columns joined by commas; else the rowid
    content       every column under its own name; a blob as its size and digest, and so a text
                  that is no UTF-8; an infinite number as text
    foreign key   an edge to the row it means, labelled with its columns in words and without a
                  last "id": `SupportRepId` → "support rep". What it means may be missing: no edge

The file is opened to be read only, checked for damage first, and read in one transaction: what
somebody else writes meanwhile is not seen. Nothing in its schema is run.
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
from redask.ingest.records import OpenedFile, ReadEdge, ReadItem, ReadRecord

BUSY_TIMEOUT_SECONDS = 2.0
_STEPS = 256
_WORDS = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|[0-9]+")
# About values, not about damage; and SQLite 3.40 finds NULLs in keys where there are none.
_HARMLESS = re.compile(r"\w+(?:-\w+)? value in |CHECK constraint failed")
_SENTENCES = {
    sqlite3.SQLITE_BUSY: "is locked by another program: try again when it is done",
    sqlite3.SQLITE_LOCKED: "is locked by another program: try again when it is done",
    sqlite3.SQLITE_NOTADB: "is not a SQLite database, or is damaged or encrypted",
    sqlite3.SQLITE_CORRUPT: "is damaged",
}


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table of the file: its columns, and those that make its key."""

    name: str
    collection: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    has_rowid: bool


def read(file: OpenedFile) -> Iterator[ReadRecord]:
    """The rows of all tables, then an edge for every foreign key that means a row."""
    place = Path(file.found.path).as_uri()
    try:
        with closing(
            sqlite3.connect(f"{place}?mode=ro", uri=True, timeout=BUSY_TIMEOUT_SECONDS)
        ) as connection:
            connection.isolation_level = None
            connection.text_factory = _text
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.execute("BEGIN")
            _check(connection)
            tables = _tables(connection, file.found.choice)
            yield from _rows(connection, tables, file)
            for table in tables:
                yield from _edges(connection, table, {each.name.lower(): each for each in tables})
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        raise BadAsk(_SENTENCES.get(code, f"cannot be read: {error}")) from None


def label(columns: tuple[str, ...]) -> str:
    """What a foreign key says, in words."""
    words = [word.lower() for column in columns for word in _WORDS.findall(column)]
    kept = words[:-1] if len(words) > 1 and words[-1] == "id" else words
    return " ".join(kept) or " ".join(columns)


def _check(connection: sqlite3.Connection) -> None:
    for (verdict,) in connection.execute("PRAGMA quick_check"):
        if verdict != "ok" and not _HARMLESS.match(verdict):
            raise BadAsk(f"is damaged: {' '.join(str(verdict).split())[:200]}")


def _tables(connection: sqlite3.Connection, choice: str | None) -> list[SourceTable]:
    listed = connection.execute(
        "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    ).fetchall()
    prefix = f"{choice}." if choice else ""
    tables = []
    for name, without_rowid in listed:
        columns = connection.execute(
            "SELECT name, pk FROM pragma_table_xinfo(?) WHERE hidden <> 1 ORDER BY cid", (name,)
        ).fetchall()
        key = [column for column, place in sorted(columns, key=lambda one: one[1]) if place]
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
    every, done = max(1, sum(counts)), 0
    for table in tables:
        names = [*map(_quoted, table.columns), *_address_columns(table, "")]
        width = len(table.columns)
        for row in connection.execute(f"SELECT {', '.join(names)} FROM {_quoted(table.name)}"):
            done += 1
            if not done % _STEPS:
                file.advance(file.found.size * done // every)
            content = dict(zip(table.columns, map(_value, row[:width]), strict=True))
            yield ReadItem(_address(table, row[width:]), content)


def _edges(
    connection: sqlite3.Connection, table: SourceTable, tables: dict[str, SourceTable]
) -> Iterator[ReadEdge]:
    listed = connection.execute(
        'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq',
        (table.name,),
    ).fetchall()
    for number in sorted({row[0] for row in listed}):
        pairs = [row for row in listed if row[0] == number]
        parent = tables.get(pairs[0][1].lower())
        own = tuple(row[2] for row in pairs)
        if parent is None:
            continue
        theirs = tuple(row[3] for row in pairs)
        if None in theirs:
            theirs = parent.key
        if len(theirs) != len(own) or not set(map(str.lower, theirs)) <= set(
            map(str.lower, parent.columns)
        ):
            continue
        said = label(own)
        here, there = _address_columns(table, "child."), _address_columns(parent, "parent.")
        meets = " AND ".join(
            f"child.{_quoted(a)} = parent.{_quoted(b)}" for a, b in zip(own, theirs, strict=True)
        )
        for row in connection.execute(
            f"SELECT {', '.join((*here, *there))} FROM {_quoted(table.name)} AS child"
            f" JOIN {_quoted(parent.name)} AS parent ON {meets}"
        ):
            yield ReadEdge(
                _address(table, row[: len(here)]), said, _address(parent, row[len(here) :])
            )


def _address_columns(table: SourceTable, prefix: str) -> list[str]:
    """What an address is made of: the key's columns, and the rowid where there is one."""
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
        raise BadAsk(f"has rows that nothing tells apart, in the table {table.name}")
    return Urn(Kind.ROW, table.collection, name)


def _part(value: object) -> str:
    """One column of a key, so that no two keys are written alike."""
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
    """A text, or bytes when it is none that we could keep."""
    try:
        found = raw.decode()
    except UnicodeDecodeError:
        return raw
    return raw if "\0" in found else found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
