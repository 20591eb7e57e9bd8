"""Sessions of browsers: `BrowserSessions`, each known by a random id in a cookie.

begin     for somebody who has just signed in: a new id, never one that a client brought; the
          session that the browser had before ends
of        the session of a request, if our own page sent it; else None, as without a cookie
end       whoever signs out

A cookie signs nobody in by itself: a browser sends it for every page that asks. So the request
must say that it is our page's (`PAGE_HEADER`, which no page elsewhere may send), and where the
browser tells who asked (`Origin`, `Sec-Fetch-Site`), it must have been a page of this host.

The cookie holds 256 random bits and nothing else; scripts cannot read it, other sites cannot have
it sent, and over TLS it never leaves without. The server keeps a hash of it, in memory, for at most
SESSION_SECONDS; the token behind a session is looked up for every statement, so that what is
revoked or expired ends at once. One user has at most MOST_OF_USER, the oldest goes.
"""

import hashlib
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from redask.api.asynchronous import AsyncDatabase
from redask.core.access.ask_shares import AskClaim

PAGE_HEADER = "x-redask-page"
SESSION_SECONDS = 12 * 3600
MOST_OF_USER = 20
MOST = 10_000
_FROM_HERE = (None, "same-origin", "none")


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """Who signed in with a browser, and when that ends."""

    database: AsyncDatabase
    end: float

    @property
    def claim(self) -> AskClaim:
        return self.database.claim


class BrowserSessions:
    """See the module."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: dict[str, BrowserSession] = {}  # by the hash of the id, oldest first

    def begin(
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
        self._forget(request)
        self._make_room(database.claim)
        ident = secrets.token_urlsafe(32)
        key = _hash(ident)
        self._held[key] = BrowserSession(database, self._clock() + SESSION_SECONDS)
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

    def has(self, request: Request, key: str) -> bool:
        """Whether a request has the cookie of a session that there is."""
        return key in self._held and _hash(request.cookies.get(_name(request), "")) == key

    def drop(self, key: str) -> None:
        """End a session by its key."""
        self._held.pop(key, None)

    def of(self, request: Request) -> AsyncDatabase | None:
        """Whose request it is."""
        if request.headers.get(PAGE_HEADER) is None or not is_own_page(request):
            return None
        key = _hash(request.cookies.get(_name(request), ""))
        held = self._held.get(key)
        if held is None:
            return None
        if held.end <= self._clock():
            del self._held[key]
            return None
        return held.database

    def end(self, request: Request, reply: Response) -> bool:
        """Sign out. → whether there was a session"""
        reply.delete_cookie(
            _name(request),
            path="/",
            secure=is_secure(request),
            httponly=True,
            samesite="strict",
        )
        return self._forget(request)

    def _forget(self, request: Request) -> bool:
        key = _hash(request.cookies.get(_name(request), ""))
        return self._held.pop(key, None) is not None

    def _make_room(self, claim: AskClaim) -> None:
        now = self._clock()
        self._held = {key: each for key, each in self._held.items() if each.end > now}
        of_user = [key for key, each in self._held.items() if each.claim == claim]
        for key in of_user[: max(len(of_user) - MOST_OF_USER + 1, 0)]:
            del self._held[key]
        while len(self._held) >= MOST:
            del self._held[next(iter(self._held))]


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


def _hash(ident: str) -> str:
    return hashlib.sha256(ident.encode("utf-8", "surrogatepass")).hexdigest()
