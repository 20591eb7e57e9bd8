"""Group commit for a log: `AuditWriter(log, wrote).append(row)` is a future.

The future is done when the row is durable. One thread writes; rows that arrive while the log is
busy share the next transaction, so many asks at once cost little more than one. Whoever stops
waiting cannot unwrite a row. Whatever the log raises, `AuditUnavailable` is what is heard of it.
`close` writes what waits. `written_by` waits no longer than a call has time: somebody may hold the
log, and was stopped.

`wrote` is told how many rows a transaction had: see `audit_upkeep`.
"""

import asyncio
import contextlib
import logging
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from redask.core.errors import AskError, AuditUnavailable, StoreFailed
from redask.core.ports import AuditRow
from redask.engine.owning_process import OwningProcess

_log = logging.getLogger("redask.audit")
_BATCH = 512
_DOUBTFUL_SECONDS = 10.0  # after a failure
_LEAST_SECONDS = 1.0  # for the row of an ask that used up its time


class GrowingLog(Protocol):
    """What of a log a writer needs."""

    def append(self, rows: Sequence[AuditRow]) -> None:
        """Durably add rows, all in one transaction."""


class AuditSink(Protocol):
    """Where the engine hands its rows."""

    def append(
        self,
        row: dict[str, object],
        build: str = "",
        provenance: dict[str, object] | None = None,
        **readings: str,
    ) -> Awaitable[None]:
        """Durably add one row, with what stands beside it (`ports.AuditRow`)."""


@dataclass(frozen=True, slots=True)
class PendingRow:
    """A row that is to be written, and who waits for it."""

    row: AuditRow
    done: asyncio.Future[None] | None = None

    def tell(self, error: BaseException | None = None) -> None:
        """Let the one who waits go on; a loop that is closed has nobody waiting."""
        if self.done is None:
            if error is not None:
                _log.warning("a row of the access log could not be written: %s", error)
            return
        with contextlib.suppress(RuntimeError):
            self.done.get_loop().call_soon_threadsafe(_end, self.done, error)


async def written_by(end: float, writing: Awaitable[None]) -> None:
    """Wait for a row until `end` (of `time.monotonic`), and for a moment in any case.

    `AuditUnavailable` if it was not written by then. Being cancelled meanwhile waits as long.
    """
    row = asyncio.ensure_future(writing)
    row.add_done_callback(_seen)  # it may end when nobody waits any more
    left = max(end - time.monotonic(), _LEAST_SECONDS)
    try:
        done, _ = await asyncio.wait([row], timeout=left)  # which cancels nothing
    except asyncio.CancelledError:
        await asyncio.wait([row], timeout=left)
        raise
    if not done:
        message = "the audit row could not be written in time, so there is no answer"
        raise AuditUnavailable(message, detail="somebody else writes to the log")
    await row


def _seen(row: asyncio.Future[None]) -> None:
    if not row.cancelled():
        row.exception()


def _end(done: asyncio.Future[None], error: BaseException | None) -> None:
    if done.cancelled():
        return
    if error is None:
        done.set_result(None)
    elif isinstance(error, AskError):
        message = "the audit row could not be written, so there is no answer"
        done.set_exception(AuditUnavailable(message, detail=error.message))
    else:
        done.set_exception(error)


class AuditWriter:
    """The one who writes to a log, in a thread of its own."""

    def __init__(self, log: GrowingLog, wrote: Callable[[int], None] = lambda _: None) -> None:
        self._owner = OwningProcess()
        self._log = log
        self._wrote = wrote
        self._failed_at: float | None = None  # by the monotonic clock
        self._waiting: queue.SimpleQueue[PendingRow | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write_all, name="redask-audit", daemon=True)
        self._thread.start()

    def append(
        self,
        row: dict[str, object],
        build: str = "",
        provenance: dict[str, object] | None = None,
        **readings: str,
    ) -> asyncio.Future[None]:
        """Durably add one row, with what stands beside it.

        The row is on its way when this returns, and durable when the future is done.
        """
        self._owner.check()  # a fork has no thread that would write it
        done = asyncio.get_running_loop().create_future()
        kept = AuditRow(row, build, provenance=provenance, **readings)
        self._waiting.put(PendingRow(kept, done))
        return done

    def post(self, row: dict[str, object]) -> None:
        """Add one row that nobody waits for; from any thread."""
        self._waiting.put(PendingRow(AuditRow(row)))

    def is_available(self, now: float) -> bool:
        """Whether rows can be written, as far as is known at a time of the monotonic clock."""
        if self._failed_at is not None and now - self._failed_at < _DOUBTFUL_SECONDS:
            return False
        try:
            self._log.append([])
        except AskError:
            return False
        return True

    def close(self, end: float | None = None) -> None:
        """Write what is waiting, then stop; by `end` (of `time.monotonic`) at the latest."""
        self._waiting.put(None)
        self._thread.join(None if end is None else max(0.0, end - time.monotonic()))

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

    def _write(self, batch: Sequence[PendingRow]) -> None:
        try:
            self._log.append([each.row for each in batch])
        except BaseException as error:
            if len(batch) > 1 and not isinstance(error, StoreFailed):
                for each in batch:  # one that cannot be written must not take the others along
                    self._write([each])
                return
            self._failed_at = time.monotonic()
            for each in batch:
                each.tell(error)
            return
        self._failed_at = None
        for each in batch:
            each.tell()
        self._wrote(len(batch))
