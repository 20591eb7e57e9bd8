"""HTTP: JSON and server-sent events; `application(authenticator, admission)` for any ASGI server.

    POST /v1/ask                {"question", "options", "stream"}      the envelope, or SSE
    POST /v1/explain            {"question", "options"}                the plan
    POST /v1/search             {"question", "options"}                {"hits": […]}
    POST /v1/query              {"statement", "params"}                {"rows": […]}
    PUT  /v1/collections/{c}/entities   {"rows", "kind"}               {"urns": […]}
    GET  /v1/sources/{urn}      the URN percent-encoded once more      {"payload", "urn"}
    GET  /v1/audit              ?limit=20&before=SEQ                   {"rows": […]}
    GET  /healthz · /metrics · /openapi.json                 POST /mcp   see `mcp_transport`

A stream is asked for by `"stream": true` or `Accept: text/event-stream`. A failure before its
first frame is a plain error; afterwards it is the last frame. Comments keep the connection open.
A client that disconnects cancels its ask, which is audited as cancelled.

Callers sign in with `Authorization: Bearer …`. Every response carries an `X-Request-Id`, the
caller's own when it sent one. Errors have one shape, from `wire.outcomes`; what was not found
is `not_found`, which only this transport knows. Integers that a browser would round are texts
outside the envelope (which holds none).
"""

import asyncio
import ipaddress
import re
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import unquote

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redask.api.asynchronous import AsyncDatabase
from redask.core import errors
from redask.core.errors import BadAsk, LimitExceeded
from redask.core.wire import envelope
from redask.server import request_json
from redask.server.admission import Admission, Disconnected
from redask.server.http import openapi, responses
from redask.server.http.responses import EventStream, not_found, plain
from redask.server.sessions import Authenticator, audit_rows, bearer

MAX_BODY = 2 * 1024 * 1024
MAX_ROWS_BODY = 64 * 1024 * 1024
BODY_SECONDS = 30.0  # in which a body must have come
HEARTBEAT_SECONDS = 10.0
_ELSEWHERE = 256 * 1024  # a body of this size is parsed in a thread
_REQUEST_ID = re.compile(r"[!-~]{1,128}")
_Handler = Callable[[Request], Awaitable[Response]]


class HttpTransport:
    """The handlers, around an authenticator and an admission."""

    def __init__(self, authenticator: Authenticator, admission: Admission) -> None:
        self._authenticator = authenticator
        self._admission = admission

    def routes(self) -> list[Route]:
        return [
            Route("/v1/ask", self.ask, methods=["POST"]),
            Route("/v1/explain", self.explain, methods=["POST"]),
            Route("/v1/search", self.search, methods=["POST"]),
            Route("/v1/query", self.query, methods=["POST"]),
            Route("/v1/collections/{collection}/entities", self.put, methods=["PUT"]),
            Route("/v1/sources/{urn:path}", self.source, methods=["GET"]),
            Route("/v1/audit", self.audit, methods=["GET"]),
            Route("/healthz", _healthy, methods=["GET"]),
            Route("/metrics", _metrics, methods=["GET"]),
            Route("/openapi.json", _openapi, methods=["GET"]),
        ]

    async def ask(self, request: Request) -> Response:
        session = await self._session(request)
        given = request_json.fields(await _body(request), ("question", "options", "stream"))
        stream = given.get("stream", False)
        if not isinstance(stream, bool):
            raise BadAsk("stream: expected true or false", detail="stream")
        ask = request_json.asked(given)
        if stream or "text/event-stream" in request.headers.get("accept", ""):
            events = self._admission.stream(
                lambda emit: session.answer(ask, emit), _disconnected(request), HEARTBEAT_SECONDS
            )
            return EventStream(await anext(events), events)
        answer = await self._admission.run(lambda: session.answer(ask), _disconnected(request))
        return plain(envelope.build(answer))

    async def explain(self, request: Request) -> Response:
        session = await self._session(request)
        ask = request_json.asked(request_json.fields(await _body(request), ("question", "options")))
        plan = await self._admission.run(lambda: session.plan(ask), _disconnected(request))
        return plain(request_json.for_browsers(plan))

    async def search(self, request: Request) -> Response:
        session = await self._session(request)
        ask = request_json.asked(request_json.fields(await _body(request), ("question", "options")))
        found = await self._admission.run(lambda: session.find(ask), _disconnected(request))
        return plain(request_json.for_browsers(found.to_dict()))

    async def query(self, request: Request) -> Response:
        session = await self._session(request)
        given = request_json.fields(await _body(request), ("statement", "params"))
        statement, params = given.get("statement"), given.get("params", [])
        if not isinstance(statement, str):
            raise BadAsk("statement: expected a text", detail="statement")
        if not isinstance(params, list):
            raise BadAsk("params: expected a list", detail="params")
        rows = await self._admission.run(
            lambda: session.query(statement, params), _disconnected(request)
        )
        return await _rows_reply(rows)

    async def put(self, request: Request) -> Response:
        session = await self._session(request)
        given = request_json.fields(await _body(request, MAX_ROWS_BODY), ("rows", "kind"))
        rows, kind = given.get("rows"), given.get("kind", "row")
        if not isinstance(rows, list):
            raise BadAsk("rows: expected a list of objects", detail="rows")
        if not isinstance(kind, str):
            raise BadAsk("kind: expected a text", detail="kind")
        collection = request.path_params["collection"]
        urns = await self._admission.run(lambda: session.put(collection, rows, kind=kind))
        return plain({"urns": urns})

    async def source(self, request: Request) -> Response:
        session = await self._session(request)
        urn = _raw_part(request.scope)
        found = await session.source(urn)
        if found is None:
            return not_found(f"there is no {urn} that you may read")
        return plain({"payload": found.payload, "urn": found.urn})

    async def audit(self, request: Request) -> Response:
        session = await self._session(request)
        unknown = sorted(set(request.query_params) - {"limit", "before"})
        if unknown:
            raise BadAsk(f"{unknown[0][:100]!a}: expected limit or before", detail="query")
        limit = _number(request, "limit", 20, 1000)
        before = _number(request, "before", None, 2**63 - 1)
        rows = audit_rows(await session.audit(limit or 20, before))
        return await _rows_reply(rows)

    async def _session(self, request: Request) -> AsyncDatabase:
        return await self._authenticator.sign_in(bearer(request.headers.get("authorization")))


class _Mcp:
    """The SDK's application as a route's endpoint, with our limits on what it reads.

    A plain function would be taken for a handler.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        whole: bytes | None = await _read(Request(scope, receive), MAX_BODY)

        async def replayed() -> Message:
            nonlocal whole
            if whole is None:
                return await receive()
            body, whole = whole, None
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, replayed, send)


class Envelope:
    """Middleware of every request: its id, the allowed hosts, and unexpected errors."""

    def __init__(self, inner: ASGIApp, *, local_only: bool) -> None:
        self._inner = inner
        self._local_only = local_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        headers = dict(scope["headers"])
        own = headers.get(b"x-request-id", b"").decode("latin-1")
        name = own if _REQUEST_ID.fullmatch(own) else secrets.token_hex(8)
        started = False

        async def named(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                given = [*message.get("headers", []), (b"x-request-id", name.encode())]
                message = {**message, "headers": given}
            await send(message)

        if self._local_only and not _is_local(headers.get(b"host", b"").decode("latin-1")):
            reply = responses.refused(403, "denied", "without sign-in, only local names are served")
            await reply(scope, receive, named)
            return
        try:
            await self._inner(scope, receive, named)
        except ClientDisconnect:
            pass
        except Exception as error:
            if not started:
                await responses.failed(error)(scope, receive, named)


async def _rows_reply(rows: list[dict[str, Any]]) -> Response:
    """Rows as JSON; many are encoded beside the event loop."""

    def reply() -> Response:
        return plain({"rows": request_json.for_browsers(rows)})

    return await asyncio.to_thread(reply) if len(rows) > request_json.LOOP_ROWS else reply()


def application(
    authenticator: Authenticator, admission: Admission, *, local_only: bool = False
) -> ASGIApp:
    """The ASGI application of this transport, with MCP at /mcp where its SDK is installed.

    With `local_only`, requests must name this machine as their host: where callers need not
    sign in, a web page that had its own name point here would act as the owner.
    """
    handlers: dict[Any, Any] = {errors.AskError: _failed, HTTPException: _unrouted}
    routes: list[BaseRoute] = [*HttpTransport(authenticator, admission).routes()]
    manager = _mcp_manager(authenticator, admission)
    if manager is not None:
        routes.append(Route("/mcp", endpoint=_Mcp(manager.asgi_app), methods=["POST"]))

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if manager is not None:
                await stack.enter_async_context(manager.run())
            yield

    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=living)
    app.router.redirect_slashes = False
    return Envelope(app, local_only=local_only)


def _mcp_manager(authenticator: Authenticator, admission: Admission) -> Any:
    """The SDK's session manager around our server, or None."""
    try:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from redask.server import mcp_transport
    except ImportError:
        return None
    mcp_transport.quieten()
    return StreamableHTTPSessionManager(
        mcp_transport.server(authenticator, admission), stateless=True
    )


async def _failed(request: Request, error: Exception) -> Response:
    response = responses.failed(error)
    if getattr(request.state, "unread", False):  # the rest of the body would be read as a request
        response.headers["Connection"] = "close"
    return response


async def _unrouted(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return not_found("there is nothing at this address: see /openapi.json")
    headers = dict(error.headers or {})
    return responses.refused(error.status_code, "bad_ask", str(error.detail), headers)


# --- requests --------------------------------------------------------------------------------


async def _body(request: Request, most: int = MAX_BODY) -> object:
    """The JSON of a body that is neither too large nor too slow."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != responses.JSON:  # nor none: a page elsewhere may send that without being asked
        raise BadAsk(f"expected the content type {responses.JSON}", detail="content-type")
    whole = await _read(request, most)
    if len(whole) < _ELSEWHERE:
        return request_json.read(whole)
    return await asyncio.to_thread(request_json.read, whole)


async def _read(request: Request, most: int) -> bytes:
    """The bytes of such a body."""
    pieces, size = [], 0
    request.state.unread = True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                size += len(piece)
                if size > most:
                    raise LimitExceeded("body", f"the body is longer than {most} bytes")
                pieces.append(piece)
    except TimeoutError:
        raise BadAsk(f"the body did not come within {BODY_SECONDS:.0f} seconds") from None
    request.state.unread = False
    return b"".join(pieces)


def _disconnected(request: Request) -> Disconnected:
    """What returns when the client of a request, whose body was read, has disconnected."""

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    return disconnected


def _is_local(host: str) -> bool:
    """Whether a Host header names this machine: localhost, or an address, which no name is."""
    name = host.rpartition(":")[0] if re.search(r":\d*\Z", host) else host
    if name.lower() == "localhost":
        return True
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _raw_part(scope: Scope) -> str:
    """The URN in the path, decoded once: the path as the caller wrote it, not as ASGI read it."""
    raw = scope.get("raw_path", scope["path"].encode()).split(b"?")[0]
    return unquote(raw.decode("latin-1").partition("/v1/sources/")[2])


def _number(request: Request, name: str, default: int | None, most: int) -> int | None:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 20 and 1 <= int(text) <= most):
        raise BadAsk(f"{name}: expected a number from 1 to {most}", detail=name)
    return int(text)


async def _healthy(_: Request) -> Response:
    return plain({"status": "ok"})


async def _metrics(_: Request) -> Response:
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


async def _openapi(_: Request) -> Response:
    return plain(openapi.document())
