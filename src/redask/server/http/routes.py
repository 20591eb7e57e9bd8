"""HTTP: JSON and server-sent events; `application(authenticator, admission)` for any ASGI server.

    POST /v1/ask                {"question", "options", "stream"}      the envelope, or SSE
    POST /v1/explain            {"question", "options"}                the plan
    POST /v1/search             {"question", "options", "ranks"}       {"hits": […]}
    POST /v1/query              {"statement", "params"}                {"rows": […]}
    PUT  /v1/collections/{c}/entities   {"rows", "kind"}               {"urns": […]}
    GET  /v1/sources/{urn}      the URN percent-encoded once more      {"payload", "urn"}
    GET  /v1/audit              ?limit=20&before=SEQ&log=ask           {"rows": […]}
    GET  /healthz · /readyz · /metrics · /openapi.json       POST /mcp   see `mcp_endpoint`
    more of them: `session_routes`, `data_routes`, `administration_routes`; the page: `page_files`,
    and how a browser comes to it signed in: `entry_routes`, `identity_routes`; for chat programs,
    in the shapes of OpenAI's API: `chat.chat_routes`

A stream is asked for by `"stream": true` or `Accept: text/event-stream`. A failure before its
first frame is a plain error; afterwards it is the last frame. Comments keep the connection open.
A client that disconnects cancels its ask, which is audited as cancelled.

Callers sign in with `Authorization: Bearer …`, or with the cookie of our own page, before a body is
read; /healthz, /readyz and the files of the page are for everybody, and so is what `serve.public`
lists. /metrics are for who may audit, on a server of one tenant. What holds for every request is in
`around`, how bodies are read in `bodies`. Errors have one shape, from `wire.outcomes`; what was not
found is `not_found`, which only this transport knows. Integers that a browser would round are texts
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

from redask.core import errors
from redask.core.errors import BadAsk
from redask.core.wire import envelope
from redask.core.wire.row_json import for_browsers
from redask.server import request_json
from redask.server.admission import Admission
from redask.server.http import asking, bodies, openapi, responses
from redask.server.http.administration_routes import AdministrationRoutes
from redask.server.http.around import Around
from redask.server.http.browser_sessions import BrowserSessions
from redask.server.http.chat.chat_routes import ChatRoutes
from redask.server.http.chat.error_shapes import shaped
from redask.server.http.cross_origin import Origins
from redask.server.http.data_routes import DataRoutes
from redask.server.http.entering.entry_codes import EntryCodes
from redask.server.http.entering.entry_routes import entry_routes
from redask.server.http.entering.identity_routes import IdentityRoutes
from redask.server.http.page_files import page_routes
from redask.server.http.request_sessions import RequestSessions
from redask.server.http.responses import disconnected, not_found, plain
from redask.server.http.session_routes import SessionRoutes
from redask.server.readiness import LAGGING, is_ready
from redask.server.sessions import Authenticator, audit_rows
from redask.server.supervising.parents_sessions import ParentsSessions
from redask.server.supervising.process_link import ProcessLink
from redask.server.supervising.summed_metrics import summed

_LOOP_CHARACTERS = 256 * 1024  # of payloads: up to these, encoding takes a millisecond or two
PortHealth = Callable[[], str]
Reasons = Callable[[], tuple[str, ...]]


class HttpTransport:
    """The handlers, around an authenticator and an admission."""

    def __init__(
        self,
        authenticator: Authenticator,
        admission: Admission,
        health: PortHealth = lambda: "ok",
        reasons: Reasons = lambda: (),
        link: ProcessLink | None = None,
    ) -> None:
        self._authenticator = authenticator
        held = ParentsSessions(link, authenticator) if link else None
        self._sessions = RequestSessions(authenticator, admission, BrowserSessions(held))
        self._link = link
        self._health = health
        self._reasons = reasons

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
            Route("/readyz", self.ready, methods=["GET"]),
            Route("/metrics", self.metrics, methods=["GET"]),
            Route("/openapi.json", self.description, methods=["GET"]),
            *ChatRoutes(self._sessions).routes(),
            *SessionRoutes(self._sessions).routes(),
            *DataRoutes(self._sessions).routes(),
            *AdministrationRoutes(self._sessions).routes(),
        ]

    def entries(self, codes: EntryCodes | None) -> list[Route]:
        """What a browser goes through on its way to the page; no part of the API."""
        return [*entry_routes(self._sessions, codes), *IdentityRoutes(self._sessions).routes()]

    async def ask(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        given = request_json.fields(
            await bodies.read_json(request), ("question", "options", "stream")
        )
        stream = given.get("stream", False)
        if not isinstance(stream, bool):
            raise BadAsk("stream: expected true or false", detail="stream")
        ask = request_json.asked(given)
        room = self._sessions.room(session)
        if stream or "text/event-stream" in request.headers.get("accept", ""):
            return await asking.streamed(request, room, session, ask)
        return plain(envelope.build(await asking.answered(request, room, session, ask)))

    async def explain(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        ask = request_json.asked(
            request_json.fields(await bodies.read_json(request), ("question", "options"))
        )
        plan = await self._sessions.room(session).run(
            lambda: session.plan(ask), disconnected(request)
        )
        return plain(for_browsers(plan))

    async def search(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        given = request_json.fields(
            await bodies.read_json(request), ("question", "options", "ranks")
        )
        ranks = given.get("ranks", False)
        if not isinstance(ranks, bool):
            raise BadAsk("ranks: expected true or false", detail="ranks")
        ask = request_json.asked(given)
        found = await self._sessions.room(session).run(
            lambda: session.find(ask), disconnected(request)
        )
        large = sum(len(hit.payload) for hit in found.hits) > _LOOP_CHARACTERS
        more = {"ranks": found.ranks()} if ranks else {}
        return await _made(lambda: plain(for_browsers({**found.to_dict(), **more})), large)

    async def query(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        given = request_json.fields(await bodies.read_json(request), ("statement", "params"))
        statement, params = given.get("statement"), given.get("params", [])
        if not isinstance(statement, str):
            raise BadAsk("statement: expected a text", detail="statement")
        if not isinstance(params, list):
            raise BadAsk("params: expected a list", detail="params")
        room = self._sessions.room(session)
        turn = room.result()
        try:
            rows = await room.run(
                lambda: session.query_json(statement, params, browsers=True, turn=turn.begin),
                disconnected(request),
            )
        except BaseException:
            turn.end()
            raise
        return responses.encoded([b'{"rows":', *rows, b"}"], turn.end)

    async def put(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        await session.check_may_write()  # before its body is read
        given = request_json.fields(await bodies.read_rows(request), ("rows", "kind"))
        rows, kind = given.get("rows"), given.get("kind", "row")
        if not isinstance(rows, list):
            raise BadAsk("rows: expected a list of objects", detail="rows")
        if not isinstance(kind, str):
            raise BadAsk("kind: expected a text", detail="kind")
        collection = request.path_params["collection"]
        urns = await self._sessions.room(session).run(
            lambda: session.put(collection, rows, kind=kind)
        )
        return plain({"urns": urns})

    async def source(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        urn = _raw_part(request.scope)
        found = await self._sessions.room(session).run(
            lambda: session.source(urn), disconnected(request)
        )
        if found is None:
            return not_found(f"there is no {urn} that you may read")
        return plain({"payload": found.payload, "urn": found.urn})

    async def audit(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        unknown = sorted(set(request.query_params) - {"limit", "before", "log"})
        if unknown:
            raise BadAsk(f"{unknown[0][:100]!a}: expected limit, before or log", detail="query")
        log = request.query_params.get("log", "ask")
        limit = _number(request, "limit", 20, 1000)
        before = _number(request, "before", None, 2**63 - 1)
        entries = await self._sessions.room(session).run(
            lambda: session.audit(limit or 20, before, log=log)
        )
        return await _made(lambda: _rows(audit_rows(entries)), True)

    async def healthy(self, _: Request) -> Response:
        status = self._health()
        return plain({"status": status}, 200 if status == "ok" else 503)

    async def ready(self, _: Request) -> Response:
        reasons = self._reasons()
        ready = is_ready(reasons)
        far = {"lag_bytes": self._authenticator.lag_bytes} if LAGGING in reasons else {}
        return plain({"ready": ready, "reasons": list(reasons), **far}, 200 if ready else 503)

    async def metrics(self, request: Request) -> Response:
        if "metrics" not in self._authenticator.public:
            await self._authenticator.check_metrics(await self._sessions.of(request))
        found = generate_latest() if self._link is None else await asyncio.to_thread(summed)
        return Response(found, media_type=CONTENT_TYPE_LATEST)

    async def description(self, request: Request) -> Response:
        if "openapi" not in self._authenticator.public:
            await self._sessions.of(request)
        return plain(openapi.document())


def _rows(rows: list[dict[str, Any]]) -> Response:
    return plain({"rows": for_browsers(rows)})


async def _made(reply: Callable[[], Response], large: bool) -> Response:
    """A reply; a large one is encoded beside the event loop."""
    return await asyncio.to_thread(reply) if large else reply()


def application(
    authenticator: Authenticator,
    admission: Admission,
    *,
    local_only: bool = False,
    origins: Origins | None = None,
    health: PortHealth = lambda: "ok",
    reasons: Reasons = lambda: (),
    entry: EntryCodes | None = None,
    link: ProcessLink | None = None,
) -> ASGIApp:
    """The ASGI application of this transport, with MCP at /mcp where its SDK is installed.

    `local_only` and `origins` are those of `around`; `health` says "ok", or what is the matter,
    `reasons` what `readiness` has to say; `entry` are the codes that a browser may come with;
    `link` leads to the other processes of the server, where there are any.
    """
    handlers: dict[Any, Any] = {
        errors.AskError: _failed,
        HTTPException: _unrouted,
        Exception: _failed,  # or Starlette would say so in words of its own
    }
    transport = HttpTransport(authenticator, admission, health, reasons, link)
    routes: list[BaseRoute] = [*transport.routes(), *page_routes(), *transport.entries(entry)]
    endpoint = _mcp_endpoint(authenticator, admission, link)
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


def _mcp_endpoint(
    authenticator: Authenticator, admission: Admission, link: ProcessLink | None
) -> Any:
    """MCP as a route's endpoint, or None."""
    try:
        from redask.server.mcp_endpoint import McpEndpoint
    except ImportError:
        return None
    return McpEndpoint(authenticator, admission, link)


async def _failed(request: Request, error: Exception) -> Response:
    response = shaped(request.scope["path"], responses.failed(error))
    if getattr(request.state, "unread", False):  # the rest of the body would be read as a request
        response.headers["Connection"] = "close"
    return response


async def _unrouted(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        refused = not_found("there is nothing at this address: see /openapi.json")
    else:
        headers = dict(error.headers or {})
        refused = responses.refused(error.status_code, "bad_ask", str(error.detail), headers)
    return shaped(request.scope["path"], refused)


# --- requests --------------------------------------------------------------------------------


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
