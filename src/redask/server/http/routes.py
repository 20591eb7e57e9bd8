"""HTTP: JSON and server-sent events; `application(authenticator, admission)` for any ASGI server.

    POST /v1/ask                {"question", "options", "stream"}      the envelope, or SSE
    POST /v1/explain            {"question", "options"}                the plan
    POST /v1/search             {"question", "options"}                {"hits": […]}
    POST /v1/query              {"statement", "params"}                {"rows": […]}
    PUT  /v1/collections/{c}/entities   {"rows", "kind"}               {"urns": […]}
    GET  /v1/sources/{urn}      the URN percent-encoded once more      {"payload", "urn"}
    GET  /v1/audit              ?limit=20&before=SEQ                   {"rows": […]}
    GET  /healthz · /metrics · /openapi.json                 POST /mcp   see `mcp_endpoint`

A stream is asked for by `"stream": true` or `Accept: text/event-stream`. A failure before its
first frame is a plain error; afterwards it is the last frame. Comments keep the connection open.
A client that disconnects cancels its ask, which is audited as cancelled.

Callers sign in with `Authorization: Bearer …`. What holds for every request is in `around`, how
bodies are read in `bodies`. Errors have one shape, from `wire.outcomes`; what was not found
is `not_found`, which only this transport knows. Integers that a browser would round are texts
outside the envelope (which holds none).
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import unquote

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Scope

from redask.api.asynchronous import AsyncDatabase
from redask.core import errors
from redask.core.errors import BadAsk
from redask.core.wire import envelope
from redask.server import request_json
from redask.server.admission import Admission, Disconnected
from redask.server.http import bodies, openapi, responses
from redask.server.http.around import Around
from redask.server.http.cross_origin import Origins
from redask.server.http.responses import EventStream, not_found, plain
from redask.server.sessions import Authenticator, audit_rows, bearer

HEARTBEAT_SECONDS = 10.0
PortHealth = Callable[[], str]


class HttpTransport:
    """The handlers, around an authenticator and an admission."""

    def __init__(
        self, authenticator: Authenticator, admission: Admission, health: PortHealth = lambda: "ok"
    ) -> None:
        self._authenticator = authenticator
        self._admission = admission
        self._health = health

    def routes(self) -> list[Route]:
        return [
            Route("/v1/ask", self.ask, methods=["POST"]),
            Route("/v1/explain", self.explain, methods=["POST"]),
            Route("/v1/search", self.search, methods=["POST"]),
            Route("/v1/query", self.query, methods=["POST"]),
            Route("/v1/collections/{collection}/entities", self.put, methods=["PUT"]),
            Route("/v1/sources/{urn:path}", self.source, methods=["GET"]),
            Route("/v1/audit", self.audit, methods=["GET"]),
            Route("/healthz", self.healthy, methods=["GET"]),
            Route("/metrics", _metrics, methods=["GET"]),
            Route("/openapi.json", _openapi, methods=["GET"]),
        ]

    async def ask(self, request: Request) -> Response:
        session = await self._session(request)
        given = request_json.fields(
            await bodies.read_json(request), ("question", "options", "stream")
        )
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
        ask = request_json.asked(
            request_json.fields(await bodies.read_json(request), ("question", "options"))
        )
        plan = await self._admission.run(lambda: session.plan(ask), _disconnected(request))
        return plain(request_json.for_browsers(plan))

    async def search(self, request: Request) -> Response:
        session = await self._session(request)
        ask = request_json.asked(
            request_json.fields(await bodies.read_json(request), ("question", "options"))
        )
        found = await self._admission.run(lambda: session.find(ask), _disconnected(request))
        return plain(request_json.for_browsers(found.to_dict()))

    async def query(self, request: Request) -> Response:
        session = await self._session(request)
        given = request_json.fields(await bodies.read_json(request), ("statement", "params"))
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
        given = request_json.fields(
            await bodies.read_json(request, bodies.MAX_ROWS_BODY), ("rows", "kind")
        )
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
        found = await self._admission.run(lambda: session.source(urn), _disconnected(request))
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
        entries = await self._admission.run(lambda: session.audit(limit or 20, before))
        return await _rows_reply(audit_rows(entries))

    async def healthy(self, _: Request) -> Response:
        status = self._health()
        return plain({"status": status}, 200 if status == "ok" else 503)

    async def _session(self, request: Request) -> AsyncDatabase:
        return await self._authenticator.sign_in(bearer(request.headers.get("authorization")))


async def _rows_reply(rows: list[dict[str, Any]]) -> Response:
    """Rows as JSON; many are encoded beside the event loop."""

    def reply() -> Response:
        return plain({"rows": request_json.for_browsers(rows)})

    return await asyncio.to_thread(reply) if len(rows) > request_json.LOOP_ROWS else reply()


def application(
    authenticator: Authenticator,
    admission: Admission,
    *,
    local_only: bool = False,
    origins: Origins | None = None,
    health: PortHealth = lambda: "ok",
) -> ASGIApp:
    """The ASGI application of this transport, with MCP at /mcp where its SDK is installed.

    `local_only` and `origins` are those of `around`; `health` says "ok", or what is the matter.
    """
    handlers: dict[Any, Any] = {errors.AskError: _failed, HTTPException: _unrouted}
    routes: list[BaseRoute] = [*HttpTransport(authenticator, admission, health).routes()]
    endpoint = _mcp_endpoint(authenticator, admission)
    if endpoint is not None:
        routes.append(Route("/mcp", endpoint=endpoint, methods=["POST"]))

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            if endpoint is not None:
                await stack.enter_async_context(endpoint.run())
            yield

    app = Starlette(routes=routes, exception_handlers=handlers, lifespan=living)
    app.router.redirect_slashes = False
    return Around(app, local_only=local_only, origins=origins or Origins())


def _mcp_endpoint(authenticator: Authenticator, admission: Admission) -> Any:
    """MCP as a route's endpoint, or None."""
    try:
        from redask.server.mcp_endpoint import McpEndpoint
    except ImportError:
        return None
    return McpEndpoint(
        authenticator, admission, lambda request: bodies.read_bytes(request, bodies.MAX_BODY)
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


def _disconnected(request: Request) -> Disconnected:
    """What returns when the client of a request, whose body was read, has disconnected."""

    async def disconnected() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    return disconnected


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


async def _metrics(_: Request) -> Response:
    return Response(generate_latest(), media_type=CONTENT_TYPE_LATEST)


async def _openapi(_: Request) -> Response:
    return plain(openapi.document())
