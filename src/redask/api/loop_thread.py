"""An event loop in a thread of its own, for a synchronous database and its sessions.

`run` waits for a coroutine's result, `submit` does not wait. `close` lets nothing begin any
more, runs one last coroutine (which closes the database, and so ends what runs) and sees that
every thread that waits here goes on: with a result, an error, or `Cancelled`. In a fork, which has
no such thread, `submit` raises `StoreFailed` and `close` does nothing.
"""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar
from weakref import finalize

from redask.core.errors import CLOSED, WAS_CLOSED, BadAsk, Cancelled, of_the_machine
from redask.engine.owning_process import OwningProcess

_T = TypeVar("_T")
_LAST_WORDS_SECONDS = 5  # for what still runs in the loop once the database is closed


class LoopThread:
    """The loop; its thread is a daemon, so that who forgot to close can leave."""

    def __init__(self) -> None:
        self.owner = OwningProcess()
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._closed = False
        self._waiting: set[Future[Any]] = set()
        work = partial(_run, self._loop)
        self._thread = threading.Thread(target=work, name="redask", daemon=True)
        try:
            self._thread.start()
        except (RuntimeError, MemoryError) as error:
            self._loop.close()
            raise of_the_machine(error) from None
        finalize(self, _stop, self._loop).atexit = False  # for who forgot to close

    @property
    def closed(self) -> bool:
        return self._closed

    def submit(self, work: Coroutine[Any, Any, _T]) -> "Future[_T]":
        """Begin it in the loop; `BadAsk` once this is closed."""
        if not self.owner.is_this:
            work.close()
            self.owner.check()
        with self._lock:  # what is submitted before closing is seen by it
            if self._closed:
                work.close()
                raise BadAsk(CLOSED)
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            self._waiting.add(future)
        future.add_done_callback(self._waiting.discard)
        return future

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Its result; Ctrl-C here cancels there, and `close` waits for the row."""
        future = self.submit(work)
        try:
            return future.result()
        except CancelledError:
            raise Cancelled(WAS_CLOSED) from None
        except KeyboardInterrupt:
            future.cancel()
            raise

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Run `last`, see the rest end, stop. A second time waits for the first."""
        if not self.owner.is_this:
            last.close()
            return
        with self._lock:
            again, self._closed = self._closed, True
        if again:
            last.close()
            self._thread.join()
            return
        try:
            asyncio.run_coroutine_threadsafe(self._end(last), self._loop).result()
        finally:
            _stop(self._loop)
            self._thread.join()

    async def _end(self, last: Coroutine[Any, Any, None]) -> None:
        try:
            await last
        finally:
            if waiting := [asyncio.wrap_future(each) for each in list(self._waiting)]:
                _, late = await asyncio.wait(waiting, timeout=_LAST_WORDS_SECONDS)
                for each in late:
                    each.cancel()
            await self._loop.shutdown_asyncgens()
            with suppress(TimeoutError):
                end = self._loop.shutdown_default_executor()
                await asyncio.wait_for(end, _LAST_WORDS_SECONDS)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
    finally:
        loop.close()


def _stop(loop: asyncio.AbstractEventLoop) -> None:
    with suppress(RuntimeError):  # it is closed already
        loop.call_soon_threadsafe(loop.stop)
