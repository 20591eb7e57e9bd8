"""Admission: `Admission` lets so many asks run and so many wait, and owns what runs.

`at_once` asks run and `waiting` more wait; further ones are `Overloaded` and may be tried again
after `RETRY_SECONDS`. Nothing was asked then, so there is no audit row.

Each ask runs in a task of its own: when a transport's task is cancelled, in whatever way its
library does that, the ask is cancelled and still writes its audit row. `close` waits for all.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar

from redask.api.event_stream import events_of
from redask.core.errors import Cancelled, Overloaded
from redask.core.model import Emit, Event

RETRY_SECONDS = 1
_T = TypeVar("_T")
Disconnected = Callable[[], Coroutine[Any, Any, None]]  # returns when the client has


@dataclass(slots=True)
class Admission:
    """At most so many asks at once."""

    at_once: int = 64
    waiting: int = 256
    _admitted_count: int = field(default=0, init=False)
    _closed: bool = field(default=False, init=False)
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set, init=False)
    _slots: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.at_once)

    async def run(
        self,
        work: Callable[[], Awaitable[_T]],
        disconnected: Disconnected | None = None,
        began: Callable[[asyncio.Task[Any]], None] | None = None,
    ) -> _T:
        """The work's result; cancelling this, or a client that disconnects, cancels the work.

        `began` is given the task, to cancel it for a client that stays connected.
        """
        task = self._own(self._admitted(work))
        stop_watching = _cancel_on(disconnected, task)
        if began is not None:
            began(task)
        try:
            await asyncio.wait([task])
            return self._result(task)
        finally:
            task.cancel()
            stop_watching()

    async def stream(
        self,
        work: Callable[[Emit], Awaitable[object]],
        disconnected: Disconnected | None = None,
        heartbeat: float | None = None,
        began: Callable[[asyncio.Task[Any]], None] | None = None,
    ) -> AsyncGenerator[Event | None, None]:
        """The events that the work emits, and None after each `heartbeat` seconds without one.

        `began` as in `run`.
        """
        async with AsyncExitStack() as stack:

            def start(emit: Emit) -> asyncio.Task[object]:
                task = self._own(self._admitted(lambda: work(emit)))
                stack.callback(_cancel_on(disconnected, task))
                if began is not None:
                    began(task)
                return task

            events = aclosing(events_of(start, heartbeat, self._result))
            async for event in await stack.enter_async_context(events):
                yield event

    async def close(self, grace: float) -> None:
        """Admit nothing any more; after `grace` seconds cancel what runs, and wait for it."""
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
            task.exception()  # retrieved, also when no transport waits for it any more

    def _result(self, task: asyncio.Task[_T]) -> _T:
        if task.cancelled():
            raise Cancelled("the server is stopping" if self._closed else "cancelled by the client")
        return task.result()

    async def _admitted(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """Do the work, after waiting if need be; `Overloaded` when too many wait already."""
        if self._closed:
            raise Overloaded("the server is stopping")
        if self._admitted_count >= self.at_once + self.waiting:
            raise Overloaded(f"{self._admitted_count} asks are running or waiting: try again soon")
        self._admitted_count += 1
        try:
            async with self._slots:
                return await work()
        finally:
            self._admitted_count -= 1


def _cancel_on(disconnected: Disconnected | None, task: asyncio.Task[Any]) -> Callable[[], object]:
    """Cancel the task when its client has disconnected. → what stops watching for that"""
    if disconnected is None:
        return lambda: None
    watching = asyncio.get_running_loop().create_task(disconnected())
    watching.add_done_callback(lambda done: None if done.cancelled() else task.cancel())
    return watching.cancel
