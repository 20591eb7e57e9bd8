"""Rows of a SELECT are written as JSON where they were made: a server only hands the bytes on."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from server_thread import ServerThread
from waiting import SECONDS

from redask.core.wire.row_json import PIECE_BYTES
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.generated import redask_pb2_grpc
from redask.server.http import responses

STATEMENT = "SELECT 9007199254740993 AS n, 'ü' AS n, 0.50 AS a ORDER BY 1"


def test_transports_get_rows_as_json_from_the_selector(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ServerThread(tmp_path / "db", http_port=0, grpc_port=0) as server:
        selector: Any = server.db._app.selector
        monkeypatch.setattr(type(selector), "select_json", written(type(selector).select_json))
        token = {"authorization": f"Bearer {server.tokens['mia']}"}
        asked = {"statement": STATEMENT}
        url = f"{server.addresses[0]}/v1/query"
        reply = httpx.post(url, json=asked, headers=token, timeout=SECONDS)
        with grpc.insecure_channel(server.addresses[1].removeprefix("grpc://")) as channel:
            stub: Any = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
            request = pb.QueryRequest(statement=STATEMENT)
            by_grpc = stub.Query(request, metadata=tuple(token.items()), timeout=SECONDS)
    row = '{"a":"0.50","n":"9007199254740993","n_2":"ü"}'
    assert reply.headers["content-type"] == "application/json"
    assert reply.text == f'{{"rows":[{row}]}}'
    assert by_grpc.rows_json.decode() == f"[{row.replace(SAFE, SAFE[1:-1])}]"
    assert CALLS == [True, False]


SAFE = '"9007199254740993"'
CALLS: list[bool] = []


def written(inner: Any) -> Any:
    """`select_json`, which notes for whom it writes."""

    def select_json(*given: Any, browsers: bool, **more: Any) -> list[bytes]:
        CALLS.append(browsers)
        made: list[bytes] = inner(*given, browsers=browsers, **more)
        return made

    return select_json


def test_a_long_result_is_sent_in_pieces_between_which_the_loop_works() -> None:
    taken: list[int] = []
    others: list[int] = []
    ended: list[int] = []

    async def send(message: Any) -> None:
        taken.append(len(message.get("body", b"")))

    async def received() -> None:
        pieces = [b"[", b"1" * PIECE_BYTES, b"2" * PIECE_BYTES, b"]"]
        reply = responses.encoded(pieces, lambda: ended.append(len(taken)))
        assert reply.headers["content-length"] == str(2 * PIECE_BYTES + 2)

        async def other() -> None:
            while len(taken) < 6:
                others.append(len(taken))
                await asyncio.sleep(0)

        beside = asyncio.ensure_future(other())
        await reply({}, None, send)  # type: ignore[arg-type]  # nothing is received
        await beside

    asyncio.run(received())
    assert taken == [0, 1, PIECE_BYTES, PIECE_BYTES, 1, 0]
    assert others == [2, 3, 4, 5]
    assert ended == [6]


def test_a_long_result_arrives_whole(tmp_path: Path) -> None:
    sql = "SELECT n, repeat('x', 99) AS x FROM generate_series(1, 9000) n"
    with ServerThread(tmp_path / "db", http_port=0) as server:
        token = {"authorization": f"Bearer {server.tokens['mia']}"}
        url = f"{server.addresses[0]}/v1/query"
        reply = httpx.post(url, json={"statement": sql}, headers=token, timeout=SECONDS)
    assert reply.status_code == 200
    assert reply.json() == {"rows": [{"n": n, "x": "x" * 99} for n in range(1, 9001)]}
    assert int(reply.headers["content-length"]) == len(reply.content) > 3 * PIECE_BYTES


def test_a_client_that_takes_nothing_of_a_long_result_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(responses, "SEND_SECONDS", 0.01)
    sent: list[str] = []
    ended: list[bool] = []

    async def send(message: Any) -> None:
        sent.append(message["type"])
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    long = responses.encoded([b"1" * PIECE_BYTES] * 2, lambda: ended.append(True))
    assert not ended
    asyncio.run(long({}, None, send))  # type: ignore[arg-type]  # nothing is received
    assert sent == ["http.response.start", "http.response.body"]
    assert ended == [True]
