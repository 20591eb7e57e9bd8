"""Connections to one PostgreSQL, for threads: `Pool.lent()`.

At most `most` are open at once. Who finds none free waits for `patience` seconds, and then is told
that the pool is exhausted. An idle connection that the server has dropped is noticed by its first
statement, and another is opened: nothing was done on it yet. A connection that fails is not kept.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg
from psycopg.pq import TransactionStatus

from redask.core.errors import StoreFailed
from redask.stores.postgres.pg_errors import is_lost
from redask.stores.postgres.pg_link import Link, connect

_KEPT_IDLE = 2
_CANCEL_SECONDS = 2


class Pool:
    """The connections of one purpose."""

    def __init__(self, url: str, place: str, *, most: int, patience: float) -> None:
        self._url, self._place = url, place
        self._most, self._patience = most, patience
        self._free = threading.BoundedSemaphore(most)
        self._idle: list[Link] = []
        self._busy: set[Link] = set()
        self.closed = False

    @contextmanager
    def lent(self, begin: Callable[[Link], None]) -> Iterator[Link]:
        """A connection on which `begin` was done: the beginning of a transaction."""
        if not self._free.acquire(timeout=self._patience):
            raise StoreFailed(
                f"the pool of connections to {self._place} is exhausted: all {self._most} were in "
                f"use for {self._patience:g} s; try again"
            )
        try:
            connection = self._begun(begin)
            self._busy.add(connection)
            try:
                yield connection
            finally:
                self._busy.discard(connection)
                self._give_back(connection)
        finally:
            self._free.release()

    def _begun(self, begin: Callable[[Link], None]) -> Link:
        """An idle connection if one is alive, else a new one."""
        while self._idle:
            with suppress(IndexError):
                connection = self._idle.pop()
                try:
                    begin(connection)
                    return connection
                except BaseException as error:
                    connection.close()
                    if not isinstance(error, psycopg.Error) or not is_lost(error):
                        raise
                    self._drop_idle()  # those beside it will be lost, too, and take as long to say
        connection = connect(self._url)
        try:
            begin(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _give_back(self, connection: Link) -> None:
        idle = connection.info.transaction_status == TransactionStatus.IDLE
        if idle and not self.closed and len(self._idle) < _KEPT_IDLE:
            self._idle.append(connection)
        else:
            connection.close()  # which ends its transaction

    def interrupt(self) -> None:
        """Let every statement that runs now fail."""
        for connection in tuple(self._busy):
            with suppress(psycopg.Error):
                connection.cancel_safe(timeout=_CANCEL_SECONDS)

    def close(self) -> None:
        """Close those that are idle; one in use closes when its user is done."""
        self.closed = True
        self._drop_idle()

    def _drop_idle(self) -> None:
        with suppress(IndexError):
            while True:
                self._idle.pop().close()
