"""The backend on PostgreSQL: `PostgresBackend("postgresql://…")`.

Four purposes share the database, each with locks of its own: what is written to the store never
holds up an audit row, nor the other way round. Three pools of connections: to read with, to read
logs with, which can take long, and one to write with for each purpose.

    store      entities, users, manifest         locked by tenant
    anchors    what the store remembers of logs  locked as a whole
    logs       audit and access log, their trees locked as a whole: one commit for many rows
    ledger     spending                          locked by tenant
    answers    answer cache                      locked as a whole

With `REDASK_READ_URL` entities are read from a replica (`pg_replica`); users, files' manifest, logs
and money are of the primary alone.
"""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from redask.core.errors import Misconfigured
from redask.core.model import Caller
from redask.stores.auditing.audit_rows import ACCESSES, ASKS
from redask.stores.backend import BackupReport, ReplicaLag
from redask.stores.postgres import pg_location, pg_migrations
from redask.stores.postgres.pg_database import (
    PATIENCE_SECONDS,
    STORE_LOCKS,
    PostgresDatabase,
    Standing,
)
from redask.stores.postgres.pg_errors import SERVED, translated
from redask.stores.postgres.pg_link import connect
from redask.stores.postgres.pg_listening import PostgresFeed
from redask.stores.postgres.pg_pool import Pool
from redask.stores.postgres.pg_replica import TIMELINE, Replica
from redask.stores.relational.auditing.accepting import accept_logs
from redask.stores.relational.auditing.anchors import RelationalAnchors
from redask.stores.relational.auditing.audit_log import RelationalAuditLog, draw_nonce
from redask.stores.relational.auditing.sealed_log_tables import RelationalSealedLogs
from redask.stores.relational.cached_answers import RelationalAnswerCache
from redask.stores.relational.copying import CopiedTables
from redask.stores.relational.ledger import RelationalLedger
from redask.stores.relational.manifest import RelationalManifest
from redask.stores.relational.relational_store import RelationalStore
from redask.stores.relational.sql_database import EVERY_TENANT
from redask.stores.relational.users import RelationalUsers

_READERS, _LOG_READERS, _WRITERS = 8, 4, 4
_WRITTEN = f"""SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
    ELSE pg_current_wal_flush_lsn() END::text, {TIMELINE}"""


def database_exists(location: str) -> bool:
    """Whether there is a schema of ours in a database; nothing is made."""
    place = pg_location.shown(location)
    with translated(place), closing(connect(pg_location.url_of(location))) as connection:
        return pg_migrations.exists(connection)


def open_tables(location: str) -> CopiedTables:
    """The tables of a database, to be copied; made where there are none."""
    url, shown = pg_location.url_of(location), pg_location.shown(location)
    is_standby = _prepare(url, shown)
    data, writers = (Pool(url, shown, most=4, patience=PATIENCE_SECONDS) for _ in range(2))
    standing = Standing(writers, shown, is_standby=is_standby)

    def close() -> None:
        data.close()
        writers.close()

    return CopiedTables(
        PostgresDatabase(data, writers, shown, STORE_LOCKS, standing=standing),
        PostgresDatabase(data, writers, shown, "log_locks", standing=standing),
        close,
    )


def _prepare(url: str, shown: str) -> bool:
    """See that there is our schema. → whether it is a standby, where it cannot be made"""
    with translated(shown), closing(connect(url)) as connection:
        pg_migrations.check_server(connection, shown)
        found = connection.execute("SELECT pg_is_in_recovery()").fetchone()
        is_standby = bool(found and found[0])
        if is_standby:
            pg_migrations.check_current(connection, shown)
        else:
            pg_migrations.upgrade(connection, shown)
    return is_standby


class PostgresBackend:
    """An open database; see `backend.Backend`."""

    def __init__(
        self,
        location: str,
        *,
        closed: bool = False,
        keyed: bool = True,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        self._url, self._shown = pg_location.url_of(location), pg_location.shown(location)
        is_standby = _prepare(self._url, self._shown)
        pg_location.make_local_directory(location)
        self._pools = [
            Pool(self._url, SERVED, most=most, patience=patience)
            for most in (_READERS, _LOG_READERS, _WRITERS)
        ]
        self._standing = Standing(self._pools[-1], SERVED, is_standby=is_standby)
        read_url = pg_location.read_url()
        self._replica = Replica(*read_url) if read_url else None
        try:
            self._fill(closed=closed, keyed=keyed, patience=patience)
        except BaseException:
            self.close()
            raise

    def _fill(self, *, closed: bool, keyed: bool, patience: float) -> None:
        data, logs, writers = self._pools

        def database(pool: Pool, locks: str, replica: Replica | None = None) -> PostgresDatabase:
            return PostgresDatabase(
                *(pool, writers, SERVED, locks),
                standing=self._standing,
                replica=replica,
                patience=patience,
            )

        self._data, self._logs = database(data, STORE_LOCKS), database(logs, "log_locks")
        store = database(data, STORE_LOCKS, self._replica) if self._replica else self._data
        self.store = RelationalStore(store, closed=closed, keyed=keyed)
        if self._replica:
            self._replica.identity = self.store.identity
        self.users = RelationalUsers(self._data)
        self.manifest = RelationalManifest(self._data)
        self._anchors = RelationalAnchors(database(data, "anchor_locks"), self._logs, draw_nonce)
        self.audit = RelationalAuditLog(self._logs, ASKS, self._anchors)
        self.access = RelationalAuditLog(self._logs, ACCESSES, self._anchors)
        self.sealed = RelationalSealedLogs(self._logs)
        self._anchors.pair()
        self.ledger = RelationalLedger(database(data, "ledger_locks"))
        self.answers = RelationalAnswerCache(database(data, "answer_locks"), self.store.timeline)

    @property
    def read_only(self) -> bool:
        """Whether it is a standby, and was not promoted."""
        return self._standing.read_only

    def replica_lag(self) -> ReplicaLag | None:
        """How far the replica is behind, where one is read."""
        if self._replica is None:
            return None
        with self._data.reading(EVERY_TENANT) as connection:
            written = connection.execute(_WRITTEN).fetchone()
        return self._replica.lag(*written)

    def change_feed(self) -> PostgresFeed:
        """What tells of writes of every node."""

        def positions() -> dict[str, int]:
            with self._data.reading(EVERY_TENANT) as connection:
                found = connection.execute("SELECT whose, position FROM store_locks").fetchall()
            return dict(found)

        return PostgresFeed(self._url, positions)

    def anchor(self) -> None:
        """Let the store remember the logs as they are now."""
        self._anchors.anchor()

    def accept_logs(self, caller: Caller, reason: str) -> str:
        """Take the logs as they are now, and note it there."""
        return accept_logs(self._anchors, (self.audit, self.access), caller, reason)

    def check_calls(self) -> list[str]:
        """PostgreSQL looks after its own pages (`pg_amcheck`); there is no file of ours."""
        return []

    def forget_damaged_answers(self) -> int:
        """Forget cached answers that fail their checksum."""
        return self.answers.forget_damaged()

    def files(self) -> dict[str, int]:
        """The sizes of the tables in PostgreSQL: all of them, and those of what calls leave."""
        query = (
            "SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0) FROM pg_class"
            " JOIN pg_namespace ON pg_namespace.oid = relnamespace"
            " WHERE nspname = 'redask' AND relkind = 'r' AND relname ~ ?"
        )
        calls = "^(audit_|spent|reserved|answers|red_ask)"
        with self._logs.reading(EVERY_TENANT) as connection:
            sizes = [connection.execute(query, (which,)).fetchone()[0] for which in ("", calls)]
        return {"postgresql": int(sizes[0]) - int(sizes[1]), "postgresql calls": int(sizes[1])}

    def back_up(
        self,
        destination: Path,
        *,
        made_at: int,
        made_by: str,
        progress: Callable[[int, int], None] | None = None,
        keep: int | None = None,
    ) -> BackupReport:
        """Refused: PostgreSQL's own tools do it, and restore it."""
        del destination, made_at, made_by, progress, keep
        raise Misconfigured(
            f"{self._shown} is backed up by PostgreSQL's own tools: `pg_dump --schema=redask`, or "
            "pg_basebackup with its log archived; see docs/postgresql.md",
            detail="location",
        )

    def interrupt(self) -> None:
        """See `backend.Backend`."""
        for pool in (*self._pools, *((self._replica,) if self._replica else ())):
            pool.interrupt()

    def close(self) -> None:
        """Let go of the connections."""
        for pool in (*self._pools, *((self._replica,) if self._replica else ())):
            pool.close()
