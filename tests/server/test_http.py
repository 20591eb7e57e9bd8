"""What only the HTTP transport does: addresses, bodies, headers, and who may come to it."""

import asyncio
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from deadlines import let_deadlines_pass
from transports import Transports
from waiting import SECONDS

from redask.core import errors
from redask.core.wire.row_json import for_browsers
from redask.server import serving
from redask.server.admission import Admission
from redask.server.http import asking, bodies, openapi, timeouts
from redask.server.http import routes as http
from redask.server.sessions import bearer

FERRY = "When does the ferry leave?"
ODD = "urn:reddb:row:odd/a%2Fb%3Ac%20%25"


@pytest.fixture(scope="module")
def transports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Transports]:
    with Transports(tmp_path_factory.mktemp("http") / "db") as opened:
        yield opened


def call(
    transports: Transports, method: str, path: str, user: str = "mia", **rest: Any
) -> httpx.Response:
    return transports.run(transports.clients[user].http.request(method, path, **rest))


JSON = {"Content-Type": "application/json"}
BAD_BODIES: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"{",
    "no UTF-8": b'{"question": "\xff"}',
    "NaN": b'{"question": "ferry", "options": {"min_score": NaN}}',
    "infinity": b'{"question": "ferry", "options": {"min_score": 1e999}}',
    "a key twice": b'{"question": "a", "question": "b"}',
    "too deep": b'{"question": ' + b"[" * 5000 + b"]" * 5000 + b"}",
    "a lone surrogate as a key": b'{"\\ud800": 1}',
    "a lone surrogate as the question": b'{"question": "\\udfff"}',
    "a key nobody knows": b'{"question": "a", "stream ": true}',
    "a number nobody can read": b'{"question": "a", "options": {"seed": ' + b"9" * 5000 + b"}}",
    "a list": b"[]",
    "stream that is no boolean": b'{"question": "a", "stream": 1}',
    "options of null": b'{"question": "a", "options": null}',
}


@pytest.mark.parametrize("what", BAD_BODIES)
def test_a_bad_body_is_a_bad_ask(transports: Transports, what: str) -> None:
    reply = call(transports, "POST", "/v1/ask", content=BAD_BODIES[what], headers=JSON)
    assert (reply.status_code, reply.json()["error"]["kind"]) == (400, "bad_ask"), reply.text
    assert "sys." not in reply.text


def test_a_body_that_is_too_long_is_refused(transports: Transports) -> None:
    reply = call(transports, "POST", "/v1/ask", content=b" " * (bodies.MAX_BODY + 1), headers=JSON)
    assert (reply.status_code, reply.json()["error"]["kind"]) == (413, "limit_exceeded")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_only_json_is_read_so_that_no_page_elsewhere_can_ask(
    transports: Transports, kind: str
) -> None:
    body = b'{"question": "ferry"}'
    reply = call(transports, "POST", "/v1/ask", content=body, headers={"Content-Type": kind})
    assert reply.json()["error"]["detail"] == "content-type"


def test_a_seed_may_be_a_text_and_comes_back_as_one(transports: Transports) -> None:
    body = {"question": FERRY, "options": {"seed": str(2**63 - 1), "using": "scripted"}}
    plan = call(transports, "POST", "/v1/explain", json=body).json()
    assert plan["determinism"]["seed"] == str(2**63 - 1)


def test_a_source_is_found_by_its_urn_encoded_once_more(transports: Transports) -> None:
    found = call(transports, "GET", f"/v1/sources/{quote(ODD, safe='')}")
    assert found.json()["urn"] == ODD
    assert call(transports, "GET", f"/v1/sources/{ODD}").status_code == 400
    for hidden in ("urn:reddb:row:secrets/1", "urn:reddb:row:nowhere/1"):
        assert call(transports, "GET", f"/v1/sources/{quote(hidden, safe='')}").status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("POST", "/v1/ask/", 404),
        ("GET", "/v1/ask", 405),
        ("OPTIONS", "/v1/ask", 405),
        ("DELETE", "/v1/audit", 405),
        ("GET", "/v1/audit?limit=0", 400),
        ("GET", "/v1/audit?before=00000000000000000001" + "9" * 99, 400),
        ("GET", "/v1/audit?all=1", 400),
    ],
)
def test_what_is_not_there_is_refused_in_the_one_shape(
    transports: Transports, method: str, path: str, status: int
) -> None:
    reply = call(transports, method, path)
    assert reply.status_code == status
    assert set(reply.json()["error"]) == {"detail", "kind", "message"}
    assert not [name for name in reply.headers if name.startswith("access-control")]


def test_every_reply_has_a_request_id_the_callers_own_if_it_is_a_good_one(
    transports: Transports,
) -> None:
    given = call(transports, "GET", "/healthz", headers={"X-Request-Id": "mine-1"})
    assert given.headers["x-request-id"] == "mine-1"
    made = call(transports, "GET", "/nowhere", headers={"X-Request-Id": "a b"}).headers[
        "x-request-id"
    ]
    assert re.fullmatch(r"[0-9a-f]{16}", made)


def test_an_unauthenticated_client_gets_www_authenticate(transports: Transports) -> None:
    for given in ("Basic abc", "Bearer", "Bearer redask_nobody"):
        reply = call(transports, "GET", "/v1/audit", headers={"Authorization": given})
        assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert bearer("bearer  x ") == "x"


def test_an_overloaded_server_says_when_to_retry(transports: Transports) -> None:
    transports.admission.at_once, transports.admission.waiting = 0, 0
    try:
        reply = call(transports, "POST", "/v1/ask", json={"question": FERRY})
    finally:
        transports.admission.at_once, transports.admission.waiting = 64, 256
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "1")


def test_a_silent_stream_is_kept_open(
    transports: Transports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "HEARTBEAT_SECONDS", 0.05)
    body = {"question": FERRY, "options": {"using": "anthropic"}, "stream": True}

    async def listen() -> str:
        received, late = "", False
        async with transports.clients["mia"].http.stream("POST", "/v1/ask", json=body) as reply:
            assert reply.headers["content-type"].startswith("text/event-stream")
            async for piece in reply.aiter_text():
                received += piece
                if not late and received.count(": \n\n") > 3:
                    late = True
                    let_deadlines_pass(asyncio.get_running_loop())
        return received

    received = transports.run(listen())
    assert received.endswith("\n\n")
    assert "event: error\n" in received


def test_the_openapi_document_has_every_route_and_no_other() -> None:
    routes = http.HttpTransport(None, Admission()).routes()  # type: ignore[arg-type]
    served = {
        (re.sub(r":path", "", route.path), method.lower())
        for route in routes
        for method in (route.methods or set()) - {"HEAD"}
    }
    paths: Any = openapi.document()["paths"]
    assert served == {(path, method) for path, found in paths.items() for method in found}


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1:8080", True),
        ("localhost", True),
        ("[::1]:8080", True),
        ("evil.example:8080", False),
        ("localhost.evil.example", False),
        ("", False),
    ],
)
def test_without_sign_in_only_local_names_are_served(host: str, local: bool) -> None:
    app = http.application(None, Admission(), local_only=True)  # type: ignore[arg-type]

    async def main() -> int:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
            url = "http://127.0.0.1/healthz"
            return (await client.get(url, headers={"Host": host})).status_code

    assert asyncio.run(main()) == (200 if local else 403)


def test_a_public_address_is_not_served_without_sign_in() -> None:
    for host in ("0.0.0.0", "::", "example.org", ""):
        with pytest.raises(errors.Misconfigured):
            serving.check(serving.Serving(host=host, anonymous=True))
    serving.check(serving.Serving(host="::1", anonymous=True))


def test_a_port_in_use_is_a_clear_error(transports: Transports) -> None:
    port = int(transports.url.rpartition(":")[2])
    with pytest.raises(errors.Misconfigured, match=f"port {port} of 127.0.0.1 cannot be opened"):
        transports.run(serving.serve(transports.db, serving.Serving(http_port=port)))


def raw(transports: Transports, sent: bytes) -> bytes:
    """What a socket hears until the server hangs up."""
    host, _, port = transports.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=SECONDS) as wire:
        wire.sendall(sent)
        received = b""
        with suppress(ConnectionResetError):  # what we sent was not all read
            while piece := wire.recv(65536):
                received += piece
        return received


def test_headers_without_end_are_refused(transports: Transports) -> None:
    received = raw(transports, b"GET / HTTP/1.1\r\nX: " + b"y" * 200_000)
    assert received == b"" or received.startswith(b"HTTP/1.1 400")


def test_who_takes_too_long_to_ask_is_let_go(
    transports: Transports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeouts, "HEADER_SECONDS", 0.2)
    assert raw(transports, b"G") == b""
    assert raw(transports, b"GET / HTTP/1.1\r\nHost: a\r\n") == b""


def test_a_body_that_takes_too_long_is_refused(
    transports: Transports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.2)
    head = (
        f"POST /v1/ask HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {transports.tokens['mia']}\r\n"
    )
    more = "Content-Type: application/json\r\nContent-Length: 99\r\nConnection: close\r\n\r\n{"
    assert b"did not come within" in raw(transports, (head + more).encode())


@pytest.mark.parametrize("value", [2**53, -(2**53), [2**64], {"a": (2**53,)}])
def test_integers_a_browser_would_round_are_texts(value: object) -> None:
    shown = for_browsers({"x": value, "small": 2**53 - 1, "yes": True})
    assert str(2**53)[:3] in str(shown)
    assert isinstance(shown, dict)
    assert (shown["small"], shown["yes"]) == (2**53 - 1, True)
    leaf: Callable[[Any], Any] = lambda one: (  # noqa: E731
        leaf(next(iter(one.values() if isinstance(one, dict) else one)))
        if isinstance(one, dict | list)
        else one
    )
    assert isinstance(leaf(shown["x"]), str)
