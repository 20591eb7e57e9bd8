"""What is said between the pool and a worker in one call: `WorkerTalk(limits, …).run(…)`.

    the worker says       what comes of it
    PAGE                  it is given on
    ASKED                 the parent does it, in the thread of the call or in `parent_threads`
    VALUE, DONE           the end
    ERROR                 raised
    LEAVING               raised, and the worker is replaced

A call that is stopped has its worker interrupted; one that does not stop in the time of grace is
killed. That time is longer where the caller has left: see `_interrupt`.
"""

import logging
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from redask.core.errors import WAS_CLOSED, AskError, Cancelled, LimitExceeded, StoreFailed
from redask.engine.processes import worker_messages as messages
from redask.engine.processes.parent_threads import ParentThreads
from redask.engine.processes.worker_call import LOOK_SECONDS, CallStopped, WorkerCall
from redask.engine.processes.worker_messages import WorkerLimits, packed, unpacked
from redask.engine.processes.worker_process import START_SECONDS, WorkerProcess

_log = logging.getLogger("redask.workers")
_FRAME_BYTES = 1024 * 1024  # an error, or what pickling adds to a result
_LEFT_GRACE = 3  # times the grace of a call whose caller waits
PAGES = object()  # the result is the pages that came
ParentWork = Mapping[str, Callable[..., object]]  # what workers may have their parent do, by name


@dataclass(frozen=True, slots=True)
class WorkerTalk:
    """See the module; `closed` says whether the pool is."""

    limits: WorkerLimits
    closed: Callable[[], bool]
    parent_work: ParentWork
    parent_threads: ParentThreads | None = None

    def run(
        self, worker: WorkerProcess, kind: bytes, request: bytes, call: WorkerCall
    ) -> Generator[Any, None, Any]:
        """Send a request, give the pages. → the result, or `PAGES` if they are it"""
        working = False
        try:
            if not worker.ready:
                self._until_ready(worker, call)
            call.next_look()  # work that nobody waits for is not even begun
            working = True
            with suppress(ConnectionError):  # who leaves before it has heard all says why
                worker.send_request(kind, request, call.end)
            while True:
                kind, payload = self._next(worker, call)
                if kind == messages.PAGE:
                    yield unpacked(payload)
                elif kind == messages.ASKED:
                    reply = self._reply(worker, payload)
                    call.next_look()
                    worker.channel.send(messages.REPLY, reply, until=call.end)
                else:
                    return self._result(worker, kind, payload)
        except CallStopped as stopped:
            if working:
                self._interrupt(worker, stopped)
            raise
        except TimeoutError:  # it does not even take the request
            worker.kill()
            raise call.late() from None
        except ValueError:  # a message that no worker sends
            worker.kill()
            raise LimitExceeded("result_bytes", "the result is too large") from None
        except (EOFError, OSError):
            if self.closed():
                raise Cancelled(WAS_CLOSED) from None
            how = worker.ended()
            _log.error("a worker process ended in the middle of its work: %s", how)
            raise StoreFailed(
                "a worker process ended in the middle of its work", detail=how
            ) from None

    def _reply(self, worker: WorkerProcess, payload: bytes) -> bytes:
        """Do what a worker asks for, which is bounded. → whether it went well, and what came"""
        name, arguments = unpacked(payload)
        try:
            work = partial(self.parent_work[name], *arguments)
            if self.parent_threads is not None:
                tenant = worker.served.tenant if worker.served else ""
                work = partial(self.parent_threads.run, tenant, worker.niceness, work)
            return packed((True, work()))
        except AskError as error:
            return packed((False, error))
        except Exception:
            _log.exception("what a worker process asked for failed")
            return packed((False, AskError("internal error")))

    def _result(self, worker: WorkerProcess, kind: bytes, payload: bytes) -> Any:
        if kind == messages.LEAVING:
            worker.kill()
        if self.closed():  # it was interrupted, and may be less than the whole
            raise Cancelled(WAS_CLOSED)
        if kind == messages.DONE:
            return PAGES
        result = unpacked(payload)
        if kind == messages.VALUE:
            return result
        raise result

    def _until_ready(self, worker: WorkerProcess, call: WorkerCall) -> None:
        """Wait for it; the start of a pool's first processes is no part of anybody's time."""
        with call.uncounted(START_SECONDS) if worker.is_first else nullcontext():
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
                    until=call.next_look(), longest=self.limits.result_bytes + _FRAME_BYTES
                )
            except TimeoutError:
                continue

    def _interrupt(self, worker: WorkerProcess, stopped: CallStopped) -> None:
        """Have it stop; what does not stop in the time of grace is killed.

        Where the caller has left, nobody waits for that but those who want its place: starting
        another process would take the processor for longer than most work that is still to end.
        """
        has_left = isinstance(stopped.error, Cancelled)
        grace = self.limits.grace_seconds * (_LEFT_GRACE if has_left else 1)
        end = time.monotonic() + grace
        try:
            while True:
                # again and again: the first may come before the work has begun
                worker.channel.send(messages.INTERRUPT, until=end)
                again = time.monotonic() + LOOK_SECONDS
                with suppress(TimeoutError):
                    kind = messages.PAGE
                    while kind in (messages.PAGE, messages.ASKED):
                        kind, _ = worker.channel.receive(until=min(again, end))
                    if kind == messages.LEAVING:
                        break
                    return
                if time.monotonic() >= end:
                    break
        except (EOFError, OSError):
            pass
        worker.kill()
