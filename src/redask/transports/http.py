"""HTTP: JSON in and out, and server-sent events; `application(desk, gate)` for any ASGI server.

    POST /v1/ask                {"question", "options", "stream"}      the envelope, or SSE
    POST /v1/explain            {"question", "options"}                the plan
    POST /v1/search             {"question", "options"}                {"hits": […]}
    POST /v1/query              {"statement", "params"}                {"rows": […]}
    PUT  /v1/collections/{c}/entities   {"rows", "kind"}               {"urns": […]}
    GET  /v1/sources/{urn}      the URN percent-encoded once more      {"payload", "urn"}
    GET  /v1/audit              ?limit=20&before=SEQ                   {"rows": […]}
    GET  /healthz · /metrics · /openapi.json                 POST /mcp   see `mcp_door`

A stream is asked for by `"stream": true` or `Accept: text/event-stream`. A failure before its
first frame is a plain error; afterwards it is the last frame. Comments keep the line open.
Whoever leaves cancels: the ask stops and is audited as cancelled.

Callers sign in with `Authorization: Bearer …`. Every response carries an `X-Request-Id`, the
caller's own when it sent one. Errors have one shape, from `wire.outcomes`; what was not found
is `not_found`, which only this door knows. Integers that a browser would round are texts
outside the envelope (which holds none).
"""

import asyncio
import re
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import unquote

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redask import errors
from redask.errors import BadAsk, LimitExceeded
from redask.model import Event, Failed
from redask.transports import bodies, openapi
from redask.transports.desk import RETRY_SECONDS, Desk, Gate, Session
from redask.wire import envelope, outcomes, sse
from redask.wire import json as canonical

MAX_BODY = 2 * 1024 * 1024
MAX_ROWS_BODY = 64 * 1024 * 1024
BODY_SECONDS = 30.0  # in which a body must have come
HEARTBEAT_SECONDS = 10.0
_JSON = "application/json"
_REQUEST_ID = re.compile(r"[!-~]{1,128}")
_T = TypeVar("_T")
_Handler = Callable[[Request], Awaitable[Response]]


class HttpDoor:
    """The handlers, around a desk and a gate."""

    def __init__(self, desk: Desk, gate: Gate) -> None:
        self._desk = desk
        self._gate = gate

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
        given = bodies.fields(await _body(request), ("question", "options", "stream"))
        stream = given.get("stream", False)
        if not isinstance(stream, bool):
            raise BadAsk("stream: expected true or false", detail="stream")
        ask = bodies.asked(given)
        if stream or "text/event-stream" in request.headers.get("accept", ""):
            events = self._entered(session.events(ask))
            first = await anext(events)
            return StreamingResponse(_frames(first, events), media_type="text/event-stream")
        async with self._gate.entered():
            answer = await _while_connected(request, session.answer(ask))
        return _json(envelope.build(answer))

    async def explain(self, request: Request) -> Response:
        session = await self._session(request)
        ask = bodies.asked(bodies.fields(await _body(request), ("question", "options")))
        async with self._gate.entered():
            return _json(bodies.for_browsers(await session.plan(ask)))

    async def search(self, request: Request) -> Response:
        session = await self._session(request)
        ask = bodies.asked(bodies.fields(await _body(request), ("question", "options")))
        async with self._gate.entered():
            return _json(await session.find(ask))

    async def query(self, request: Request) -> Response:
        session = await self._session(request)
        given = bodies.fields(await _body(request), ("statement", "params"))
        statement, params = given.get("statement"), given.get("params", [])
        if not isinstance(statement, str):
            raise BadAsk("statement: expected a text", detail="statement")
        if not isinstance(params, list):
            raise BadAsk("params: expected a list", detail="params")
        async with self._gate.entered():
            rows = await _while_connected(request, session.execute(statement, params))
        return _json({"rows": bodies.for_browsers(rows)})

    async def put(self, request: Request) -> Response:
        session = await self._session(request)
        given = bodies.fields(await _body(request, MAX_ROWS_BODY), ("rows", "kind"))
        rows, kind = given.get("rows"), given.get("kind", "row")
        if not isinstance(rows, list):
            raise BadAsk("rows: expected a list of objects", detail="rows")
        if not isinstance(kind, str):
            raise BadAsk("kind: expected a text", detail="kind")
        urns = await session.put(request.path_params["collection"], rows, kind=kind)
        return _json({"urns": urns})

    async def source(self, request: Request) -> Response:
        session = await self._session(request)
        urn = _raw_part(request.scope)
        found = await session.source(urn)
        if found is None:
            return _not_found(f"there is no {urn} that you may read")
        return _json({"payload": found.payload, "urn": found.urn})

    async def audit(self, request: Request) -> Response:
        session = await self._session(request)
        unknown = sorted(set(request.query_params) - {"limit", "before"})
        if unknown:
            raise BadAsk(f"{unknown[0][:100]!a}: expected limit or before", detail="query")
        limit = _number(request, "limit", 20, 1000)
        before = _number(request, "before", None, 2**63 - 1)
        rows = await session.audit_rows(limit or 20, before)
        return _json({"rows": bodies.for_browsers(rows)})

    async def _session(self, request: Request) -> Session:
        given = request.headers.get("authorization")
        if given is None:
            return await self._desk.sign_in(None)
        scheme, _, token = given.partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise errors.Unauthenticated("expected the header `Authorization: Bearer TOKEN`")
        return await self._desk.sign_in(token.strip())

    async def _entered(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """The events, from inside the gate."""
        async with aclosing(events), self._gate.entered():
            async for event in events:
                yield event


class _Asgi:
    """An ASGI application as a route's endpoint; a plain function would be taken for a handler."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


class Envelope:
    """What is around every request: its id, and errors that found no handler."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        own = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        name = own if _REQUEST_ID.fullmatch(own) else secrets.token_hex(8)

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", []), (b"x-request-id", name.encode())]
                message = {**message, "headers": headers}
            await send(message)

        await self._inner(scope, receive, named)


def application(desk: Desk, gate: Gate) -> ASGIApp:
    """The ASGI application of this door, with MCP at /mcp where its SDK is installed."""
    handlers: dict[Any, Any] = {
        errors.AskError: _failed,
        HTTPException: _unrouted,
        Exception: _failed,
    }
    routes: list[BaseRoute] = [*HttpDoor(desk, gate).routes()]
    manager = _mcp_manager(desk, gate)
    if manager is not None:
        routes.append(Route("/mcp", endpoint=_Asgi(manager.asgi_app)))

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if manager is not None:
                await stack.enter_async_context(manager.run())
            yield

    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=living)
    return Envelope(app)


def _mcp_manager(desk: Desk, gate: Gate) -> Any:
    """The SDK's session manager around our server, or None."""
    try:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from redask.transports import mcp_door
    except ImportError:
        return None
    return StreamableHTTPSessionManager(mcp_door.server(desk, gate), stateless=True)


# --- answers ---------------------------------------------------------------------------------


def _json(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(canonical.encode(value), status, headers, media_type=_JSON)


async def _failed(_: Request, error: Exception) -> Response:
    outcome = outcomes.of(error)
    headers = {}
    if isinstance(error, errors.Overloaded):
        headers["Retry-After"] = str(RETRY_SECONDS)
    if isinstance(error, errors.Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    return _json(outcomes.body(error), outcome.http, headers)


async def _unrouted(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return _not_found("there is nothing at this address: see /openapi.json")
    shown = {"error": {"detail": "", "kind": "bad_ask", "message": str(error.detail)}}
    return _json(shown, error.status_code, dict(error.headers or {}))


def _not_found(message: str) -> Response:
    return _json({"error": {"detail": "", "kind": "not_found", "message": message}}, 404)


async def _frames(first: Event, events: AsyncGenerator[Event, None]) -> AsyncIterator[bytes]:
    """The frames of a stream, and comments while it is silent."""
    async with aclosing(events):
        yield sse.encode(first)
        pending: asyncio.Future[Event] | None = None
        try:
            while True:
                pending = pending or asyncio.ensure_future(anext(events))
                done, _ = await asyncio.wait([pending], timeout=HEARTBEAT_SECONDS)
                if not done:
                    yield sse.HEARTBEAT
                    continue
                event, pending = pending.result(), None
                yield sse.encode(event)
        except StopAsyncIteration:
            return
        except errors.AskError as error:
            yield sse.encode(Failed(error))
        finally:
            if pending is not None and not pending.done():
                pending.cancel()
                with suppress(asyncio.CancelledError, StopAsyncIteration):
                    await pending


# --- requests --------------------------------------------------------------------------------


async def _body(request: Request, most: int = MAX_BODY) -> object:
    """The JSON of a body that is neither too large nor too slow."""
    kind = request.headers.get("content-type", _JSON).split(";")[0].strip().lower()
    if kind != _JSON:
        raise BadAsk(f"expected the content type {_JSON}", detail="content-type")
    pieces, size = [], 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                size += len(piece)
                if size > most:
                    raise LimitExceeded("body", f"the body is longer than {most} bytes")
                pieces.append(piece)
    except TimeoutError:
        raise BadAsk(f"the body did not come within {BODY_SECONDS:.0f} seconds") from None
    return bodies.read(b"".join(pieces))


async def _while_connected(request: Request, work: Coroutine[Any, Any, _T]) -> _T:
    """The work's result; when the caller leaves, the work is cancelled."""
    running = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait([running, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            running.cancel()
        return await running
    except asyncio.CancelledError:
        if not running.done():  # the server stops: the ask ends with its audit row
            running.cancel()
            await asyncio.wait([running])
            raise
        raise errors.Cancelled("the caller left") from None
    finally:
        leaving.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _raw_part(scope: Scope) -> str:
    """The URN in the path, decoded once: the path as the caller wrote it, not as ASGI read it."""
    raw = scope.get("raw_path", scope["path"].encode()).split(b"?")[0]
    return unquote(raw.decode("latin-1").partition("/v1/sources/")[2])


def _number(request: Request, name: str, default: int | None, most: int) -> int | None:
    text = request.query_params.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:20]) <= most):
        raise BadAsk(f"{name}: expected a number from 1 to {most}", detail=name)
    return int(text)


async def _healthy(_: Request) -> Response:
    return _json({"status": "ok"})


async def _metrics(_: Request) -> Response:
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


async def _openapi(_: Request) -> Response:
    return _json(openapi.document())
