"""Connections beyond the limit: who was idle for longest makes room, who works stays."""

import asyncio
import os
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from served import Served, fill
from transports import Transports
from waiting import SECONDS, until_true

from redask.core import errors
from redask.core.serving_limits import ServingLimits
from redask.server import connection_limits, serving
from redask.server.connection_limits import (
    ConnectionEntry,
    ConnectionLimits,
    LimitedConnection,
    limits_for,
)

RESERVED = connection_limits.RESERVED
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@dataclass(eq=False)
class Connected:
    address: str = "10.0.0.1"
    busy: bool = False
    signed_in: bool = False
    closed: list[bool] = field(default_factory=list)

    def is_busy(self) -> bool:
        return self.busy

    def close_idle(self) -> None:
        self.closed.append(True)


def test_the_one_that_was_idle_for_longest_makes_room() -> None:
    limits = ConnectionLimits(total=3, per_address=3)
    busy, first, second = Connected(busy=True), Connected(), Connected()
    assert {limits.enter(each) for each in (busy, first, second)} == {ConnectionEntry.OPEN}
    limits.used(first)
    assert limits.enter(Connected()) is ConnectionEntry.OPEN
    assert (first.closed, second.closed, busy.closed) == ([], [True], [])
    limits.leave(busy)
    limits.leave(busy)
    assert limits.enter(Connected()) is ConnectionEntry.OPEN
    assert first.closed == []


def test_without_an_idle_one_the_new_one_may_ask_for_health() -> None:
    limits = ConnectionLimits(total=1, per_address=1)
    assert limits.enter(Connected(busy=True)) is ConnectionEntry.OPEN
    asking = [Connected("10.0.0.2", busy=number > 0) for number in range(RESERVED)]
    assert {limits.enter(each) for each in asking} == {ConnectionEntry.HEALTH}
    following = Connected(busy=True)
    assert limits.enter(following) is ConnectionEntry.HEALTH  # the idle one made room
    assert [len(each.closed) for each in asking] == [1] + [0] * (RESERVED - 1)
    assert limits.enter(Connected()) is ConnectionEntry.NO_ROOM
    limits.leave(following)
    assert limits.enter(Connected()) is ConnectionEntry.HEALTH


def test_who_signs_in_is_not_counted_with_those_who_did_not() -> None:
    limits = ConnectionLimits(total=9, per_address=9, unauthenticated=2)
    known, unknown = Connected(signed_in=True), [Connected() for _ in range(2)]
    assert {limits.enter(each) for each in (known, *unknown)} == {ConnectionEntry.OPEN}
    assert limits.enter(Connected()) is ConnectionEntry.OPEN
    assert (known.closed, [each.closed for each in unknown]) == ([], [[True], []])
    unknown[1].signed_in = True
    assert limits.enter(Connected()) is ConnectionEntry.OPEN
    assert unknown[1].closed == []


def test_addresses_of_one_network_are_one() -> None:
    limits = ConnectionLimits(total=9, per_address=1)
    first, other = Connected("2001:db8::1"), Connected("2001:db8:0:1::1")
    for each in (first, other, Connected("2001:db8::2:3")):
        assert limits.enter(each) is ConnectionEntry.OPEN
    assert (first.closed, other.closed) == ([True], [])


def test_an_address_makes_room_among_its_own() -> None:
    limits = ConnectionLimits(total=9, per_address=2)
    other = Connected("10.0.0.2")
    own = [Connected() for _ in range(3)]
    assert {limits.enter(each) for each in (other, *own)} == {ConnectionEntry.OPEN}
    assert (other.closed, [each.closed for each in own]) == ([], [[True], [], []])
    limits.used(own[0])  # which is closed: it does not come back
    assert limits.enter(Connected()) is ConnectionEntry.OPEN
    assert own[1].closed == [True]


@pytest.mark.parametrize(("most", "total"), [(None, 2000), (1024, 320), (64, 16), (10**6, 2000)])
def test_descriptors_are_kept_in_reserve(most: int | None, total: int) -> None:
    assert limits_for(2, ServingLimits(), lambda: most).total == total
    assert connection_limits.descriptor_limit() != 0


@pytest.mark.parametrize(
    ("chosen", "limits"),
    [
        (ServingLimits(), (320, 288, 240)),
        (ServingLimits(connections=100), (100, 90, 75)),
        (ServingLimits(connections=9999), (320, 288, 240)),  # there are no more descriptors
        (ServingLimits(100, 10, 20), (100, 10, 20)),
        (ServingLimits(100, 200, 300), (100, 100, 100)),
    ],
)
def test_the_operator_says_how_many(chosen: ServingLimits, limits: tuple[int, ...]) -> None:
    made = limits_for(2, chosen, lambda: 1024)
    assert (made.total, made.per_address, made.unauthenticated) == limits


class Watched(ConnectionLimits):
    """Limits that note what a server does with them."""

    refuses = False
    uses = 0

    def enter(self, connection: LimitedConnection) -> ConnectionEntry:
        return ConnectionEntry.NO_ROOM if self.refuses else super().enter(connection)

    def used(self, connection: LimitedConnection) -> None:
        self.uses += 1
        super().used(connection)


def served(tmp_path: Path, limits: Watched, work: Callable[[str], list[str]]) -> list[str]:
    """What clients get of a server that has these limits."""

    async def main() -> list[str]:
        stop, ready = asyncio.Event(), asyncio.get_running_loop().create_future()
        running = asyncio.create_task(
            serving.serve(transports.db, serving.Serving(http_port=0), ready.set_result, stop)
        )
        answered = await asyncio.to_thread(work, (await ready)[0])
        if not limits.refuses:
            await until_true(lambda: not limits._open)  # who has left is not counted
        stop.set()
        await running
        return answered

    with Transports(tmp_path / "db") as transports, pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection_limits, "limits_for", lambda *_: limits)
        return transports.run(main())


def test_idle_connections_do_not_keep_a_health_check_out(tmp_path: Path) -> None:
    limits = Watched(20, 18)
    assert served(tmp_path, limits, _besieged) == ["HTTP/1.1 200 OK"] * 3
    assert limits.uses == 3


def test_a_connection_without_room_is_closed(tmp_path: Path) -> None:
    limits = Watched()
    limits.refuses = True
    assert served(tmp_path, limits, _asked) == [""]


def _asked(url: str) -> list[str]:
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), SECONDS) as probe:
        try:
            probe.sendall(HEALTH)
            return [probe.recv(100).decode()]
        except ConnectionError:
            return [""]


def _besieged(url: str) -> list[str]:
    host, _, port = url.removeprefix("http://").partition(":")
    idle: list[socket.socket] = []
    answered = []
    try:
        for _ in range(3):
            idle += [socket.create_connection((host, int(port)), SECONDS) for _ in range(25)]
            for each in idle[-25:]:
                each.sendall(b"GET /heal")
            with socket.create_connection((host, int(port)), SECONDS) as probe:
                probe.sendall(HEALTH)
                answered.append(probe.recv(100).partition(b"\r\n")[0].decode())
    finally:
        for each in idle:
            each.close()
    return answered


def test_off_loopback_plain_text_is_asked_for() -> None:
    with pytest.raises(errors.Misconfigured, match="--certificate and --key, or --plain-text"):
        serving.check(serving.Serving(host="192.0.2.1"))
    serving.check(serving.Serving(host="192.0.2.1", plain_text=True))
    serving.check(serving.Serving(host="localhost"))


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the kernel hands over all here")


@linux_only
def test_the_kernel_keeps_a_connection_until_its_client_says_something() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        connection_limits.queue(listening)
        listening.setblocking(False)
        with socket.create_connection(listening.getsockname(), SECONDS) as made:
            with pytest.raises(BlockingIOError):
                listening.accept()
            made.sendall(b"x")
            listening.settimeout(SECONDS)
            with listening.accept()[0] as accepted:
                assert accepted.recv(1) == b"x"


class _AllPorts(Served):
    words = ("serve", "--port", "0", "--grpc-port", "0", "--pg-port", "0")


@linux_only
def test_connections_that_say_nothing_take_no_descriptor_of_a_server(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    with _AllPorts(tmp_path / "db") as server, ExitStack() as silent:
        http, _, wire = (int(each.rpartition(":")[2]) for each in server.addresses)

        def connections() -> int:
            """The sockets that the server has while a health check is answered."""
            with socket.create_connection(("127.0.0.1", http), SECONDS) as probe:
                probe.sendall(HEALTH)
                assert probe.recv(4096).startswith(b"HTTP/1.1 200")
                folder = Path(f"/proc/{server.process.pid}/fd")
                return sum(os.readlink(each).startswith("socket:") for each in folder.iterdir())

        before = connections()
        for port in (http, wire):
            for _ in range(20):
                silent.enter_context(socket.create_connection(("127.0.0.1", port), SECONDS))
        assert connections() < before + 10
