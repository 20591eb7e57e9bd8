"""uvicorn's HTTP protocol with an end to its patience: whoever takes too long to ask is let go.

A connection has `HEADER_SECONDS` from its start, and from the end of each reply, until the head
of the next request is complete; however slowly its bytes drip in. uvicorn itself would wait.
"""

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 30.0


class PatientProtocol(H11Protocol):
    """One connection."""

    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop_watching()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """Start or stop the timer, as nobody or somebody asks something."""
        busy = self.cycle is not None and not self.cycle.response_complete
        if busy or self.conn.their_state is not h11.IDLE:
            self._stop_watching()
        elif self._patience is None and not self.transport.is_closing():
            self._patience = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _stop_watching(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None
