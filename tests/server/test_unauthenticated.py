"""What clients get that do not sign in: nothing is read, listed or counted for them."""

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from fuzz_grpc import END_HEADERS, HEADERS, PREFACE, SETTINGS, frame, header
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from server_thread import ServerThread
from waiting import SECONDS

import redask
from redask.core.access.credentials import new_token
from redask.server import connection_limits
from redask.server.connection_limits import ConnectionLimits
from redask.server.grpc import calls as grpc_calls
from redask.server.http import bodies
from redask.server.mcp_tools import TOOLS

METHODS = [
    ("POST", "/v1/ask"),
    ("POST", "/v1/explain"),
    ("POST", "/v1/search"),
    ("POST", "/v1/query"),
    ("PUT", "/v1/collections/notes/entities"),
    ("POST", "/mcp"),
]
CALLS = ["Ask", "AskStream", "Explain", "Query"]
TOOL_LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
MCP_HEADERS = {"Accept": "application/json, text/event-stream"}


class OpenedServer(ServerThread):
    """Everything that can be public is."""

    operator = '[serve]\npublic = ["metrics", "openapi", "reflection", "tools"]\n'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerThread]:
    where: dict[str, Any] = {"http_port": 0, "grpc_port": 0, "pg_port": 0}
    with ServerThread(tmp_path_factory.mktemp("closed") / "db", **where) as opened:
        yield opened


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerThread]:
    where: dict[str, Any] = {"http_port": 0, "grpc_port": 0, "pg_port": 0}
    with OpenedServer(tmp_path_factory.mktemp("opened") / "db", **where) as opened:
        yield opened


def bearer(token: str | None) -> dict[str, str]:
    return {} if token is None else {"Authorization": f"Bearer {token}"}


def got(server: ServerThread, path: str, token: str | None) -> httpx.Response:
    return httpx.get(server.addresses[0] + path, headers=bearer(token), timeout=SECONDS)


def listed(server: ServerThread, token: str | None, message: object = TOOL_LIST) -> httpx.Response:
    headers = {**MCP_HEADERS, **bearer(token)}
    return httpx.post(f"{server.addresses[0]}/mcp", json=message, headers=headers, timeout=SECONDS)


def reflected(server: ServerThread, token: str | None) -> str:
    """The first service, or the status."""

    async def main() -> str:
        address = server.addresses[1].removeprefix("grpc://")
        async with grpc.aio.insecure_channel(address) as channel:
            stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
            asked = reflection_pb2.ServerReflectionRequest(list_services="")
            metadata = [] if token is None else [("authorization", f"Bearer {token}")]
            try:
                replies = stub.ServerReflectionInfo(iter([asked]), metadata=metadata)
                found = [each async for each in replies]
            except grpc.aio.AioRpcError as error:
                return str(error.code().name)
            return str(found[0].list_services_response.service[0].name)

    return server.run(main())


# --- what is listed and counted ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "statuses"),
    [("/metrics", (401, 401, 403, 200)), ("/openapi.json", (401, 401, 200, 200))],
)
def test_metrics_and_the_description_are_for_who_signs_in(
    server: ServerThread, path: str, statuses: tuple[int, ...]
) -> None:
    tokens = (None, new_token()[1], server.tokens["mia"], server.tokens["olga"])
    assert tuple(got(server, path, token).status_code for token in tokens) == statuses


def test_reflection_is_for_who_signs_in(server: ServerThread) -> None:
    assert reflected(server, None) == "UNAUTHENTICATED"
    assert reflected(server, new_token()[1]) == "UNAUTHENTICATED"
    assert reflected(server, server.tokens["mia"]).startswith("grpc.health")


def test_the_tools_are_for_who_signs_in(server: ServerThread) -> None:
    refused = listed(server, None)
    assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert listed(server, new_token()[1]).status_code == 401
    assert all(name in listed(server, server.tokens["mia"]).text for name in TOOLS)


def test_the_operator_opens_what_is_public(public: ServerThread) -> None:
    assert got(public, "/metrics", None).status_code == 200
    assert got(public, "/openapi.json", None).status_code == 200
    assert reflected(public, None).startswith("grpc.health")
    assert all(name in listed(public, None).text for name in TOOLS)


@pytest.mark.parametrize("method", ["tools/call", "resources/list", "completion/complete", "x"])
def test_of_public_tools_everybody_gets_the_list_alone(public: ServerThread, method: str) -> None:
    called = {"name": "redask_collections", "arguments": {}}
    refused = listed(public, None, {**TOOL_LIST, "method": method, "params": called})
    assert refused.status_code == 401
    assert listed(public, None, [TOOL_LIST]).status_code == 401
    assert listed(public, None, {**TOOL_LIST, "params": "x" * 70_000}).status_code == 413


def test_what_is_counted_of_all_tenants_is_for_no_tenants_owner(tmp_path: Path) -> None:
    with redask.open(tmp_path / "db", tenant="other", embedder="none") as db:
        db.put("plans", [{"id": 1}])
        db.add_user("eva", role="owner")
        eva = db.make_token("eva")
    with ServerThread(tmp_path / "db", http_port=0) as server:
        for token in (server.tokens["olga"], eva):
            refused = got(server, "/metrics", token)
            assert (refused.status_code, "serve.public" in refused.text) == (403, True)


# --- bodies --------------------------------------------------------------------------------------


def sent(server: ServerThread, data: bytes, more: bytes = b"") -> bytes:
    """What comes back, up to the end of the head."""
    host, _, port = server.addresses[0].removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), SECONDS) as wire:
        wire.sendall(data)
        found = b""
        while b"\r\n\r\n" not in found and (piece := wire.recv(65536)):
            found += piece
        if more:
            wire.sendall(more)
        return found


def head(method: str, path: str, *lines: str) -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: a", *lines, "", ""]).encode()


JSON = "Content-Type: application/json"


@pytest.mark.parametrize("token", [None, "wrong"])
@pytest.mark.parametrize(("method", "path"), METHODS)
def test_a_body_that_never_comes_is_not_waited_for(
    server: ServerThread,
    method: str,
    path: str,
    token: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[object] = []
    monkeypatch.setattr(bodies, "_sent", lambda *given: read.append(given))
    lines = [JSON, "Content-Length: 1000000", "Content-Encoding: gzip", "Expect: 100-continue"]
    lines += [] if token is None else [f"Authorization: Bearer {new_token()[1]}"]
    found = sent(server, head(method, path, *lines))
    assert found.startswith(b"HTTP/1.1 401")
    assert not read


def test_who_may_not_write_makes_us_read_nothing(
    server: ServerThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.3)
    token = f"Authorization: Bearer {server.tokens['mia']}"
    put = head("PUT", "/v1/collections/notes/entities", JSON, "Content-Length: 1000000", token)
    assert sent(server, put).startswith(b"HTTP/1.1 403")


@pytest.mark.parametrize("name", CALLS)
def test_a_message_of_nobody_is_not_read(
    server: ServerThread, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []
    reading = grpc_calls.first

    def first(requests: Any) -> Any:
        read.append(requests)
        return reading(requests)

    monkeypatch.setattr(grpc_calls, "first", first)
    fields = [(b":method", b"POST"), (b":scheme", b"http"), (b":authority", b"a")]
    fields += [(b":path", b"/redask.v1.Redask/" + name.encode()), (b"te", b"trailers")]
    fields += [(b"content-type", b"application/grpc"), (b"authorization", b"Bearer wrong")]
    begun = PREFACE + frame(SETTINGS, 0, 0, b"")
    begun += frame(HEADERS, END_HEADERS, 1, b"".join(header(*each) for each in fields))
    port = int(server.addresses[1].rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), SECONDS) as wire:
        wire.sendall(begun)  # and no message
        found = b""
        while b"grpc-status" not in found and (piece := wire.recv(65536)):
            found += piece
    assert b"16" in found.partition(b"grpc-status")[2][:8]  # UNAUTHENTICATED
    assert not read


# --- heads ---------------------------------------------------------------------------------------

GET = "GET /healthz HTTP/1.1\r\n"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (GET + "Host: a\r\n\r\n", b"200"),
        (GET + "\r\n", b"400"),
        ("GET /healthz HTTP/1.0\r\n\r\n", b"200"),
        (GET + "Host: a\r\nHost: a\r\n\r\n", b"400"),
        (GET + "Host: a\r\nhOST: b\r\n\r\n", b"400"),
        (GET + "Host: a\r\nAuthorization: Bearer x\r\nAuthorization: Bearer y\r\n\r\n", b"400"),
        (GET + "Host: a\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n", b"400"),
        (GET + "Host: a\r\nContent-Type: a/b\r\nContent-Type: application/json\r\n\r\n", b"400"),
        (GET + "Host: a\r\nX: 1\r\nX: 2\r\n\r\n", b"200"),
    ],
)
def test_what_may_stand_once_in_a_head_stands_once(
    server: ServerThread, text: str, status: bytes
) -> None:
    reply = sent(server, text.encode())
    assert reply.split()[1] == status
    if status == b"400":  # in the shape of every error
        shown = json.loads(reply.partition(b"\r\n\r\n")[2])
        assert shown["error"]["kind"] == "bad_ask"


def chunked(server: ServerThread, trailer: str) -> bytes:
    body = b'{"question": "ferry", "options": {"using": "scripted"}}'
    lines = [JSON, "Transfer-Encoding: chunked", f"Authorization: Bearer {server.tokens['mia']}"]
    chunk = f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n"
    return sent(server, head("POST", "/v1/search", *lines) + chunk + trailer.encode() + b"\r\n")


@pytest.mark.parametrize(
    "name",
    [
        *("Authorization", "Host", "content-length", "Transfer-Encoding", "Content-Type"),
        *("Content-Encoding", "Cookie", "TE", "Trailer", "Proxy-Authorization"),
    ],
)
def test_trailers_that_mean_something_are_refused(server: ServerThread, name: str) -> None:
    assert chunked(server, f"{name}: 1\r\n").split()[1] == b"400"


def test_other_trailers_are_dropped(server: ServerThread) -> None:
    reply = chunked(server, "X-Request-Id: of-a-trailer\r\nX-Sum: 1\r\n")
    assert reply.split()[1] == b"200"
    assert b"of-a-trailer" not in reply


def test_a_trailer_after_the_reply_began_closes_the_connection(server: ServerThread) -> None:
    lines = [JSON, "Transfer-Encoding: chunked"]
    host, _, port = server.addresses[0].removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), SECONDS) as wire:
        wire.sendall(head("POST", "/v1/ask", *lines) + b"1\r\nx\r\n")
        found = wire.recv(65536)
        wire.sendall(b"0\r\nAuthorization: Bearer x\r\n\r\n")
        while piece := wire.recv(65536):
            found += piece
    assert found.startswith(b"HTTP/1.1 401")


# --- connections ---------------------------------------------------------------------------------


class FullServer(ServerThread):
    """One connection of each transport."""

    operator = "[serve]\nconnections = 1\n"


def test_without_room_the_health_check_is_answered_nevertheless(tmp_path: Path) -> None:
    with FullServer(tmp_path / "db", http_port=0, grpc_port=0, pg_port=0) as server:
        body = {"question": "ferry", "options": {"using": "anthropic"}, "stream": True}
        headers = bearer(server.tokens["mia"])
        with (
            httpx.Client(base_url=server.addresses[0], timeout=SECONDS) as busy,
            busy.stream("POST", "/v1/ask", json=body, headers=headers) as stream,
        ):
            pieces = stream.iter_raw()  # kept, or the stream would be closed
            next(pieces)
            assert got(server, "/healthz", None).json() == {"status": "ok"}
            refused = got(server, "/openapi.json", server.tokens["mia"])
            assert (refused.status_code, refused.headers["Connection"]) == (429, "close")
            assert "too many connections" in refused.text


def test_grpc_has_as_many_connections_as_the_operator_says(tmp_path: Path) -> None:
    with FullServer(tmp_path / "db", grpc_port=0) as server:
        port = int(server.addresses[0].rpartition(":")[2])
        begun = PREFACE + frame(SETTINGS, 0, 0, b"")
        with (
            socket.create_connection(("127.0.0.1", port), SECONDS) as first,
            socket.create_connection(("127.0.0.1", port), SECONDS) as second,
        ):
            first.sendall(begun)
            assert first.recv(9)  # the server's settings
            try:
                second.sendall(begun)
                assert second.recv(9) == b""
            except ConnectionError:
                pass


class SharedServer(ServerThread):
    """What one user has of the asks is what the operator says."""

    operator = "[serve]\nuser_running = 1\nuser_waiting = 1\n"

    def __init__(self, directory: Path, **where: Any) -> None:
        super().__init__(directory, **where)
        self.admission = None  # type: ignore[assignment]  # the server makes its own


def test_shares_of_users_are_the_operators(tmp_path: Path) -> None:
    with SharedServer(tmp_path / "db", http_port=0) as server:

        async def main() -> list[int]:
            body = {"question": "ferry", "options": {"using": "anthropic"}}
            async with httpx.AsyncClient(
                base_url=server.addresses[0], headers=bearer(server.tokens["mia"]), timeout=SECONDS
            ) as client:
                asks = [asyncio.create_task(client.post("/v1/ask", json=body)) for _ in range(4)]
                refused: list[int] = []
                while len(refused) < 2:
                    done, _ = await asyncio.wait(asks, return_when=asyncio.FIRST_COMPLETED)
                    refused += [each.result().status_code for each in done]
                    asks = [each for each in asks if each not in done]
                for each in asks:
                    each.cancel()
                await asyncio.wait(asks)
                return refused

        assert server.run(main()) == [429, 429]


def test_a_connection_counts_as_signed_in_once_somebody_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = ConnectionLimits()
    monkeypatch.setattr(connection_limits, "limits_for", lambda *_: limits)
    with (
        ServerThread(tmp_path / "db", http_port=0) as server,
        httpx.Client(base_url=server.addresses[0], timeout=SECONDS) as client,
    ):
        for token, signed_in in ((None, False), ("wrong", False), (server.tokens["mia"], True)):
            client.get("/openapi.json", headers=bearer(token))
            assert [each.signed_in for each in limits._open] == [signed_in]
