"""Admission: `Admission` lets so many asks run and so many wait, and owns what runs.

`at_once` asks run and `waiting` more wait, of which a user and a tenant have their part, and take
turns: see `core.access.ask_shares`. A tenant that asks more often than `rate` allows waits before
that, while others ask, too: see `core.access.tenant_paces`. Further ones are `Overloaded` and may
be tried again after `RETRY_SECONDS`. Nothing was asked then, so there is no audit row. `of` a claim
is the admission for asks of one user.

Each ask runs in a task of its own: when a transport's task is cancelled, in whatever way its
library does that, the ask is cancelled and still writes its audit row. `close` waits for all.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from redask.api.event_stream import events_of
from redask.core.access.ask_shares import AskClaim, AskQuota, bounds_of, next_ask, too_many
from redask.core.access.tenant_paces import TenantPaces
from redask.core.errors import Cancelled, Overloaded
from redask.core.model import Emit, Event

RETRY_SECONDS = 1
LONG_RESULTS = 4  # of a tenant, in memory until they were sent; it has fewer worker processes
_T = TypeVar("_T")
Disconnected = Callable[[], Coroutine[Any, Any, None]]  # returns when the client has
_NOBODY = AskClaim()
_Waiter = tuple[AskClaim, asyncio.Future[None]]


class TenantTurns:
    """So many of one tenant at once: `async with TenantTurns(1).of("north"): …`, in their order.

    For work that holds up other tenants by its number: threads that encode rows have the
    interpreter by turns, and a thread of another tenant waits for one turn of each; large results
    that wait for their clients are in memory. A tenant that has nothing here is forgotten.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def of(self, tenant: str) -> asyncio.Semaphore:
        """What lets in so many of a tenant."""
        return self._turns.setdefault(tenant, asyncio.Semaphore(self._places))


class ResultPlace:
    """One place of those that a semaphore has, given back once, whoever does it."""

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places = places
        self._is_held = False

    async def begin(self, seconds: float) -> None:
        """Wait for it, so long; then it is `Overloaded`."""
        try:
            async with asyncio.timeout(seconds):
                await self._places.acquire()
        except TimeoutError:
            message = "large results of this tenant are still being sent: try again soon"
            raise Overloaded(message) from None
        self._is_held = True

    def end(self) -> None:
        """Give it back, if it is held."""
        if self._is_held:
            self._is_held = False
            self._places.release()


@dataclass(slots=True)
class Admission:
    """At most so many asks at once."""

    at_once: int = 64
    waiting: int = 256
    quota: AskQuota = field(default_factory=AskQuota)
    rate: int = 0  # of one tenant a second, while others ask; 0 for any
    _paces: TenantPaces = field(init=False)
    _encoding: TenantTurns = field(default_factory=lambda: TenantTurns(1), init=False)
    _results: TenantTurns = field(default_factory=lambda: TenantTurns(LONG_RESULTS), init=False)
    _early: list[AskClaim] = field(default_factory=list, init=False)
    _running: list[AskClaim] = field(default_factory=list, init=False)
    _queue: list[_Waiter] = field(default_factory=list, init=False)
    _turns: dict[str | AskClaim, int] = field(default_factory=dict, init=False)
    _turn: int = field(default=0, init=False)
    _closed: bool = field(default=False, init=False)
    _tasks: set[asyncio.Task[Any]] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self._paces = TenantPaces(self.rate)

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
        admitted = [*self._running, *self._early, *(each for each, _ in self._queue)]
        refusal = too_many(claim, admitted, bounds)
        if refusal is not None:
            raise refusal
        await self._pace(claim)
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

    async def _pace(self, claim: AskClaim) -> None:
        """Wait until its tenant may have one more begin."""
        loop = asyncio.get_running_loop()
        seconds = self._paces.wait(claim.tenant, loop.time())
        if seconds <= 0:
            return
        self._early.append(claim)
        try:
            await asyncio.sleep(seconds)
        finally:
            self._early.remove(claim)

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

    def encoding(self) -> asyncio.Semaphore:
        """What lets one page of a tenant's rows be encoded at a time."""
        return self.admission._encoding.of(self.claim.tenant)

    def result(self) -> ResultPlace:
        """A place for a result that is whole in memory until it was sent."""
        return ResultPlace(self.admission._results.of(self.claim.tenant))

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
