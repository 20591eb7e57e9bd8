"""Rows of a SELECT are written as JSON where they were made: a server only hands the bytes on."""

from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from server_thread import ServerThread
from waiting import SECONDS

from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.generated import redask_pb2_grpc

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

    def select_json(*given: Any, browsers: bool, **more: Any) -> bytes:
        CALLS.append(browsers)
        made: bytes = inner(*given, browsers=browsers, **more)
        return made

    return select_json
