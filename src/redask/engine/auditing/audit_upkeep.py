"""What a log needs beside its rows, in a thread of its own: `AuditUpkeep(work)`.

`work` lets the store remember the logs, and retention take what is old. It is done soon after the
first rows, after every thousand, within `_SECONDS` of any row, and when it is closed; never on the
way of an answer, for it waits for the store, which a bulk load may hold for long. What fails is
tried again the next time.
"""

import threading
import time
from collections.abc import Callable

from redask.core.errors import AskError

_ROWS = 1000
_SECONDS = 10.0


class AuditUpkeep:
    """Does the work from time to time."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = work
        self._lock = threading.Condition()
        self._rows = 0
        self._due = True  # the first rows are not kept waiting
        self._closed = False
        self._thread = threading.Thread(target=self._keep, name="redask-upkeep", daemon=True)
        self._thread.start()

    def wrote(self, rows: int) -> None:
        """So many rows were written just now."""
        with self._lock:
            self._rows += rows
            self._lock.notify()

    def close(self, end: float | None = None) -> None:
        """Do it once more, if rows were written since, then stop; by `end` at the latest."""
        with self._lock:
            self._closed = True
            self._lock.notify()
        self._thread.join(None if end is None else max(0.0, end - time.monotonic()))

    def _keep(self) -> None:
        while self._wait():
            self._do()
        if self._rows:
            self._do()

    def _wait(self) -> bool:
        """Until it is time; False when it is closed."""
        with self._lock:
            self._lock.wait_for(lambda: self._closed or self._rows)
            if not self._due:
                self._lock.wait_for(lambda: self._closed or self._rows >= _ROWS, _SECONDS)
            return not self._closed

    def _do(self) -> None:
        with self._lock:
            rows, self._rows, self._due = self._rows, 0, False
        try:
            self._work()
        except AskError:
            with self._lock:
                self._rows += rows  # the rows are safe; the next time will do
                if not self._closed:
                    self._lock.wait_for(lambda: self._closed, _SECONDS)
