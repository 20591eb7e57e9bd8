"""A connection to PostgreSQL inside a transaction, as `relational.sql_database` describes it."""

from collections.abc import Sequence
from typing import Any

import psycopg

from redask.stores.postgres.dialect import translate
from redask.stores.postgres.node_schema import FORGET_SEEN
from redask.stores.postgres.pg_link import Link
from redask.stores.postgres.store_schema import NUMBERED, OWNERS
from redask.stores.relational.sql_database import SqlCursor

_SET_CLASSES = "SELECT set_config('redask.classes', %s, true)"
_TODAY = "SELECT floor(extract(epoch FROM now()) / 86400)::bigint"
_COLUMNS = """SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0
    AND NOT attisdropped AND attgenerated = '' AND attname <> 'rls_tenant'"""
_TWICE = "SELECT 1 FROM entities GROUP BY tenant, urn HAVING count(*) > 1 LIMIT 1"


class PostgresConnection:
    """One transaction; what it executes is translated by `dialect`."""

    urn_after = "urn_start >= substr(?3, 1, 600) AND urn_start <= ?4"
    urn_order = "urn_start, urn"

    def __init__(self, connection: Link) -> None:
        self._plain = connection
        self._streams: list[psycopg.ServerCursor[tuple[Any, ...]]] = []

    def execute(self, statement: str, parameters: Any = (), /) -> SqlCursor:
        """Run a statement; its rows come at once."""
        cursor: SqlCursor = self._plain.execute(*translate(statement, parameters))
        return cursor

    def stream(self, statement: str, parameters: Any = (), /) -> SqlCursor:
        """Run a query whose rows come page by page."""
        cursor = self._plain.cursor(name=f"redask_{len(self._streams)}")
        self._streams.append(cursor)
        cursor.execute(*translate(statement, parameters))
        found: SqlCursor = cursor
        return found

    def close_streams(self) -> None:
        """Let go of what was not read to its end."""
        for cursor in self._streams:
            cursor.close()

    def executemany(self, statement: str, parameters: Any, /) -> SqlCursor:
        """Run a statement for each set of parameters."""
        cursor = self._plain.cursor()
        sets = list(parameters)
        if sets:
            cursor.executemany(translate(statement, sets[0])[0], sets)
        found: SqlCursor = _Done(cursor.rowcount if sets else 0)
        return found

    def new_keys(self, count: int) -> Sequence[int]:
        """Keys that no entity of any tenant ever had."""
        found = self._plain.execute(
            "SELECT nextval('redask.entity_keys') FROM generate_series(1, %s)", (count,)
        )
        return sorted(key for (key,) in found.fetchall())

    def keep_seen(self) -> None:
        """The table is there; row level security keeps processes apart. What is old is dropped."""
        self._plain.execute(FORGET_SEEN)

    def keep_answers(self) -> None:
        """Wait for who fills the cache: two who delete there would wait for each other."""
        self._plain.execute("LOCK TABLE redask.answer_locks IN EXCLUSIVE MODE")

    def today(self, day: int) -> int:
        """Today as the server has it, whatever a node's clock says."""
        found = self._plain.execute(_TODAY).fetchone()
        return int(found[0]) if found else day

    def not_after_today(self, day: int) -> int:
        """The day, or today as the server has it."""
        return min(day, self.today(day))

    def admit_only(self, classes: str) -> None:
        """Show entities of these policy classes only; empty: of all."""
        self._plain.execute(_SET_CLASSES, (classes,))

    def columns_of(self, table: str) -> list[str]:
        """The columns of a table that are not made of others, nor there for row level security."""
        found = self._plain.execute(_COLUMNS, (f'redask."{table}"',)).fetchall()
        return [name for (name,) in found]

    def bring(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Write rows of another database, each its tenant's."""
        names, marks = ", ".join(f'"{each}"' for each in columns), ", ".join("?" * len(columns))
        given = [tuple(row) for row in rows]
        if table in OWNERS:
            column, owner, number = OWNERS[table]
            names, at = f"{names}, rls_tenant", columns.index(column)
            marks = f"{marks}, (SELECT tenant FROM {owner} WHERE {number} = ?)"
            given = [(*row, row[at]) for row in given]
        self.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', given)

    def number_on(self) -> None:
        """Let identity columns, and the keys of entities, go on after the highest."""
        for table, column in NUMBERED:
            self._plain.execute(
                f"SELECT setval(pg_get_serial_sequence('redask.{table}', '{column}'),"
                f" greatest((SELECT max({column}) FROM {table}), 1))"
            )
        self._plain.execute(
            "SELECT setval('redask.entity_keys', greatest((SELECT max(key) FROM entities), 1))"
        )

    def schema_version(self) -> int:
        """How many migrations there were."""
        found = self._plain.execute("SELECT max(version) FROM redask.migrations").fetchone()
        return int(found[0]) if found else 0

    def complaints(self) -> list[str]:
        """References are kept by PostgreSQL; that no URN is there twice, by who writes."""
        twice = self._plain.execute(_TWICE).fetchone()
        return ["a URN is there twice"] if twice else []


class _Done:
    """What is left of many statements: how many rows they wrote."""

    def __init__(self, rowcount: int) -> None:
        self.rowcount = rowcount

    def fetchone(self) -> None:
        """Nothing."""

    def fetchall(self) -> list[Any]:
        """Nothing."""
        return []

    def fetchmany(self, size: int = 1) -> list[Any]:
        """Nothing."""
        return [][:size]

    def __iter__(self) -> Any:
        return iter(())
