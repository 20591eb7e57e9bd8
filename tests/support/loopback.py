"""A server on loopback that answers as it is told, and notices when a caller leaves.

    with Loopback() as server:
        server.play(Wire(chunks=[b"data: …"], hang=True))     what the next requests get, in turn
        … call server.url …
        server.requests[-1].body, server.left.wait(SECONDS), server.idle.wait(SECONDS)

`left` is set when a caller hangs up before the reply is over, `idle` when any connection ends.
The last reply stays for all later requests; a function of the request may stand for a reply. The
server runs in a thread of its own, so tests may block as they like.
"""

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from types import TracebackType
from typing import Any, Self

from loop_thread import LoopThread

JSON = "application/json"
EVENTS = "text/event-stream"


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    raw: bytes
    caller: int = 0

    @property
    def body(self) -> dict[str, Any]:
        value: dict[str, Any] = json.loads(self.raw)
        return value


@dataclass(frozen=True)
class Wire:
    """One reply: `body` as a whole, or `chunks` one by one, chunked and flushed.

    The head waits for `after`; `silent` never sends it. `delay` (seconds) comes before each chunk;
    then `hang` keeps the connection open, `cut` breaks it, `endless` plays the chunks again and
    again. `hanging` is called when nothing more will be said and the connection is kept open.
    """

    status: int = 200
    body: bytes = b""
    chunks: Sequence[bytes] = ()
    kind: str | None = JSON
    headers: tuple[tuple[str, str], ...] = ()
    after: threading.Event | None = None
    silent: bool = False
    delay: float = 0.0
    hang: bool = False
    cut: bool = False
    endless: bool = False
    hanging: Callable[[], None] = lambda: None


Answering = Wire | Callable[[Received], Wire]


@dataclass
class Loopback:
    """The server; use it in a `with`."""

    requests: list[Received] = field(default_factory=list)
    left: threading.Event = field(default_factory=threading.Event)
    idle: threading.Event = field(default_factory=threading.Event)
    finished: int = 0
    _replies: list[Answering] = field(default_factory=lambda: [Wire()])
    _played: int = 0

    def play(self, *replies: Answering) -> None:
        """From now on, these are the replies; what happened before is forgotten."""
        self._replies, self._played = list(replies), 0
        self.requests.clear()
        self.left.clear()
        self.idle.clear()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    def __enter__(self) -> Self:
        async def serve() -> None:
            self._server = await asyncio.start_server(self._talk, "127.0.0.1", 0, backlog=256)
            self._port = self._server.sockets[0].getsockname()[1]

        self._loop = LoopThread()
        self._loop.run(serve())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        async def stop() -> None:
            self._server.close()
            mine = asyncio.current_task()
            talking = [task for task in asyncio.all_tasks() if task is not mine]
            for task in talking:
                task.cancel()
            await asyncio.gather(*talking, return_exceptions=True)

        self._loop.run(stop())
        self._loop.close()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        caller = writer.get_extra_info("peername")[1]
        try:
            while (received := await _read(reader, caller)) is not None:
                self.requests.append(received)
                self._played += 1
                reply = self._replies[min(self._played, len(self._replies)) - 1]
                answering = asyncio.ensure_future(
                    self._answer(reply(received) if callable(reply) else reply, writer)
                )
                leaving = asyncio.ensure_future(_gone(reader))
                await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
                if not answering.done():
                    self.left.set()
                    answering.cancel()
                leaving.cancel()
                with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                    if not await answering:
                        break
                await asyncio.gather(leaving, return_exceptions=True)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.left.set()
        except asyncio.CancelledError:
            pass  # the server stops
        finally:
            self.idle.set()
            writer.close()

    async def _answer(self, reply: Wire, writer: asyncio.StreamWriter) -> bool:
        """Play one reply. → whether the connection may be used again."""
        while reply.after is not None and not reply.after.is_set():
            await asyncio.sleep(0.005)
        if reply.silent:
            await _for_ever(reply)
        head = [f"HTTP/1.1 {reply.status} Word"]
        head += [] if reply.kind is None else [f"Content-Type: {reply.kind}"]
        head += [f"{name}: {value}" for name, value in reply.headers]
        if not reply.chunks:
            promised = len(reply.body) + (1000 if reply.cut or reply.hang else 0)
            head.append(f"Content-Length: {promised}")
        else:
            head.append("Transfer-Encoding: chunked")
        writer.write(("\r\n".join(head) + "\r\n\r\n").encode())
        writer.write(reply.body)
        await writer.drain()
        for chunk in cycle(reply.chunks) if reply.endless else reply.chunks:
            await asyncio.sleep(reply.delay)
            writer.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
            await writer.drain()
        if reply.hang:
            await _for_ever(reply)
        if reply.cut:
            writer.transport.abort()
            return False
        if reply.chunks:
            writer.write(b"0\r\n\r\n")
        await writer.drain()
        self.finished += 1
        return True


async def _for_ever(reply: Wire) -> None:
    reply.hanging()
    await asyncio.Event().wait()


async def _read(reader: asyncio.StreamReader, caller: int) -> Received | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    headers = {}
    for line in head[1:-2]:
        name, _, value = line.partition(": ")
        headers[name.lower()] = value
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(head[0].split()[1], headers, raw, caller)


async def _gone(reader: asyncio.StreamReader) -> None:
    """Until the caller hangs up; nobody sends a second request before the first is answered."""
    while not reader.at_eof() and reader.exception() is None:
        await asyncio.sleep(0.005)
