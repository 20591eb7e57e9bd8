"""Inside a worker process: `python -m redask.engine.processes.worker_child FD PARENT`.

It makes its service as the first message says, then serves requests one at a time: a method of
the service with its arguments. A method that is a generator gives its result in pages. While a
thread works, of the niceness that the request has (`niced_threads`), the main thread reads on: an
interrupt calls the service's `interrupt()`, if it has one, and stops the next page. A service that
has `use_parent` is given `ask_parent`, for what only the parent has.

    goes wrong                            answer
    AskError                              the same error, with its attributes
    MemoryError, also for a message or a  LimitExceeded "memory", and the process ends
    thread that there is no room for
    anything else                         AskError "internal error"; the traceback is logged here;
                                          where memory is used up: as MemoryError
    the result is larger than it may be   LimitExceeded "result_bytes"

It ends with its parent: by the end of the messages everywhere, at once on Linux. SIGINT and
SIGTERM are left to the parent, which ends its workers itself.
"""

import ctypes
import gc
import logging
import os
import queue
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

from redask.core.access.worker_shares import ASK_NICENESS
from redask.core.errors import AskError, Cancelled, LimitExceeded
from redask.engine.processes import worker_messages as messages
from redask.engine.processes.niced_threads import NicedThreads
from redask.engine.processes.worker_memory import is_full
from redask.engine.processes.worker_messages import (
    Channel,
    StartOrder,
    WorkerLimits,
    packed,
    unpacked,
)

_log = logging.getLogger("redask.workers")
_PR_SET_PDEATHSIG = 1


class WorkerChild:
    """The service of one worker process, and what its parent asks of it."""

    def __init__(
        self, channel: Channel, service: Any, limits: WorkerLimits, threads: NicedThreads
    ) -> None:
        self._channel = channel
        self._service = service
        self._limits = limits
        self._threads = threads
        self._niceness = ASK_NICENESS  # of the next request
        # made before: without memory an exception in its handler can keep Python busy for ever
        self._memory_reply = messages.LEAVING, packed(_out_of_memory(limits))
        self._replies: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._interrupted = threading.Event()
        self._sending = threading.Lock()
        use_parent = getattr(service, "use_parent", None)
        if use_parent is not None:
            use_parent(self.ask_parent)

    def serve(self) -> None:
        """Serve until the parent is gone, or has enough; what does not stop then is left."""
        try:
            while True:
                self._take(*self._channel.receive())
        except (EOFError, OSError):
            self._interrupt()
        except MemoryError:
            self._leave()
        # a signal, and no thread: at the memory limit there is no room for another stack
        signal.setitimer(signal.ITIMER_REAL, self._limits.grace_seconds)
        self._threads.close()
        close = getattr(self._service, "close", None)
        if close is not None:
            close()
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _leave(self) -> None:
        """Say that there is no memory, whatever is asked or done."""
        with suppress(OSError):
            self._send(*self._memory_reply)
        self._channel.shut_down()
        self._interrupt()

    def _send(self, kind: bytes, payload: bytes) -> None:
        with self._sending:
            self._channel.send(kind, payload)

    def ask_parent(self, name: str, *arguments: object) -> Any:
        """What the parent's work of this name gives, or the `AskError` it raises.

        Only for the thread that a method was called in: one at a time.
        """
        while not self._replies.empty():
            self._replies.get()  # of a request that was interrupted
        self._send(messages.ASKED, packed((name, arguments)))
        reply = self._replies.get()
        if reply is None or self._interrupted.is_set():
            raise Cancelled("the work was interrupted")
        went_well, result = unpacked(reply)
        if went_well:
            return result
        raise result

    def _take(self, kind: bytes, payload: bytes) -> None:
        """Do what a message says, or have it done."""
        if kind in (messages.REQUEST, messages.STREAM):
            self._interrupted.clear()
            self._threads.begin(self._niceness, lambda: self._serve_one(kind, payload))
        elif kind == messages.NICENESS:
            self._niceness = payload[0]
        elif kind == messages.REPLY:
            self._replies.put(payload)
        elif kind == messages.INTERRUPT:
            self._interrupt()

    def _serve_one(self, kind: bytes, payload: bytes) -> None:
        try:
            kind, payload = self._reply(kind, payload)
            self._send(kind, payload)
        except OSError:
            return  # the parent is gone, as the main thread sees
        except BaseException:
            _log.exception("a worker process has no reply")
            kind = messages.LEAVING
        if kind == messages.LEAVING:
            self._channel.shut_down()  # and the parent ends the process

    def _interrupt(self) -> None:
        self._interrupted.set()
        self._replies.put(None)
        interrupt = getattr(self._service, "interrupt", None)
        if interrupt is not None:
            try:
                interrupt()
            except Exception:
                _log.exception("the work could not be interrupted")

    def _reply(self, kind: bytes, request: bytes) -> tuple[bytes, bytes]:
        """Do what is asked; pages are sent on the way. → the last message."""
        try:
            method, arguments, named = unpacked(request)
            result = getattr(self._service, method)(*arguments, **named)
            if isinstance(result, Iterator):
                return self._send_pages(result, adds_up=kind == messages.REQUEST)
            return messages.VALUE, self._bounded(packed(result), 0)
        except AskError as error:
            return messages.ERROR, packed(error)
        except MemoryError:
            return self._memory_reply
        except OSError as error:
            if isinstance(error, ConnectionError):
                raise  # nobody takes the pages
            return self._unexpected()
        except Exception:
            return self._unexpected()

    def _unexpected(self) -> tuple[bytes, bytes]:
        """The reply to what nobody expected: without memory, anything may be."""
        return self._memory_reply if is_full(os.getpid(), self._limits) else _unexpected()

    def _send_pages(self, pages: Iterator[object], *, adds_up: bool) -> tuple[bytes, bytes]:
        """Send them; where they add up, whoever takes them keeps them all in memory."""
        sent = 0
        for page in pages:
            if self._interrupted.is_set():
                raise Cancelled("the work was interrupted")
            payload = self._bounded(packed(page), sent)
            sent += len(payload) if adds_up else 0
            self._send(messages.PAGE, payload)
        return messages.DONE, b""

    def _bounded(self, payload: bytes, before: int) -> bytes:
        most = self._limits.result_bytes
        if before + len(payload) > most:
            message = f"the result is larger than {most / 2**20:g} MiB"
            raise LimitExceeded("result_bytes", message, detail="result_bytes")
        return payload


def _unexpected() -> tuple[bytes, bytes]:
    _log.exception("internal error in a worker process")
    return messages.ERROR, packed(AskError("internal error"))


def _out_of_memory(limits: WorkerLimits) -> LimitExceeded:
    message = f"the work needed more memory than the {limits.memory_bytes / 2**20:g} MiB allowed"
    return LimitExceeded("memory", message, detail="memory")


def make_service(order: StartOrder) -> Any:
    """What the factory makes."""
    module, _, name = order.factory.partition(":")
    return getattr(import_module(module), name)(*order.arguments)


def limit_memory(most: int) -> None:
    """Let allocations fail beyond so many bytes, rather than the machine."""
    with suppress(ValueError, OSError):  # a lower limit is set already, or there is none to set
        import resource  # not on every platform

        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def end_with(parent: int) -> None:
    """Have Linux end this process with the thread that started it."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)  # it ended before


def main(descriptor: int, parent: int) -> None:
    """Serve one parent until it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # an ignored signal would stay ignored
    end_with(parent)
    threads = NicedThreads()
    channel = Channel(socket.socket(fileno=descriptor))
    try:
        order: StartOrder = unpacked(channel.receive()[1])
    except EOFError:
        return
    limit_memory(order.limits.memory_bytes)
    try:
        service = threads.done(order.niceness, lambda: make_service(order))
    except AskError as error:
        channel.send(messages.LEAVING, packed(error))
        return
    except MemoryError:
        channel.send(messages.LEAVING, packed(_out_of_memory(order.limits)))
        return
    except Exception:
        channel.send(messages.LEAVING, _unexpected()[1])
        return
    gc.freeze()  # programs and tables: no collection looks through them in the middle of a call
    channel.send(messages.READY)
    WorkerChild(channel, service, order.limits, threads).serve()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
