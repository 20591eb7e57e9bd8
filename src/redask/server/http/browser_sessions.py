"""Sessions of browsers: `BrowserSessions`, each known by a random id in a cookie.

begin     for somebody who has just signed in: a new id, never one that a client brought; the
          session that the browser had before ends
of        the session of a request, if our own page sent it; else None, as without a cookie
end       whoever signs out

A cookie signs nobody in by itself: a browser sends it for every page that asks. So the request
must say that it is our page's (`PAGE_HEADER`, which no page elsewhere may send), and where the
browser tells who asked (`Origin`, `Sec-Fetch-Site`), it must have been a page of this host.

The cookie holds 256 random bits and nothing else; scripts cannot read it, other sites cannot have
it sent, and over TLS it never leaves without. The server keeps a hash of it, in memory
(`session_table`); the token behind a session is looked up for every statement, so that what is
revoked or expired ends at once. Where a server is several processes, their parent keeps the table
(`HeldSessions`), so that a browser is signed in, and out, at all of them at once.
"""

import hashlib
import secrets
import time
from collections.abc import Callable
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response

from redask.api.asynchronous import AsyncDatabase
from redask.server.session_table import SESSION_SECONDS, SessionTable

PAGE_HEADER = "x-redask-page"
_FROM_HERE = (None, "same-origin", "none")


class HeldSessions(Protocol):
    """Where sessions are kept."""

    async def put(self, key: str, database: AsyncDatabase) -> None:
        """Begin one."""

    async def get(self, key: str) -> AsyncDatabase | None:
        """Whose it is, if there is one."""

    async def drop(self, key: str) -> bool:
        """End one. → whether there was one"""


class OwnSessionTable:
    """Sessions that this process keeps."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._table = SessionTable[AsyncDatabase](clock)

    async def put(self, key: str, database: AsyncDatabase) -> None:
        self._table.put(key, database.claim, database)

    async def get(self, key: str) -> AsyncDatabase | None:
        return self._table.get(key)

    async def drop(self, key: str) -> bool:
        return self._table.drop(key)


class BrowserSessions:
    """See the module."""

    def __init__(self, held: HeldSessions | None = None) -> None:
        self._held = held or OwnSessionTable()

    async def begin(
        self,
        request: Request,
        reply: Response,
        database: AsyncDatabase,
        *,
        secure: bool | None = None,
    ) -> str:
        """Give the browser a session. → its key, for `has` and `drop`

        `secure` says whether it speaks TLS, where the request cannot tell.
        """
        await self._held.drop(_key(request))
        ident = secrets.token_urlsafe(32)
        key = _hash(ident)
        await self._held.put(key, database)
        reply.set_cookie(
            _name(request),
            ident,
            max_age=SESSION_SECONDS,
            path="/",
            secure=is_secure(request) if secure is None else secure,
            httponly=True,
            samesite="strict",
        )
        return key

    async def has(self, request: Request, key: str) -> bool:
        """Whether a request has the cookie of a session that there is."""
        return _key(request) == key and await self._held.get(key) is not None

    async def drop(self, key: str) -> None:
        """End a session by its key."""
        await self._held.drop(key)

    async def of(self, request: Request) -> AsyncDatabase | None:
        """Whose request it is."""
        if request.headers.get(PAGE_HEADER) is None or not is_own_page(request):
            return None
        if _name(request) not in request.cookies:
            return None
        return await self._held.get(_key(request))

    async def end(self, request: Request, reply: Response) -> bool:
        """Sign out. → whether there was a session"""
        reply.delete_cookie(
            _name(request),
            path="/",
            secure=is_secure(request),
            httponly=True,
            samesite="strict",
        )
        return await self._held.drop(_key(request))


def is_own_page(request: Request) -> bool:
    """Whether a request is no other page's, as far as the browser tells."""
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
        return False
    return request.headers.get("sec-fetch-site") in _FROM_HERE


def is_secure(request: Request) -> bool:
    """Whether the browser speaks TLS, with us or with a proxy before us."""
    return request.url.scheme == "https" or request.headers.get("origin", "").startswith("https:")


def cookie_name(request: Request, name: str) -> str:
    """A cookie's name; one for each port, which cookies do not tell apart."""
    host = request.headers.get("host", "")
    port = host.rpartition(":")[2]
    return f"{name}_{port}" if port.isascii() and port.isdigit() else name


def _name(request: Request) -> str:
    return cookie_name(request, "redask_session")


def _key(request: Request) -> str:
    return _hash(request.cookies.get(_name(request), ""))


def _hash(ident: str) -> str:
    return hashlib.sha256(ident.encode("utf-8", "surrogatepass")).hexdigest()
