"""What holds for every HTTP request: origins, traces, blanks around headers, health."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry import trace
from server_thread import ServerThread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from redask.core.errors import Misconfigured
from redask.server import serving
from redask.server.admission import Admission
from redask.server.http import routes
from redask.server.http.around import Around
from redask.server.http.cross_origin import Origins, is_local_origin
from redask.server.listening_sockets import ListeningSockets
from redask.server.readiness import Readiness

APP = "https://app.example"
ASK = {"question": "When does the ferry leave?", "options": {"using": "scripted"}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerThread]:
    folder = tmp_path_factory.mktemp("around") / "db"
    with ServerThread(folder, http_port=0, cors_origins=(APP,)) as opened:
        yield opened


def call(server: ServerThread, method: str, path: str, **headers: str) -> httpx.Response:
    given = {"Authorization": f"Bearer {server.tokens['mia']}", **headers}
    body = ASK if method == "POST" else None
    return httpx.request(method, server.addresses[0] + path, headers=given, json=body)


# --- CORS -------------------------------------------------------------------------------------


def test_a_page_of_a_listed_origin_may_call(server: ServerThread) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Origin": APP}
    before = call(server, "OPTIONS", "/v1/ask", **asked)
    assert before.status_code == 204
    assert before.headers["access-control-allow-origin"] == APP
    assert "Authorization" in before.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in before.headers
    reply = call(server, "POST", "/v1/ask", Origin=APP)
    assert (reply.status_code, reply.headers["access-control-allow-origin"]) == (200, APP)
    assert "Origin" in reply.headers["vary"]
    failed = call(server, "POST", "/v1/ask", Origin=APP, Authorization="Bearer x")
    assert (failed.status_code, failed.headers["access-control-allow-origin"]) == (401, APP)


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://app.example", f"{APP}:444", f"{APP}.evil", "null"]
)
def test_a_page_of_another_origin_may_not(server: ServerThread, origin: str) -> None:
    asked = {"Access-Control-Request-Method": "POST", "Origin": origin}
    before = call(server, "OPTIONS", "/v1/ask", **asked)
    assert before.status_code == 405
    reply = call(server, "POST", "/v1/ask", Origin=origin)
    for each in (before, reply):
        assert not [name for name in each.headers if name.startswith("access-control")]
        assert each.headers["vary"] == "Origin"


@pytest.mark.parametrize(
    "wrong", ["*", "app.example", f"{APP}/", "HTTPS://APP.EXAMPLE", "null", ""]
)
def test_what_is_no_origin_cannot_be_listed(wrong: str) -> None:
    with pytest.raises(Misconfigured, match="no origin"):
        serving.check(serving.Serving(cors_origins=(wrong,)))


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("", 200),
        ("http://localhost:3000", 200),
        ("http://[::1]:80", 200),
        (APP, 200),
        ("https://evil.example", 403),
        ("null", 403),
    ],
)
def test_without_sign_in_no_foreign_page_is_served(origin: str, status: int) -> None:
    app = routes.application(
        None,  # type: ignore[arg-type]
        Admission(),
        local_only=True,
        origins=Origins([APP]),
    )
    headers = {"Origin": origin} if origin else {}

    async def call() -> int:
        way = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=way, base_url="http://localhost") as client:
            return (await client.get("/healthz", headers=headers)).status_code

    assert asyncio.run(call()) == status
    assert is_local_origin(origin) is (origin.startswith("http://"))


# --- traces, and blanks -------------------------------------------------------------------------

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
GOOD = f"00-{TRACE}-{SPAN}-01"


def seen(headers: list[tuple[str, str]]) -> Any:
    """The parent that a span begun in a handler would have, and what the handler reads."""

    async def handler(request: Request) -> Response:
        found = trace.get_current_span().get_span_context()
        state = found.trace_state.to_header() if found.is_valid else ""
        known = f"{found.trace_id:032x} {found.span_id:016x} {state}" if found.is_valid else "none"
        return PlainTextResponse(f"{known}|{request.headers.get('x-blank')}")

    inner = Starlette(routes=[Route("/", handler)])
    app = Around(inner, local_only=False, origins=Origins())

    async def call() -> str:
        way = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=way, base_url="http://a") as client:
            return (await client.get("/", headers=headers)).text

    return asyncio.run(call()).partition("|")


def test_the_spans_of_a_request_are_children_of_the_callers() -> None:
    assert seen([("traceparent", GOOD)])[0] == f"{TRACE} {SPAN} "
    states = [("tracestate", "a=1"), ("tracestate", "b=2")]
    assert seen([("traceparent", f" {GOOD} "), *states])[0] == f"{TRACE} {SPAN} a=1,b=2"
    assert not trace.get_current_span().get_span_context().is_valid


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "nonsense",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01-more",
    ],
)
def test_a_trace_that_is_not_valid_is_ignored(wrong: str) -> None:
    assert seen([("traceparent", wrong)])[0] == "none"


def test_a_trace_that_stands_twice_is_ignored() -> None:
    assert seen([("traceparent", GOOD), ("traceparent", GOOD)])[0] == "none"


@pytest.mark.parametrize(
    "state", ["\x9b31m evil", "A=1", ",".join(f"a{n}=1" for n in range(33)), "a=" + "1" * 9000]
)
def test_what_a_client_writes_as_a_trace_is_logged_nowhere(
    state: str, caplog: pytest.LogCaptureFixture
) -> None:
    given: list[tuple[str, Any]] = [("traceparent", GOOD), ("tracestate", state.encode("latin-1"))]
    assert seen(given)[0] == f"{TRACE} {SPAN} "
    assert seen([("traceparent", GOOD + "-" * 9000)])[0] == "none"
    assert not [each for each in caplog.records if each.name.startswith("opentelemetry")]


def test_blanks_around_a_header_are_no_part_of_it() -> None:
    assert seen([("X-Blank", " \t a b \t ")])[2] == "a b"


# --- health -------------------------------------------------------------------------------------


def test_health_is_green_only_while_every_port_is_open() -> None:
    ports = Readiness(ListeningSockets({}))
    assert ports.status() == "starting"
    with ports.sockets.open("http", "127.0.0.1", 0):
        assert ports.status() == "starting"
        ports.opened()
        assert ports.status() == "ok"
    assert ports.status() == "closed"
    ports.stopping()
    assert ports.status() == "stopping"


def test_the_server_is_not_healthy_before_its_last_port_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked while the last port is being opened, and once it is."""
    found: list[tuple[int, str]] = []
    opening = serving._open_pg
    addresses: list[str] = []
    listen = ListeningSockets.open

    def noted(self: ListeningSockets, name: str, host: str, port: int) -> socket.socket:
        listening = listen(self, name, host, port)
        addresses.append(f"http://127.0.0.1:{listening.getsockname()[1]}/healthz")
        return listening

    async def asked() -> None:
        async with httpx.AsyncClient() as client:
            reply = await client.get(addresses[0])
            found.append((reply.status_code, reply.json()["status"]))

    async def slowly(*given: Any, **named: Any) -> str:
        await asked()
        return await opening(*given, **named)

    monkeypatch.setattr(ListeningSockets, "open", noted)
    monkeypatch.setattr(serving, "_open_pg", slowly)
    with ServerThread(tmp_path / "db", http_port=0, pg_port=0) as server:
        server.run(asked())
    assert found == [(503, "starting"), (200, "ok")]
