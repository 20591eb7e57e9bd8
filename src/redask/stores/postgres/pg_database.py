"""A database on PostgreSQL, for one purpose: `PostgresDatabase`; see `relational.sql_database`.

Each transaction says first whose rows it is about (`row_security`), by settings that end with it.

    reading, snapshot    one state of the database, REPEATABLE READ and READ ONLY
    writing              READ COMMITTED. Before anything else it locks the row of its tenant in the
                         table of locks of its purpose; of every tenant: the whole table. So nobody
                         commits a sequence number below one that was seen, on whichever node

The threads of a process wait for each other before one of them takes a connection, and connections
to write with are of a pool that no reader takes one of: an audit row waits for no one who reads.
`synchronous_commit` is on: what was acknowledged is on disk. Statements have a deadline, and so has
waiting for a lock.
"""

import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
from psycopg.errors import InsufficientPrivilege, UndefinedFunction

from redask.core.errors import FORKED, StoreFailed
from redask.stores.postgres.pg_connection import Plain, PostgresConnection
from redask.stores.postgres.pg_errors import translated
from redask.stores.postgres.pg_pool import Pool
from redask.stores.relational.sql_database import EVERY_TENANT, Whose

PATIENCE_SECONDS = 10.0
_STATEMENT_MS, _LONG_MS, _IDLE_MS = 60_000, 600_000, 120_000
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_SETTINGS = """SELECT set_config('search_path', 'redask, pg_catalog', true),
    set_config('redask.whose', %s, true), set_config('redask.classes', '', true),
    set_config('redask.node', %s, true), set_config('statement_timeout', %s, true),
    set_config('lock_timeout', %s, true),
    set_config('idle_in_transaction_session_timeout', %s, true),
    set_config('synchronous_commit', CASE current_setting('synchronous_commit')
        WHEN 'off' THEN 'on' WHEN 'local' THEN 'on'
        ELSE current_setting('synchronous_commit') END, true)"""
_LIMITS = "SELECT set_config('statement_timeout', %s, false), set_config('lock_timeout', %s, false)"
_PLACE = """SELECT system_identifier::text || ':' || (SELECT oid FROM pg_database
    WHERE datname = current_database()) || ':' || timeline_id
    FROM pg_control_system(), pg_control_checkpoint()"""


class PostgresDatabase:
    """One purpose of a database: which pool it uses, and which locks."""

    def __init__(
        self,
        pool: Pool,
        writers: Pool,
        place: str,
        locks: str,
        *,
        read_only: bool = False,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self.read_only = read_only
        self._pool, self._writers = pool, writers
        self._place, self._locks = place, locks
        self._patience = patience
        self._process = os.getpid()
        self._node = secrets.token_hex(8)
        self._writing = threading.Lock()

    @contextmanager
    def reading(self, whose: Whose, /) -> Iterator[PostgresConnection]:
        """A transaction to read with."""
        with self._transaction(whose, _READ, _STATEMENT_MS) as connection:
            yield connection

    @contextmanager
    def snapshot(self, whose: Whose, /, *, damaged: bool = False) -> Iterator[PostgresConnection]:
        """The same, for as long as it takes; PostgreSQL itself refuses what is no UTF-8."""
        del damaged
        with self._transaction(whose, _READ, _LONG_MS) as connection:
            yield connection

    @contextmanager
    def examining(self, whose: Whose, /) -> Iterator[PostgresConnection]:
        """The same."""
        with self.snapshot(whose) as connection:
            yield connection

    @contextmanager
    def writing(self, whose: Whose, /) -> Iterator[PostgresConnection]:
        """A transaction to write with, alone."""
        with self._writing_alone(), self._transaction(whose, _WRITE, _STATEMENT_MS) as connection:
            yield connection

    def rewrite(self) -> None:
        """Write the tables of rows that can be erased anew; who reads them meanwhile, waits.

        And who writes them: so it gives up if it has to wait itself.
        """
        self.check_usable()
        limits = (str(_LONG_MS), f"{self._patience:g}s")

        def limited(connection: Plain) -> None:
            connection.execute(_LIMITS, limits)

        with translated(self._place), self._writers.lent(limited) as connection:
            for table in ("audit_records", "audit_provenance", "audit_numbers", "answers"):
                connection.execute(f"VACUUM FULL redask.{table}")
            connection.close()  # VACUUM is in no transaction, so that its limits would stay

    def place(self) -> str:
        """Cluster, database and timeline; the database alone where nobody may know more."""
        with translated(self._place), self._pool.lent(lambda _: None) as connection:
            for query in (_PLACE, "SELECT current_database()"):
                with suppress(InsufficientPrivilege, UndefinedFunction):
                    found = connection.execute(query).fetchone()
                    return str(found[0] if found else "")
        return ""

    def check_usable(self) -> None:
        """Raise `StoreFailed` in a child process, and when it is closed."""
        if self._process != os.getpid():
            raise StoreFailed(FORKED)
        if self._pool.closed:
            raise StoreFailed("the database is closed")

    @contextmanager
    def _writing_alone(self) -> Iterator[None]:
        """No other thread of this process writes to this inside."""
        self.check_usable()
        if self.read_only:
            raise StoreFailed(f"{self._place} cannot be written: it is a standby")
        if not self._writing.acquire(timeout=self._patience):
            raise StoreFailed(
                f"{self._place} was not free for {self._patience:g} s: this process writes to it; "
                "try again"
            )
        try:
            yield
        finally:
            self._writing.release()

    @contextmanager
    def _transaction(self, whose: Whose, begin: str, limit_ms: int) -> Iterator[PostgresConnection]:
        self.check_usable()
        named = "every" if whose is EVERY_TENANT else f"one:{whose}"
        waits = f"{self._patience:g}s"
        settings = (named, self._node, str(limit_ms), waits, str(_IDLE_MS))

        def begun(connection: Plain) -> None:
            with connection.pipeline():
                connection.execute(begin)
                connection.execute(_SETTINGS, settings)

        pool = self._writers if begin == _WRITE else self._pool
        with translated(self._place), pool.lent(begun) as connection:
            made = PostgresConnection(connection)
            try:
                if begin == _WRITE:
                    self._lock(connection, whose)
                yield made
            except BaseException:
                with suppress(psycopg.Error):
                    made.close_streams()
                    connection.execute("ROLLBACK")
                raise
            made.close_streams()
            ended = connection.execute("COMMIT").statusmessage
            if ended != "COMMIT":
                raise StoreFailed(f"a transaction in {self._place} was rolled back")

    def _lock(self, connection: Plain, whose: Whose) -> None:
        """Wait until nobody else writes to the tenant, or to any."""
        table = f"redask.{self._locks}"
        if whose is EVERY_TENANT:
            connection.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")
            return
        with connection.pipeline():
            for statement in (
                f"INSERT INTO {table} VALUES (%s) ON CONFLICT DO NOTHING",
                f"SELECT 1 FROM {table} WHERE whose = %s FOR UPDATE",
            ):
                connection.execute(statement, (whose,))
