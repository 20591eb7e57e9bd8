"""Threads beside the loop: `await Workers(8).run(work)` does work that would hold the loop up.

Of the idle threads the one that worked last is taken first: what it needs is still in the
processor's caches, and a process that is asked one question at a time keeps to one thread. Work
that nobody waits for any more when its turn comes is not begun; what has begun is finished.

Why not anyio's worker threads: a call takes more than twice as long (`benchmarks/threads.py`),
they end with the task that first used them, and nobody can wait for a thread whose caller was
cancelled, as `close` does before the files are closed.
"""

import asyncio
import atexit
import contextvars
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, ParamSpec, TypeVar

from redask.core.errors import of_the_machine
from redask.engine.owning_process import OwningProcess

_T = TypeVar("_T")
_P = ParamSpec("_P")


class _Job(NamedTuple):
    work: Callable[[], Any]
    loop: asyncio.AbstractEventLoop
    waiting: "asyncio.Future[Any]"


class Workers:
    """At most so many threads, started when they are needed."""

    def __init__(self, most: int, name: str) -> None:
        self._owner = OwningProcess()
        self._most = most
        self._name = name
        self._lock = threading.Lock()
        self._threads: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._queue: deque[_Job] = deque()
        self._closed = False
        atexit.register(self.close)  # what runs when the process ends is finished

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
            elif len(self._threads) < self._most and (worker := self._started()):
                worker.take(job)
                self._threads.append(worker)
            else:
                self._queue.append(job)
        try:
            return await waiting
        finally:
            del job, waiting  # an error knows this frame, and they know the error

    def _started(self) -> "_Worker | None":
        """Another thread; None if there can be none, and those there are do the work."""
        worker = _Worker(self._next, f"{self._name}_{len(self._threads)}")
        try:
            worker.start()
        except (RuntimeError, MemoryError) as error:
            if not self._threads:
                raise of_the_machine(error) from None
            return None
        return worker

    async def hop(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """The same for a call, with the context of the task that waits."""
        return await self.run(partial(contextvars.copy_context().run, work, *args, **kwargs))

    @property
    def is_current(self) -> bool:
        """Whether one of these threads asks, which cannot wait for all of them to end."""
        with self._lock:  # a thread may run before it is in the list
            return threading.current_thread() in self._threads

    def close(self, end: float | None = None) -> bool:
        """Take no more work, and see the rest done, by `end` (of `time.monotonic`). → whether it is

        Work that has not begun by then is not begun.
        """
        atexit.unregister(self.close)
        if not self._owner.is_this:
            return True  # the threads are the parent's
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.take(None)
        for worker in self._threads:
            if worker is not threading.current_thread():
                worker.join(None if end is None else max(0.0, end - time.monotonic()))
        late = [worker for worker in self._threads if worker.is_alive()]
        if end is not None and late:
            with self._lock:
                self._queue.clear()
        return not late or late == [threading.current_thread()]

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
    """One thread; a job of None ends it. A daemon, so that who forgot to close can leave."""

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
    if job.waiting.cancelled():
        return partial(_tell, job, None, None)
    try:
        return partial(_tell, job, job.work(), None)
    except BaseException as error:
        return partial(_tell, job, None, error)
    finally:
        del job  # the error knows this frame, and the job will know the error


def _tell(job: _Job, result: object, error: BaseException | None) -> None:
    with suppress(RuntimeError):  # the loop was closed: nobody waits
        job.loop.call_soon_threadsafe(_set, job.waiting, result, error)


def _set(waiting: "asyncio.Future[Any]", result: object, error: BaseException | None) -> None:
    if waiting.cancelled():
        return
    error = None if error is None else of_the_machine(error)
    if isinstance(error, StopIteration):  # which no future takes
        waiting.set_exception(RuntimeError("the work raised StopIteration"))
    elif error is not None:
        waiting.set_exception(error)
    else:
        waiting.set_result(result)
