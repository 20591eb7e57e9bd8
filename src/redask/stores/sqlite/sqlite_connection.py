"""A connection to a SQLite file, with what `relational.sql_database` asks of one."""

import sqlite3
from collections.abc import Sequence
from typing import Any


class SqliteConnection(sqlite3.Connection):
    """A connection as `relational.sql_database` describes it."""

    urn_order = "urn"
    urn_after = "true"

    def stream(self, statement: str, parameters: Any = (), /) -> sqlite3.Cursor:
        """Every cursor is read row by row."""
        return self.execute(statement, parameters)

    def admit_only(self, classes: str) -> None:
        """There is no second lock: nobody but this process reads the file."""

    def new_keys(self, count: int) -> range:
        """Keys that no entity ever had."""
        (last,) = self.execute(
            "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'entities'"
        ).fetchone()
        return range(last + 1, last + 1 + count)

    def keep_seen(self) -> None:
        """A table of this connection's own."""
        self.execute(
            "CREATE TEMP TABLE IF NOT EXISTS ingest_seen (origin, key, PRIMARY KEY (origin, key))"
        )

    def keep_answers(self) -> None:
        """Who writes is alone with the file."""

    def today(self, day: int) -> int:
        """The day: all processes go by the clock of one machine."""
        return day

    def not_after_today(self, day: int) -> int:
        """The day: all processes go by the clock of one machine."""
        return day

    def columns_of(self, table: str) -> list[str]:
        """The columns of a table."""
        return [row[1] for row in self.execute(f'PRAGMA table_info("{table}")')]

    def bring(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Write rows of another database."""
        names, marks = ", ".join(f'"{each}"' for each in columns), ", ".join("?" * len(columns))
        self.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', rows)

    def number_on(self) -> None:
        """SQLite numbers after the highest that was ever there."""

    def schema_version(self) -> int:
        """How many migrations there were."""
        (number,) = self.execute("PRAGMA user_version").fetchone()
        return int(number)

    def complaints(self) -> list[str]:
        """What SQLite finds wrong."""
        try:
            rows = self.execute("PRAGMA integrity_check").fetchall()
        except sqlite3.DatabaseError as error:
            return [f"SQLite says: {error}"]
        found = [f"SQLite says: {row[0]}" for row in rows if row[0] != "ok"]
        return found or [
            f"row {row} of {table} refers to something missing in {parent}"
            for table, row, parent, _ in self.execute("PRAGMA foreign_key_check").fetchall()
        ]
