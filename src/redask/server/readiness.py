"""Whether every port is open: `Readiness`, for /healthz, which load balancers trust.

starting    not every transport is open yet
ok          all are
stopping    the server admits nothing new
closed      a port was closed behind the server's back
"""

import socket


class Readiness:
    """The state of one server."""

    def __init__(self) -> None:
        self._phase = "starting"
        self._listening: list[socket.socket] = []

    def watch(self, listening: socket.socket) -> None:
        """A port that must stay open; gRPC keeps its own."""
        self._listening.append(listening)

    def opened(self) -> None:
        """Every transport is open."""
        self._phase = "ok"

    def stopping(self) -> None:
        """The server stops."""
        self._phase = "stopping"

    def status(self) -> str:
        """One of the words above."""
        if self._phase == "ok" and any(each.fileno() < 0 for each in self._listening):
            return "closed"
        return self._phase
