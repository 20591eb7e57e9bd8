"""Codes that sign one browser in, once: `EntryCodes`, for the address that `redask open` opens.

An address is seen by others than the browser: by whoever lists processes, by a history. So it has
no token in it but a code: 256 random bits, good for CODE_SECONDS and one use, of which the server
keeps a hash. A code that comes a second time was seen by somebody else, and nobody knows which of
both was the right one: the session that it began ends. The browser that has that very session may
come again, and gets nothing new.
"""

import asyncio
import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from redask.api.asynchronous import AsyncDatabase
from redask.server.http.browser_sessions import BrowserSessions

CODE_SECONDS = 300


@dataclass(slots=True)
class _MadeCode:
    database: AsyncDatabase
    end: float
    session: str | None = None  # once it was used: what it began


class EntryCodes:
    """See the module."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._made: dict[str, _MadeCode] = {}  # by the hash of the code
        self._one_at_a_time = asyncio.Lock()

    def make(self, database: AsyncDatabase) -> str:
        """A code for this session."""
        code = secrets.token_urlsafe(32)
        self._made[_hash(code)] = _MadeCode(database, self._clock() + CODE_SECONDS)
        return code

    async def enter(
        self, code: str, request: Request, reply: Response, known: BrowserSessions
    ) -> bool:
        """Sign in the browser of a request by a code. → whether it is signed in by it"""
        entry = self._made.get(_hash(code))
        if entry is None:
            return False
        async with self._one_at_a_time:  # or one code could begin two sessions
            if entry.session is not None:
                if await known.has(request, entry.session):
                    return True
                await known.drop(entry.session)
                return False
            if entry.end <= self._clock():
                return False
            entry.session = await known.begin(request, reply, entry.database)
            return True


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()
