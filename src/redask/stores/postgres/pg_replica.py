"""A replica that is read in place of its primary: `Replica(url, place)`; see contract 22.

`fresh(whose, position, begin)` is a connection in a state of the replica that holds every write to
a tenant up to a position of the primary's, or None: then the primary is read. So what somebody was
told is written, is read by everybody on every node, policies and users included; a replica that is
behind, stopped, paused or of another database, though it be a copy of ours, costs time and never a
wrong answer. One that was promoted is no replica any more; nor is one that still follows the
primary of before, which may have writes that are no part of history: its timeline is another. One
that follows the new primary is read once it has made a restart point there (`checkpoint_timeout`).

One that fails is left alone for some seconds. `lag` says how far it is behind.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from decimal import Decimal
from typing import NamedTuple

import psycopg

from redask.core.errors import StoreFailed
from redask.stores.backend import ReplicaLag
from redask.stores.postgres.pg_link import Link
from redask.stores.postgres.pg_pool import Pool

SILENCE_SECONDS = 2.0  # for the first reply: the primary answers meanwhile
STATEMENT_MS = 20_000
_READERS = 8
_LEFT_ALONE_SECONDS = 2.0
_DATABASE = """system_identifier::text || ':'
    || (SELECT oid FROM pg_database WHERE datname = current_database()) || ':'"""
# Cluster, database and timeline of a primary; what is a standby itself has none to follow.
TIMELINE = f"""(SELECT {_DATABASE} || CASE WHEN pg_is_in_recovery() THEN ''
    ELSE substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END FROM pg_control_system())"""
# A standby's, by what it has on disk: of which it has replayed something.
_FOLLOWED = f"""{_DATABASE}
    || lpad(upper(to_hex(greatest(timeline_id, min_recovery_end_timeline))), 8, '0')
    FROM pg_control_system(), pg_control_checkpoint(), pg_control_recovery()"""
_STATE = f"""SELECT pg_is_in_recovery(), (SELECT identity FROM redask.store),
    coalesce((SELECT position FROM redask.store_locks WHERE whose = %s), 0), {_FOLLOWED}"""
_BEHIND = f"""SELECT pg_is_in_recovery(), pg_wal_lsn_diff(%s, pg_last_wal_replay_lsn()),
    pg_wal_lsn_diff(%s, pg_last_wal_replay_lsn()), {_FOLLOWED}"""


class PrimaryPosition(NamedTuple):
    """Where the primary is: how many transactions have written to a tenant, on which timeline."""

    writes: int
    timeline: str


class Replica:
    """One replica, or several that libpq chooses from."""

    def __init__(self, url: str, place: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._pool = Pool(url, place, most=_READERS, patience=0.0)
        self._clock = clock
        self._lock = threading.Lock()
        self._alone_until = 0.0
        self._noted: str | None = None  # where the primary was when `lag` was asked last
        self.identity = ""

    @contextmanager
    def fresh(
        self, whose: str, position: PrimaryPosition, begin: Callable[[Link], None]
    ) -> Iterator[Link | None]:
        """See the module; the connection is in the transaction that `begin` begins."""
        with ExitStack() as lent:
            yield self._begun(lent, whose, position, begin)

    def _begun(
        self, lent: ExitStack, whose: str, position: PrimaryPosition, begin: Callable[[Link], None]
    ) -> Link | None:
        if self._pool.closed or self._clock() < self._alone_until:
            return None
        try:
            connection = lent.enter_context(self._pool.lent(begin))
            found = connection.execute(_STATE, (whose,)).fetchone()
            is_standby, identity, replayed, timeline = found or (False, "", 0, "")
            is_of_primary = identity == self.identity and timeline == position.timeline
            if is_standby and is_of_primary and replayed >= position.writes:
                return connection
            connection.execute("ROLLBACK")
        except psycopg.Error:
            self._leave_alone()
        except StoreFailed:
            pass  # all its connections are in use
        lent.close()
        return None

    def _leave_alone(self) -> None:
        with self._lock:
            self._alone_until = self._clock() + _LEFT_ALONE_SECONDS

    def lag(self, written: str, timeline: str) -> ReplicaLag:
        """How far it is behind the primary, which has written up to a position of its log.

        What was there when this was asked the last time should have been replayed by now.
        """
        noted, self._noted = self._noted or written, written
        with suppress(psycopg.Error, StoreFailed), self._pool.lent(_brief) as connection:
            found = connection.execute(_BEHIND, (noted, written)).fetchone()
            is_standby, late, behind, followed = found or (False, None, None, "")
            if is_standby and behind is not None and followed == timeline:
                return ReplicaLag(is_behind=_whole(late) > 0, bytes=max(_whole(behind), 0))
        return ReplicaLag(is_behind=True)

    def interrupt(self) -> None:
        """Let every statement that runs now fail."""
        self._pool.interrupt()

    def close(self) -> None:
        """Let go of the connections."""
        self._pool.close()


def _brief(connection: Link) -> None:
    connection.silence = SILENCE_SECONDS
    connection.execute("SELECT 1")  # so that one that was lost is noticed, and replaced


def _whole(number: int | Decimal) -> int:
    return int(number)
