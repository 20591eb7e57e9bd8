"""Wrong tokens make their address wait, on every transport; good ones come in from elsewhere."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import httpx
import psycopg
import pytest
from server_thread import ServerThread
from waiting import SECONDS

from redask.core.access.credentials import new_token
from redask.core.access.sign_in_delays import FREE_OF_NAME
from redask.server import serving
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.generated import redask_pb2_grpc
from redask.server.wrong_tokens import WrongTokens

FREE = 3


class StrictServer(ServerThread):
    operator = f"[serve]\nwrong_tokens = {FREE}\n"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ServerThread]:
    clock = Clock()
    monkeypatch.setattr(serving, "WrongTokens", lambda free: WrongTokens(free, clock))
    where: dict[str, Any] = {"http_port": 0, "grpc_port": 0, "pg_port": 0}
    with StrictServer(tmp_path / "db", **where) as opened:
        yield opened


class Clock:
    """Stands still but for leaps."""

    now = 1000.0

    def __call__(self) -> float:
        return Clock.now


def over_http(server: ServerThread, token: str, path: str = "/v1/search", **more: Any) -> str:
    local = more.pop("local_address", None)
    headers = {"Authorization": f"Bearer {token}", **more}
    with httpx.Client(transport=httpx.HTTPTransport(local_address=local), timeout=SECONDS) as made:
        reply = made.post(server.addresses[0] + path, json={"question": "ferry"}, headers=headers)
    return str(reply.status_code)


def over_mcp(server: ServerThread, token: str) -> str:
    return over_http(server, token, "/mcp")


def over_grpc(server: ServerThread, token: str) -> str:
    async def main() -> str:
        address = server.addresses[1].removeprefix("grpc://")
        async with grpc.aio.insecure_channel(address) as channel:
            stub: Any = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
            try:
                await stub.Explain(
                    pb.AskRequest(question="ferry"),
                    metadata=[("authorization", f"Bearer {token}")],
                )
            except grpc.aio.AioRpcError as error:
                return str(error.code().name)
            return "OK"

    return server.run(main())


def over_postgres(server: ServerThread, token: str, user: str = "mia") -> str:
    try:
        with psycopg.connect(f"{server.addresses[2]}/local", user=user, password=token):
            return "OK"
    except psycopg.OperationalError as error:
        return "refused" if "not a valid token" in str(error) else str(error)


@pytest.mark.parametrize(
    ("ask", "wrong", "waits"),
    [
        (over_http, "401", "429"),
        (over_mcp, "401", "429"),
        (over_grpc, "UNAUTHENTICATED", "RESOURCE_EXHAUSTED"),
    ],
)
def test_different_wrong_tokens_make_the_address_wait(
    server: ServerThread, ask: Any, wrong: str, waits: str
) -> None:
    assert over_http(server, server.tokens["mia"]) == "200"
    assert [ask(server, new_token()[1]) for _ in range(FREE + 1)] == [wrong] * (FREE + 1)
    assert ask(server, new_token()[1]) == waits
    assert ask(server, server.tokens["olga"]) == waits  # whose token was not seen before
    # what was good before goes on, and so does everybody elsewhere
    assert over_http(server, server.tokens["mia"]) == "200"
    assert over_http(server, server.tokens["olga"], local_address="127.0.0.2") == "200"
    assert over_http(server, new_token()[1], local_address="127.0.0.2") == "401"


def test_a_header_is_not_believed_about_the_address(server: ServerThread) -> None:
    for _ in range(FREE + 1):
        assert over_http(server, new_token()[1]) == "401"
    for name in ("X-Forwarded-For", "Forwarded", "X-Real-IP"):
        assert over_http(server, new_token()[1], **{name: "198.51.100.7"}) == "429"


def test_after_the_wait_a_token_is_looked_at_again(
    server: ServerThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(FREE + 1):
        over_http(server, new_token()[1])
    assert over_http(server, server.tokens["olga"]) == "429"
    monkeypatch.setattr(Clock, "now", 1005.0)
    assert over_http(server, server.tokens["olga"]) == "200"


def test_who_proves_no_token_over_postgres_waits(server: ServerThread) -> None:
    found = [over_postgres(server, new_token()[1]) for _ in range(FREE_OF_NAME + 1)]
    assert found == ["refused"] * (FREE_OF_NAME + 1)
    assert "too many wrong tokens" in over_postgres(server, server.tokens["mia"])
    assert over_postgres(server, server.tokens["olga"], "olga") == "OK"
    for number in range(FREE):  # other names, known or not, count for the address
        assert over_postgres(server, new_token()[1], f"nobody{number}") == "refused"
    assert "too many wrong tokens" in over_postgres(server, server.tokens["olga"], "olga")


def test_a_revoked_token_that_was_good_is_refused(server: ServerThread) -> None:
    token = server.run(server.db.make_token("mia"))
    assert over_http(server, token) == "200"
    server.run(server.db.revoke_token(token.split("_")[1]))
    assert over_http(server, token) == "401"


def test_many_at_once_with_a_good_token_are_let_in(server: ServerThread) -> None:
    async def main() -> set[int]:
        headers = {"Authorization": f"Bearer {server.tokens['olga']}"}
        async with httpx.AsyncClient(headers=headers, timeout=SECONDS) as client:
            body = {"question": "ferry"}
            url = f"{server.addresses[0]}/v1/search"
            replies = await asyncio.gather(*(client.post(url, json=body) for _ in range(30)))
            return {each.status_code for each in replies}

    assert server.run(main()) == {200}
