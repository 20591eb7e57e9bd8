"""An event loop in a thread of its own, for a synchronous database and its sessions.

`run` waits for a coroutine's result, `submit` does not wait. `close` lets nothing begin any
more, runs one last coroutine (which closes the database, and so ends what runs) and sees that
every thread that waits here goes on: with a result, an error, or `Cancelled`.
"""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from redask.core.errors import CLOSED, WAS_CLOSED, BadAsk, Cancelled

_T = TypeVar("_T")
_LAST_WORDS_SECONDS = 5  # for what still runs in the loop once the database is closed


class LoopThread:
    """The loop; its thread is a daemon, so that who forgot to close can leave."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._lock = threading.Lock()
        self._closed = False
        self._waiting: set[Future[Any]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, name="redask", daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        return self._closed

    def submit(self, work: Coroutine[Any, Any, _T]) -> "Future[_T]":
        """Begin it in the loop; `BadAsk` once this is closed."""
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
        with self._lock:
            again, self._closed = self._closed, True
        if again:
            last.close()
            self._thread.join()
            return
        try:
            asyncio.run_coroutine_threadsafe(self._end(last), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _end(self, last: Coroutine[Any, Any, None]) -> None:
        try:
            await last
        finally:
            if waiting := [asyncio.wrap_future(each) for each in list(self._waiting)]:
                _, late = await asyncio.wait(waiting, timeout=_LAST_WORDS_SECONDS)
                for each in late:
                    each.cancel()
            await self._loop.shutdown_asyncgens()
