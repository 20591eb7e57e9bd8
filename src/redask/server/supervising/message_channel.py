"""Messages between a process of a server and its parent: `MessageChannel`, over a socket pair.

    tell    a message that nobody answers
    ask     a message and its answer; `StoreFailed` if none comes within ASK_SECONDS, or it failed

A message is JSON behind its length. What the other side asks or tells goes to the handler of its
name, which may be a coroutine: the next message does not wait for it. Both sides are this program,
so a message that is not understood is a bug, and ends the channel.
"""

import asyncio
import itertools
import json
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from redask.core.errors import StoreFailed

ASK_SECONDS = 30.0  # only guards against hanging
MOST_UNREAD = 32 * 1024 * 1024  # bytes that the other side has not read: it is stuck
_LENGTH = 4
Handler = Callable[..., Any]  # or a coroutine function
_FAILED = "the processes of this server cannot reach each other: try again"


class MessageChannel:
    """One end; `handlers` are by the names of messages."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self._handlers = handlers
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._reader = asyncio.StreamReader()
        self._writer: asyncio.StreamWriter | None = None

    async def open(self, end: socket.socket) -> None:
        """Begin to send; `run` handles what comes."""
        self._reader, self._writer = await asyncio.open_unix_connection(sock=end)

    async def run(self) -> None:
        """Handle what comes, until the other side is gone."""
        reader = self._reader
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(_LENGTH), "big")
                self._take(json.loads(await reader.readexactly(size)))
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Let go; whoever waits for an answer hears that none comes."""
        for each in self._asked.values():
            if not each.done():
                each.set_exception(StoreFailed(_FAILED))
                each.exception()  # whether or not anybody still waits
        self._asked.clear()
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def tell(self, name: str, /, **body: Any) -> None:
        """Send a message; to nobody, once the other side is gone."""
        with suppress(StoreFailed):
            self._send({"name": name, "body": body})

    async def ask(self, name: str, seconds: float = ASK_SECONDS, /, **body: Any) -> Any:
        """The answer to a message."""
        number = next(self._numbers)
        answer = self._asked[number] = asyncio.get_running_loop().create_future()
        try:
            self._send({"name": name, "body": body, "number": number})
            return await asyncio.wait_for(answer, seconds)
        except TimeoutError:
            raise StoreFailed(_FAILED) from None
        finally:
            self._asked.pop(number, None)

    def _send(self, message: dict[str, Any]) -> None:
        if self._writer is None:
            raise StoreFailed(_FAILED)
        if self._writer.transport.get_write_buffer_size() > MOST_UNREAD:
            self.close()
            raise StoreFailed(_FAILED)
        encoded = json.dumps(message).encode()
        self._writer.write(len(encoded).to_bytes(_LENGTH, "big") + encoded)

    def _take(self, message: dict[str, Any]) -> None:
        if "answer" in message:
            waiting = self._asked.get(message["answer"])
            if waiting is not None and not waiting.done():
                if message["failed"]:
                    waiting.set_exception(StoreFailed(_FAILED))
                else:
                    waiting.set_result(message["result"])
            return
        number = message.get("number")
        result = self._handlers[message["name"]](**message["body"])
        if asyncio.iscoroutine(result):
            task = asyncio.ensure_future(self._answer_later(number, result))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._answer(number, result)

    async def _answer_later(self, number: int | None, work: Awaitable[Any]) -> None:
        try:
            self._answer(number, await work)
        except StoreFailed:
            self._answer(number, None, failed=True)

    def _answer(self, number: int | None, result: Any, *, failed: bool = False) -> None:
        if number is not None:
            with suppress(StoreFailed):
                self._send({"answer": number, "result": result, "failed": failed})
