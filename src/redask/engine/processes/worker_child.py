"""Inside a worker process: `python -m redask.engine.processes.worker_child FD PARENT`.

It makes its service as the first message says, then serves requests one at a time: a method of
the service with its arguments. A method that is a generator gives its result in pages. While it
works a thread reads on: an interrupt calls the service's `interrupt()`, if it has one, and stops
the next page.

    goes wrong                            answer
    AskError                              the same error, with its attributes
    MemoryError                           LimitExceeded "memory", and the process ends
    anything else                         AskError "internal error"; the traceback is logged here
    the result is larger than it may be   LimitExceeded "result_bytes"

It ends with its parent: by the end of the messages everywhere, at once on Linux. SIGINT and
SIGTERM are left to the parent, which ends its workers itself.
"""

import ctypes
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

from redask.core.errors import AskError, Cancelled, LimitExceeded
from redask.engine.processes import worker_messages as messages
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

    def __init__(self, channel: Channel, service: Any, limits: WorkerLimits) -> None:
        self._channel = channel
        self._service = service
        self._limits = limits
        self._requests: queue.SimpleQueue[tuple[bytes, bytes] | None] = queue.SimpleQueue()
        self._interrupted = threading.Event()
        self._ended = threading.Event()

    def serve(self) -> None:
        """Serve until the parent is gone or the process has to end."""
        threading.Thread(target=self._read, name="messages", daemon=True).start()
        try:
            while (request := self._requests.get()) is not None:
                kind, payload = self._reply(*request)
                self._channel.send(kind, payload)
                if kind == messages.LEAVING:
                    return
        except OSError:
            return  # the parent is gone
        finally:
            close = getattr(self._service, "close", None)
            if close is not None:
                close()
            self._ended.set()

    def _read(self) -> None:
        """Take messages while the service works; at their end, see to it that the process ends."""
        try:
            while True:
                kind, payload = self._channel.receive()
                if kind in (messages.REQUEST, messages.STREAM):
                    self._interrupted.clear()
                    self._requests.put((kind, payload))
                elif kind == messages.INTERRUPT:
                    self._interrupt()
        except (EOFError, OSError):
            self._requests.put(None)
            self._interrupt()
        if not self._ended.wait(self._limits.grace_seconds):
            os._exit(1)

    def _interrupt(self) -> None:
        self._interrupted.set()
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
            return messages.LEAVING, packed(_out_of_memory(self._limits))
        except OSError as error:
            if isinstance(error, ConnectionError):
                raise  # nobody takes the pages
            return _unexpected()
        except Exception:
            return _unexpected()

    def _send_pages(self, pages: Iterator[object], *, adds_up: bool) -> tuple[bytes, bytes]:
        """Send them; where they add up, whoever takes them keeps them all in memory."""
        sent = 0
        for page in pages:
            if self._interrupted.is_set():
                raise Cancelled("the work was interrupted")
            payload = self._bounded(packed(page), sent)
            sent += len(payload) if adds_up else 0
            self._channel.send(messages.PAGE, payload)
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
    end_with(parent)
    channel = Channel(socket.socket(fileno=descriptor))
    try:
        order: StartOrder = unpacked(channel.receive()[1])
    except EOFError:
        return
    limit_memory(order.limits.memory_bytes)
    try:
        service = make_service(order)
    except AskError as error:
        channel.send(messages.LEAVING, packed(error))
        return
    except MemoryError:
        channel.send(messages.LEAVING, packed(_out_of_memory(order.limits)))
        return
    except Exception:
        channel.send(messages.LEAVING, _unexpected()[1])
        return
    channel.send(messages.READY)
    WorkerChild(channel, service, order.limits).serve()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
