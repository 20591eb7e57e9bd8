"""One client's connection: `ClientConnection`, an asyncio protocol and the task that serves it.

Bytes are read all the time, also while a statement runs, because that is how a disconnect is
noticed: end-of-file and a lost connection both cancel the task. Reading pauses only when more
than a limit of bytes is buffered, and writing waits for a client that does not read, but not for
longer than `SEND_SECONDS`.
"""

import asyncio
import ssl
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from redask.server.pgwire.protocol import backend_messages, frontend_messages
from redask.server.pgwire.protocol.frontend_messages import MessageReader, ProtocolViolation

SEND_SECONDS = 60.0  # that a client may take to read what was sent
CLOSE_SECONDS = 5.0  # to read what was sent last
_START_UP_LIMIT = frontend_messages.MAX_STARTUP_PACKET + frontend_messages.MAX_PASSWORD
_LIMIT = frontend_messages.MAX_MESSAGE + 65_536
_CHUNK = 65_536
ALPN = "postgresql"
_T = TypeVar("_T")


class Stopping(Exception):
    """The server is stopping, and nothing is running on this connection."""


class Terminated(Exception):
    """Another session of the user ended this one, or it ended itself."""


class ClientStalled(Exception):
    """The client does not read what was sent."""


class ClientConnection(asyncio.Protocol):
    """A connection."""

    transport: asyncio.Transport
    task: asyncio.Task[None]
    address = ""
    signed_in = False

    def __init__(self, serve: "Callable[[ClientConnection], Coroutine[Any, Any, None]]") -> None:
        self.reader = MessageReader()
        self.is_secure = False
        self._serve = serve
        self._loop = asyncio.get_running_loop()
        self._limit = _START_UP_LIMIT
        self._out: list[bytes] = []
        self._unsent = 0
        self._is_disconnected = False
        self._is_lost = False
        self._is_paused = False  # reading
        self._abort: asyncio.TimerHandle | None = None
        self._stopping = False
        self.is_terminated = False
        self._more: asyncio.Future[None] | None = None
        self._drained: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.address = str((transport.get_extra_info("peername") or ("",))[0])
        self.task = self._loop.create_task(self._serve(self))

    def data_received(self, data: bytes) -> None:
        self.reader.feed(data)
        if len(self.reader) > self._limit and not self._is_paused:
            self._is_paused = True
            self.transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        self._disconnected()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's name
        self._is_lost = True
        if self._abort is not None:
            self._abort.cancel()
        self._disconnected()

    def pause_writing(self) -> None:
        self._drained = self._loop.create_future()

    def resume_writing(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._drained = None

    def authenticated(self) -> None:
        """Buffer messages of any allowed length from now on."""
        self._limit = _LIMIT
        self.signed_in = True

    def is_busy(self) -> bool:
        """Whether a session runs: a client keeps it open between its statements."""
        return self.signed_in

    def close_idle(self) -> None:
        """Make room for another connection."""
        self.transport.abort()

    def stop(self) -> None:
        """End when the statement that runs is done."""
        self._stopping = True
        self._wake()

    def terminate(self) -> None:
        """End now: what runs is cancelled by who says so."""
        self.is_terminated = True
        self._wake()

    async def next(self, read: Callable[[], _T | None]) -> _T:
        """The next message that `read` returns of the bytes that arrived."""
        while True:
            if self.is_terminated:
                raise Terminated
            if self._stopping:
                raise Stopping
            message = read()
            if message is not None:
                return message
            if self._is_paused:
                self._is_paused = False
                self.transport.resume_reading()
            self._more = self._loop.create_future()
            await self._more

    def send(self, data: bytes) -> None:
        """Buffer a message; the next `flush` writes it."""
        self._out.append(data)
        self._unsent += len(data)

    @property
    def should_flush(self) -> bool:
        """Whether enough is buffered to flush in the middle of a result."""
        return self._unsent > _CHUNK

    async def flush(self) -> None:
        """Write what is buffered; `ClientStalled` when the client does not read it."""
        if self._out:
            self._write()
        if self._drained is not None:
            try:
                async with asyncio.timeout(SEND_SECONDS):
                    await self._drained
            except TimeoutError:
                raise ClientStalled from None

    def close(self) -> None:
        """Write what is buffered, and close; what is not read in CLOSE_SECONDS is lost."""
        if self._out:
            self._write()
        self.transport.close()
        if not self._is_lost:
            self._abort = self._loop.call_later(CLOSE_SECONDS, self.transport.abort)

    async def start_tls(self, context: ssl.SSLContext, seconds: float) -> None:
        """Go on with TLS. Bytes that arrived before it may have been injected: they are refused."""
        if len(self.reader) or self.is_secure:
            raise ProtocolViolation("bytes before TLS")
        self.transport.write(backend_messages.SSL_ACCEPTED)
        self._secured(await self._handshake(context, seconds))

    async def start_tls_directly(self, context: ssl.SSLContext, seconds: float) -> None:
        """Go on with TLS that the client began without asking, and for this protocol (ALPN)."""
        arrived = self.reader.take_all()
        handshake = asyncio.ensure_future(self._handshake(context, seconds))
        await asyncio.sleep(0)  # TLS takes the transport over
        await asyncio.sleep(0)  # and is told that it is connected
        tls = self.transport.get_protocol()
        assert isinstance(tls, asyncio.BufferedProtocol)
        while arrived and not self.transport.is_closing():
            room = memoryview(tls.get_buffer(len(arrived)))
            count = min(len(room), len(arrived))
            room[:count] = arrived[:count]
            tls.buffer_updated(count)
            arrived = arrived[count:]
        self._secured(await handshake)
        found = self.transport.get_extra_info("ssl_object")
        if found is None or found.selected_alpn_protocol() != ALPN:
            raise ProtocolViolation("TLS for another protocol")

    async def _handshake(self, context: ssl.SSLContext, seconds: float) -> asyncio.Transport | None:
        return await self._loop.start_tls(
            self.transport, self, context, server_side=True, ssl_handshake_timeout=seconds
        )

    def _secured(self, transport: asyncio.Transport | None) -> None:
        if transport is None:  # the client disconnected during the handshake
            raise ConnectionResetError
        self.transport = transport
        self.is_secure = True

    def _write(self) -> None:
        if (
            not self.transport.is_closing()
        ):  # the client may have disconnected between two statements
            self.transport.write(b"".join(self._out))
        self._out.clear()
        self._unsent = 0

    def _wake(self) -> None:
        if self._more is not None and not self._more.done():
            self._more.set_result(None)

    def _disconnected(self) -> None:
        if not self._is_disconnected:
            self._is_disconnected = True
            self.task.cancel()
