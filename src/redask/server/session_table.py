"""Sessions of browsers by the hash of their cookie: `SessionTable`, so long and so many.

A session lasts SESSION_SECONDS at most. One user has at most MOST_OF_USER, and all of them MOST:
the oldest goes. What a session is of (`what`) is its user's business: a process keeps its open
database, and the parent of several processes what each of them opens it with.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from redask.core.access.ask_shares import AskClaim

SESSION_SECONDS = 12 * 3600
MOST_OF_USER = 20
MOST = 10_000
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class HeldSession(Generic[_T]):
    """Who signed in with a browser, and when that ends."""

    claim: AskClaim
    what: _T
    end: float


class SessionTable(Generic[_T]):
    """See the module."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: dict[str, HeldSession[_T]] = {}  # oldest first

    def put(self, key: str, claim: AskClaim, what: _T) -> None:
        """Begin a session."""
        self._make_room(claim)
        self._held[key] = HeldSession(claim, what, self._clock() + SESSION_SECONDS)

    def get(self, key: str) -> _T | None:
        """What a session is of; None if there is none, or its time is over."""
        held = self._held.get(key)
        if held is None:
            return None
        if held.end <= self._clock():
            del self._held[key]
            return None
        return held.what

    def drop(self, key: str) -> bool:
        """End a session. → whether there was one"""
        return self._held.pop(key, None) is not None

    def _make_room(self, claim: AskClaim) -> None:
        now = self._clock()
        self._held = {key: each for key, each in self._held.items() if each.end > now}
        of_user = [key for key, each in self._held.items() if each.claim == claim]
        for key in of_user[: max(len(of_user) - MOST_OF_USER + 1, 0)]:
            del self._held[key]
        while len(self._held) >= MOST:
            del self._held[next(iter(self._held))]
