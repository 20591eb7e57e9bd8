"""What a SQLite file may hold besides data: `harden` a connection, `foreign_parts` of a schema.

Triggers, views, generated columns, defaults and indexes of expressions are statements that run when
a file is read or written. In a file that somebody hands over they are that person's statements:
they could undo a policy as it is set, or never end. So a file is compared with what redask itself
makes, and is refused before anything but its schema is read.

    allowed                            compared
    what redask's statements make      by kind, name, table and text; spaces and quotes do not count
    an index that SQLite made          it has no text
    what ANALYZE leaves                by its text, too
    anything else                      is foreign

What is missing is not foreign: it is damage, and shows as such.
"""

import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from functools import cache

SchemaPart = tuple[str, str, str, str]  # kind, name, table, text
_AUTOMATIC = "sqlite_autoindex_"
_ANALYZED = (
    "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
)
_SHOWN = 100  # characters of a name


def harden(connection: sqlite3.Connection) -> None:
    """Let what a schema says call no function that has effects, and its pages be looked at."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    configure = getattr(connection, "setconfig", None)  # since Python 3.12
    if configure is not None:
        configure(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)  # type: ignore[attr-defined]


def foreign_parts(connection: sqlite3.Connection, statements: Iterable[str]) -> list[str]:
    """What an open file has that these statements do not make, as `kind name`; sorted."""
    known = made_by(tuple(statements))
    return sorted(
        f"{kind} {name[:_SHOWN]!a}"
        for kind, name, table, text in _parts(connection)
        if (kind, name, table, text) not in known
        and not (kind == "index" and name.startswith(_AUTOMATIC) and not text)
    )


@cache
def made_by(statements: tuple[str, ...]) -> frozenset[SchemaPart]:
    """The schema that these statements make, and what ANALYZE may add to it."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
        made = frozenset(_parts(connection))
    names = [text.split()[2].partition("(")[0] for text in _ANALYZED]
    return made | {("table", name, name, text) for name, text in zip(names, _ANALYZED, strict=True)}


def _parts(connection: sqlite3.Connection) -> list[SchemaPart]:
    found = connection.execute("SELECT type, name, tbl_name, sql FROM main.sqlite_master")
    return [
        (str(kind), str(name), str(table), _plain(str(text or "")))
        for kind, name, table, text in found.fetchall()
    ]


def _plain(text: str) -> str:
    """A text without what SQLite writes differently when a table is renamed."""
    return re.sub(r"\s+", " ", text.replace('"', ""))
