"""What bodies of requests have of a server: `BodyRoom` in memory, `FairThreads` to be parsed,
`BodyTurns` on the event loop.

    memory     bodies that are read, wait or are parsed hold at most ROOM bytes, those of one tenant
               at most half of it, counted as they come. What goes beyond is `Overloaded`; the
               only body of a tenant may always be read
    pieces     in each step of an event loop one piece of one body is read on; tenants take turns.
               So whoever else has something to do there waits for a piece, not for one of each body
    turns      a thread parses a body at a time. One tenant has one thread; those of tenants, and of
               the users in each, take turns (`core.access.ask_shares`), so that nobody waits for
               more than a body of each other tenant

All are safe for threads: a process may have several servers.
"""

import asyncio
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from redask.core.access.ask_shares import AskClaim, AskQuota, bounds_of, next_ask
from redask.core.errors import Overloaded

ROOM = 256 * 1024 * 1024
_MANY = 2**31
_T = TypeVar("_T")


class BodyRoom:
    """See the module."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._held: Counter[str] = Counter()  # bytes by tenant
        self._lock = threading.Lock()

    @contextmanager
    def holding(self, tenant: str) -> Iterator[Callable[[int], None]]:
        """Room for a body: what is given is told of each piece, and raises `Overloaded`."""
        mine = 0

        def add(size: int) -> None:
            nonlocal mine
            with self._lock:
                own, all_held = self._held[tenant] + size, self._held.total() + size
                is_only = own == mine + size
                if not is_only and (own > self._room // 2 or all_held > self._room):
                    raise Overloaded("large bodies of this tenant are being read: try again soon")
                self._held[tenant] = own
                mine += size

        try:
            yield add
        finally:
            with self._lock:
                self._held[tenant] -= mine
                self._held += Counter()  # forgets who holds nothing


class BodyTurns:
    """See the module."""

    def __init__(self) -> None:
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopTurns] = WeakKeyDictionary()

    async def next(self, tenant: str) -> None:
        """Wait for the turn of one piece."""
        loop = asyncio.get_running_loop()
        turns = self._loops.setdefault(loop, {})
        waiting: asyncio.Future[None] = loop.create_future()
        if not turns:
            loop.call_soon(_step, loop, turns)
        turns.setdefault(tenant, deque()).append(waiting)
        await waiting


def _step(loop: asyncio.AbstractEventLoop, turns: "_LoopTurns") -> None:
    """Let one go on, of the tenant whose turn it is, and look again in the next step."""
    while turns:
        tenant = next(iter(turns))
        waiting = turns.pop(tenant)
        following = waiting.popleft()
        if waiting:
            turns[tenant] = waiting  # behind the others
        if not following.done():  # else it was cancelled
            following.set_result(None)
            break
    if turns:
        loop.call_soon(_step, loop, turns)


_LoopTurns = dict[str, "deque[asyncio.Future[None]]"]  # by tenant, in order of their turns


class _Waiting(NamedTuple):
    claim: AskClaim
    future: "Future[Any]"
    work: Callable[[], Any]


class FairThreads:
    """See the module. A future that is cancelled while it waits is dropped."""

    def __init__(self, size: int, name: str) -> None:
        self._threads = ThreadPoolExecutor(size, name)
        self._bounds = bounds_of(size, _MANY, AskQuota(1, _MANY, 1, _MANY))
        self._waiting: list[_Waiting] = []
        self._running: list[AskClaim] = []
        self._turns: dict[str | AskClaim, int] = {}
        self._turn = 0
        self._lock = threading.Lock()

    def submit(self, claim: AskClaim, work: Callable[[], _T]) -> "Future[_T]":
        """Have it done when it is its turn."""
        future: Future[_T] = Future()
        with self._lock:
            self._waiting.append(_Waiting(claim, future, work))
            self._begin()
        return future

    def _begin(self) -> None:
        """Let those begin whose turn it is; with the lock."""
        self._waiting = [each for each in self._waiting if not each.future.cancelled()]
        there = {*self._running, *(each.claim for each in self._waiting)}
        known = there | {claim.tenant for claim in there}
        self._turns = {each: turn for each, turn in self._turns.items() if each in known}
        while True:
            claims = [each.claim for each in self._waiting]
            at = next_ask(claims, self._running, self._bounds, self._turns)
            if at is None:
                return
            following = self._waiting.pop(at)
            if not following.future.set_running_or_notify_cancel():
                continue
            claim = following.claim
            self._turn += 1
            self._turns[claim] = self._turns[claim.tenant] = self._turn
            self._running.append(claim)
            self._threads.submit(self._run, following)

    def _run(self, following: _Waiting) -> None:
        try:
            result = following.work()
        except BaseException as error:
            following.future.set_exception(error)
        else:
            following.future.set_result(result)
        finally:
            with self._lock:
                self._running.remove(following.claim)
                self._begin()
