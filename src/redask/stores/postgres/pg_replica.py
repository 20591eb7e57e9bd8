"""A replica that is read in place of its primary: `Replica(url, place)`; see contract 22.

`fresh(whose, position, begin)` is a connection in a state of the replica that holds every write to
a tenant up to a position of the primary's, or None: then the primary is read. So what somebody was
told is written, is read by everybody on every node, policies and users included; a replica that is
behind, stopped, paused or of another database costs time and never a wrong answer. One that was
promoted is no replica any more.

One that fails is left alone for some seconds. `lag` says how far it is behind.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from decimal import Decimal

import psycopg

from redask.core.errors import StoreFailed
from redask.stores.backend import ReplicaLag
from redask.stores.postgres.pg_link import Link
from redask.stores.postgres.pg_pool import Pool

SILENCE_SECONDS = 2.0  # for the first reply: the primary answers meanwhile
STATEMENT_MS = 20_000
_READERS = 8
_LEFT_ALONE_SECONDS = 2.0
_STATE = """SELECT pg_is_in_recovery(), (SELECT identity FROM redask.store),
    coalesce((SELECT position FROM redask.store_locks WHERE whose = %s), 0)"""
_BEHIND = """SELECT pg_is_in_recovery(), pg_wal_lsn_diff(%s, pg_last_wal_replay_lsn()),
    pg_wal_lsn_diff(%s, pg_last_wal_replay_lsn())"""


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
        self, whose: str, position: int, begin: Callable[[Link], None]
    ) -> Iterator[Link | None]:
        """See the module; the connection is in the transaction that `begin` begins."""
        with ExitStack() as lent:
            yield self._begun(lent, whose, position, begin)

    def _begun(
        self, lent: ExitStack, whose: str, position: int, begin: Callable[[Link], None]
    ) -> Link | None:
        if self._pool.closed or self._clock() < self._alone_until:
            return None
        try:
            connection = lent.enter_context(self._pool.lent(begin))
            is_standby, identity, replayed = connection.execute(_STATE, (whose,)).fetchone() or (
                *(False, "", 0),
            )
            if is_standby and identity == self.identity and replayed >= position:
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

    def lag(self, written: str) -> ReplicaLag:
        """How far it is behind the primary, which has written up to a position of its log.

        What was there when this was asked the last time should have been replayed by now.
        """
        noted, self._noted = self._noted or written, written
        with suppress(psycopg.Error, StoreFailed), self._pool.lent(_brief) as connection:
            is_standby, late, behind = connection.execute(_BEHIND, (noted, written)).fetchone() or (
                *(False, None, None),
            )
            if is_standby and behind is not None:
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


def _whole(number: int | Decimal) -> int:
    return int(number)
