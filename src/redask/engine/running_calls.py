"""The calls that run in an open database: `RunningCalls`, so that closing it ends each of them.

    with running.begin() as call:           closing waits for this call
        async with call.cancellable():      and cancels it while it is in here
            …

What is cancelled ends in `Cancelled`, not in asyncio's CancelledError: it is not the caller who
left. What stands outside `cancellable` is finished, such as an audit row or work in a thread.
Once closed, `begin` raises `BadAsk`, and in a fork `StoreFailed`. The calls may be of several event
loops.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager

from redask.core.errors import CLOSED, WAS_CLOSED, BadAsk, Cancelled, DeadlineExceeded
from redask.core.model import Caller
from redask.engine import call_limits
from redask.engine.owning_process import OwningProcess


class RunningCall:
    """One call, in the event loop it began in."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._cancelled = False
        self._scope: asyncio.Timeout | None = None
        self._last: asyncio.Timeout | None = None

    @asynccontextmanager
    async def cancellable(self) -> AsyncIterator[None]:
        """What is in here, closing cancels."""
        if self._cancelled:
            raise Cancelled(WAS_CLOSED)
        self._scope = scope = asyncio.timeout(None)  # it expires when the database is closed
        try:
            async with scope:
                yield
        except TimeoutError:
            if scope.expired():
                raise Cancelled(WAS_CLOSED) from None
            raise
        finally:
            self._scope = None

    @asynccontextmanager
    async def finishing(self) -> AsyncIterator[None]:
        """What is in here, closing waits for; if it takes too long, it is `Cancelled`."""
        self._last = scope = asyncio.timeout(None)
        try:
            async with scope:
                yield
        except TimeoutError:
            if scope.expired():
                raise Cancelled(WAS_CLOSED) from None
            raise
        finally:
            self._last = None

    def abandon(self) -> None:
        """Wait for nothing any more; in the call's own loop."""
        for scope in (self._scope, self._last):
            if scope is not None and not scope.expired():
                scope.reschedule(self.loop.time())

    def cancel(self) -> None:
        """Cancel what is cancellable; in the call's own loop."""
        self._cancelled = True
        if self._scope is not None:
            self._scope.reschedule(self.loop.time())


class RunningCalls:
    """Every call of a database, whoever makes it and by whichever transport."""

    def __init__(self) -> None:
        self.owner = OwningProcess()
        self._lock = threading.Lock()
        self._running: set[RunningCall] = set()
        self._ended: Future[None] | None = None  # from closing on; done when nothing runs
        self.abandoned = False  # whether something went on for too long when it was closed

    @property
    def closed(self) -> bool:
        """Whether no call may begin any more."""
        return self._ended is not None

    @contextmanager
    def begin(self) -> Iterator[RunningCall]:
        """A call that closing waits for."""
        self.owner.check()  # before the lock, which somebody may have held at the fork
        call = RunningCall()
        with self._lock:
            if self._ended is not None:
                raise BadAsk(CLOSED)
            self._running.add(call)
        try:
            yield call
        finally:
            self._end(call)

    @asynccontextmanager
    async def cancellable(self) -> AsyncIterator[None]:
        """A call that closing cancels, all of it."""
        with self.begin() as call:
            async with call.cancellable():
                yield

    @asynccontextmanager
    async def timed(self, timeout_ms: int, caller: Caller) -> AsyncIterator[None]:
        """A call that has the time of an ask, and no audit row; closing cancels it."""
        async with self.cancellable():
            try:
                async with asyncio.timeout(timeout_ms / 1000) as deadline:
                    with call_limits.limited(timeout_ms / 1000, caller):
                        yield
            except TimeoutError:
                if not deadline.expired():
                    raise
                message = f"ask.timeout_ms allows {timeout_ms}, and that has passed"
                raise DeadlineExceeded("timeout_ms", message) from None

    async def close(self, seconds: float | None = None) -> bool:
        """Let no call begin, cancel those that run, and see each of them end. → whether all did

        After so many seconds nobody waits any more: the others are `Cancelled` where they wait.
        """
        with self._lock:
            if self._ended is None:
                self._ended = Future()
                self._ended.set_running_or_notify_cancel()  # who stops waiting cancels nothing
                if not self._running:
                    self._ended.set_result(None)
            ended, running = self._ended, list(self._running)
        self._tell(running, RunningCall.cancel)
        done, _ = await asyncio.wait([asyncio.wrap_future(ended)], timeout=seconds)
        if not done:
            self.abandoned = True
            with self._lock:
                running = list(self._running)
            self._tell(running, RunningCall.abandon)
        return bool(done)

    def _tell(self, running: list[RunningCall], what: Callable[[RunningCall], None]) -> None:
        for call in running:
            try:
                call.loop.call_soon_threadsafe(what, call)
            except RuntimeError:  # its loop is closed: it will never end by itself
                self._end(call)

    def _end(self, call: RunningCall) -> None:
        with self._lock:
            was_running = call in self._running
            self._running.discard(call)
            if was_running and self._ended is not None and not self._running:
                self._ended.set_result(None)
