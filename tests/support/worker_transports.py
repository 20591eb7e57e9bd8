"""The transports of `redask serve --workers 2`, in processes of their own: `WorkerTransports`.

Clients and their ways are those of `transports`; "here", JSON-RPC and MCP in memory are served in
this process, on the same directory. Every HTTP request has a connection of its own, so that both
processes answer.
"""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import psycopg
from served import START, Served
from server_thread import SETTINGS
from transports import Clients, Transports
from waiting import SECONDS

from redask.api.sync import open_async
from redask.core.settings import load

SUPPORT = Path(__file__).parent


class TwoWorkers(Served):
    """HTTP, gRPC and PostgreSQL clients, served by two processes."""

    words = ("serve", "--port", "0", "--grpc-port", "0", "--pg-port", "0", "--workers", "2")
    start_seconds = 3 * SECONDS  # one after the other

    def backends(self, count: int, user: str, token: str) -> list["psycopg.Connection[Any]"]:
        """A connection to each of the processes, by number."""
        found: dict[int, psycopg.Connection[Any]] = {}
        for _ in range(200):
            made = psycopg.connect(
                f"{self.addresses[2]}/local", user=user, password=token, autocommit=True
            )
            number = made.info.backend_pid % count
            if number in found:
                made.close()
            else:
                found[number] = made
            if len(found) == count:
                return [found[each] for each in range(count)]
        raise AssertionError("one process has all connections")


class ActingWorkers(TwoWorkers):
    """The same with providers that play."""

    start = f"import sys; sys.path.insert(0, {str(SUPPORT)!r}); import actors_start; {START}"


class WorkerTransports(Transports):
    """See the module."""

    start_seconds = 4 * SECONDS

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._calls = directory.parent / "endless-calls"
        self.server = ActingWorkers(directory, REDASK_TEST_CALLS=str(self._calls))

    def has_called(self, question: str) -> bool:
        """Whether the provider that never ends was asked this."""
        return self._calls.exists() and question in self._calls.read_text().splitlines()

    async def _live(self, ready: asyncio.Future[None]) -> None:
        (self.directory / "redask.toml").write_text(SETTINGS)
        await asyncio.to_thread(self.server.__enter__)
        try:
            async with AsyncExitStack() as stack:
                self.db = await stack.enter_async_context(
                    await open_async(
                        self.directory, settings=load(SETTINGS, {}), providers=self.actors
                    )
                )
                self.addresses = self.server.addresses
                await self.connect(stack)
                ready.set_result(None)
                await self._stopping.wait()
        finally:
            await asyncio.to_thread(self.server.stop)

    async def _connect(self, stack: AsyncExitStack, user: str, token: str) -> Clients:
        made = await super()._connect(stack, user, token)
        made.http.headers["Connection"] = "close"
        made.http.timeout = SECONDS
        return made
