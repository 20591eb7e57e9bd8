"""`make bench-serve`: what each transport adds to a call, on loopback with the scripted provider.

`redask serve`, `redask rpc` and `redask mcp` run as processes of their own over one database; the
same call in process is made between the transports' calls, so that all see the same machine; a
stream's in process is a stream. A turn is TURN calls, of which the first COLD do not count: they
find the processor's caches full of another process's data, and wake a process that slept (a request
that does nothing at all took 0.7 ms so, of 0.1 ms of work). Clients are as thin as can be (bytes on
sockets and pipes), but for gRPC, whose own client is timed with it.

- The time of one ASK at p50 and p95, the median difference to the call in process, and
  the processor time that the answering process spends beyond it, valid on a busy machine, too.
- Cached answers a second over HTTP, WIDTH at once, against in process, WIDTH at once.
- The first SSE frame after the search's end: the time to the frame, less what finding and
  reading the same sources takes in process (`search`), which is a little less than an ASK does.
"""

import argparse
import asyncio
import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

import grpc
from fuzz_jsonrpc import asking, call
from served import Piped, Served, cpu_ms, fill

import redask
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.generated import redask_pb2_grpc

QUESTION = "When does the ferry to Amrum leave?"
OPTIONS: dict[str, Any] = {"using": "scripted"}
CACHED: dict[str, Any] = {"using": "scripted", "cache": {"ttl": "1h"}}
WIDTH = 8
TARGET_MS, TARGET_RATE, TARGET_FRAME_MS = 0.5, 0.8, 10.0

TURN, COLD = 12, 2
Once = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Way:
    """A way to ask once, and the process that answers."""

    name: str
    pid: int
    once: Once
    streams: bool = False


class Wire:
    """One HTTP connection, kept open."""

    def __init__(self, port: int, token: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._token = token

    def request(self, path: str, body: object) -> bytes:
        written = json.dumps(body).encode()
        accept = "application/json, text/event-stream" if path == "/mcp" else "application/json"
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nAccept: {accept}\r\n"
        )
        return f"{head}Content-Length: {len(written)}\r\n\r\n".encode() + written

    def send(self, request: bytes, until: bytes = b"") -> bytes:
        """The reply's bytes: whole, or up to the first that has `until`."""
        self._socket.sendall(request)
        received = b""
        while True:
            some = self._socket.recv(1 << 20)
            if not some:
                raise ConnectionError("the server has closed the connection")
            received += some
            if (until and until in received) or _whole(received):
                return received

    def rest(self, received: bytes) -> None:
        while not _whole(received):
            received += self._socket.recv(1 << 20)


def _whole(received: bytes) -> bool:
    head, found, body = received.partition(b"\r\n\r\n")
    if not found:
        return False
    if b"transfer-encoding: chunked" in head:
        return body.endswith(b"0\r\n\r\n")
    return len(body) >= int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])


def ways(server: Served, token: str, stack: ExitStack) -> Iterator[Way]:
    """Each transport with one call through it, which checks that it was answered."""
    pid = server.process.pid
    given = {"question": QUESTION, "options": OPTIONS}
    wire = Wire(server.port, token)
    for name, path, body in (
        ("HTTP, JSON", "/v1/ask", given),
        ("HTTP, SSE", "/v1/ask", {**given, "stream": True}),
        ("MCP over HTTP", "/mcp", call("tools/call", asking(QUESTION, False), 1)),
    ):
        yield Way(name, pid, _posting(wire, wire.request(path, body)), "stream" in body)
    yield _piped(server, token, "JSON-RPC on a pipe", call("ask", given, 1), stack)
    mcp = call("tools/call", asking(QUESTION, False), 1)
    yield _piped(server, token, "MCP on a pipe", mcp, stack)
    channel = stack.enter_context(grpc.insecure_channel(f"127.0.0.1:{server.grpc_port}"))
    stub = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
    asked = pb.AskRequest(question=QUESTION, using="scripted")
    metadata = [("authorization", f"Bearer {token}")]
    plain: Once = lambda: _must(bool(stub.Ask(asked, metadata=metadata).citations))  # noqa: E731
    stream: Once = lambda: _must(len(list(stub.AskStream(asked, metadata=metadata))) > 2)  # noqa: E731
    yield Way("gRPC", pid, plain)
    yield Way("gRPC, stream", pid, stream, streams=True)


def _must(good: bool) -> None:
    if not good:
        raise SystemExit("a transport did not answer")


def _posting(wire: Wire, request: bytes) -> Once:
    return lambda: _must(b"200 OK" in wire.send(request)[:20])


def _piped(server: Served, token: str, name: str, message: object, stack: ExitStack) -> Way:
    command = "mcp" if name.startswith("MCP") else "rpc"
    piped = stack.enter_context(Piped(server.directory, token, command))
    if command == "mcp":
        about = {"capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        hello = call("initialize", {"protocolVersion": "2025-06-18", **about}, 0)
        piped.exchange(json.dumps(hello).encode() + b"\n")
        piped.received()
        piped.exchange(json.dumps(call("notifications/initialized", {})).encode() + b"\n")
    line = json.dumps(message).encode() + b"\n"

    def once() -> None:
        received = piped.exchange(line)
        while not received:
            received = piped.received()
        _must(b"citations" in received[0])

    return Way(name, piped.process.pid, once)


def timed(work: Once) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def percentile(taken: list[float], share: float) -> float:
    return sorted(taken)[min(int(len(taken) * share), len(taken) - 1)]


@dataclass
class Spent:
    """What the calls of one way took, in milliseconds: by the clock, and of the processor."""

    wall: list[float] = field(default_factory=list)
    work: list[float] = field(default_factory=list)

    def row(self, name: str) -> str:
        shown = f"{percentile(self.wall, 0.5):.2f} | {percentile(self.wall, 0.95):.2f}"
        return f"| {name} | {shown}"


def overhead(here: Sequence[Way], transports: list[Way], rounds: int) -> None:
    """`here` are the ways in process: plain, and as a stream."""
    transport = {way.name: Spent() for way in transports}
    near = {way.name: Spent() for way in transports}
    for number in range(1 + rounds // (TURN - COLD)):
        for way in transports:
            for each, found in ((here[way.streams], near[way.name]), (way, transport[way.name])):
                for place in range(TURN):
                    before = cpu_ms(each.pid)
                    milliseconds = timed(each.once)
                    if number and place >= COLD:
                        found.wall.append(milliseconds)
                        found.work.append(cpu_ms(each.pid) - before)
    print(
        "| transport | p50 ms | p95 ms | more than in process, p50 | more processor time | target |"
    )
    print("| --- | --- | --- | --- | --- | --- |")
    for base in here:
        whole = Spent()
        for way in transports:
            if way.streams is base.streams:
                whole.wall += near[way.name].wall
                whole.work += near[way.name].work
        print(f"{whole.row(base.name)} | | of {statistics.mean(whole.work):.2f} ms | |")
    for name, taken in transport.items():
        more = statistics.median(taken.wall) - statistics.median(near[name].wall)
        work = statistics.mean(taken.work) - statistics.mean(near[name].work)
        figures = f"{more:.2f} ms | {work:.2f} ms | {TARGET_MS} ms |"
        print(f"{taken.row(name)} | {figures}", flush=True)


def rates(server: Served, token: str, me: Any, loop: asyncio.AbstractEventLoop, count: int) -> None:
    """Cached answers a second, in turns: in process, over HTTP."""
    ours, theirs = [], []
    for _ in range(3):
        theirs.append(loop.run_until_complete(_inside(me, count)))
        ours.append(_over_http(server, token, count))
    ratio = statistics.median(ours) / statistics.median(theirs)
    figures = f"{statistics.median(ours):.0f} over HTTP, {statistics.median(theirs):.0f} in process"
    print(f"cached answers a second, {WIDTH} at once: {figures}; ratio {ratio:.2f}", end="")
    print(f" (target {TARGET_RATE})")


async def _inside(me: Any, count: int) -> float:
    async def some() -> None:
        for _ in range(count // WIDTH):
            _must((await me.ask(QUESTION, **CACHED)).cache_hit)

    await me.ask(QUESTION, **CACHED)
    started = time.perf_counter()
    await asyncio.gather(*(some() for _ in range(WIDTH)))
    return count / (time.perf_counter() - started)


def _over_http(server: Served, token: str, count: int) -> float:
    wires = [Wire(server.port, token) for _ in range(WIDTH)]
    request = wires[0].request("/v1/ask", {"question": QUESTION, "options": CACHED})

    def some(wire: Wire) -> None:
        for _ in range(count // WIDTH):
            _must(b'"cache_hit":true' in wire.send(request))

    threads = [threading.Thread(target=some, args=(wire,)) for wire in wires]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return count / (time.perf_counter() - started)


def first_frame(wire: Wire, search: Once, rounds: int) -> None:
    body = {"question": QUESTION, "options": OPTIONS, "stream": True}
    request, after = wire.request("/v1/ask", body), []
    for _ in range(rounds):
        finding = timed(search)
        started = time.perf_counter()
        received = wire.send(request, b"event: sources")
        after.append((time.perf_counter() - started) * 1000 - finding)
        wire.rest(received)
    p50, p95 = percentile(after, 0.5), percentile(after, 0.95)
    print(f"first SSE frame after the search: p50 {p50:.2f} ms, p95 {p95:.2f} ms", end="")
    print(f" (target {TARGET_FRAME_MS:g})")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the transports.")
    parser.add_argument("--rounds", type=int, default=300)
    rounds = parser.parse_args().rounds
    loop = asyncio.new_event_loop()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="redask-bench-")))
        token = fill(directory / "db")["mia"]
        db = loop.run_until_complete(redask.aopen(directory / "db", embedder="none"))
        stack.callback(lambda: loop.run_until_complete(db.close()))
        me = loop.run_until_complete(db.signed_in(token))
        server = stack.enter_context(Served(directory / "db"))

        def here() -> None:
            _must(bool(loop.run_until_complete(me.ask(QUESTION, **OPTIONS)).citations))

        async def streamed() -> int:
            return len([event async for event in me.stream(QUESTION, **OPTIONS)])

        def here_too() -> None:
            _must(loop.run_until_complete(streamed()) > 2)

        def search() -> None:
            loop.run_until_complete(me.search(QUESTION))

        own = os.getpid()
        bases = (Way("in process", own, here), Way("in process, stream", own, here_too, True))
        overhead(bases, list(ways(server, token, stack)), rounds)
        rates(server, token, me, loop, rounds * 2)
        first_frame(Wire(server.port, token), search, rounds)


if __name__ == "__main__":
    main()
