"""One thread that interrupts SQLite when a statement's time is over: `watching(connection, end)`.

Whoever leaves in time is not interrupted any more: both happen under one lock, so that the next
statement on the same connection never meets an interrupt that was meant for the last one.
"""

import heapq
import itertools
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_Watched = list[sqlite3.Connection]  # empty once it was left
_lock = threading.Condition()
_waiting: list[tuple[float, int, _Watched]] = []
_numbers = itertools.count()
_thread: list[threading.Thread] = []


@contextmanager
def watching(connection: sqlite3.Connection, end: float) -> Iterator[None]:
    """Interrupt the connection at `end` (of `time.monotonic`), unless it was left before."""
    watched = [connection]
    with _lock:
        if not _thread or not _thread[0].is_alive():  # at first, and in a child process
            _thread[:] = [threading.Thread(target=_watch, name="redask-watchdog", daemon=True)]
            _thread[0].start()
        heapq.heappush(_waiting, (end, next(_numbers), watched))
        if _waiting[0][2] is watched:
            _lock.notify()
    try:
        yield
    finally:
        with _lock:
            watched.clear()


def _watch() -> None:
    with _lock:
        while True:
            now = time.monotonic()
            while _waiting and (_waiting[0][0] <= now or not _waiting[0][2]):
                _, _, watched = heapq.heappop(_waiting)
                for connection in watched:
                    connection.interrupt()
            _lock.wait(_waiting[0][0] - now if _waiting else None)
