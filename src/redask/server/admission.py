"""Admission: `Admission` lets so many asks run and so many wait, and owns what runs.

`at_once` asks run and `waiting` more wait; whoever comes then is `Overloaded` and may come
again after `RETRY_SECONDS`. Nothing was asked then, so there is no audit row.

A transport that is cancelled, in whatever way its library does that, only lets go, and the ask
ends in a task of its own with its audit row. `close` waits for all of them.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from redask.core.errors import Cancelled, Overloaded
from redask.core.model import Event

RETRY_SECONDS = 1
_T = TypeVar("_T")
Left = Callable[[], Coroutine[Any, Any, None]]  # returns when the caller has left


@dataclass(slots=True)
class Admission:
    """Room for so many at once."""

    at_once: int = 64
    waiting: int = 256
    _inside: int = field(default=0, init=False)
    _closed: bool = field(default=False, init=False)
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set, init=False)
    _room: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._room = asyncio.Semaphore(self.at_once)

    async def run(
        self,
        work: Callable[[], Awaitable[_T]],
        left: Left | None = None,
        began: Callable[[asyncio.Task[Any]], None] | None = None,
    ) -> _T:
        """The work's result; whoever is cancelled here or leaves cancels the work.

        `began` is given the task to cancel for whoever stays and wants no result.
        """

        async def admitted() -> _T:
            async with self._entered():
                return await work()

        task = self._own(admitted())
        leaving = _on_leaving(task, left)
        if began is not None:
            began(task)
        try:
            await asyncio.wait([task])
            return self._result(task)
        finally:
            task.cancel()
            if leaving is not None:
                leaving.cancel()

    async def stream(
        self,
        events: AsyncGenerator[Event, None],
        left: Left | None = None,
        silence: float | None = None,
    ) -> AsyncGenerator[Event | None, None]:
        """The events, and None after each `silence` seconds without one."""
        arrived: asyncio.Queue[Event | None] = asyncio.Queue()

        async def admitted() -> None:
            async with aclosing(events), self._entered():
                async for event in events:
                    arrived.put_nowait(event)

        task = self._own(admitted())
        task.add_done_callback(lambda _: arrived.put_nowait(None))
        leaving = _on_leaving(task, left)
        try:
            while True:
                try:
                    async with asyncio.timeout(silence):
                        event = await arrived.get()
                except TimeoutError:
                    yield None
                    continue
                if event is None:
                    self._result(task)
                    return
                yield event
        finally:
            task.cancel()
            if leaving is not None:
                leaving.cancel()

    async def close(self, grace: float) -> None:
        """Let nobody in any more; after `grace` seconds cancel what runs, and see it end."""
        self._closed = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace)
        for task in self._tasks:
            task.cancel()
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def _own(self, work: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # seen, also when nobody waits for it any more

    def _result(self, task: asyncio.Task[_T]) -> _T:
        if task.cancelled():
            raise Cancelled("the server is stopping" if self._closed else "the caller left")
        return task.result()

    @asynccontextmanager
    async def _entered(self) -> AsyncIterator[None]:
        """Be inside, after waiting if need be; `Overloaded` when too many wait already."""
        if self._closed:
            raise Overloaded("the server is stopping")
        if self._inside >= self.at_once + self.waiting:
            raise Overloaded(f"{self._inside} asks are running or waiting: try again soon")
        self._inside += 1
        try:
            async with self._room:
                yield
        finally:
            self._inside -= 1


def _on_leaving(task: asyncio.Task[Any], left: Left | None) -> asyncio.Task[None] | None:
    """Cancel the task when its caller has left; cancel what this returns to stop watching."""
    if left is None:
        return None
    leaving = asyncio.get_running_loop().create_task(left())
    leaving.add_done_callback(lambda done: None if done.cancelled() else task.cancel())
    return leaving
