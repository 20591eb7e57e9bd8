"""Stopping while an ask runs, by every transport: it is finished or cancelled, and has its row.

And a real `redask serve` that gets SIGTERM, and one on the loopback address of IPv6.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import httpx
import httpx2
import pytest
from certificates import pair
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from stage import Player
from transports import SETTINGS, Heard, fill, grpc_failed, mcp_heard

import redask
from redask.api.sync import open_async
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.settings import load
from redask.server import serving
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.generated import redask_pb2_grpc

QUESTION = "When does the ferry leave?"
ANSWER = "The ferry to Amrum leaves at nine. [^1]"
Asking = Callable[[list[str], str], Awaitable[Heard]]


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


async def by_grpc(addresses: list[str], token: str) -> Heard:
    async with grpc.aio.insecure_channel(addresses[1].removeprefix("grpc://")) as channel:
        stub: Any = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
        try:
            reply = await stub.Ask(request(), metadata=bearer(token), timeout=30)
        except grpc.aio.AioRpcError as error:
            return grpc_failed(error)
        return Heard("answered", reply.answer.encode(), "OK")


async def by_grpc_stream(addresses: list[str], token: str) -> Heard:
    async with grpc.aio.insecure_channel(addresses[1].removeprefix("grpc://")) as channel:
        stub: Any = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
        frames = [
            each async for each in stub.AskStream(request(), metadata=bearer(token), timeout=30)
        ]
    names = [each.WhichOneof("frame") for each in frames]
    assert names[0] == "sources"
    if names[-1] == "error":
        return Heard("cancelled", frames[-1].error.message.encode(), frames[-1].error.code)
    assert names[-1] == "validation"
    return Heard("answered", "".join(each.answer_token.text for each in frames).encode(), 200)


async def by_mcp(addresses: list[str], token: str, told: Any = None) -> Heard:
    async with (
        httpx2.AsyncClient(headers=dict(authorized(token)), timeout=30) as http,
        Client(streamable_http_client(f"{addresses[0]}/mcp", http_client=http)) as client,
    ):
        await client.list_tools()  # it would look up the schema of the answer afterwards
        given = {"question": QUESTION, "options": {"using": "anthropic"}}
        heard = mcp_heard(await client.call_tool("redask_ask", given, progress_callback=told))
    if heard.kind == "answered":
        return Heard(heard.kind, json.loads(heard.body)["answer"].encode(), "")
    return heard


async def by_mcp_with_progress(addresses: list[str], token: str) -> Heard:
    async def told(progress: float, total: float | None, message: str | None) -> None:
        pass

    return await by_mcp(addresses, token, told)


TRANSPORTS = pytest.mark.parametrize("ask", [by_grpc, by_grpc_stream, by_mcp, by_mcp_with_progress])


def request() -> Any:
    return pb.AskRequest(question=QUESTION, using="anthropic")


def authorized(token: str) -> list[tuple[str, str]]:
    return [("Authorization", f"Bearer {token}")]


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


async def stopped_while(directory: Path, ask: Asking, *, finish: bool) -> tuple[Heard, Any, float]:
    """→ what the caller heard, the audit row, and how long stopping took."""
    token = fill(directory)["mia"]
    waiter = Waiter()
    providers = {"anthropic": waiter}
    async with await open_async(directory, settings=load("", {}), providers=providers) as db:
        opened, stop = asyncio.get_running_loop().create_future(), asyncio.Event()
        where = serving.Serving(http_port=0, grpc_port=0)
        server = asyncio.create_task(serving.serve(db, where, opened.set_result, stop))
        asking = asyncio.ensure_future(ask(await opened, token))
        async with asyncio.timeout(20):
            while not waiter.calls and not asking.done():
                await asyncio.sleep(0.01)
        began = time.monotonic()
        stop.set()
        if finish:
            await asyncio.sleep(0.2)
            waiter.released.set()
        heard = await asking
        await server
        took = time.monotonic() - began
        [newest] = await db.audit(1)
        return heard, newest.row, took


@TRANSPORTS
def test_what_runs_when_the_server_stops_may_finish(tmp_path: Path, ask: Asking) -> None:
    heard, row, _ = asyncio.run(stopped_while(tmp_path / "db", ask, finish=True))
    assert (heard.kind, heard.body.decode()) == ("answered", ANSWER)
    assert row["question"] == QUESTION
    assert (row["validation_ok"], row["errors"]) == (True, [])


@TRANSPORTS
def test_what_does_not_finish_in_time_is_cancelled_and_has_its_row(
    tmp_path: Path, ask: Asking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "GRACE_SECONDS", 0)
    heard, row, took = asyncio.run(stopped_while(tmp_path / "db", ask, finish=False))
    assert heard.kind == "cancelled"
    assert b"the server is stopping" in heard.body
    assert [each["kind"] for each in row["errors"]] == ["cancelled"]
    assert took < serving._CANCEL_SECONDS


def test_grpc_speaks_tls_and_nothing_else_then(tmp_path: Path) -> None:
    certificate, key = pair(tmp_path)
    token = fill(tmp_path / "db")["mia"]

    async def main() -> tuple[str, str, Any]:
        async with await open_async(tmp_path / "db", settings=load(SETTINGS, {})) as db:
            opened, stop = asyncio.get_running_loop().create_future(), asyncio.Event()
            where = serving.Serving(http_port=None, grpc_port=0, certificate=certificate, key=key)
            server = asyncio.create_task(serving.serve(db, where, opened.set_result, stop))
            [url] = await opened
            address = url.removeprefix("grpc://")
            trusted = grpc.ssl_channel_credentials(certificate.read_bytes())
            asked = pb.AskRequest(question=QUESTION, using="scripted")
            async with grpc.aio.secure_channel(address, trusted) as channel:
                stub: Any = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
                reply = await stub.Ask(asked, metadata=bearer(token), timeout=20)
            codes = []
            for strange in (
                grpc.aio.insecure_channel(address),
                grpc.aio.secure_channel(address, grpc.ssl_channel_credentials()),
            ):
                async with strange as channel:
                    stub = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
                    with pytest.raises(grpc.aio.AioRpcError) as caught:
                        await stub.Ask(asked, metadata=bearer(token), timeout=20)
                    codes.append(caught.value.code().name)
            stop.set()
            await server
            return url, reply.answer, codes

    url, answer, codes = asyncio.run(main())
    assert url.startswith("grpc://")
    assert "[^1]" in answer
    assert codes == ["UNAVAILABLE", "UNAVAILABLE"]


class Slow(BaseHTTPRequestHandler):
    """A model host that takes its time."""

    asked = threading.Event()
    released = threading.Event()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        type(self).asked.set()
        type(self).released.wait(30)
        said = {"role": "assistant", "content": ANSWER}
        choice = {"index": 0, "finish_reason": "stop", "message": said}
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        kind = {"id": "1", "object": "chat.completion", "created": 1, "model": "slow"}
        body = json.dumps({**kind, "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def slow_host() -> Iterator[str]:
    Slow.asked.clear()
    Slow.released.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Slow) as host:
        threading.Thread(target=host.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{host.server_address[1]}/v1"
        Slow.released.set()
        host.shutdown()


@contextmanager
def process(directory: Path, *words: str, **env: str) -> Iterator[tuple[Any, list[str]]]:
    """`redask serve` as a process of its own, and where it serves."""
    paths = os.pathsep.join(filter(None, sys.path))
    told = "from redask.cli import main; main()"
    started = subprocess.Popen(
        [sys.executable, "-c", told, "--db", directory, "serve", "--port", "0", "--no-pg", *words],
        env={**os.environ, "PYTHONPATH": paths, **env},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stderr is not None
    try:
        transports = 1 if "--no-grpc" in words else 2
        lines = [started.stderr.readline() for _ in range(transports)]
        yield started, [line.strip().removeprefix("redask: serving ") for line in lines]
    finally:
        started.kill()
        started.wait()
        started.stderr.close()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_a_real_server_finish_what_it_is_asked(
    tmp_path: Path, how: signal.Signals
) -> None:
    token = fill(tmp_path / "db")["mia"]
    heard: list[httpx.Response] = []
    with (
        slow_host() as host,
        process(
            tmp_path / "db",
            "--no-grpc",
            REDASK_OPENAI_BASE_URL=host,
            OPENAI_API_KEY="sk-none",
            REDASK_OPENAI_MODEL="slow",
        ) as (server, [url]),
    ):
        body = {"question": QUESTION, "options": {"using": "openai"}}
        headers = dict(authorized(token))
        asking = threading.Thread(
            target=lambda: heard.append(
                httpx.post(f"{url}/v1/ask", json=body, headers=headers, timeout=40)
            )
        )
        asking.start()
        assert Slow.asked.wait(30)
        server.send_signal(how)
        time.sleep(0.3)
        assert server.poll() is None  # it waits for the answer
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{url}/healthz")
        Slow.released.set()
        asking.join(30)
        assert server.wait(30) == 0
        assert server.stderr.read() == "redask: stopped\n"
    assert heard[0].status_code == 200, heard[0].text
    assert heard[0].json()["answer"] == ANSWER
    with redask.open(tmp_path / "db") as db:
        [row] = [each.row for each in db.audit()]
        assert (row["user"], row["provider"], row["errors"]) == ("mia", "openai", [])


def test_a_real_server_serves_the_loopback_address_of_ipv6(tmp_path: Path) -> None:
    token = fill(tmp_path / "db")["mia"]
    body = {"question": QUESTION, "options": {"using": "scripted"}}
    with process(tmp_path / "db", "--host", "::1", "--grpc-port", "0") as (server, (url, far)):
        assert url.startswith("http://[::1]:")
        assert far.startswith("grpc://[::1]:")
        reply = httpx.post(f"{url}/v1/ask", json=body, headers=authorized(token), timeout=30)
        with grpc.insecure_channel(far.removeprefix("grpc://")) as channel:
            stub: Any = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
            asked = pb.AskRequest(question=QUESTION, using="scripted")
            answer = stub.Ask(asked, metadata=bearer(token), timeout=20).answer
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
    assert reply.json()["answer"] == answer


def test_without_sign_in_a_server_on_ipv6_answers_to_its_address_only(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    with process(tmp_path / "db", "--host", "::1", "--no-grpc", "--no-auth") as (_, [url]):
        assert httpx.get(f"{url}/v1/audit", timeout=30).status_code == 200
        strange = httpx.get(f"{url}/v1/audit", headers={"Host": "evil.example"}, timeout=30)
        assert strange.status_code == 403
