"""A process of a server and the others: `ProcessLink`, through their parent (`shared_state`).

    `link.ask(name, …)`             the parent's answer
    `link.ask_process(2, name, …)`  another process's
    `link.tell_others(name, …)`     to all of them
    `link.on(name, handler)`        what others may ask or tell here

`place_of` reads from the environment which process this is, and takes it out: programs that it
starts are no processes of the server. Once the parent is gone a process ends (`on_lost`).
"""

import asyncio
import os
import socket
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from redask.core.serving_limits import ProcessPlace
from redask.server.supervising.message_channel import Handler, MessageChannel

VARIABLE = "REDASK_SERVER_PROCESS"  # such as "1/2,7,50051": see `written`
_END_SECONDS = 60.0  # that the first process waits for the others, at the end


@dataclass(frozen=True, slots=True)
class ProcessStart:
    """What a process is told when it is started: its place, its channel, the port of gRPC."""

    place: ProcessPlace
    descriptor: int
    grpc_port: int | None

    def written(self) -> str:
        """As the environment has it."""
        return f"{self.place.number}/{self.place.count},{self.descriptor},{self.grpc_port or ''}"


def place_of(environment: MutableMapping[str, str] = os.environ) -> ProcessStart | None:
    """Which process of a server this is; None: it is one by itself."""
    told = environment.pop(VARIABLE, None)
    if told is None:
        return None
    place, descriptor, port = told.split(",")
    number, count = place.split("/")
    return ProcessStart(
        ProcessPlace(int(number), int(count)), int(descriptor), int(port) if port else None
    )


class ProcessLink:
    """See the module."""

    _running: asyncio.Task[None]

    def __init__(self, start: ProcessStart) -> None:
        self.place = start.place
        self.grpc_port = start.grpc_port
        self.missing = 0  # processes that are not open at present
        self._handlers: dict[str, Handler] = {"missing": self._note_missing}
        self._channel = MessageChannel(self._handlers)

    @classmethod
    async def connect(cls, start: ProcessStart) -> "ProcessLink":
        """The link of a process that was started so."""
        made = cls(start)
        os.set_inheritable(start.descriptor, False)
        await made._channel.open(socket.socket(fileno=start.descriptor))
        made._running = asyncio.ensure_future(made._channel.run())
        return made

    def on(self, name: str, handler: Handler) -> None:
        """Let others ask or tell this."""
        self._handlers[name] = handler

    async def ask(self, name: str, /, **body: Any) -> Any:
        """The parent's answer; `StoreFailed` without one."""
        return await self._channel.ask(name, **body)

    async def ask_process(self, number: int, name: str, /, **body: Any) -> Any:
        """Another process's answer; `StoreFailed` without one."""
        return await self._channel.ask("relay", to=number, name=name, body=body)

    def tell_process(self, number: int, name: str, /, **body: Any) -> None:
        """Tell another process."""
        self._channel.tell("relay_told", to=number, name=name, body=body)

    def tell_others(self, name: str, /, **body: Any) -> None:
        """Tell all other processes."""
        self._channel.tell("relay_told", to=None, name=name, body=body)

    def tell(self, name: str, /, **body: Any) -> None:
        """Tell the parent."""
        self._channel.tell(name, **body)

    def others(self) -> list[int]:
        """The numbers of the other processes."""
        return [each for each in range(self.place.count) if each != self.place.number]

    async def close(self) -> None:
        """Let go, when all is done; the first waits until the others are gone.

        It does at the end what one does for all, such as the last seal of the logs.
        """
        if self.place.is_first and not self._running.done():
            with suppress(Exception):
                await self._channel.ask("others_ended", _END_SECONDS)

    def on_lost(self, work: Callable[[], None]) -> None:
        """Do this once the parent is gone."""
        self._running.add_done_callback(lambda _: work())

    def _note_missing(self, count: int) -> None:
        self.missing = count
