"""What every door is given: a `Desk` to sign in at, a `Session` to ask through, and the `Gate`.

A session is one caller's; it raises `errors.AskError` and nothing else on purpose. The gate lets
`at_once` asks run and `waiting` more wait; whoever comes then is `Overloaded` and may come
again after `RETRY_SECONDS`. Nothing was asked then, so there is no audit row.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from redask.errors import Overloaded
from redask.model import Answer, Ask, Event, Source

RETRY_SECONDS = 1


class Session(Protocol):
    """What a signed-in caller can do."""

    async def answer(self, ask: Ask) -> Answer:
        """Answer a question."""

    def events(self, ask: Ask) -> AsyncGenerator[Event, None]:
        """The events of an answer while it is written; raises only before the first one."""

    async def plan(self, ask: Ask) -> dict[str, object]:
        """What an ask would do."""

    async def find(self, ask: Ask) -> dict[str, object]:
        """The hits of a search, as plain data."""

    async def execute(self, statement: str, params: Sequence[object]) -> list[dict[str, object]]:
        """Run ASK, EXPLAIN ASK or SELECT."""

    async def source(self, urn: str) -> Source | None:
        """One entity as the caller may see it."""

    async def put(
        self, collection: str, rows: Sequence[Mapping[str, object]], *, kind: str
    ) -> list[str]:
        """Write rows. → their URNs"""

    async def audit_rows(self, limit: int, before: int | None) -> list[dict[str, object]]:
        """The newest audit rows the caller may see."""


class Desk(Protocol):
    """Where callers are told apart."""

    async def sign_in(self, token: str | None) -> Session:
        """The session of a token; None is who comes without one. Raises `Unauthenticated`."""


@dataclass(slots=True)
class Gate:
    """Room for so many at once."""

    at_once: int = 64
    waiting: int = 256
    _inside: int = field(default=0, init=False)
    _room: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._room = asyncio.Semaphore(self.at_once)

    @asynccontextmanager
    async def entered(self) -> AsyncIterator[None]:
        """Be inside, after waiting if need be; `Overloaded` when too many wait already."""
        if self._inside >= self.at_once + self.waiting:
            raise Overloaded(f"{self._inside} asks are running or waiting: try again soon")
        self._inside += 1
        try:
            async with self._room:
                yield
        finally:
            self._inside -= 1
