"""A pool of warm worker processes, for work of callers that must be stoppable.

    pool = WorkerProcesses("package.module:make_service", (location,), size=2)
    pool.call("method", argument, timeout_seconds=5)      what the method returns
    pool.close()

A call is synchronous and may come from any thread. Of a method that is a generator it returns the
list of pages; `stream` gives them one by one, and who stops taking them has the worker replaced.
Callers beyond the pool's size wait in the order they came. Nobody waits for ever:

    what happens                              the caller gets            the worker
    the time is over, while waiting           DeadlineExceeded           was another's
    the time is over, while it works          DeadlineExceeded           interrupted, else replaced
    `cancelled` is set                        Cancelled                  interrupted, else replaced
    it needs too much memory                  LimitExceeded "memory"     replaced
    its result is too large                   LimitExceeded              stays
    it dies                                   StoreFailed                replaced
    the pool is closed                        Cancelled                  ends

A worker that is interrupted has `grace_seconds` to answer, then it is killed. Processes are
started when they are first needed (`warm` starts all), by one thread that lives as long as the
pool: Linux ends a child with the thread that started it. They are new interpreters, not forks,
that import what this process can import; standard output is closed to them, errors are logged to
standard error.
"""

import logging
import pickle
import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from redask.core.errors import (
    CLOSED,
    WAS_CLOSED,
    AskError,
    BadAsk,
    Cancelled,
    DeadlineExceeded,
    LimitExceeded,
    StoreFailed,
)
from redask.core.ports import Cancellation
from redask.engine.processes import worker_messages as messages
from redask.engine.processes.worker_call import LOOK_SECONDS, CallStopped, WorkerCall
from redask.engine.processes.worker_messages import StartOrder, WorkerLimits, packed, unpacked
from redask.engine.processes.worker_process import WorkerProcess

_log = logging.getLogger("redask.workers")
_FRAME_BYTES = 1024 * 1024  # an error, or what pickling adds to a result
_PAGES = object()  # the result is the pages that came


class _Place:
    """A caller's place in the queue: `taken` is set once there is a worker or an end."""

    def __init__(self) -> None:
        self.taken = threading.Event()
        self.worker: WorkerProcess | None = None
        self.error: AskError = Cancelled(WAS_CLOSED)  # if there is none


class WorkerProcesses:
    """See the module."""

    def __init__(
        self,
        factory: str,
        arguments: tuple[object, ...] = (),
        *,
        size: int,
        limits: WorkerLimits | None = None,
        work: str = "the work",
        deadline_setting: str = "timeout_seconds",
    ) -> None:
        """`work` and `deadline_setting` are for messages: what took too long, and what says so."""
        self._limits = limits or WorkerLimits()
        self._order = StartOrder(factory, arguments, self._limits)
        self._size = size
        self._work = work
        self._setting = deadline_setting
        self._lock = threading.Lock()
        self._workers: set[WorkerProcess] = set()
        self._idle: list[WorkerProcess] = []  # the one that worked last at the end
        self._waiting: deque[_Place] = deque()
        self._starting = 0
        self._closed = False
        self._orders: queue.SimpleQueue[StartOrder | None] = queue.SimpleQueue()
        self._starter: threading.Thread | None = None

    def call(
        self,
        method: str,
        *arguments: object,
        timeout_seconds: float,
        cancelled: Cancellation | None = None,
        **named: object,
    ) -> Any:
        """What a method of the service returns, or raises as an AskError."""
        request = _request(method, arguments, named)
        call = WorkerCall(self._work, timeout_seconds, cancelled, self._setting)
        pages: list[object] = []
        try:
            with self._worker(call) as worker:
                running = self._run(worker, messages.REQUEST, request, call)
                while True:
                    try:
                        pages.append(next(running))
                    except StopIteration as end:
                        return pages if end.value is _PAGES else end.value
        except CallStopped as stopped:
            raise stopped.error from None

    def stream(
        self,
        method: str,
        *arguments: object,
        timeout_seconds: float,
        cancelled: Cancellation | None = None,
        **named: object,
    ) -> Iterator[Any]:
        """The pages of a method that is a generator, as they come; the time is that of all."""
        request = _request(method, arguments, named)
        call = WorkerCall(self._work, timeout_seconds, cancelled, self._setting)
        try:
            with self._worker(call) as worker:
                yield from self._run(worker, messages.STREAM, request, call)
        except CallStopped as stopped:
            raise stopped.error from None

    def warm(self) -> None:
        """Start every process; does not wait for them."""
        with self._lock:
            if not self._closed:
                for _ in range(self._size - len(self._workers) - self._starting):
                    self._start_one()

    def processes(self) -> list[int]:
        """The process ids of the workers there are."""
        with self._lock:
            return sorted(worker.process.pid for worker in self._workers)

    def close(self) -> None:
        """End every worker; calls that run or wait are `Cancelled`. Twice is fine."""
        with self._lock:
            self._closed = True
            waiting, self._waiting = self._waiting, deque()
        for place in waiting:
            place.taken.set()
        self._end(self._limits.grace_seconds)
        if self._starter is not None:  # not before: Linux ends with it what it started
            self._orders.put(None)
            self._starter.join()
        self._end(0)  # what it was just starting
        with self._lock:
            for worker in self._idle:  # the others are closed by who uses them
                worker.channel.close()
                self._workers.discard(worker)
            self._idle.clear()

    def _end(self, grace_seconds: float) -> None:
        """Have every worker stop and end; what does not is killed."""
        with self._lock:
            leaving = list(self._workers)
        for worker in leaving:
            worker.channel.shut_down()  # which it takes for an interrupt and the end
        end = time.monotonic() + grace_seconds
        for worker in leaving:
            try:
                worker.process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                worker.kill()

    # --- the workers ---------------------------------------------------------------------

    @contextmanager
    def _worker(self, call: WorkerCall) -> Iterator[WorkerProcess]:
        """A worker for one call; who leaves it in the middle of its work has it replaced."""
        worker = self._take(call)
        try:
            yield worker
        except (AskError, CallStopped):
            self._give_back(worker)
            raise
        except BaseException:
            worker.kill()
            self._give_back(worker)
            raise
        self._give_back(worker)

    def _take(self, call: WorkerCall) -> WorkerProcess:
        """The next free worker, in the order of the callers."""
        place = _Place()
        with self._lock:
            if self._closed:
                raise BadAsk(CLOSED)
            self._waiting.append(place)
            self._serve_next()
        try:
            while not place.taken.is_set():
                place.taken.wait(call.next_look() - time.monotonic())
        except BaseException as error:
            with self._lock:
                if place in self._waiting:
                    self._waiting.remove(place)
            if place.worker is not None:  # it came in this very moment
                self._give_back(place.worker)
            if isinstance(error, CallStopped) and isinstance(error.error, DeadlineExceeded):
                raise call.late("no worker process was free within") from None
            raise
        if place.worker is None:
            raise place.error
        return place.worker

    def _give_back(self, worker: WorkerProcess) -> None:
        """Let the next caller have it, or a new one in its place if it is done for."""
        with self._lock:
            self._idle.append(worker)
            if self._closed:
                self._idle.remove(worker)
                self._workers.discard(worker)
                worker.channel.close()
                return
            self._serve_next()

    def _serve_next(self) -> None:
        """Bring idle workers and waiting callers together; with the lock."""
        for worker in [each for each in self._idle if not each.usable]:
            self._idle.remove(worker)
            self._workers.discard(worker)
            worker.channel.close()
            if worker.process.poll() is None:
                worker.process.kill()
            self._start_one()
        while self._idle and self._waiting:
            place = self._waiting.popleft()
            place.worker = self._idle.pop()
            place.taken.set()
        wanted = min(len(self._waiting), self._size - len(self._workers))
        for _ in range(wanted - self._starting):
            self._start_one()

    def _start_one(self) -> None:
        """Have the starter start a process; with the lock."""
        if self._starter is None:
            self._starter = threading.Thread(target=self._start, name="workers", daemon=True)
            self._starter.start()
        self._starting += 1
        self._orders.put(self._order)

    def _start(self) -> None:
        while (order := self._orders.get()) is not None:
            try:
                worker = None if self._closed else WorkerProcess(order)
            except OSError:
                _log.exception("a worker process could not be started")
                worker = None
            with self._lock:
                self._starting -= 1
                if worker is not None:
                    self._workers.add(worker)
                    self._idle.insert(0, worker)  # after those that are warm
                    if not self._closed:
                        self._serve_next()
                elif self._waiting:
                    place = self._waiting.popleft()
                    place.error = StoreFailed("a worker process could not be started")
                    place.taken.set()

    # --- one call ------------------------------------------------------------------------

    def _run(
        self, worker: WorkerProcess, kind: bytes, request: bytes, call: WorkerCall
    ) -> Generator[Any, None, Any]:
        """Send a request, give the pages. → the result, or `_PAGES` if they are it"""
        working = False
        try:
            if not worker.ready:
                self._until_ready(worker, call)
            working = True
            worker.channel.send(kind, request, until=call.end)
            while True:
                kind, payload = self._next(worker, call)
                if kind != messages.PAGE:
                    return self._result(worker, kind, payload)
                yield unpacked(payload)
        except CallStopped:
            if working:
                self._interrupt(worker)
            raise
        except TimeoutError:  # it does not even take the request
            worker.kill()
            raise call.late() from None
        except ValueError:  # a message that no worker sends
            worker.kill()
            raise LimitExceeded("result_bytes", "the result is too large") from None
        except (EOFError, OSError):
            if self._closed:
                raise Cancelled(WAS_CLOSED) from None
            how = worker.ended()
            _log.error("a worker process ended in the middle of its work: %s", how)
            raise StoreFailed(
                "a worker process ended in the middle of its work", detail=how
            ) from None

    def _result(self, worker: WorkerProcess, kind: bytes, payload: bytes) -> Any:
        if kind == messages.LEAVING:
            worker.kill()
        if self._closed:  # it was interrupted, and may be less than the whole
            raise Cancelled(WAS_CLOSED)
        if kind == messages.DONE:
            return _PAGES
        result = unpacked(payload)
        if kind == messages.VALUE:
            return result
        raise result

    def _until_ready(self, worker: WorkerProcess, call: WorkerCall) -> None:
        kind, payload = self._next(worker, call)
        if kind == messages.LEAVING:
            worker.kill()
            raise unpacked(payload)
        worker.ready = True

    def _next(self, worker: WorkerProcess, call: WorkerCall) -> tuple[bytes, bytes]:
        """The next message, looking up now and then whether to go on."""
        while True:
            try:
                return worker.channel.receive(
                    until=call.next_look(), longest=self._limits.result_bytes + _FRAME_BYTES
                )
            except TimeoutError:
                continue

    def _interrupt(self, worker: WorkerProcess) -> None:
        """Have it stop; what does not stop in the time of grace is killed."""
        end = time.monotonic() + self._limits.grace_seconds
        try:
            while True:
                # again and again: the first may come before the work has begun
                worker.channel.send(messages.INTERRUPT, until=end)
                again = time.monotonic() + LOOK_SECONDS
                with suppress(TimeoutError):
                    kind = messages.PAGE
                    while kind == messages.PAGE:
                        kind, _ = worker.channel.receive(until=min(again, end))
                    if kind == messages.LEAVING:
                        break
                    return
                if time.monotonic() >= end:
                    break
        except (EOFError, OSError):
            pass
        worker.kill()


def _request(method: str, arguments: tuple[object, ...], named: dict[str, object]) -> bytes:
    try:
        return packed((method, arguments, named))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise BadAsk("a value cannot be sent to a worker process", detail=str(error)) from None
