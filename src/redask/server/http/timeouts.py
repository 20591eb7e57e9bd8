"""uvicorn's HTTP protocol with a deadline for request heads and bounds: `TimeoutProtocol`.

    deadline    a connection has HEADER_SECONDS from its start, and from the end of each response,
                until the head of the next request is complete, however slowly its bytes arrive;
                also when they are the rest of the body of a request that was refused
    rest        what is left of the body of a request that was answered is dropped, and after
                REST_BYTES of it the connection: who is refused before a body is read sends on.
                Where more than that was announced nothing of it is read: the reply says
                `Connection: close`, and the client has LINGER_SECONDS for it, while what it sends
                waits in the kernel
    head        a head, a trailer or a chunk extension longer than HEAD_BYTES is refused
    pipelining  only SLICE bytes are parsed at a time, and none while parsed requests wait: a
                parsed request takes a hundred times its bytes. What must be body is no request:
                BODY_SLICE at a time
    number      beyond its `limits` the connection that was idle for longest makes room; one that
                is let in for health checks has `FOR_HEALTH` in its scope
    head twice  what stands twice in a head and may once (ONCE) is refused, and a head without
                Host; trailers that say such things, too, and all others are dropped: uvicorn would
                add them to the head of the request that runs
    disconnect  the request that runs is notified, not only the last one that was parsed

Why a subclass: uvicorn has none of these for httptools (`timeout_keep_alive` starts after a
response and ends with the first byte), and ASGI middleware is called only when a head is
complete. Deadlines of bodies and responses are in `routes` and `responses`.
"""

import asyncio
from collections.abc import Iterable
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from redask.server.connection_limits import ConnectionEntry, ConnectionLimits
from redask.server.http.request_sessions import CONNECTION, FOR_HEALTH
from redask.server.http.responses import refused

HEADER_SECONDS = 30.0
HEAD_BYTES = 64 * 1024
SLICE = 8 * 1024
BODY_SLICE = 64 * 1024
REST_BYTES = 256 * 1024
LINGER_SECONDS = 1.0
ONCE = frozenset(
    b"authorization content-encoding content-length content-type cookie expect host origin"
    b" proxy-authorization te trailer transfer-encoding".split()
)


class RefusedHead(Exception):
    """What must not stand in a head or a trailer; the parser makes a 400 of it."""


class TimeoutProtocol(HttpToolsProtocol):
    """One connection; a server has a subclass of its own, with its `limits`."""

    limits = ConnectionLimits()
    address = ""
    signed_in = False

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._deadline: asyncio.TimerHandle | None = None
        self._running: Any = None  # the cycle that is answered; `cycle` is the last one parsed
        self._unparsed = bytearray()
        self._for_health = False
        self._in_body = False  # and what comes as a header is a trailer
        self._head_bytes = 0  # since a message began, had a piece of body or was complete
        self._progressed = False
        self._rest = 0  # bytes of a body that nobody wants any more
        self._to_come = 0  # of the body, by what its head announced
        self._is_last = False  # the reply that is sent says that the connection is closed

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = str((transport.get_extra_info("peername") or ("",))[0])
        entry = self.limits.enter(self)
        if entry is ConnectionEntry.NO_ROOM:
            transport.abort()
            return
        self._for_health = entry is ConnectionEntry.HEALTH
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.limits.leave(self)
        if self.is_busy():
            self._running.disconnected = True
            self._running.message_event.set()
        self._unparsed.clear()
        self.pipeline.clear()
        self._clear_deadline()

    def data_received(self, data: bytes) -> None:
        self._unparsed += data
        self._parse()

    def on_message_begin(self) -> None:
        self._progressed = True
        self._in_body = False
        self._rest = self._to_come = 0
        super().on_message_begin()
        more: dict[str, Any] = {CONNECTION: self, FOR_HEALTH: self._for_health}
        self.scope.update(more)  # type: ignore[typeddict-item]  # names of our own

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._in_body:
            super().on_header(name, value)
        elif name.lower() in ONCE:
            raise RefusedHead("a trailer")

    def on_headers_complete(self) -> None:
        self._in_body = True
        names = [name for name, _ in self.headers if name in ONCE]
        has_host = b"host" in names or self.parser.get_http_version() == "1.0"
        if len(set(names)) < len(names) or not has_host:
            raise RefusedHead("the head")
        self._to_come = announced(self.headers)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._progressed = True
        self._to_come -= len(body)
        super().on_body(body)
        if self.cycle.response_complete:
            self._rest += len(body)
            if self._rest > REST_BYTES:
                self.transport.close()

    def on_message_complete(self) -> None:
        self._progressed = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.limits.used(self)
        if self._is_last:
            self._linger()
        self._parse()

    def _linger(self) -> None:
        """Read no more; whoever sends on still has time to read the reply."""
        self._unparsed.clear()
        self.flow.pause_reading()
        if self.transport.can_write_eof() and not self.transport.is_closing():
            self.transport.write_eof()
        self._clear_deadline()
        self._deadline = self.loop.call_later(LINGER_SECONDS, self.transport.close)

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, partial(self._answered, cycle, app))

    async def _answered(self, cycle: Any, app: Any, scope: Any, receive: Any, send: Any) -> None:
        """Have the application answer; `_send` is nowhere but here, lest a body outlive its end."""
        await app(scope, receive, partial(self._send, cycle, send))

    async def _send(self, cycle: Any, send: Any, message: Any) -> None:
        """Send a piece of a reply; its head tells when nothing more is read after it."""
        is_newest = cycle is self.cycle  # else what is to come is of the next
        if cycle.response_started or not is_newest or self._to_come <= REST_BYTES:
            await send(message)
            return
        self._is_last = True
        cycle.keep_alive = False  # which has uvicorn say so, and close at once
        await send(message)
        cycle.keep_alive = True  # `_linger` closes

    def _parse(self) -> None:
        """Parse what arrived, unless parsed requests wait."""
        while self._unparsed and not self.pipeline and not self.transport.is_closing():
            size = max(SLICE, min(self._to_come, BODY_SLICE))
            piece = bytes(self._unparsed[:size])
            del self._unparsed[:size]
            self._progressed = False
            super().data_received(piece)
            self._head_bytes = 0 if self._progressed else self._head_bytes + len(piece)
            if self._head_bytes > HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("The head of the request is too long.")
        self._set_deadline()

    def send_400_response(self, msg: str) -> None:
        """Refuse what was sent and close; the request that runs, if any, is over."""
        started = self.is_busy() and self._running.response_started
        if self.is_busy():
            self._running.disconnected = True
            self._running.message_event.set()
        if not started:  # else its reply would go on in the middle
            reply = refused(400, "bad_ask", msg, {"Connection": "close"})
            head = b"".join(b"%b: %b\r\n" % header for header in reply.raw_headers)
            self.transport.write(STATUS_LINE[400] + head + b"\r\n" + bytes(reply.body))
        self.transport.close()

    def close_idle(self) -> None:
        """Make room for another connection."""
        self.transport.abort()

    def is_busy(self) -> bool:
        """Whether a request is answered."""
        return self._running is not None and not self._running.response_complete

    def _set_deadline(self) -> None:
        """A deadline for the next head while no request is answered, none otherwise."""
        if self.is_busy():
            self._clear_deadline()
        elif self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def announced(headers: Iterable[tuple[bytes, bytes]]) -> int:
    """The length of a body by its head; 0 where it does not say one."""
    found = next((value for name, value in headers if name == b"content-length"), b"")
    return int(found) if found.isdigit() and len(found) < 20 else 0
