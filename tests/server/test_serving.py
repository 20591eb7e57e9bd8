"""Stopping: what runs is finished or cancelled, with its row; and TLS, by the real command line."""

import asyncio
import socket
import ssl
from pathlib import Path
from typing import Any

import httpx
import pytest
from certificates import pair
from server_thread import SETTINGS, EndlessProvider, fill, serving_database
from waiting import SECONDS

from redask.api.sync import open_async
from redask.core import errors
from redask.core.settings import load
from redask.server import serving
from redask.server.listening_sockets import ListeningSockets


async def serve_and_stop(directory: Path, token: str, body: dict[str, Any], **more: Any) -> Any:
    """Ask, stop the server while it answers. → the reply, and the newest audit row."""
    endless = EndlessProvider("anthropic", [])
    async with await open_async(
        directory, settings=load(SETTINGS, {}), providers={"anthropic": endless}
    ) as db:
        async with serving_database(db, serving.Serving(http_port=0, **more)) as server:
            [url] = server.addresses
            trusted = more.get("certificate")
            verify = ssl.create_default_context(cafile=trusted) if trusted else True
            headers = {"Authorization": f"Bearer {token}"}
            async with httpx.AsyncClient(
                base_url=url, headers=headers, verify=verify, timeout=SECONDS
            ) as client:
                asking = asyncio.create_task(client.post("/v1/ask", json=body))
                while not endless.calls and not asking.done():
                    await asyncio.sleep(0.01)
                server.stop.set()
                reply = await asking
        return url, reply, (await db.audit(1))[0].row


@pytest.mark.parametrize("stream", [False, True])
def test_a_server_that_stops_cancels_what_runs_and_writes_its_row(
    tmp_path: Path, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "GRACE_SECONDS", 0)
    token = fill(tmp_path / "db")["mia"]
    body = {"question": "ferry", "options": {"using": "anthropic"}, "stream": stream}
    _, reply, row = asyncio.run(serve_and_stop(tmp_path / "db", token, body))
    assert "the server is stopping" in reply.text
    assert [each["kind"] for each in row["errors"]] == ["cancelled"]


def test_an_answer_comes_over_tls(tmp_path: Path) -> None:
    certificate, key = pair(tmp_path)
    token = fill(tmp_path / "db")["mia"]
    body = {"question": "ferry", "options": {"using": "scripted"}}
    work = serve_and_stop(tmp_path / "db", token, body, certificate=certificate, key=key)
    url, reply, _ = asyncio.run(work)
    assert url.startswith("https://")
    assert reply.json()["citations"]


def test_a_certificate_that_is_none_is_refused(tmp_path: Path) -> None:
    token = fill(tmp_path / "db")["mia"]
    bad = tmp_path / "bad.pem"
    bad.write_text("nothing")
    with pytest.raises(errors.Misconfigured, match="certificate"):
        asyncio.run(serve_and_stop(tmp_path / "db", token, {}, certificate=bad, key=bad))
    with pytest.raises(errors.Misconfigured, match="both"):
        serving.check(serving.Serving(certificate=bad))


def test_connections_of_every_transport_send_without_delay() -> None:
    """Nagle's algorithm would hold a frame back for 40 ms."""

    async def main() -> None:
        accepted: asyncio.Future[asyncio.BaseTransport] = asyncio.get_running_loop().create_future()

        class Accepting(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                accepted.set_result(transport)

        listening = ListeningSockets({}).open("http", "127.0.0.1", 0)
        server = await asyncio.get_running_loop().create_server(Accepting, sock=listening)
        _, writer = await asyncio.open_connection(*listening.getsockname())
        made = (await accepted).get_extra_info("socket")
        assert made.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        writer.close()
        server.close()

    asyncio.run(main())
