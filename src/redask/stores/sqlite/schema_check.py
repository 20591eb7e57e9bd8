"""Whether a file of SQLite has only what its migrations make: `check_schema`, before it is used."""

import sqlite3

from redask.core.errors import StoreFailed
from redask.index.sqlite_schema import foreign_parts
from redask.stores.sqlite.migrations import Migrations, known_version


def check_schema(connection: sqlite3.Connection, name: str, migrations: Migrations) -> None:
    """Refuse a file of another program or a newer redask, and one with parts of somebody else.

    These are triggers, views, tables and indexes that its migrations do not make. Nothing but the
    schema is read, and nothing of the file has run.
    """
    connection.execute("BEGIN")  # somebody else may upgrade it meanwhile
    try:
        version = known_version(connection, name, migrations)
        made = [statement for step in migrations[:version] for statement in step]
        foreign = foreign_parts(connection, made)
    finally:
        connection.execute("ROLLBACK")
    if foreign:
        more = f" and {len(foreign) - 3} more" if len(foreign) > 3 else ""
        raise StoreFailed(
            f"{name} has what redask did not make: {', '.join(foreign[:3])}{more}. It would run "
            "when the database is used, so the database is not opened; if it is your own, drop it "
            "with the program sqlite3",
            detail="; ".join(foreign[:100]),
        )
