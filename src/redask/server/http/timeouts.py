"""uvicorn's HTTP protocol with a deadline for request heads and bounds: `TimeoutProtocol`.

    deadline    a connection has HEADER_SECONDS from its start, and from the end of each response,
                until the head of the next request is complete, however slowly its bytes arrive;
                also when they are the rest of the body of a request that was refused
    head        a head, a trailer or a chunk extension longer than HEAD_BYTES is refused
    pipelining  only SLICE bytes are parsed at a time, and none while parsed requests wait: a
                parsed request takes a hundred times its bytes
    number      beyond its `limits` the connection that was idle for longest makes room
    disconnect  the request that runs is notified, not only the last one that was parsed

Why a subclass: uvicorn has none of these for httptools (`timeout_keep_alive` starts after a
response and ends with the first byte), and ASGI middleware is called only when a head is
complete. Deadlines of bodies and responses are in `routes` and `responses`.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from redask.server.http.connection_limits import ConnectionLimits

HEADER_SECONDS = 30.0
HEAD_BYTES = 64 * 1024
SLICE = 8 * 1024


class TimeoutProtocol(HttpToolsProtocol):
    """One connection; a server has a subclass of its own, with its `limits`."""

    limits = ConnectionLimits()
    address = ""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._deadline: asyncio.TimerHandle | None = None
        self._running: Any = None  # the cycle that is answered; `cycle` is the last one parsed
        self._unparsed = bytearray()
        self._head_bytes = 0  # since a message began, had a piece of body or was complete
        self._progressed = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = str((transport.get_extra_info("peername") or ("",))[0])
        if not self.limits.enter(self):
            transport.abort()
            return
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
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        self._progressed = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._progressed = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self.limits.used(self)
        self._parse()

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _parse(self) -> None:
        """Parse what arrived, unless parsed requests wait."""
        while self._unparsed and not self.pipeline and not self.transport.is_closing():
            piece = bytes(self._unparsed[:SLICE])
            del self._unparsed[:SLICE]
            self._progressed = False
            super().data_received(piece)
            self._head_bytes = 0 if self._progressed else self._head_bytes + len(piece)
            if self._head_bytes > HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("The head of the request is too long.")
        self._set_deadline()

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
