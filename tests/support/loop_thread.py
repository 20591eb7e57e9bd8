"""An event loop in a thread of its own, for servers and clients that must not share the test's."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from waiting import SECONDS

_T = TypeVar("_T")


class LoopThread:
    """An event loop in a thread of its own, until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, _T], seconds: float = SECONDS) -> _T:
        """Run in this loop, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(seconds)

    async def run_from_afar(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Run in this loop, awaited in another."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def call_soon(self, work: Callable[[], object]) -> None:
        self._loop.call_soon_threadsafe(work)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
