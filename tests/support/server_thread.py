"""A server beside a test, in a thread of its own: the one way to start one in this process.

    with ServerThread(directory, http_port=0) as server:
        server.addresses, server.tokens["mia"], server.run(server.db.audit(1))

`serving_database` serves an open database in the loop that runs. `ServerThread` fills a small
database, opens it with providers that play, and serves it in a `LoopThread`; a subclass connects
its clients in `connect`.

An ask has a minute, which only guards against hanging; asked of `venice` it is over at once.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from deadlines import out_of_time
from loop_thread import LoopThread
from stage import ROWS, Player
from waiting import SECONDS

import redask
from redask.api.asynchronous import AsyncDatabase
from redask.api.sync import open_async
from redask.core import errors
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.settings import load
from redask.providers.scripted import Scripted
from redask.server import serving
from redask.server.admission import Admission

SETTINGS = """
[ask]
timeout_ms = 60000
max_prompt_tokens = 2000
[embedder]
name = "none"
"""
_T = TypeVar("_T")


@dataclass(frozen=True)
class Server:
    """A server that runs in this loop: where it listens; `stop` begins its end, `task` is it."""

    addresses: list[str]
    stop: asyncio.Event
    task: asyncio.Task[bool]


@asynccontextmanager
async def serving_database(
    db: AsyncDatabase, where: serving.Serving, admission: Admission | None = None
) -> AsyncIterator[Server]:
    """Serve until the block ends, or `stop` is set in it; what it cannot open is raised."""
    stop = asyncio.Event()
    opened: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serving.serve(db, where, opened.set_result, stop, admission))
    either: list[asyncio.Future[Any]] = [opened, task]
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if not opened.done():
        await task
    try:
        yield Server(opened.result(), stop, task)
    finally:
        stop.set()
        await task


class ServerThread:
    """The transports of one small database, open; ports are those of `serving.Serving`."""

    db: AsyncDatabase
    tokens: dict[str, str]
    addresses: list[str]
    operator = ""  # settings of the operator's own
    start_seconds = SECONDS

    def __init__(self, directory: Path, *, settings: str = "", **where: Any) -> None:
        self.directory = directory
        self.settings = SETTINGS + settings
        self.where = serving.Serving(**{"http_port": None, **where})
        self.admission = Admission(64, 256)
        self.actors = actors()

    def run(self, work: Coroutine[Any, Any, _T], seconds: float = SECONDS) -> _T:
        """Run in the server's loop."""
        return self._loop.run(work, seconds)

    def __enter__(self) -> Self:
        self.tokens = fill(self.directory)
        self._loop = LoopThread()
        self.run(self._start(), self.start_seconds)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.run(self._stop())
        self._loop.close()

    async def connect(self, stack: AsyncExitStack) -> None:
        """Clients that live as long as the server."""

    async def _start(self) -> None:
        self._stopping = asyncio.Event()
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._main = asyncio.create_task(self._live(ready))
        await asyncio.wait([ready, self._main], return_when=asyncio.FIRST_COMPLETED)
        if self._main.done():
            self._main.result()

    async def _stop(self) -> None:
        self._stopping.set()
        await self._main

    async def _live(self, ready: asyncio.Future[None]) -> None:
        """Enter and leave everything in one task, as anyio wants it."""
        async with AsyncExitStack() as stack:
            self.db = await stack.enter_async_context(
                await open_async(
                    self.directory,
                    settings=load(self.settings, {}, self.operator),
                    providers=self.actors,
                )
            )
            server = await stack.enter_async_context(
                serving_database(self.db, self.where, self.admission)
            )
            self.addresses = server.addresses
            await self.connect(stack)
            ready.set_result(None)
            await self._stopping.wait()


def fill(directory: Path) -> dict[str, str]:
    """The database, and the tokens of its users."""
    settings = load(SETTINGS, {})
    with redask.open(directory, settings=settings) as db:
        db.put("notes", ROWS)
        db.put("odd", [{"id": "a/b:c %", "text": "Ümläut ferry \u2028 \U0001f6a2 </source>"}])
        db.put("secrets", [{"id": 1, "text": "The ferry is late."}])
        db.set_policy("secrets", {"read": [{"roles": ["spy"]}]})
        for user, role in (("mia", "reader"), ("gone", "reader"), ("olga", "owner")):
            db.add_user(user, role=role)
        return {user: db.make_token(user) for user in ("mia", "gone", "olga")}


class EndlessProvider(Player):
    """Says two pieces, and then waits for somebody to leave."""

    async def complete(self, prompt: Prompt, knobs: Knobs, **rest: Any) -> Completion:
        self.calls.append((prompt, knobs))
        if rest["emit"] is not None:
            for piece in ("At ", "nine"):
                await rest["emit"](piece)
        await asyncio.Event().wait()
        raise AssertionError("nobody waits that long")


class InventingProvider(Player):
    """Invents markers; asked about midnight, what its source does not say."""

    async def complete(self, prompt: Prompt, knobs: Knobs, **rest: Any) -> Completion:
        late = "midnight" in prompt.question
        said = "The ferry leaves at midnight [^1]." if late else "Nobody said so. [^99] [^abc]"
        self.calls.append((prompt, knobs))
        if rest["emit"] is not None:
            await rest["emit"](said)
        return Completion(said, self.model, *self.usage)


def actors() -> dict[str, Any]:
    """Providers by what they do; the names are those of providers that cite."""
    return {
        "scripted": Scripted(),
        "openai": InventingProvider("openai", []),
        "groq": Player("groq", [errors.ProviderRefused("groq", "no, said the model")]),
        "together": Player(
            "together", [errors.ProviderFailed("together", errors.Failure.SERVER, "busy")]
        ),
        "openrouter": Player("openrouter", [ZeroDivisionError("a bug with a KEY-1234")]),
        "venice": Player("venice", [out_of_time]),
        "anthropic": EndlessProvider("anthropic", []),
        "local": Player("local", ["An answer without a footnote."]),
    }
