"""A statement that runs, watched: `Watch` interrupts it at its deadline or when nobody waits.

One thread looks after all statements of the process, and sleeps while there are none.

Errors come out in our words: `DeadlineExceeded`, `Cancelled`, what one of our functions raised, or
what `error_classes` makes of DuckDB's.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from redask.core.errors import Cancelled, DeadlineExceeded, SqlError
from redask.core.ports.selecting import Cancellation
from redask.stores.columnar.statements import runtime_functions
from redask.stores.columnar.statements.error_classes import sql_error

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_LOOK_SECONDS = 0.02
_log = logging.getLogger(__name__)


class Watch:
    """One statement; its time begins when it is watched, after the tables were caught up."""

    def __init__(self, timeout_ms: int, cancelled: Cancellation | None) -> None:
        self._end = float("inf")
        self._timeout_ms = timeout_ms
        self._cancelled = cancelled
        self._why: Literal["", "cancelled", "deadline"] = ""

    @property
    def stopped(self) -> bool:
        """Whether it shall end."""
        return self._why != ""

    def stop(self, why: Literal["cancelled", "deadline"]) -> None:
        """Interrupt the statement; the watching thread goes on doing so until it has ended."""
        self._why = self._why or why

    @contextmanager
    def watching(self, cursor: "DuckDBPyConnection") -> Iterator[None]:
        """Run the statement inside, on this cursor."""
        import duckdb

        runtime_functions.RAISED.error = None
        runtime_functions.RAISED.watch = self
        self._end = time.monotonic() + self._timeout_ms / 1000
        _WATCHER.add(self, cursor)
        try:
            yield
        except duckdb.Error as error:
            raise self._told(error) from None
        finally:
            _WATCHER.remove(self)
            runtime_functions.RAISED.error = None
            runtime_functions.RAISED.watch = None

    def is_over(self) -> bool:
        """Whether the statement has to end."""
        if self._cancelled is not None and self._cancelled.is_set():
            self.stop("cancelled")
        elif time.monotonic() >= self._end:
            self.stop("deadline")
        return self._why != ""

    def _told(self, error: Exception) -> Exception:
        if self._why == "cancelled":
            return Cancelled("the SELECT was cancelled")
        if self._why:
            limit = "select.timeout_ms"
            message = f"the SELECT took longer than {self._timeout_ms} ms"
            return DeadlineExceeded(limit, message, detail=limit)
        if runtime_functions.RAISED.error is not None:
            return runtime_functions.RAISED.error
        told = sql_error(error)
        if isinstance(told, SqlError) and told.sqlstate == "0A000":
            _log.warning("DuckDB refused a generated statement: %s", type(error).__name__)
            _log.debug("%s", error)
        return told


class _Watcher:
    """The thread that looks after the statements; it starts with the first of them."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running: dict[Watch, DuckDBPyConnection] = {}
        self._thread: threading.Thread | None = None

    def add(self, watch: Watch, cursor: "DuckDBPyConnection") -> None:
        with self._changed:
            if self._thread is None or not self._thread.is_alive():
                thread = threading.Thread(target=self._look, name="select-deadlines", daemon=True)
                thread.start()  # which may fail, and then nothing runs unwatched
                self._thread = thread
            self._running[watch] = cursor
            if len(self._running) == 1:
                self._changed.notify()

    def remove(self, watch: Watch) -> None:
        """After this nothing interrupts the cursor any more."""
        with self._changed:
            del self._running[watch]

    def _look(self) -> None:
        while True:
            with self._changed:
                while not self._running:
                    self._changed.wait()
                self._interrupt()
            time.sleep(_LOOK_SECONDS)

    def _interrupt(self) -> None:
        for watch, cursor in self._running.items():
            if watch.is_over():
                cursor.interrupt()  # again and again: it may not have begun yet


_WATCHER = _Watcher()
