"""Admission: `Admission` lets so many asks run and so many wait, and owns what runs.

`at_once` asks run and `waiting` more wait, of which a user and a tenant have their part, and take
turns: see `core.access.ask_shares`. Further ones are `Overloaded` and may be tried again after
`RETRY_SECONDS`. Nothing was asked then, so there is no audit row. `of` a claim is the admission for
asks of one user.

Each ask runs in a task of its own: when a transport's task is cancelled, in whatever way its
library does that, the ask is cancelled and still writes its audit row. `close` waits for all.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar

from redask.api.event_stream import events_of
from redask.core.access.ask_shares import AskClaim, AskQuota, bounds_of, next_ask, too_many
from redask.core.errors import Cancelled, Overloaded
from redask.core.model import Emit, Event

RETRY_SECONDS = 1
_T = TypeVar("_T")
Disconnected = Callable[[], Coroutine[Any, Any, None]]  # returns when the client has
_NOBODY = AskClaim()
_Waiter = tuple[AskClaim, asyncio.Future[None]]


@dataclass(slots=True)
class Admission:
    """At most so many asks at once."""

    at_once: int = 64
    waiting: int = 256
    quota: AskQuota = field(default_factory=AskQuota)
    _running: list[AskClaim] = field(default_factory=list, init=False)
    _queue: list[_Waiter] = field(default_factory=list, init=False)
    _turns: dict[str | AskClaim, int] = field(default_factory=dict, init=False)
    _turn: int = field(default=0, init=False)
    _closed: bool = field(default=False, init=False)
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set, init=False)

    def of(self, claim: AskClaim) -> "UserAdmission":
        """The admission for one user's asks."""
        return UserAdmission(self, claim)

    async def run(
        self,
        work: Callable[[], Awaitable[_T]],
        disconnected: Disconnected | None = None,
        began: Callable[[asyncio.Task[Any]], None] | None = None,
        claim: AskClaim = _NOBODY,
    ) -> _T:
        """The work's result; cancelling this, or a client that disconnects, cancels the work.

        `began` is given the task, to cancel it for a client that stays connected.
        """
        task = self._own(self._admitted(work, claim))
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
        claim: AskClaim = _NOBODY,
    ) -> AsyncGenerator[Event | None, None]:
        """The events that the work emits, and None after each `heartbeat` seconds without one.

        `began` as in `run`.
        """
        async with AsyncExitStack() as stack:

            def start(emit: Emit) -> asyncio.Task[object]:
                task = self._own(self._admitted(lambda: work(emit), claim))
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

    async def _admitted(self, work: Callable[[], Awaitable[_T]], claim: AskClaim) -> _T:
        """Do the work, after waiting if need be; `Overloaded` when too many wait already."""
        if self._closed:
            raise Overloaded("the server is stopping")
        bounds = bounds_of(self.at_once, self.waiting, self.quota)
        refusal = too_many(claim, [*self._running, *(each for each, _ in self._queue)], bounds)
        if refusal is not None:
            raise refusal
        place = (claim, asyncio.get_running_loop().create_future())
        self._queue.append(place)
        self._begin_next()
        try:
            if not place[1].done():
                await place[1]
            return await work()
        finally:
            if place in self._queue:
                self._queue.remove(place)
            else:
                self._running.remove(claim)
            self._begin_next()
            self._forget_turns()

    def _begin_next(self) -> None:
        """Let those begin who may, in their order."""
        bounds = bounds_of(self.at_once, self.waiting, self.quota)
        while True:
            claims = [claim for claim, _ in self._queue]
            found = next_ask(claims, self._running, bounds, self._turns)
            if found is None:
                return
            claim, may_begin = self._queue.pop(found)
            self._turn += 1
            self._turns[claim] = self._turns[claim.tenant] = self._turn
            self._running.append(claim)
            if not may_begin.done():  # cancelled, it leaves by itself
                may_begin.set_result(None)

    def _forget_turns(self) -> None:
        """Whoever has nothing here any more is as new."""
        there = {*self._running, *(claim for claim, _ in self._queue)}
        known = {*there, *(claim.tenant for claim in there)}
        self._turns = {each: turn for each, turn in self._turns.items() if each in known}


@dataclass(frozen=True, slots=True)
class UserAdmission:
    """The admission for the asks of one user, with `run` and `stream` of `Admission`."""

    admission: Admission
    claim: AskClaim

    async def run(
        self,
        work: Callable[[], Awaitable[_T]],
        disconnected: Disconnected | None = None,
        began: Callable[[asyncio.Task[Any]], None] | None = None,
    ) -> _T:
        """See `Admission.run`."""
        return await self.admission.run(work, disconnected, began, self.claim)

    def stream(
        self,
        work: Callable[[Emit], Awaitable[object]],
        disconnected: Disconnected | None = None,
        heartbeat: float | None = None,
        began: Callable[[asyncio.Task[Any]], None] | None = None,
    ) -> AsyncGenerator[Event | None, None]:
        """See `Admission.stream`."""
        return self.admission.stream(work, disconnected, heartbeat, began, self.claim)


def _cancel_on(disconnected: Disconnected | None, task: asyncio.Task[Any]) -> Callable[[], object]:
    """Cancel the task when its client has disconnected. → what stops watching for that"""
    if disconnected is None:
        return lambda: None
    watching = asyncio.get_running_loop().create_task(disconnected())
    watching.add_done_callback(lambda done: None if done.cancelled() else task.cancel())
    return watching.cancel
