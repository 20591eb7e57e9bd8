"""Signing in on the page by a redirect to the identity provider: /sign-in.

    GET  /sign-in            {"offered", "provider"}: whether there is one, and its host
    POST /sign-in            {"url"}: where the page goes next; the browser gets a cookie
    GET  /sign-in/callback   where the provider sends the browser back to, with a code; leads to the
                             page, signed in, or with why not (`entry_routes.REFUSED`)

The cookie holds 256 random bits, of which state, nonce and PKCE verifier are made (`core.access.
authorization_code`), and whether the page was loaded over TLS; it is good for PENDING_SECONDS and
one return. It is Lax, for the browser comes back from another site; the session's own is Strict, as
always, and new. Only our own page begins (`is_own_page`).

The provider is asked for at most AT_ONCE browsers at a time, beside the event loop; others wait
for a while, and when too many do they hear that the server is busy.
"""

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from redask.core.errors import AskError, BadAsk, Denied, Overloaded, Unauthenticated
from redask.server.http.browser_sessions import cookie_name, is_own_page, is_secure
from redask.server.http.entering.entry_routes import REFUSED, leading_to
from redask.server.http.request_sessions import RequestSessions
from redask.server.http.responses import plain

BEGIN, CALLBACK = "/sign-in", "/sign-in/callback"
PENDING_SECONDS = 600
AT_ONCE, MOST_WAITING, WAIT_SECONDS = 2, 32, 10.0
_COOKIE = "redask_sign_in"
_HELD = re.compile(r"([A-Za-z0-9_-]{43})\.(https?)")
_MOST_CHARACTERS = 4096  # of a code


class IdentityRoutes:
    """See the module."""

    def __init__(self, sessions: RequestSessions) -> None:
        self._sessions = sessions
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    def routes(self) -> list[Route]:
        return [
            Route(BEGIN, self.offered, methods=["GET"]),
            Route(BEGIN, self.begin, methods=["POST"]),
            Route(CALLBACK, self.come_back, methods=["GET"]),
        ]

    async def offered(self, _: Request) -> Response:
        provider = self._sessions.authenticator.identity_provider
        return plain({"offered": bool(provider), "provider": provider})

    async def begin(self, request: Request) -> Response:
        if not is_own_page(request):
            raise Denied("only the page of this server signs a browser in or out")
        if not self._sessions.authenticator.identity_provider:
            raise BadAsk("no identity provider is configured for the page")
        secret, scheme = secrets.token_urlsafe(32), "https" if is_secure(request) else "http"
        async with self._turn():
            url = await self._sessions.authenticator.identity_address(
                _redirect(request, scheme), secret
            )
        reply = plain({"url": url})
        reply.set_cookie(
            cookie_name(request, _COOKIE),
            f"{secret}.{scheme}",
            max_age=PENDING_SECONDS,
            path=BEGIN,
            secure=scheme == "https",
            httponly=True,
            samesite="lax",
        )
        return reply

    async def come_back(self, request: Request) -> Response:
        name = cookie_name(request, _COOKIE)
        held = _HELD.fullmatch(request.cookies.get(name, ""))
        if request.method == "HEAD":  # looks, and uses nothing up
            return leading_to("/")
        try:
            reply = await self._signed_in(request, held)
        except Unauthenticated:
            reply = leading_to(f"{REFUSED}provider")
        except Overloaded:
            reply = leading_to(f"{REFUSED}busy")
        except AskError:
            reply = leading_to(f"{REFUSED}unreachable")
        if held:
            reply.delete_cookie(
                name, path=BEGIN, secure=held[2] == "https", httponly=True, samesite="lax"
            )
        return reply

    async def _signed_in(self, request: Request, held: re.Match[str] | None) -> Response:
        given, authenticator = request.query_params, self._sessions.authenticator
        if held is None or not authenticator.is_identity_state(
            given.get("state", ""), given.get("iss"), held[1]
        ):
            return leading_to(f"{REFUSED}state")
        code = given.get("code", "")
        if not 0 < len(code) <= _MOST_CHARACTERS:  # such as after error=access_denied
            return leading_to(f"{REFUSED}provider")
        address = request.client.host if request.client else ""
        async with self._turn():
            session = await authenticator.sign_in_by_code(
                code, _redirect(request, held[2]), held[1], address
            )
        reply = leading_to("/")
        await self._sessions.browsers.begin(request, reply, session, secure=held[2] == "https")
        return reply

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Room to ask the provider; `Overloaded` when there is none."""
        if self._waiting >= MOST_WAITING:
            raise Overloaded("many people are signing in: try again soon")
        self._waiting += 1
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await self._turns.acquire()
        except TimeoutError:
            raise Overloaded("many people are signing in: try again soon") from None
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._turns.release()


def _redirect(request: Request, scheme: str) -> str:
    return f"{scheme}://{request.headers.get('host', '')}{CALLBACK}"
