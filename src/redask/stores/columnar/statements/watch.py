"""A statement that runs, watched: `Watch` interrupts it at its deadline or when nobody waits.

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
    """One statement on one cursor."""

    def __init__(
        self,
        cursor: "DuckDBPyConnection",
        end: float,
        timeout_ms: int,
        cancelled: Cancellation | None,
    ) -> None:
        self._cursor = cursor
        self._end = end
        self._timeout_ms = timeout_ms
        self._cancelled = cancelled
        self._done = threading.Event()
        self._why: Literal["", "cancelled", "deadline"] = ""

    @property
    def stopped(self) -> bool:
        """Whether it shall end."""
        return self._why != ""

    def stop(self, why: Literal["cancelled", "deadline"]) -> None:
        """Interrupt the statement; the watching thread goes on doing so until it has ended."""
        self._why = self._why or why

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Run the statement inside."""
        import duckdb

        watcher = threading.Thread(target=self._watch, name="select-deadline", daemon=True)
        watcher.start()
        runtime_functions.RAISED.error = None
        runtime_functions.RAISED.watch = self
        try:
            yield
        except duckdb.Error as error:
            raise self._told(error) from None
        finally:
            self._done.set()
            watcher.join()
            runtime_functions.RAISED.error = None
            runtime_functions.RAISED.watch = None

    def _watch(self) -> None:
        while not self._done.wait(min(_LOOK_SECONDS, max(self._end - time.monotonic(), 0.001))):
            if self._cancelled is not None and self._cancelled.is_set():
                self.stop("cancelled")
            elif time.monotonic() >= self._end:
                self.stop("deadline")
            if self._why:
                self._cursor.interrupt()  # again and again: it may not have begun yet

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
