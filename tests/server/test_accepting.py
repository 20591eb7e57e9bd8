"""Connections that all come in one step of the loop: a request among them is read and answered.

The loop is held meanwhile, so that the kernel has them all when it goes on.
"""

import socket
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from server_thread import ServerThread
from waiting import SECONDS, until

from redask.server import connection_limits
from redask.server.connection_limits import ConnectionEntry, ConnectionLimits, LimitedConnection

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
SSL_REQUEST = bytes.fromhex("0000000804d2162f")  # which is answered by one letter


class Counted(ConnectionLimits):
    """Limits that count who came."""

    entered = 0

    def enter(self, connection: LimitedConnection) -> ConnectionEntry:
        self.entered += 1
        return super().enter(connection)


@pytest.mark.parametrize(
    ("transport", "request_bytes", "reply"),
    [("http_port", HEALTH, b"HTTP/1.1 200"), ("pg_port", SSL_REQUEST, b"N")],
)
def test_a_request_is_not_pushed_out_by_those_who_came_with_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    transport: str,
    request_bytes: bytes,
    reply: bytes,
) -> None:
    limits = Counted(100, 100, 100)
    monkeypatch.setattr(connection_limits, "limits_for", lambda *_: limits)
    port: dict[str, Any] = {transport: 0}
    held = threading.Event()
    with ServerThread(tmp_path / "db", **port) as server, ExitStack() as opened:
        address = ("127.0.0.1", int(server.addresses[0].rpartition(":")[2]))

        def connected() -> socket.socket:
            return opened.enter_context(socket.create_connection(address, SECONDS))

        server._loop.call_soon(held.wait)
        try:
            idle = [connected() for _ in range(150)]
            honest = connected()
            honest.sendall(request_bytes)
            idle += [connected() for _ in range(150)]
        finally:
            held.set()
        assert honest.recv(100).startswith(reply)
        assert until(lambda: limits.entered == 301)
        honest.close()
        for each in idle:
            each.close()
        assert until(lambda: not limits._open)
