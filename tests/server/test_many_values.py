"""JSON of very many values is refused before it is read; one body of rows is parsed at a time."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from server_thread import ServerThread
from starlette.requests import Request
from waiting import SECONDS, until

from redask.core.errors import BadAsk, LimitExceeded
from redask.server import request_json
from redask.server.http import bodies


@pytest.mark.parametrize("piece", [b"{},", b"[],", b"0,", b'"a":1,', b"[", b'"\\"",', b'"\\\\",'])
@pytest.mark.parametrize(("rows", "most"), [(False, 100_000), (True, 2_000_000)])
def test_more_values_than_there_may_be_are_refused_unread(
    piece: bytes, rows: bool, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("it was read")

    monkeypatch.setattr(json, "loads", never)
    with pytest.raises(LimitExceeded, match=f"more than {most} values: send it in parts"):
        request_json.read(b"[" + piece * (most + 1), rows=rows)


def test_as_many_values_as_there_may_be_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_json, "MAX_VALUES", 3)
    assert request_json.read(b'[{"a":1},2]') == [{"a": 1}, 2]
    with pytest.raises(LimitExceeded, match="more than 3 values"):
        request_json.read(b"[1,2,3,4]")


@pytest.mark.parametrize("text", [",[{" * 9, 'a",,,,', "\\,,,,", '\\",,,,"', "\\\\,,,,"])
def test_what_stands_in_a_text_is_no_value(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_json, "MAX_VALUES", 3)
    assert request_json.read(json.dumps([text, text]).encode()) == [text, text]


def test_one_body_of_rows_is_parsed_at_a_time_and_questions_beside_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(request_json, "LOOP_BYTES", 10)
    running: list[bytes] = []
    together, most = threading.Lock(), [0]
    go_on = threading.Event()

    def read(body: bytes, *, rows: bool = False) -> object:
        if not rows:
            raise BadAsk("a question")
        with together:
            running.append(body)
            most[0] = max(most[0], len(running))
        go_on.wait()
        with together:
            running.remove(body)
        return None

    monkeypatch.setattr(request_json, "read", read)

    async def main() -> None:
        large = [asyncio.ensure_future(bodies.read_rows(request(b"x" * 100))) for _ in range(4)]
        await asyncio.to_thread(until, lambda: running)
        with pytest.raises(BadAsk, match="a question"):
            await bodies.read_json(request(b"x" * 50))
        go_on.set()
        await asyncio.gather(*large)

    asyncio.run(main())
    assert most == [1]


@pytest.mark.parametrize("path", ["/v1/ask", "/v1/query", "/mcp"])
def test_a_server_refuses_many_values_of_a_reader(path: str, tmp_path: Path) -> None:
    body = b'{"a":[' + b"[0]," * 60_000 + b"0]}"
    with ServerThread(tmp_path / "db", http_port=0) as server:
        heads = {
            "Authorization": f"Bearer {server.tokens['mia']}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        at = server.addresses[0] + path
        reply = httpx.post(at, content=body, headers=heads, timeout=SECONDS)
    assert (reply.status_code, reply.json()["error"]["kind"]) == (413, "limit_exceeded")


def request(body: bytes) -> Request:
    sent: list[bool] = []

    async def receive() -> dict[str, Any]:
        if sent:  # the client stays and says no more
            await asyncio.Event().wait()
        sent.append(True)
        return {"type": "http.request", "body": body, "more_body": False}

    headers = [(b"content-type", b"application/json")]
    return Request({"type": "http", "headers": headers, "state": {}}, receive)
