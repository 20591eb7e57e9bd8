"""Being told of writes: `PostgresFeed(url, positions)`; see `backend.ChangeFeed`.

A notification says only that somebody wrote: which tenants, the positions say that each write
moves. So one that is lost with a connection is lost with no harm. A standby notifies nobody; there,
and while the primary cannot be reached, the positions are looked at from time to time.
"""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import psycopg

from redask.core.errors import AskError
from redask.stores.postgres.pg_database import CHANNEL
from redask.stores.postgres.pg_link import Link, connect

_LOOK_SECONDS = 0.2  # how long a listener that is closed may go on


class PostgresFeed:
    """One listener, for one thread."""

    def __init__(self, url: str, positions: Callable[[], Mapping[str, int]]) -> None:
        self._url, self._positions = url, positions
        self._known: dict[str, int] = {}
        self._link: Link | None = None
        self._closed = threading.Event()

    def wait(self, seconds: float) -> frozenset[str]:
        """See `backend.ChangeFeed`."""
        end = time.monotonic() + seconds
        self._listen()  # before the positions are read, so that no write comes between
        while not (found := self._moved()) and not self._closed.is_set():
            if not self._notified(end):
                return self._moved()
        return found

    def interrupt(self) -> None:
        """See `backend.ChangeFeed`."""
        self._closed.set()

    def close(self) -> None:
        """See `backend.ChangeFeed`."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def _moved(self) -> frozenset[str]:
        try:
            now = dict(self._positions())
        except AskError:
            return frozenset()
        moved = frozenset(name for name, at in now.items() if self._known.get(name) != at)
        self._known = now
        return moved

    def _listen(self) -> None:
        if self._link is not None and not self._link.closed:
            return
        with suppress(psycopg.Error, AskError):
            self.close()
            link = connect(self._url)
            self._link = link
            link.execute(f"LISTEN {CHANNEL}")

    def _notified(self, end: float) -> bool:
        """Whether somebody wrote before the time was over."""
        while (left := end - time.monotonic()) > 0 and not self._closed.is_set():
            link, brief = self._link, min(left, _LOOK_SECONDS)
            if link is None or link.closed:
                self._closed.wait(brief)
                continue
            try:
                if any(True for _ in link.notifies(timeout=brief, stop_after=1)):
                    return True
            except psycopg.Error:
                self.close()
        return False
