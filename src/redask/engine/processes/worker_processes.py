"""A pool of warm worker processes, for work of callers that must be stoppable.

    pool = WorkerProcesses("package.module:make_service", (location,), size=2)
    pool.call("method", argument, timeout_seconds=5)      what the method returns
    pool.close()

A call is synchronous and may come from any thread. Of a method that is a generator it returns the
list of pages; `stream` gives them one by one, and who stops taking them has the worker replaced.
Callers beyond the pool's size wait; who is next, `core/access/worker_shares` says. Nobody waits for
ever:

    what happens                              the caller gets            the worker
    its user waits for too much already       Overloaded, LimitExceeded  was another's
    the time is over, while waiting           DeadlineExceeded           was another's
    the time is over, while it works          DeadlineExceeded           interrupted, else replaced
    `cancelled` is set                        Cancelled                  interrupted, else replaced
    it needs too much memory                  LimitExceeded "memory"     replaced
    its result is too large                   LimitExceeded              stays
    it dies                                   StoreFailed                replaced
    the pool is closed                        Cancelled                  ends

The start of the first processes is no part of a call's time: a server that was just started would
refuse its first statements. A worker that is interrupted has `grace_seconds` to answer, then it is
killed. Processes are started when they are first needed (`warm` starts all), by one thread that
lives as long as the pool: Linux ends a child with the thread that started it. They are new
interpreters, not forks, that import what this process can import; standard output is closed to
them, errors are logged to standard error.
"""

import logging
import pickle
import queue
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from redask.core.access.worker_shares import (
    ASK_NICENESS,
    OTHER_NICENESS,
    IdleProcess,
    WorkerClaim,
    WorkerQuota,
    may_take,
    next_place,
    niceness,
    refusal,
    which_process,
)
from redask.core.errors import (
    CLOSED,
    WAS_CLOSED,
    AskError,
    BadAsk,
    Cancelled,
    DeadlineExceeded,
    StoreFailed,
)
from redask.core.ports import Cancellation
from redask.engine.processes import worker_messages as messages
from redask.engine.processes.parent_threads import ParentThreads
from redask.engine.processes.worker_call import LOOK_SECONDS, CallStopped, WorkerCall
from redask.engine.processes.worker_memory import is_full
from redask.engine.processes.worker_messages import StartOrder, WorkerLimits, packed
from redask.engine.processes.worker_process import WorkerProcess
from redask.engine.processes.worker_talk import PAGES, ParentWork, WorkerTalk
from redask.engine.processes.worker_usage import WorkerUsage

_log = logging.getLogger("redask.workers")


class _Place:
    """A caller's place in the queue: `taken` is set once there is a worker or an end."""

    def __init__(self, claim: WorkerClaim | None) -> None:
        self.claim = claim
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
        quota: WorkerQuota | None = None,
        parent_work: ParentWork | None = None,
        parent_threads: ParentThreads | None = None,
        work: str = "the work",
        deadline_setting: str = "timeout_seconds",
    ) -> None:
        """`work` and `deadline_setting` are for messages: what took too long, and what says so.

        `parent_work` is what workers may have this process do: see `worker_talk`; in
        `parent_threads`, which are closed with the pool, where it takes the processor for long.
        """
        self._limits = limits or WorkerLimits()
        self._order = StartOrder(factory, arguments, self._limits)
        self._parent_threads = parent_threads
        self._talk = WorkerTalk(
            self._limits, lambda: self._closed, parent_work or {}, parent_threads
        )
        self._size = size
        self._quota = quota or WorkerQuota()
        self._work = work
        self._setting = deadline_setting
        self._lock = threading.Lock()
        self._workers: set[WorkerProcess] = set()
        self._idle: list[WorkerProcess] = []  # the one that worked last at the end
        self._waiting: list[_Place] = []
        self._held: dict[WorkerProcess, WorkerClaim | None] = {}
        self._usage = WorkerUsage()
        self._starting: list[WorkerClaim | None] = []  # whom those served that are replaced
        self._has_worked = False
        self._closed = False
        self._orders: queue.SimpleQueue[tuple[StartOrder, WorkerClaim | None] | None]
        self._orders = queue.SimpleQueue()
        self._starter: threading.Thread | None = None

    def call(
        self,
        method: str,
        *arguments: object,
        timeout_seconds: float,
        cancelled: Cancellation | None = None,
        claim: WorkerClaim | None = None,
        **named: object,
    ) -> Any:
        """What a method of the service returns, or raises as an AskError."""
        request = _request(method, arguments, named)
        call = WorkerCall(self._work, timeout_seconds, cancelled, self._setting)
        pages: list[object] = []
        try:
            with self._worker(call, claim) as worker:
                running = self._talk.run(worker, messages.REQUEST, request, call)
                while True:
                    try:
                        pages.append(next(running))
                    except StopIteration as end:
                        return pages if end.value is PAGES else end.value
        except CallStopped as stopped:
            raise stopped.error from None

    def stream(
        self,
        method: str,
        *arguments: object,
        timeout_seconds: float,
        cancelled: Cancellation | None = None,
        claim: WorkerClaim | None = None,
        **named: object,
    ) -> Iterator[Any]:
        """The pages of a method that is a generator, as they come; the time is that of all."""
        request = _request(method, arguments, named)
        call = WorkerCall(self._work, timeout_seconds, cancelled, self._setting)
        try:
            with self._worker(call, claim) as worker:
                yield from self._talk.run(worker, messages.STREAM, request, call)
        except CallStopped as stopped:
            raise stopped.error from None

    def warm(self, count: int | None = None) -> None:
        """Start every process, or so many; does not wait for them."""
        wanted = self._size if count is None else min(count, self._size)
        with self._lock:
            if not self._closed:
                for _ in range(wanted - len(self._workers) - len(self._starting)):
                    self._start_one()

    def processes(self) -> list[int]:
        """The process ids of the workers there are."""
        with self._lock:
            return sorted(worker.process.pid for worker in self._workers)

    def close(self) -> None:
        """End every worker; calls that run or wait are `Cancelled`. Twice is fine."""
        with self._lock:
            self._closed = True
            waiting, self._waiting = self._waiting, []
        for place in waiting:
            place.taken.set()
        self._end(self._limits.grace_seconds)
        if self._starter is not None:  # not before: Linux ends with it what it started
            self._orders.put(None)
            self._starter.join()
        self._end(0)  # what it was just starting
        if self._parent_threads is not None:
            self._parent_threads.close()
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
                worker.reap()

    # --- the workers ---------------------------------------------------------------------

    @contextmanager
    def _worker(self, call: WorkerCall, claim: WorkerClaim | None) -> Iterator[WorkerProcess]:
        """A worker for one call; who leaves it in the middle of its work has it replaced."""
        worker = self._take(call, claim)
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

    def _take(self, call: WorkerCall, claim: WorkerClaim | None) -> WorkerProcess:
        """The next free worker that is this caller's share."""
        place = _Place(claim)
        if not self._closed:
            call.next_look()  # who has left already is given none
        with self._lock:
            if self._closed:
                raise BadAsk(CLOSED)
            if claim is not None:
                self._refuse_beyond_quota(claim)
            self._waiting.append(place)
            self._serve_next()
        try:
            while not place.taken.is_set():
                look = min(call.next_look(), time.monotonic() + LOOK_SECONDS)
                if not place.taken.wait(look - time.monotonic()):
                    with self._lock:
                        self._serve_next()  # a process may have started since
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

    def _refuse_beyond_quota(self, claim: WorkerClaim) -> None:
        """Raise what a claim may not even wait for; with the lock."""
        used = self._usage.seconds(claim, time.monotonic())
        refused = refusal(claim, [each.claim for each in self._waiting], *used, self._quota)
        if refused is not None:
            raise refused

    def _give_back(self, worker: WorkerProcess) -> None:
        """Let the next caller have it, or a new one in its place if it is done for."""
        worker.is_full = is_full(worker.process.pid, self._limits)
        with self._lock:
            self._has_worked = True
            self._held.pop(worker, None)
            self._usage.end(worker, time.monotonic())
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
                threading.Thread(target=worker.reap, name="ending", daemon=True).start()
            self._start_one(worker.served)
        while self._waiting:
            offered = self._offered()
            idle = [IdleProcess(each.served, each.has_started) for each in offered]
            held = self._held.values()
            unready = [each.replaces for each in self._idle if each not in offered]
            replaced = [*self._starting, *unready]
            waiting = [each for each in self._waiting if may_take(each.claim, idle, held, replaced)]
            claims = [each.claim for each in waiting]
            following = next_place(claims, held, self._size)
            if following is None:
                return
            if not offered:
                wanted = min(len(self._waiting), self._size - len(self._workers))
                for _ in range(wanted - len(self._starting)):
                    self._start_one()
                return
            place = waiting[following]
            self._waiting.remove(place)
            worker = place.worker = offered[which_process(place.claim, idle, [*held, *replaced])]
            self._idle.remove(worker)
            worker.served = place.claim
            worker.niceness = niceness(place.claim, held)
            self._held[worker] = place.claim
            if place.claim is not None:
                self._usage.begin(worker, place.claim, time.monotonic())
            place.taken.set()

    def _offered(self) -> list[WorkerProcess]:
        """The idle workers that may be given to a caller; with the lock.

        One that takes another's place is not, before it has started, while others work: its start
        may take longer than what they do, and who was given it waits for it alone.
        """
        found = [each for each in self._idle if each.is_first or each.has_started]
        return found if found or any(each.ready for each in self._workers) else list(self._idle)

    def _start_one(self, replaces: WorkerClaim | None = None) -> None:
        """Have the starter start a process, in place of one that served this; with the lock."""
        if self._starter is None:
            starter = threading.Thread(target=self._start, name="workers", daemon=True)
            starter.start()  # which may fail: then the next call tries again
            self._starter = starter
        self._starting.append(replaces)
        gives_way = OTHER_NICENESS if self._has_worked else ASK_NICENESS
        self._orders.put((replace(self._order, niceness=gives_way), replaces))

    def _start(self) -> None:
        while (ordered := self._orders.get()) is not None:
            order, replaces = ordered
            try:
                worker = None if self._closed else WorkerProcess(order)
            except OSError:
                _log.exception("a worker process could not be started")
                worker = None
            with self._lock:
                self._starting.remove(replaces)
                if worker is not None:
                    worker.is_first = not self._has_worked
                    worker.replaces = replaces
                    self._workers.add(worker)
                    self._idle.insert(0, worker)  # after those that are warm
                    if not self._closed:
                        self._serve_next()
                elif self._waiting:
                    place = self._waiting.pop(0)
                    place.error = StoreFailed("a worker process could not be started")
                    place.taken.set()


def _request(method: str, arguments: tuple[object, ...], named: dict[str, object]) -> bytes:
    try:
        return packed((method, arguments, named))
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise BadAsk("a value cannot be sent to a worker process", detail=str(error)) from None
