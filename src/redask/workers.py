"""Threads beside the loop: `await Workers(8).run(work)` does work that would hold the loop up.

Of the idle threads the one that worked last is taken first: what it needs is still in the
processor's caches, and a process that is asked one question at a time keeps to one thread. Work
that nobody waits for any more when its turn comes is not begun; what has begun is finished.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

_T = TypeVar("_T")


class _Job(NamedTuple):
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    waiting: "asyncio.Future[Any]"


class Workers:
    """At most so many threads, started when they are needed."""

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._lock = threading.Lock()
        self._threads: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._queue: deque[_Job] = deque()
        self._closed = False

    async def run(self, work: Callable[[], _T]) -> _T:
        """The work's result, or what it raises."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[_T] = loop.create_future()
        job = _Job(work, loop, waiting)
        with self._lock:
            if self._closed:
                raise RuntimeError("no work is taken any more")
            if self._idle:
                self._idle.pop().take(job)
            elif len(self._threads) < self._most:
                name = f"{self._name}_{len(self._threads)}"
                worker = _Worker(self._next, name)
                self._threads.append(worker)
                worker.take(job)
                worker.start()
            else:
                self._queue.append(job)
        return await waiting

    def close(self) -> None:
        """Take no more work, and see the rest done."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.take(None)
        for worker in self._threads:
            if worker is not threading.current_thread():
                worker.join()

    def _next(self, worker: "_Worker") -> None:
        """Give a worker its next job, once there is one."""
        with self._lock:
            if self._queue:
                worker.take(self._queue.popleft())
            elif self._closed:
                worker.take(None)
            else:
                self._idle.append(worker)


class _Worker(threading.Thread):
    """One thread; a job of None ends it. A daemon: a database that nobody closed ends nothing."""

    def __init__(self, rest: "Callable[[_Worker], None]", name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._rest = rest
        self._job: _Job | None = None
        self._called = threading.Lock()  # let go of by whoever brings a job
        self._called.acquire()

    def take(self, job: _Job | None) -> None:
        self._job = job
        self._called.release()

    def run(self) -> None:
        while True:
            self._called.acquire()
            job, self._job = self._job, None
            if job is None:
                return
            tell = _done(job)
            del job
            self._rest(self)  # before it is told: what is asked next finds this thread idle
            tell()
            del tell  # hold on to nothing while idle


def _done(job: _Job) -> Callable[[], None]:
    """Do the work. → what tells whoever waits for it."""
    result, error = None, None
    if not job.waiting.cancelled():
        try:
            result = job.work()
        except BaseException as raised:
            error = raised

    def tell() -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody waits
            job.loop.call_soon_threadsafe(_set, job.waiting, result, error)

    return tell


def _set(waiting: "asyncio.Future[Any]", result: object, error: BaseException | None) -> None:
    if waiting.cancelled():
        return
    if error is None:
        waiting.set_result(result)
    else:
        waiting.set_exception(error)
