"""Bodies: so many bytes of one tenant at a time, and tenants take turns in being parsed."""

import asyncio
import gc
import json
import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from server_thread import ServerThread
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from waiting import SECONDS, until

from redask.core.access.ask_shares import AskClaim
from redask.core.errors import LimitExceeded, Overloaded
from redask.server import request_json
from redask.server.http import bodies, timeouts
from redask.server.http.body_shares import BodyRoom, BodyTurns, FairThreads

ADA, BO, EVE = AskClaim("north", "ada"), AskClaim("north", "bo"), AskClaim("south", "eve")


def test_bodies_of_one_tenant_have_half_of_the_room_and_those_of_all_the_whole() -> None:
    room = BodyRoom(100)
    with room.holding("a") as a, room.holding("a") as another, room.holding("b") as b:
        a(20)
        another(20)
        another(10)
        with pytest.raises(Overloaded, match="try again soon"):
            a(1)
        b(90)  # the only one of a tenant is read
        with room.holding("b") as late, pytest.raises(Overloaded):
            late(1)
    with room.holding("a") as a, room.holding("a") as another, room.holding("b") as b:
        b(60)
        a(20)
        another(20)
        with pytest.raises(Overloaded):  # of all
            a(1)
    assert not room._held  # who holds nothing is forgotten
    with room.holding("a") as a:
        a(900)


def _noting(sizes: list[int], protocol: Any) -> Callable[[Any, bytes], None]:
    """What receives data as before, and notes how much."""
    before = protocol.data_received

    def data_received(self: Any, data: bytes) -> None:
        sizes.append(len(data))
        before(self, data)

    return data_received


class _Parsing:
    """Work that notes its name when it begins, and goes on when it is let."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._go_on: dict[str, threading.Event] = {}

    def work(self, name: str) -> Callable[[], str]:
        self._go_on[name] = threading.Event()

        def done() -> str:
            self.begun.append(name)
            assert self._go_on[name].wait(SECONDS)
            return name

        return done

    def end(self, name: str) -> None:
        self._go_on[name].set()


def test_a_tenant_with_many_bodies_has_one_thread_and_the_next_turn_is_anothers() -> None:
    threads, parsing = FairThreads(2, "test"), _Parsing()
    of_eve = [threads.submit(EVE, parsing.work(f"eve {each}")) for each in range(3)]
    assert until(lambda: parsing.begun == ["eve 0"])
    of_ada = threads.submit(ADA, parsing.work("ada"))
    of_bo = threads.submit(BO, parsing.work("bo"))
    assert until(lambda: parsing.begun == ["eve 0", "ada"])  # at once, beside her
    parsing.end("eve 0")
    assert until(lambda: parsing.begun == ["eve 0", "ada", "eve 1"])
    parsing.end("ada")
    assert until(lambda: parsing.begun[3:] == ["bo"])
    for name in ("eve 1", "eve 2", "bo"):
        parsing.end(name)
    assert [each.result(SECONDS) for each in (*of_eve, of_ada, of_bo)] == [
        *("eve 0", "eve 1", "eve 2"),
        *("ada", "bo"),
    ]


def test_with_one_thread_tenants_and_users_take_turns() -> None:
    threads, parsing = FairThreads(1, "test"), _Parsing()
    order = [("eve 0", EVE), ("eve 1", EVE), ("eve 2", EVE), ("ada 0", ADA), ("ada 1", ADA)]
    waiting = [threads.submit(claim, parsing.work(name)) for name, claim in [*order, ("bo", BO)]]
    for name in ("eve 0", "ada 0", "eve 1", "bo", "eve 2", "ada 1"):
        assert until(lambda name=name: parsing.begun[-1:] == [name]), parsing.begun  # type: ignore[misc]  # mypy
        parsing.end(name)
    assert all(each.result(SECONDS) for each in waiting)
    assert until(lambda: not threads._running)
    assert threads.submit(EVE, lambda: "again").result(SECONDS) == "again"
    assert threads._turns.keys() <= {EVE, "south"}  # who has nothing there is forgotten


def test_what_is_cancelled_while_it_waits_never_begins_and_errors_come_back() -> None:
    threads, parsing = FairThreads(1, "test"), _Parsing()
    first = threads.submit(EVE, parsing.work("first"))
    left, failing = threads.submit(EVE, parsing.work("left")), threads.submit(EVE, lambda: 1 // 0)
    assert until(lambda: parsing.begun == ["first"])
    assert left.cancel()
    parsing.end("first")
    assert first.result(SECONDS) == "first"
    assert isinstance(failing.exception(SECONDS), ZeroDivisionError)
    assert parsing.begun == ["first"]


@pytest.mark.parametrize("size", range(1, 12))
def test_values_are_counted_alike_in_pieces_of_any_size(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    value = [['a",[', "\\", '\\"', "\\\\,"], {"b\\": [1, '"'], "c": "[{,"}]
    body = json.dumps(value).encode()
    monkeypatch.setattr(request_json, "_PIECE", size)
    request_json.check_values(body, 10)
    with pytest.raises(LimitExceeded):
        request_json.check_values(body, 9)


# --- over HTTP ------------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path: Path) -> Any:
    with ServerThread(tmp_path / "db", http_port=0) as opened:
        yield opened


def _address(server: ServerThread) -> tuple[str, int]:
    host, _, port = server.addresses[0].removeprefix("http://").rpartition(":")
    return host, int(port)


def test_the_room_for_bodies_is_that_of_the_tenant_who_sends_them(
    server: ServerThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "_room", BodyRoom(1_000))
    asked = {"question": "When does the ferry leave?"}
    headers = {"Authorization": f"Bearer {server.tokens['mia']}"}
    address = f"{server.addresses[0]}/v1/explain"
    with bodies._room.holding("other") as add:
        add(960)
        assert httpx.post(address, json=asked, headers=headers, timeout=SECONDS).status_code == 200
    assert not bodies._room._held
    with bodies._room.holding("local") as add:
        add(490)
        reply = httpx.post(address, json=asked, headers=headers, timeout=SECONDS)
    assert (reply.status_code, reply.json()["error"]["kind"]) == (429, "overloaded")


def test_large_bodies_are_parsed_in_the_turn_of_who_sent_them(
    server: ServerThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims: list[AskClaim] = []

    class Noted(FairThreads):
        def submit(self, claim: AskClaim, work: Any) -> Any:
            claims.append(claim)
            return super().submit(claim, work)

    monkeypatch.setattr(bodies, "_for_messages", Noted(2, "noted"))
    headers = {"Authorization": f"Bearer {server.tokens['mia']}"}
    asked = {"question": "When does the ferry leave?" + " " * request_json.LOOP_BYTES}
    address = f"{server.addresses[0]}/v1/search"
    httpx.post(address, json=asked, headers=headers, timeout=SECONDS)
    assert claims == [AskClaim("local", "mia")]


def test_who_is_refused_and_sends_on_is_cut_off(server: ServerThread) -> None:
    head = (
        b"PUT /v1/collections/notes/entities HTTP/1.1\r\nHost: x\r\n"
        b"Content-Type: application/json\r\nContent-Length: 60000000\r\n\r\n"
    )
    with socket.create_connection(_address(server), SECONDS) as made:
        made.sendall(head)
        assert made.recv(4096).startswith(b"HTTP/1.1 401")
        with pytest.raises(OSError, match=r"reset|pipe"):
            made.sendall(b"[" * 60_000_000)


def test_a_short_rest_of_a_refused_body_is_dropped_and_the_connection_goes_on(
    server: ServerThread,
) -> None:
    body = b"[" * (timeouts.REST_BYTES - 1)
    head = b"POST /v1/ask HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: %d\r\n\r\n" % len(body)
    with socket.create_connection(_address(server), SECONDS) as made:
        for _ in range(2):
            made.sendall(head)
            reply = b""
            while not reply.endswith(b"}}"):
                reply += made.recv(4096)
            assert reply.startswith(b"HTTP/1.1 401")
            assert b"connection: close" not in reply
            made.sendall(body)


def test_of_a_refused_body_that_is_announced_to_be_long_nothing_is_read(
    server: ServerThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    monkeypatch.setattr(timeouts, "LINGER_SECONDS", 0.2)
    monkeypatch.setattr(
        timeouts.TimeoutProtocol, "data_received", _noting(read, timeouts.TimeoutProtocol)
    )
    head = b"POST /v1/ask HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: %d\r\n\r\n" % (timeouts.REST_BYTES + 1)
    with socket.create_connection(_address(server), SECONDS) as made:
        made.sendall(head)
        reply = b""
        while not reply.endswith(b"}}"):
            reply += made.recv(4096)
        assert reply.startswith(b"HTTP/1.1 401")
        assert b"\r\nconnection: close\r\n" in reply  # else a client would send the next one here
        made.sendall(b"[" * 1000)
        assert made.recv(1) == b""
        with pytest.raises(OSError, match=r"reset|pipe"):
            made.sendall(b"[" * 60_000_000)
    assert read == [len(head)]


def test_whoever_sends_on_after_a_refusal_is_not_cut_off_while_the_reply_may_be_on_its_way(
    server: ServerThread,
) -> None:
    head = b"POST /v1/ask HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: 60000000\r\n\r\n"
    with socket.create_connection(_address(server), SECONDS) as made:
        made.sendall(head)
        assert made.recv(4096).startswith(b"HTTP/1.1 401")
        for _ in range(10):  # a closed connection would answer the first of them with a reset
            made.sendall(b"[")
            time.sleep(0.01)


def test_a_request_and_its_body_are_gone_when_it_was_answered(server: ServerThread) -> None:
    def there() -> int:
        return sum(isinstance(each, RequestResponseCycle) for each in gc.get_objects())

    with httpx.Client(base_url=server.addresses[0]) as client:
        gc.collect()
        before = there()
        gc.disable()  # else they may be found by chance
        try:
            for _ in range(10):
                client.post("/v1/ask", content=b"[" * 1000)
            assert there() <= before + 2  # the last one, which its connection knows
        finally:
            gc.enable()


def test_a_long_body_and_the_request_behind_it_are_told_apart(
    server: ServerThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(HttpToolsProtocol, "data_received", _noting(sizes, HttpToolsProtocol))
    body = b" " * (8 * timeouts.BODY_SLICE + 1) + b"[]"
    token = server.tokens["mia"].encode()
    head = b"POST /v1/ask HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += b"Authorization: Bearer %b\r\nContent-Length: %d\r\n\r\n" % (token, len(body))
    last = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    last += b"X: " + b"y" * (4 * timeouts.SLICE) + b"\r\n\r\n"
    with socket.create_connection(_address(server), SECONDS) as made:
        made.sendall((head + body) * 2 + last)
        reply = b""
        while piece := made.recv(65536):
            reply += piece
    assert re.findall(rb"HTTP/1.1 (\d+)", reply) == [b"400", b"400", b"200"]
    assert max(sizes) == timeouts.BODY_SLICE
    assert max(sizes[-4:]) <= timeouts.SLICE  # of a head


def test_long_bodies_are_read_in_turns_of_their_tenants_and_short_ones_at_once(
    server: ServerThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns: list[str] = []
    own = BodyTurns()

    class Noting(BodyTurns):
        async def next(self, tenant: str) -> None:
            turns.append(tenant)
            await own.next(tenant)

    monkeypatch.setattr(bodies, "_turns", Noting())
    headers = {"Authorization": f"Bearer {server.tokens['mia']}"}
    for size, expected in ((bodies.FREE_BYTES // 2, set()), (bodies.MAX_BODY // 2, {"local"})):
        body = {"question": "a", "options": {"nothing": "x" * size}}
        reply = httpx.post(
            f"{server.addresses[0]}/v1/ask", json=body, headers=headers, timeout=SECONDS
        )
        assert reply.status_code == 400
        assert set(turns) == expected


def test_one_piece_is_read_in_a_step_of_the_loop_and_tenants_take_turns() -> None:
    steps: list[list[str]] = [[]]

    async def reading(turns: BodyTurns, name: str) -> None:
        await turns.next(name[0])
        steps[-1].append(name)

    async def run() -> None:
        turns, loop = BodyTurns(), asyncio.get_running_loop()
        named = ("a1", "a2", "a3", "b1", "a4")
        tasks = {each: loop.create_task(reading(turns, each)) for each in named}
        await asyncio.sleep(0)
        tasks["a2"].cancel()
        while not all(each.done() for each in tasks.values()):
            steps.append([])
            await asyncio.sleep(0)
        steps.append([])
        await reading(turns, "c1")  # and one that comes when all have gone

    asyncio.run(run())
    assert max(map(len, steps)) == 1
    assert [name for step in steps for name in step] == ["a1", "b1", "a3", "a4", "c1"]
