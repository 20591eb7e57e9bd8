"""Messages between a process and its workers: `Channel(socket)`, one frame for each message.

    one byte    what it is                     see the constants
    4 bytes     length of the rest, big-endian
    the rest    a pickle, or nothing

    parent → worker    START, REQUEST, STREAM (a request whose pages may be many), INTERRUPT,
                       NICENESS (of the requests that follow, one byte), REPLY (to an ASKED)
    worker → parent    READY, then for each request any number of PAGE and ASKED, and one of
                       VALUE, DONE (after pages), ERROR, LEAVING (an error, and the worker ends)

ASKED is for what only the parent has, such as a model or a key: a name and arguments. REPLY is
whether it went well, and the result or the error.

Both ends are the same program of the same user, so a pickle is trusted. One thread receives and
one sends; a channel that is given a time limit may be used by one thread only.
"""

import pickle
import socket
import struct
import time
from dataclasses import dataclass
from typing import Any

from redask.core.access.worker_shares import ASK_NICENESS

START, REQUEST, STREAM, INTERRUPT, NICENESS, REPLY = b"S", b"R", b"T", b"I", b"N", b"A"
READY, PAGE, ASKED, VALUE, DONE, ERROR, LEAVING = b"+", b"P", b"Q", b"V", b"D", b"E", b"L"
_HEAD = struct.Struct("!cI")
_READ = 256 * 1024


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """What a worker process may use, and how long it may take to stop when it is asked to.

    `result_bytes` are those of a result, and of one page of a stream: its service bounds the whole.
    """

    memory_bytes: int = 2 * 1024**3
    result_bytes: int = 64 * 1024**2
    grace_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class StartOrder:
    """What a worker is told first: `module:function` makes its service from the arguments, at so
    much niceness."""

    factory: str
    arguments: tuple[object, ...]
    limits: WorkerLimits
    niceness: int = ASK_NICENESS


class Channel:
    """One end of a socket pair."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._received = bytearray()

    def send(self, kind: bytes, payload: bytes = b"", *, until: float | None = None) -> None:
        """Send one message whole; `TimeoutError` leaves the channel unusable."""
        self._set_timeout(until)
        self._socket.sendall(_HEAD.pack(kind, len(payload)) + payload)

    def receive(self, *, until: float | None = None, longest: int = 2**32) -> tuple[bytes, bytes]:
        """The next message. `EOFError` when the other end is gone.

        `TimeoutError` at the time `until` (of `time.monotonic`): call again to go on waiting.
        `ValueError` for a message that is longer than it may be.
        """
        while True:
            if len(self._received) >= _HEAD.size:
                kind, length = _HEAD.unpack_from(self._received)
                if length > longest:
                    raise ValueError(f"a message of {length} bytes")
                end = _HEAD.size + length
                if len(self._received) >= end:
                    payload = bytes(memoryview(self._received)[_HEAD.size : end])
                    del self._received[:end]
                    return kind, payload
            self._set_timeout(until)
            try:
                more = self._socket.recv(_READ)
            except ConnectionError:
                more = b""
            if not more:
                raise EOFError
            self._received += more

    def has_news(self) -> bool:
        """Whether a message, or the end of them, has come and was not received."""
        if self._received:
            return True
        self._socket.setblocking(False)
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True  # the end
        return True

    def shut_down(self) -> None:
        """Let the other end see the end of the messages."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            return  # it is gone

    def close(self) -> None:
        """Let go of the socket."""
        self._socket.close()

    def _set_timeout(self, until: float | None) -> None:
        if until is None:
            self._socket.settimeout(None)
            return
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)


def packed(value: object) -> bytes:
    """A message's payload."""
    return pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)


def unpacked(payload: bytes) -> Any:
    """What `packed` was given."""
    return pickle.loads(payload)
