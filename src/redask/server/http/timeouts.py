"""uvicorn's HTTP protocol with an end to its busy_timeout: `TimeoutProtocol`.

Whoever takes too long to ask is let go: a connection has HEADER_SECONDS from its start, and from
the end of each reply, until the head of the next request is complete; however slowly its bytes
drip in, and also when they are what is left of a request that was refused. uvicorn itself would
wait.

Whoever sends a head, a trailer or the words between chunks longer than HEAD_BYTES is refused.
Of requests that were sent ahead only a SLICE is parsed at a time: one costs us a hundred times
its bytes. When the connection is lost, the request that runs is told, not only the last one.
"""

import asyncio
import socket
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_SECONDS = 30.0
HEAD_BYTES = 64 * 1024
SLICE = 8 * 1024


class TimeoutProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._patience: asyncio.TimerHandle | None = None
        self._running: Any = None  # the cycle that is being answered; `cycle` is the last one read
        self._unread = bytearray()
        self._fruitless = 0  # bytes since a message began, went on or was complete
        self._went_on = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        wire = transport.get_extra_info("socket")
        if wire is not None and wire.family in (socket.AF_INET, socket.AF_INET6):
            # asyncio does so only where it made the socket; a frame would wait 40 ms for an echo
            wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._is_busy():
            self._running.disconnected = True
            self._running.message_event.set()
        self._unread.clear()
        self.pipeline.clear()
        self._stop_watching()

    def data_received(self, data: bytes) -> None:
        self._unread += data
        self._read()

    def on_message_begin(self) -> None:
        self._went_on = True
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        self._went_on = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._went_on = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._read()

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, app)

    def _read(self) -> None:
        """Parse what came, unless requests wait that were read already."""
        while self._unread and not self.pipeline and not self.transport.is_closing():
            piece = bytes(self._unread[:SLICE])
            del self._unread[:SLICE]
            self._went_on = False
            super().data_received(piece)
            self._fruitless = 0 if self._went_on else self._fruitless + len(piece)
            if self._fruitless > HEAD_BYTES and not self.transport.is_closing():
                self.send_400_response("The head of the request is too long.")
        self._watch()

    def _is_busy(self) -> bool:
        return self._running is not None and not self._running.response_complete

    def _watch(self) -> None:
        """Start or stop the timer, as nobody or somebody asks something."""
        if self._is_busy():
            self._stop_watching()
        elif self._patience is None and not self.transport.is_closing():
            self._patience = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_watching(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
