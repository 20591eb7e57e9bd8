"""Group commit for the audit log: `AuditWriter(log, days).append(row)` is a future.

The future is done when the row is durable. One thread writes; rows that arrive while the log is
busy share the next transaction, so many asks at once cost little more than one. Whoever stops
waiting cannot unwrite a row. Whatever the log raises, `AuditUnavailable` is what is heard of it.
`close` writes what waits.

Retention (`AuditLog.prune`) takes its turn between two transactions: after the first, and after
every thousand rows.
"""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Protocol

from redask.core.errors import AskError, AuditUnavailable, StoreFailed
from redask.core.ports import AuditLog, AuditRow

_DAY_NS = 86_400 * 10**9
_BATCH = 512
_PRUNE_EVERY = 1000


class AuditSink(Protocol):
    """Where the engine hands its rows."""

    def append(
        self, row: dict[str, object], build: str = "", understood: str = "", today: str = ""
    ) -> Awaitable[None]:
        """Durably add one row, with what stands beside it (`ports.AuditRow`)."""


@dataclass(frozen=True, slots=True)
class PendingRow:
    """A row that is to be written, and who waits for it."""

    row: AuditRow
    done: asyncio.Future[None]

    def tell(self, error: BaseException | None = None) -> None:
        """Let the one who waits go on; a loop that is closed has nobody waiting."""
        with contextlib.suppress(RuntimeError):
            self.done.get_loop().call_soon_threadsafe(self._end, error)

    def _end(self, error: BaseException | None) -> None:
        if self.done.cancelled():
            return
        if error is None:
            self.done.set_result(None)
        elif isinstance(error, AskError):
            message = "the audit row could not be written, so there is no answer"
            self.done.set_exception(AuditUnavailable(message, detail=error.message))
        else:
            self.done.set_exception(error)


class AuditWriter:
    """The one who writes to a log, in a thread of its own."""

    def __init__(self, log: AuditLog, retention_days: int) -> None:
        self._log = log
        self._keep_ns = retention_days * _DAY_NS
        self._waiting: queue.SimpleQueue[PendingRow | None] = queue.SimpleQueue()
        self._since_pruning = _PRUNE_EVERY  # the first commit after opening prunes, too
        self._thread = threading.Thread(target=self._write_all, name="redask-audit", daemon=True)
        self._thread.start()

    def append(
        self, row: dict[str, object], build: str = "", understood: str = "", today: str = ""
    ) -> asyncio.Future[None]:
        """Durably add one row, with what stands beside it.

        The row is on its way when this returns, and durable when the future is done.
        """
        done = asyncio.get_running_loop().create_future()
        self._waiting.put(PendingRow(AuditRow(row, build, understood, today), done))
        return done

    def close(self) -> None:
        """Write what is waiting, then stop."""
        self._waiting.put(None)
        self._thread.join()

    def _write_all(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch = [first]
            with contextlib.suppress(queue.Empty):
                while len(batch) < _BATCH:
                    following = self._waiting.get_nowait()
                    if following is None:
                        self._waiting.put(None)
                        break
                    batch.append(following)
            self._write(batch)
            if self._since_pruning >= _PRUNE_EVERY:
                self._since_pruning = 0
                with contextlib.suppress(AskError):  # the rows are safe; the next time will do
                    self._log.prune(self._keep_ns)

    def _write(self, batch: Sequence[PendingRow]) -> None:
        try:
            self._log.append([each.row for each in batch])
        except BaseException as error:
            if len(batch) > 1 and not isinstance(error, StoreFailed):
                for each in batch:  # one that cannot be written must not take the others along
                    self._write([each])
                return
            for each in batch:
                each.tell(error)
            return
        for each in batch:
            each.tell()
        self._since_pruning += len(batch)
