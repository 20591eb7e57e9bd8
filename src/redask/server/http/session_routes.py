"""Signing in with a browser: GET, POST and DELETE /v1/session.

    GET      who is signed in, if anybody is
    POST     with a token in the head: a session for this browser, in a cookie; see
             `browser_sessions`. On a server without sign-in there is nothing to begin.
    DELETE   signs the browser out

POST and DELETE are for our own page, and refused to others of which a browser tells.
"""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from redask.api.asynchronous import AsyncDatabase
from redask.core.errors import Denied
from redask.server.http.browser_sessions import is_own_page
from redask.server.http.request_sessions import RequestSessions
from redask.server.http.responses import plain

_NOBODY = {"anonymous": False, "role": "", "signed_in": False, "tenant": "", "user": ""}


class SessionRoutes:
    """See the module."""

    def __init__(self, sessions: RequestSessions) -> None:
        self._sessions = sessions

    def routes(self) -> list[Route]:
        return [
            Route("/v1/session", self.show, methods=["GET"]),
            Route("/v1/session", self.begin, methods=["POST"]),
            Route("/v1/session", self.end, methods=["DELETE"]),
        ]

    async def show(self, request: Request) -> Response:
        known = self._sessions.authenticator.anonymous or "authorization" in request.headers
        if not known and await self._sessions.browsers.of(request) is None:
            return plain(_NOBODY)  # a page that is opened is no failed sign-in
        return plain(await self._described(await self._sessions.of(request)))

    async def begin(self, request: Request) -> Response:
        _check_page(request)
        session = await self._sessions.of(request)
        reply = plain(await self._described(session))
        if "authorization" in request.headers:
            await self._sessions.browsers.begin(request, reply, session)
        return reply

    async def end(self, request: Request) -> Response:
        _check_page(request)
        reply = plain(_NOBODY)
        await self._sessions.of(request)
        await self._sessions.browsers.end(request, reply)
        return reply

    async def _described(self, session: AsyncDatabase) -> dict[str, object]:
        who = await session.whoami()
        return {
            "anonymous": self._sessions.authenticator.anonymous,
            "role": who.role,
            "signed_in": True,
            "tenant": who.tenant,
            "user": who.user,
        }


def _check_page(request: Request) -> None:
    if not is_own_page(request):
        raise Denied("only the page of this server signs a browser in or out")
