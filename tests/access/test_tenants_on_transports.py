"""A server for one tenant lets nobody of another in, whatever carries the token.

`credentials.enter` decides it for every transport; it is tried against a planted bug once.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import psycopg
import pytest
from mcp.client import Client
from server_thread import ServerThread
from transports import mcp_received

import redask
from redask.core.access import credentials
from redask.core.errors import Unauthenticated
from redask.core.model import Caller
from redask.server import mcp_transport
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.generated import redask_pb2_grpc
from redask.server.sessions import Authenticator

REFUSED = "refused"
SECONDS = 60.0


class TenantServer(ServerThread):
    """A server for the tenant `local`, and the token of somebody of `acme`."""

    stranger: str

    def __enter__(self) -> "TenantServer":
        with redask.open(self.directory, tenant="acme", embedder="none") as db:
            db.put("plans", [{"id": 1, "text": "acme's plan"}])
            db.add_user("mia", role="owner")
            self.stranger = db.make_token("mia")
        super().__enter__()
        return self

    @property
    def authenticator(self) -> Authenticator:
        return Authenticator(self.db, anonymous=False, tenant="local")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TenantServer]:
    where: dict[str, Any] = {"http_port": 0, "grpc_port": 0, "pg_port": 0, "tenant": "local"}
    with TenantServer(tmp_path_factory.mktemp("tenants") / "db", **where) as opened:
        yield opened


async def over_http(server: TenantServer, token: str, path: str, body: object) -> str:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(
        base_url=server.addresses[0], headers=headers, timeout=SECONDS
    ) as client:
        reply = await client.post(path, json=body)
    return REFUSED if reply.status_code == 401 else reply.text


async def http(server: TenantServer, token: str) -> str:
    return await over_http(server, token, "/v1/query", {"sql": "SELECT current_database()"})


async def sse(server: TenantServer, token: str) -> str:
    return await over_http(server, token, "/v1/ask", {"question": "plan?", "stream": True})


async def chat(server: TenantServer, token: str) -> str:
    asked = {"model": "redask", "messages": [{"role": "user", "content": "plan?"}]}
    return await over_http(server, token, "/v1/chat/completions", asked)


async def mcp_http(server: TenantServer, token: str) -> str:
    called = {"name": "redask_ask", "arguments": {"question": "plan?"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
    said = await over_http(server, token, "/mcp", message)
    return REFUSED if "unauthenticated" in said else said


async def grpc_call(server: TenantServer, token: str) -> str:
    async with grpc.aio.insecure_channel(server.addresses[1].removeprefix("grpc://")) as channel:
        stub: Any = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
        try:
            said = await stub.Ask(
                pb.AskRequest(question="plan?"), metadata=[("authorization", f"Bearer {token}")]
            )
        except grpc.aio.AioRpcError as error:
            return REFUSED if error.code() is grpc.StatusCode.UNAUTHENTICATED else str(error)
    return str(said)


def pg_database(name: str) -> Callable[[TenantServer, str], Coroutine[Any, Any, str]]:
    def connect(address: str, token: str) -> str:
        try:
            with psycopg.connect(f"{address}/{name}", user="mia", password=token) as connection:
                return str(connection.execute("SELECT 1").fetchall())
        except psycopg.OperationalError as error:
            return REFUSED if "not a valid token" in str(error) else str(error)

    return lambda server, token: asyncio.to_thread(connect, server.addresses[2], token)


async def rpc(server: TenantServer, token: str) -> str:
    """As `redask rpc` does: the session is what its dispatcher gets."""
    try:
        session = await server.authenticator.sign_in(token)
    except Unauthenticated:
        return REFUSED
    return str(session)


async def mcp(server: TenantServer, token: str) -> str:
    made = mcp_transport.server(server.authenticator, server.admission, token)
    async with Client(made, mode="legacy") as client:
        said = await client.call_tool("redask_ask", {"question": "plan?"})
    heard = mcp_received(said)
    return REFUSED if heard.kind == "unauthenticated" else str(heard)


async def python(server: TenantServer, token: str) -> str:
    try:
        return str(await server.db.signed_in(token, tenant="local"))
    except Unauthenticated:
        return REFUSED


WAYS: dict[str, Callable[[TenantServer, str], Coroutine[Any, Any, str]]] = {
    "http": http,
    "sse": sse,
    "chat": chat,
    "mcp-http": mcp_http,
    "grpc": grpc_call,
    "pg, by its own tenant": pg_database("acme"),
    "pg, by the server's": pg_database("local"),
    "rpc": rpc,
    "mcp": mcp,
    "python": python,
}


@pytest.mark.parametrize("way", WAYS)
def test_nobody_of_another_tenant_gets_in(server: TenantServer, way: str) -> None:
    assert server.run(WAYS[way](server, server.stranger)) == REFUSED


@pytest.mark.parametrize("way", [way for way in WAYS if way != "pg, by its own tenant"])
def test_somebody_of_the_tenant_does(server: TenantServer, way: str) -> None:
    assert server.run(WAYS[way](server, server.tokens["mia"])) != REFUSED


# a Postgres client's token is proven against the server's tenant: it has no way to open
@pytest.mark.parametrize("way", ["http", "sse", "chat", "mcp-http", "grpc", "rpc"])
def test_a_bug_in_the_one_function_opens_every_way(
    server: TenantServer, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "enter", lambda caller, _: caller)
    assert server.run(WAYS[way](server, server.stranger)) != REFUSED


def test_a_caller_enters_its_own_tenant_alone() -> None:
    mia = Caller("acme", "mia", "owner")
    assert credentials.enter(mia, None) == credentials.enter(mia, "acme") == mia
    with pytest.raises(Unauthenticated):
        credentials.enter(mia, "local")


def test_whoever_opens_the_files_with_a_token_asks_the_same_function(tmp_path: Path) -> None:
    with redask.open(tmp_path / "db", tenant="acme", embedder="none") as db:
        db.add_user("mia", role="owner")
        token = db.make_token("mia")
    with redask.open(tmp_path / "db", tenant="acme", token=token, embedder="none") as db:
        assert not list(db.search("plan"))
    with pytest.raises(Unauthenticated):
        redask.open(tmp_path / "db", tenant="local", token=token, embedder="none")
