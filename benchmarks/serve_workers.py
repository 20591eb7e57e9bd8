"""`make bench-serve`, second part: asks a second, and a second of processor, with 1 and 2 workers.

Contestants take turns, so that all see the same machine: `redask serve`, the same with `--workers
2`, and a server that returns the same bytes to every request (uvicorn with the parser that ours
has, and an application that reads the body and sends the envelope). Each turn is `count` asks over
WIDTH connections that were open before; processor time is that of all processes of the server,
its worker processes and its parent among them. The client is one process of threads: the rate is
bounded by it, too, and by what else runs; processor time hardly is.

    cached      one question that every answer comes from the cache for
    asked       questions of which none is asked twice, of the scripted provider

Each turn is printed when it is done, so that a run that is cut has its figures; the table of
medians comes last. `--short` is one turn of 80 asks: it shows that all of it works.
"""

import argparse
import asyncio
import itertools
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).parent))

from serve import CACHED, OPTIONS, QUESTION, Wire
from served import Served, cpu_ms, fill

WIDTH = 8
TARGET_CACHED, TARGET_SHARE = 1000, 0.25
_NUMBERS = itertools.count()


class OneWorker(Served):
    start_seconds = 300
    words = ("serve", "--port", "0", "--no-grpc", "--no-pg")


class TwoWorkers(Served):
    start_seconds = 300
    words = ("serve", "--port", "0", "--no-grpc", "--no-pg", "--workers", "2")


class SameBytes(Served):
    """Says what it is given, to everybody."""

    def __init__(self, directory: Path, said: bytes) -> None:
        super().__init__(directory)
        file = directory.parent / "same-bytes"
        file.write_bytes(said)
        here = str(Path(__file__).parent)
        self.start = (
            f"import sys; sys.path.insert(0, {here!r}); "
            f"import serve_workers; serve_workers.same_bytes({str(file)!r})"
        )
        self.words = ("--no-grpc", "--no-pg")


def same_bytes(file: str) -> None:
    """Serve the bytes of a file."""
    import socket

    import uvicorn

    said = Path(file).read_bytes()
    head = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(said))]

    async def application(_: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": said})

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # it sends in two pieces
        print(f"redask: serving http://127.0.0.1:{listening.getsockname()[1]}", file=sys.stderr)
        config = uvicorn.Config(
            application, log_level="critical", access_log=False, lifespan="off", http="httptools"
        )
        asyncio.run(uvicorn.Server(config).serve(sockets=[listening]))


def tree(pid: int) -> Iterator[int]:
    """A process and all that it started, at any depth."""
    yield pid
    for task in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            for child in (task / "children").read_text().split():
                yield from tree(int(child))


def processor_ms(server: Served) -> float:
    total = 0.0
    for pid in list(tree(server.process.pid)):
        with suppress(OSError):
            total += cpu_ms(pid)
    return total


def turn(server: Served, token: str, body: Callable[[], object], count: int) -> tuple[float, float]:
    """→ asks a second of time, and of the server's processor."""
    wires = [Wire(server.port, token) for _ in range(WIDTH)]
    for wire in wires:
        _answered(wire.send(wire.request("/v1/ask", body())))
    requests = [[wire.request("/v1/ask", body()) for _ in range(count // WIDTH)] for wire in wires]

    def some(wire: Wire, its: list[bytes]) -> None:
        for request in its:
            _answered(wire.send(request))

    threads = [
        threading.Thread(target=some, args=each) for each in zip(wires, requests, strict=True)
    ]
    before, began = processor_ms(server), time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds, spent = time.perf_counter() - began, processor_ms(server) - before
    asked = WIDTH * (count // WIDTH)
    return asked / seconds, asked / (spent / 1000)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _answered(reply: bytes) -> None:
    if b"200 OK" not in reply[:20]:
        raise SystemExit(f"no answer: {reply[:300]!r}")


def cached() -> object:
    return {"question": QUESTION, "options": CACHED}


def asked() -> object:
    return {"question": f"{QUESTION} {next(_NUMBERS)}", "options": OPTIONS}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure servers of one and two processes.")
    parser.add_argument("--count", type=int, default=800)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--short", action="store_true", help="one turn of 80 asks")
    given = parser.parse_args()
    if given.short:
        given.count, given.turns = 80, 1
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="redask-bench-")))
        token = fill(directory / "db")["mia"]
        _tell("starting servers of one and two processes, and one of the same bytes")
        one = stack.enter_context(OneWorker(directory / "db"))
        two = stack.enter_context(TwoWorkers(directory / "db"))
        wire = Wire(one.port, token)
        request = wire.request("/v1/ask", cached())
        wire.send(request)
        said = wire.send(request).partition(b"\r\n\r\n")[2]
        same = stack.enter_context(SameBytes(directory / "db", said))
        rows: list[tuple[str, Served, Callable[[], object], int]] = [
            ("the same bytes", same, cached, given.count),
            ("cached, 1 worker", one, cached, given.count),
            ("cached, 2 workers", two, cached, given.count),
            ("asked, 1 worker", one, asked, given.count // 4),
            ("asked, 2 workers", two, asked, given.count // 4),
        ]
        found: dict[str, list[tuple[float, float]]] = {name: [] for name, *_ in rows}
        for number in range(given.turns):
            for name, server, body, count in rows:
                found[name].append(turn(server, token, body, count))
                rate, work = found[name][-1]
                _tell(
                    f"turn {number + 1}, {name}: {rate:.0f} a second, {work:.0f} a processor second"
                )
    best = statistics.median(work for _, work in found["the same bytes"])
    print(f"| {WIDTH} at once, {len(said)} bytes | a second | a processor second | of those |")
    print("| --- | --- | --- | --- |")
    for name, taken in found.items():
        rate, work = (statistics.median(each) for each in zip(*taken, strict=True))
        print(f"| {name} | {rate:.0f} | {work:.0f} | {work / best:.2f} |")
    print(f"targets: cached {TARGET_CACHED} a processor second, {TARGET_SHARE} of the same bytes")


if __name__ == "__main__":
    main()
