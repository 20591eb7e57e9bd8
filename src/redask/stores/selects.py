"""SELECT at the store: `Selects(database, eyes_of)` opens a connection and runs a `Selection`.

The SQL parser is imported with the first statement: it takes a while, and many never need it.
"""

import sqlite3
from collections.abc import Callable, Sequence

from redask.model import Caller
from redask.ports import SelectShape, TableShape
from redask.stores.database import Database
from redask.stores.visibility import Eyes


class Selects:
    """The SELECTs of one store."""

    def __init__(
        self, database: Database, eyes_of: Callable[[sqlite3.Connection, Caller], Eyes]
    ) -> None:
        self._database = database
        self._eyes_of = eyes_of

    def select(
        self, sql: str, params: Sequence[object], caller: Caller, timeout_ms: int, max_rows: int
    ) -> list[dict[str, object]]:
        """The rows."""
        from redask.stores.selecting import Selection

        chosen = Selection(sql, params, timeout_ms, max_rows)
        with self._database.beside() as connection:
            return chosen.run(connection, caller, self._eyes_of, self._database.path.parent)

    def describe(self, sql: str, caller: Caller, timeout_ms: int) -> SelectShape:
        """What a SELECT would give, and what its parameters are."""
        from redask.stores.selecting import Selection

        chosen = Selection(sql, None, timeout_ms, 0)
        with self._database.beside() as connection:
            return chosen.describe(connection, caller, self._eyes_of, self._database.path.parent)

    def tables(self, caller: Caller) -> list[TableShape]:
        """What the caller can SELECT from, by name."""
        from redask.stores.selecting import tables_of

        with self._database.beside() as connection:
            return tables_of(connection, caller, self._eyes_of)
