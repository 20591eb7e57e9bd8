"""A database on PostgreSQL, for one purpose: `PostgresDatabase`; see `relational.sql_database`.

Each transaction says first whose rows it is about (`row_security`), by settings that end with it.

    reading, snapshot    one state of the database, REPEATABLE READ and READ ONLY
    writing              READ COMMITTED. Before anything else it locks the row of its tenant in the
                         table of locks of its purpose; of every tenant: the whole table. So nobody
                         commits a sequence number below one that was seen, on whichever node.
                         What is written to the store moves the tenant's position there, and wakes
                         who listens (`pg_listening`)

Where there is a replica, what is about one tenant is read from it, in a state that holds all that
the primary had when the transaction began; else from the primary. See `pg_replica`.

The threads of a process wait for each other before one of them takes a connection, and connections
to write with are of a pool that no reader takes one of: an audit row waits for no one who reads.
`synchronous_commit` is on: what was acknowledged is on disk, and on that of a synchronous standby.
Statements have a deadline, and so has waiting for a lock; a server that says nothing any more is
given up (`pg_link`). A standby that was promoted can be written from then on: `Standing`.
"""

import os
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg
from psycopg.errors import InsufficientPrivilege, UndefinedFunction

from redask.core.errors import FORKED, StoreFailed
from redask.stores.postgres.pg_connection import PostgresConnection
from redask.stores.postgres.pg_errors import translated
from redask.stores.postgres.pg_link import Link
from redask.stores.postgres.pg_pool import Pool
from redask.stores.postgres.pg_replica import (
    SILENCE_SECONDS,
    STATEMENT_MS,
    TIMELINE,
    PrimaryPosition,
    Replica,
)
from redask.stores.relational.sql_database import EVERY_TENANT, Whose

PATIENCE_SECONDS = 10.0
STORE_LOCKS, CHANNEL = "store_locks", "redask_changes"
FIRST_REPLY_SECONDS = 10.0
_SLOWER_SECONDS = 5.0  # than the server's own limit
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


class Standing:
    """Whether a server can be written: a primary, or a standby that was promoted."""

    def __init__(self, writers: Pool, place: str, *, is_standby: bool) -> None:
        self._writers, self._place = writers, place
        self._is_standby = is_standby

    @property
    def read_only(self) -> bool:
        """Whether it is a standby still, which is looked at each time."""
        if self._is_standby:
            with translated(self._place), self._writers.lent(_brief) as connection:
                found = connection.execute("SELECT pg_is_in_recovery()").fetchone()
            self._is_standby = bool(found and found[0])
        return self._is_standby


class PostgresDatabase:
    """One purpose of a database: which pool it uses, and which locks."""

    def __init__(
        self,
        pool: Pool,
        writers: Pool,
        place: str,
        locks: str,
        *,
        standing: Standing,
        replica: Replica | None = None,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._standing, self._replica = standing, replica
        self._pool, self._writers = pool, writers
        self._place, self._locks = place, locks
        self._patience = patience
        self._process = os.getpid()
        self._node = secrets.token_hex(8)
        self._writing = threading.Lock()

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written."""
        return self._standing.read_only

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

        def limited(connection: Link) -> None:
            connection.silence = FIRST_REPLY_SECONDS
            connection.execute(_LIMITS, limits)
            connection.silence = _LONG_MS / 1000 + _SLOWER_SECONDS

        with translated(self._place), self._writers.lent(limited) as connection:
            for table in ("audit_records", "audit_provenance", "audit_numbers", "answers"):
                connection.execute(f"VACUUM FULL redask.{table}")
            connection.close()  # VACUUM is in no transaction, so that its limits would stay

    def place(self) -> str:
        """Cluster, database and timeline; the database alone where nobody may know more."""
        with translated(self._place), self._pool.lent(_brief) as connection:
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
        with translated(self._place), self._lent(whose, begin, limit_ms) as connection:
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
            if connection.is_unconfirmed:
                connection.close()
                raise StoreFailed(
                    f"{self._place} has written this, and its synchronous standby did not confirm"
                    " it: it may be lost if that takes over; try again"
                )

    @contextmanager
    def _lent(self, whose: Whose, begin: str, limit_ms: int) -> Iterator[Link]:
        """A connection on which a transaction has begun."""
        if begin == _READ and self._replica is not None and isinstance(whose, str):
            begun = self._begun(whose, begin, min(limit_ms, STATEMENT_MS), SILENCE_SECONDS)
            with self._replica.fresh(whose, self._position(whose), begun) as connection:
                if connection is not None:
                    yield connection
                    return
        pool = self._writers if begin == _WRITE else self._pool
        with pool.lent(self._begun(whose, begin, limit_ms, FIRST_REPLY_SECONDS)) as connection:
            yield connection

    def _begun(
        self, whose: Whose, begin: str, limit_ms: int, silence: float
    ) -> Callable[[Link], None]:
        """What begins a transaction about somebody's rows."""
        settings = (_named(whose), self._node, str(limit_ms), f"{self._patience:g}s", str(_IDLE_MS))

        def begun(connection: Link) -> None:
            connection.silence = silence
            with connection.pipeline():
                connection.execute(begin)
                connection.execute(_SETTINGS, settings)
            connection.silence = limit_ms / 1000 + _SLOWER_SECONDS

        return begun

    def _position(self, whose: str) -> PrimaryPosition:
        """Where the primary is, in what is about a tenant."""
        found: list[PrimaryPosition] = []
        position = f"(SELECT position FROM redask.{self._locks} WHERE whose = %s)"

        def ask(connection: Link) -> None:  # all of it begins: so another connection may do it
            connection.silence = FIRST_REPLY_SECONDS
            with connection.pipeline():
                connection.execute(_READ)
                connection.execute("SELECT set_config('redask.whose', %s, true)", (_named(whose),))
                told = connection.execute(f"SELECT coalesce({position}, 0), {TIMELINE}", (whose,))
                connection.execute("COMMIT")
                writes, timeline = told.fetchone() or (0, "")
            found.append(PrimaryPosition(int(writes), timeline))

        with self._pool.lent(ask):
            return found[-1]

    def _lock(self, connection: Link, whose: Whose) -> None:
        """Wait until nobody else writes to the tenant, or to any."""
        table = f"redask.{self._locks}"
        moves = self._locks == STORE_LOCKS
        if whose is EVERY_TENANT:
            connection.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")
            if moves:
                connection.execute(f"UPDATE {table} SET position = position + 1")
                connection.execute(f"NOTIFY {CHANNEL}")
            return
        lock = f"SELECT 1 FROM {table} WHERE whose = %s FOR UPDATE"
        if moves:
            lock = f"UPDATE {table} SET position = position + 1 WHERE whose = %s"
        with connection.pipeline():
            for statement in (f"INSERT INTO {table} VALUES (%s) ON CONFLICT DO NOTHING", lock):
                connection.execute(statement, (whose,))
            if moves:
                connection.execute(f"NOTIFY {CHANNEL}")


def _named(whose: Whose) -> str:
    return "every" if whose is EVERY_TENANT else f"one:{whose}"


def _brief(connection: Link) -> None:
    connection.silence = FIRST_REPLY_SECONDS
    connection.execute("SELECT 1")  # so that one that was lost is noticed, and replaced
