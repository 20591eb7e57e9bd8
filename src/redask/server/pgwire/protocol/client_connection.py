"""One client's bytes in and out: `ClientConnection`, an asyncio protocol and its task.

Bytes are read all the time, also while a statement runs, because that is how a client that
leaves is noticed: end-of-file and a lost connection both cancel the task. Reading pauses only
when more than `room` bytes wait, and writing waits for a client who does not read, but not for
longer than `PATIENCE` seconds.
"""

import asyncio
import ssl
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from redask.server.pgwire.protocol import backend_messages, frontend_messages
from redask.server.pgwire.protocol.frontend_messages import ProtocolViolation, WireReader

PATIENCE = 60.0  # seconds that a client may take to read what it asked for
FAREWELL_SECONDS = 5.0  # to read the last words
_ROOM_AT_FIRST = frontend_messages.MAX_OPENING + frontend_messages.MAX_SECRET
_ROOM = frontend_messages.MAX_MESSAGE + 65_536
_CHUNK = 65_536
_T = TypeVar("_T")


class Stopping(Exception):
    """The server wants to end, and nothing is running here."""


class ClientStalled(Exception):
    """The client does not take what it asked for."""


class ClientConnection(asyncio.Protocol):
    """A connection."""

    transport: asyncio.Transport
    task: asyncio.Task[None]

    def __init__(self, serve: "Callable[[ClientConnection], Coroutine[Any, Any, None]]") -> None:
        self.reader = WireReader()
        self.is_secure = False
        self._serve = serve
        self._loop = asyncio.get_running_loop()
        self._room = _ROOM_AT_FIRST
        self._out: list[bytes] = []
        self._waiting = 0
        self._has_left = False
        self._is_lost = False
        self._is_full = False  # reading is paused
        self._abort: asyncio.TimerHandle | None = None
        self._stopping = False
        self._more: asyncio.Future[None] | None = None
        self._drained: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.task = self._loop.create_task(self._serve(self))

    def data_received(self, data: bytes) -> None:
        self.reader.feed(data)
        if len(self.reader) > self._room and not self._is_full:
            self._is_full = True
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._leave()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's name
        self._is_lost = True
        if self._abort is not None:
            self._abort.cancel()
        self._leave()

    def pause_writing(self) -> None:
        self._drained = self._loop.create_future()

    def resume_writing(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._drained = None

    def open_wide(self) -> None:
        """Take messages of any allowed length, now that it is known who sends them."""
        self._room = _ROOM

    def stop(self) -> None:
        """End when what runs is done."""
        self._stopping = True
        self._wake()

    async def next(self, read: Callable[[], _T | None]) -> _T:
        """The next message that `read` finds among the bytes that came."""
        while True:
            if self._stopping:
                raise Stopping
            message = read()
            if message is not None:
                return message
            if self._is_full:
                self._is_full = False
                self.transport.resume_reading()
            self._more = self._loop.create_future()
            await self._more

    def say(self, data: bytes) -> None:
        """Say it with the next `flush`."""
        self._out.append(data)
        self._waiting += len(data)

    @property
    def has_much_to_say(self) -> bool:
        """Whether it is time to flush in the middle of something long."""
        return self._waiting > _CHUNK

    async def flush(self) -> None:
        """Send what was said; `ClientStalled` for a client who does not take it."""
        if self._out:
            self._send()
        if self._drained is not None:
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._drained
            except TimeoutError:
                raise ClientStalled from None

    def hang_up(self) -> None:
        """Send what was said, and close; who does not read it in time loses it."""
        if self._out:
            self._send()
        self.transport.close()
        if not self._is_lost:
            self._abort = self._loop.call_later(FAREWELL_SECONDS, self.transport.abort)

    async def secure(self, context: ssl.SSLContext, seconds: float) -> None:
        """Go on with TLS. Whatever was sent before it started may be somebody else's."""
        if len(self.reader) or self.is_secure:
            raise ProtocolViolation("bytes before TLS")
        self.transport.write(backend_messages.SSL_YES)
        secured = await self._loop.start_tls(
            self.transport, self, context, server_side=True, ssl_handshake_timeout=seconds
        )
        if secured is None:  # the client left while we shook hands
            raise ConnectionResetError
        self.transport = secured
        self.is_secure = True

    def _send(self) -> None:
        if not self.transport.is_closing():  # the client may have left between two statements
            self.transport.write(b"".join(self._out))
        self._out.clear()
        self._waiting = 0

    def _wake(self) -> None:
        if self._more is not None and not self._more.done():
            self._more.set_result(None)

    def _leave(self) -> None:
        if not self._has_left:
            self._has_left = True
            self.task.cancel()
