"""MCP over HTTP: `McpEndpoint`, the SDK's streamable HTTP behind our sign-in and our limits.

Whoever does not sign in gets 401 with `WWW-Authenticate` at the first request, so that nobody
believes to be connected; where the settings say so (`serve.public`), everybody may list the tools.
Bodies are read by `http.bodies`: bounded (the SDK parses them on the event loop), and gzip is
unpacked.

The server keeps no sessions. A client that initializes is given a random label as its session's
id; a later `notifications/cancelled` names the request by it. Only who has the label and the
token that the request was sent with cancels it.
"""

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from redask.server.admission import Admission
from redask.server.http import bodies
from redask.server.http.request_sessions import signed_in
from redask.server.mcp_transport import SESSION_HEADER, McpTransport, quieten
from redask.server.sessions import Authenticator, bearer
from redask.server.supervising.process_link import ProcessLink

_CANCELLED = "notifications/cancelled"
_SMALL = 64 * 1024  # neither message is larger
# what the tools are listed with, where the operator opened that to everybody
_FOR_GUESTS = ("initialize", "notifications/initialized", "ping", "tools/list")


class McpEndpoint:
    """An ASGI application for one route; `run` it around the server's life."""

    def __init__(
        self, authenticator: Authenticator, admission: Admission, link: ProcessLink | None = None
    ) -> None:
        quieten()
        self._authenticator = authenticator
        self._transport = McpTransport(authenticator, admission, None, link)
        self._manager = StreamableHTTPSessionManager(self._transport.server(), stateless=True)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        token = bearer(request.headers.get("authorization"))
        is_guest = token is None and "tools" in self._authenticator.public
        if not is_guest:
            await signed_in(request, self._authenticator)
        body = await bodies.read_message(request, _SMALL if is_guest else bodies.MAX_BODY)
        message = _small_message(body)
        if is_guest and message.get("method") not in _FOR_GUESTS:
            await signed_in(request, self._authenticator)
        label = request.headers.get(SESSION_HEADER)
        if message.get("method") == _CANCELLED and label:
            params: Any = message.get("params")
            name = params.get("requestId") if isinstance(params, dict) else None
            if isinstance(name, str | int):
                self._transport.cancel((label, token, name))
            await Response(status_code=202)(scope, receive, send)
            return

        unread = [body]

        async def replayed() -> Message:
            if not unread:
                return await receive()
            return {"type": "http.request", "body": unread.pop(), "more_body": False}

        if message.get("method") == "initialize" and not label:
            send = _labelling(send)
        await self._manager.asgi_app(_plain(scope), replayed, send)


def _labelling(send: Send) -> Send:
    """The same, with a label of the session in the head of a reply that is good."""

    async def labelled(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            label = (SESSION_HEADER.encode(), secrets.token_hex(16).encode())
            message = {**message, "headers": [*message.get("headers", []), label]}
        await send(message)

    return labelled


def _plain(scope: Scope) -> Scope:
    """The head of a request whose body was unpacked."""
    hidden = (b"content-encoding", b"content-length", b"transfer-encoding")
    return {**scope, "headers": [each for each in scope["headers"] if each[0] not in hidden]}


def _small_message(whole: bytes) -> dict[str, Any]:
    """The message of a body, if it is small and JSON; what is not, the SDK refuses."""
    if len(whole) > _SMALL:
        return {}
    try:
        found = json.loads(whole)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
