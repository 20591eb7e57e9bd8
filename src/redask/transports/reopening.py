"""A gRPC server that opens again: `Reopening(make)`, around servers that `make` starts.

grpcio's asyncio server ends when a call names its method in bytes that are no UTF-8 (1.85: the
decoding stands outside any `try`), and with it every other call. One stranger's packet must not
close the door: what ended without being stopped is made again, at the same port. The calls that
ran are cancelled, and audited as such; a client connects again by itself.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

_AGAIN_SECONDS = 0.05
_TRIES = 200

Make = Callable[[int | None], Awaitable[tuple[Any, int]]]  # a port → a started server, its port


class Reopening:
    """One door, however often it is opened."""

    def __init__(self, make: Make) -> None:
        self._make = make
        self._stopping = False

    async def start(self) -> int:
        """Open the door. → its port"""
        logging.getLogger("grpc").setLevel(logging.CRITICAL + 1)  # strangers' mistakes, with traces
        _ignore_bad_names(asyncio.get_running_loop())
        self._server, port = await self._make(None)
        self._watching = asyncio.ensure_future(self._watch(port))
        return port

    async def stop(self, grace: float) -> None:
        """Close it for good."""
        self._stopping = True
        await self._server.stop(grace)
        await self._watching  # never cancelled: grpcio would take that for the server's own end

    async def _watch(self, port: int) -> None:
        while True:
            with suppress(UnicodeDecodeError):
                await self._server.wait_for_termination()
            for _ in range(_TRIES):
                if self._stopping:
                    return
                try:
                    self._server, _ = await self._make(port)
                    break
                except RuntimeError:  # the port is not free yet
                    await asyncio.sleep(_AGAIN_SECONDS)


def _ignore_bad_names(loop: asyncio.AbstractEventLoop) -> None:
    """Say nothing of the tasks that grpcio lets die of it."""
    told = loop.get_exception_handler()

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if isinstance(context.get("exception"), UnicodeDecodeError):
            return
        if told is not None:
            told(loop, context)
        else:
            loop.default_exception_handler(context)

    loop.set_exception_handler(handle)
