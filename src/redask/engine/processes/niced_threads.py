"""Threads of a worker process, one for each niceness: `NicedThreads().begin(3, work)`.

Linux schedules threads by a niceness of their own, which a thread may raise and never lower; so
a process that works for asks and for SELECTs by turns has a thread for each. What they give is
counted from the niceness that the process was started with. Where threads have none (other
systems), the whole process has that of an ask.

Stacks are as large as that of a main thread is usually: what nests deep needs it.
"""

import os
import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

from redask.core.access.worker_shares import ASK_NICENESS

_T = TypeVar("_T")
_STACK_BYTES = 8 * 1024 * 1024


class NicedThreads:
    """See the module; made and used by the main thread. Work that is begun raises nothing."""

    def __init__(self) -> None:
        self._own: int | None = None
        self._threads: dict[int, _NicedThread] = {}
        threading.stack_size(_STACK_BYTES)
        with suppress(OSError, AttributeError):
            self._own = os.nice(0) if sys.platform == "linux" else None
            os.nice(ASK_NICENESS)

    def begin(self, niceness: int, work: Callable[[], object]) -> None:
        """Have work done, after what was begun before in the same thread.

        `MemoryError` where there is no room for the stack of one more.
        """
        if niceness not in self._threads:
            absolute = None if self._own is None else min(19, self._own + niceness)
            made = _NicedThread(absolute)
            try:
                made.start()
            except RuntimeError as error:
                raise MemoryError(str(error)) from error
            self._threads[niceness] = made
        self._threads[niceness].work.put(work)

    def done(self, niceness: int, work: Callable[[], _T]) -> _T:
        """Have it done, and wait: what it gives, or raises."""
        waiting: Future[_T] = Future()

        def fulfil() -> None:
            try:
                waiting.set_result(work())
            except BaseException as error:
                waiting.set_exception(error)

        self.begin(niceness, fulfil)
        return waiting.result()

    def close(self) -> None:
        """Wait for what was begun."""
        for each in self._threads.values():
            each.work.put(None)
        for each in self._threads.values():
            each.join()


class _NicedThread(threading.Thread):
    """Does what is put into `work`, until None is."""

    def __init__(self, niceness: int | None) -> None:
        super().__init__(name=f"niceness-{niceness}", daemon=True)
        self.work: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._niceness = niceness

    def run(self) -> None:
        if self._niceness is not None:
            with suppress(OSError):  # as the process, then
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), self._niceness)
        while (work := self.work.get()) is not None:
            work()
