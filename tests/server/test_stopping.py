"""Stopping while an ask runs, by every transport: it is finished or cancelled, and has its row.

And a real `redask serve` that gets SIGTERM, and one on the loopback address of IPv6.
"""

import asyncio
import contextlib
import json
import signal
import threading
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import httpx
import httpx2
import pytest
from certificates import pair
from loopback import Loopback
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from served import START, Served
from server_thread import SETTINGS, fill, serving_database
from stage import Player
from transports import Received, grpc_failed, mcp_received
from waiting import SECONDS, until
from wires import CHAT

import redask
from redask.api.sync import open_async
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.settings import load
from redask.server import serving
from redask.server.admission import Admission
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.generated import redask_pb2_grpc

QUESTION = "When does the ferry leave?"
ANSWER = "The ferry to Amrum leaves at nine. [^1]"
Asking = Callable[[list[str], str], Awaitable[Received]]


class Waiter(Player):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__("anthropic", [])
        self.released = asyncio.Event()

    async def complete(self, prompt: Prompt, knobs: Knobs, **rest: Any) -> Completion:
        self.calls.append((prompt, knobs))
        await self.released.wait()
        if rest["emit"] is not None:
            await rest["emit"](ANSWER)
        return Completion(ANSWER, self.model, 100, 10)


async def by_grpc(addresses: list[str], token: str) -> Received:
    async with grpc.aio.insecure_channel(addresses[1].removeprefix("grpc://")) as channel:
        stub: Any = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
        try:
            reply = await stub.Ask(request(), metadata=bearer(token), timeout=SECONDS)
        except grpc.aio.AioRpcError as error:
            return grpc_failed(error)
        return Received("answered", reply.answer.encode(), "OK")


async def by_grpc_stream(addresses: list[str], token: str) -> Received:
    async with grpc.aio.insecure_channel(addresses[1].removeprefix("grpc://")) as channel:
        stub: Any = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
        frames = [
            each
            async for each in stub.AskStream(request(), metadata=bearer(token), timeout=SECONDS)
        ]
    names = [each.WhichOneof("frame") for each in frames]
    assert names[0] == "sources"
    if names[-1] == "error":
        return Received("cancelled", frames[-1].error.message.encode(), frames[-1].error.code)
    assert names[-1] == "validation"
    return Received("answered", "".join(each.answer_token.text for each in frames).encode(), 200)


async def by_mcp(addresses: list[str], token: str, response: Any = None) -> Received:
    async with (
        httpx2.AsyncClient(headers=dict(authorized(token)), timeout=SECONDS) as http,
        Client(streamable_http_client(f"{addresses[0]}/mcp", http_client=http)) as client,
    ):
        await client.list_tools()  # it would look up the schema of the answer afterwards
        given = {"question": QUESTION, "options": {"using": "anthropic"}}
        received = mcp_received(
            await client.call_tool("redask_ask", given, progress_callback=response)
        )
    if received.kind == "answered":
        return Received(received.kind, json.loads(received.body)["answer"].encode(), "")
    return received


async def by_mcp_with_progress(addresses: list[str], token: str) -> Received:
    async def response(progress: float, total: float | None, message: str | None) -> None:
        pass

    return await by_mcp(addresses, token, response)


TRANSPORTS = pytest.mark.parametrize("ask", [by_grpc, by_grpc_stream, by_mcp, by_mcp_with_progress])


def request() -> Any:
    return pb.AskRequest(question=QUESTION, using="anthropic")


def authorized(token: str) -> list[tuple[str, str]]:
    return [("Authorization", f"Bearer {token}")]


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


async def stopped_while(directory: Path, ask: Asking, *, finish: bool) -> tuple[Received, Any]:
    """→ what the caller heard, and the audit row."""
    token = fill(directory)["mia"]
    waiter, admission = Waiter(), Admission()
    where = serving.Serving(http_port=0, grpc_port=0)
    settings, providers = load(SETTINGS, {}), {"anthropic": waiter}
    async with (
        asyncio.timeout(SECONDS),
        await open_async(directory, settings=settings, providers=providers) as db,
        serving_database(db, where, admission) as server,
    ):
        asking = asyncio.ensure_future(ask(server.addresses, token))
        while not waiter.calls and not asking.done():
            await asyncio.sleep(0.01)
        server.stop.set()
        while finish and not await is_closed(server.addresses[0]):
            await asyncio.sleep(0.01)
        if finish:
            waiter.released.set()
        received = await asking
        await server.task
        [newest] = await db.audit(1)
        return received, newest.row


async def is_closed(url: str) -> bool:
    """Whether nobody accepts connections there any more."""
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    except OSError:
        return True
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return False


def test_a_request_that_had_begun_when_the_server_stopped_is_answered(tmp_path: Path) -> None:
    token = fill(tmp_path / "db")["mia"]
    body = json.dumps({"question": QUESTION}).encode()
    head = (
        "POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n"
    )

    async def main() -> bytes:
        async with (
            asyncio.timeout(SECONDS),
            await open_async(tmp_path / "db") as db,
            serving_database(db, serving.Serving(http_port=0), Admission()) as server,
        ):
            port = int(server.addresses[0].rpartition(":")[2])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(head.encode() + body[:5])
            await writer.drain()
            await asyncio.to_thread(httpx.get, f"{server.addresses[0]}/healthz")  # it was read
            server.stop.set()
            while not await is_closed(server.addresses[0]):
                await asyncio.sleep(0.01)
            writer.write(body[5:])
            reply = await reader.read()
            writer.close()
            await writer.wait_closed()
            await server.task
            return reply

    assert asyncio.run(main()).startswith(b"HTTP/1.1 200 ")


@TRANSPORTS
def test_what_runs_when_the_server_stops_may_finish(
    tmp_path: Path, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "GRACE_SECONDS", SECONDS)
    received, row = asyncio.run(stopped_while(tmp_path / "db", ask, finish=True))
    assert (received.kind, received.body.decode()) == ("answered", ANSWER)
    assert row["question"] == QUESTION
    assert (row["validation_ok"], row["errors"]) == (True, [])


@TRANSPORTS
def test_what_does_not_finish_in_time_is_cancelled_and_has_its_row(
    tmp_path: Path, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "GRACE_SECONDS", 0)
    monkeypatch.setattr(serving, "_CANCEL_SECONDS", 10 * SECONDS)  # it ends without taking them
    received, row = asyncio.run(stopped_while(tmp_path / "db", ask, finish=False))
    assert received.kind == "cancelled"
    assert b"the server is stopping" in received.body
    assert [each["kind"] for each in row["errors"]] == ["cancelled"]


def test_grpc_speaks_tls_and_nothing_else_then(tmp_path: Path) -> None:
    certificate, key = pair(tmp_path)
    token = fill(tmp_path / "db")["mia"]

    async def main() -> tuple[str, str, Any]:
        where = serving.Serving(http_port=None, grpc_port=0, certificate=certificate, key=key)
        async with (
            await open_async(tmp_path / "db", settings=load(SETTINGS, {})) as db,
            serving_database(db, where) as server,
        ):
            [url] = server.addresses
            address = url.removeprefix("grpc://")
            trusted = grpc.ssl_channel_credentials(certificate.read_bytes())
            asked = pb.AskRequest(question=QUESTION, using="scripted")
            async with grpc.aio.secure_channel(address, trusted) as channel:
                stub: Any = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
                reply = await stub.Ask(asked, metadata=bearer(token), timeout=SECONDS)
            codes = []
            for strange in (
                grpc.aio.insecure_channel(address),
                grpc.aio.secure_channel(address, grpc.ssl_channel_credentials()),
            ):
                async with strange as channel:
                    stub = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
                    with pytest.raises(grpc.aio.AioRpcError) as caught:
                        await stub.Ask(asked, metadata=bearer(token), timeout=SECONDS)
                    codes.append(caught.value.code().name)
            return url, reply.answer, codes

    url, answer, codes = asyncio.run(main())
    assert url.startswith("grpc://")
    assert "[^1]" in answer
    assert codes == ["UNAVAILABLE", "UNAVAILABLE"]


class Serve(Served):
    """`redask serve`, with a minute to finish what runs."""

    start = f"from redask.server import serving; serving.GRACE_SECONDS = {SECONDS}; {START}"

    def __init__(self, directory: Path, *words: str, **env: str) -> None:
        super().__init__(directory, **env)
        self.words = ("serve", "--port", "0", "--no-pg", *words)


def refuses(url: str) -> bool:
    """Whether nobody is let in any more."""
    try:
        httpx.get(f"{url}/healthz", timeout=SECONDS)
    except httpx.TransportError:
        return True
    return False


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_a_real_server_finish_what_it_is_asked(
    tmp_path: Path, how: signal.Signals
) -> None:
    token = fill(tmp_path / "db")["mia"]
    received: list[httpx.Response] = []
    released = threading.Event()
    with Loopback() as host:
        host.play(replace(CHAT.whole(ANSWER), after=released))
        env = {"REDASK_OPENAI_BASE_URL": host.url, "OPENAI_API_KEY": "sk-none"}
        with Serve(tmp_path / "db", "--no-grpc", **env) as server:
            [url] = server.addresses
            body = {"question": QUESTION, "options": {"using": "openai"}}
            asking = threading.Thread(
                target=lambda: received.append(
                    httpx.post(
                        f"{url}/v1/ask", json=body, headers=authorized(token), timeout=SECONDS
                    )
                )
            )
            asking.start()
            assert until(lambda: host.requests)
            server.process.send_signal(how)
            assert until(lambda: refuses(url))
            assert server.alive()  # it waits for the answer
            released.set()
            asking.join(SECONDS)
            assert server.process.wait(SECONDS) == 0
            assert server.stderr().decode().splitlines()[1:] == ["redask: stopped"]
    assert received[0].status_code == 200, received[0].text
    assert received[0].json()["answer"] == ANSWER
    with redask.open(tmp_path / "db") as db:
        [row] = [each.row for each in db.audit()]
        assert (row["user"], row["provider"], row["errors"]) == ("mia", "openai", [])


def test_a_real_server_serves_the_loopback_address_of_ipv6(tmp_path: Path) -> None:
    token = fill(tmp_path / "db")["mia"]
    body = {"question": QUESTION, "options": {"using": "scripted"}}
    with Serve(tmp_path / "db", "--host", "::1", "--grpc-port", "0") as server:
        url, far = server.addresses
        assert url.startswith("http://[::1]:")
        assert far.startswith("grpc://[::1]:")
        reply = httpx.post(f"{url}/v1/ask", json=body, headers=authorized(token), timeout=SECONDS)
        with grpc.insecure_channel(far.removeprefix("grpc://")) as channel:
            stub: Any = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
            asked = pb.AskRequest(question=QUESTION, using="scripted")
            answer = stub.Ask(asked, metadata=bearer(token), timeout=SECONDS).answer
        assert server.stop() == 0
    assert reply.json()["answer"] == answer


def test_without_sign_in_a_server_on_ipv6_answers_to_its_address_only(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    with Serve(tmp_path / "db", "--host", "::1", "--no-grpc", "--no-auth") as server:
        [url] = server.addresses
        assert httpx.get(f"{url}/v1/audit", timeout=SECONDS).status_code == 200
        strange = httpx.get(f"{url}/v1/audit", headers={"Host": "evil.example"}, timeout=SECONDS)
        assert strange.status_code == 403
