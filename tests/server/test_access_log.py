"""The access log, end to end: every transport's SELECT and search leaves a row, refusals too."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import grpc
import psycopg
import pytest
from transports import Transports

from redask.core.rules.audit_chain import Intact
from redask.server.grpc.generated import redask_pb2 as pb


class ManyWrongTokens(Transports):
    """Refuses them without making their address wait."""

    operator = "serve.wrong_tokens = 100"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Transports]:
    with ManyWrongTokens(tmp_path_factory.mktemp("accesses")) as transports:
        yield transports


async def newest(served: Transports, most: int = 10) -> list[dict[str, Any]]:
    return [each.row for each in await served.db.audit(most, log="access")]


async def select(served: Transports, way: str, sql: str) -> None:
    mia = served.clients["mia"]
    match way:
        case "here":
            await mia.db.select(sql)
        case "http":
            reply = await mia.http.post("/v1/query", json={"statement": sql})
            assert reply.status_code == 200, reply.text
        case "rpc":
            _, heard = await mia.lines.call("query", {"statement": sql})
            assert "result" in heard, heard
        case "grpc":
            await served.stub.Query(pb.QueryRequest(statement=sql), metadata=mia.metadata)
        case "mcp":
            result = await mia.mcp.call_tool("redask_select", {"statement": sql})
            assert not result.is_error, result
        case "mcp-http":
            result = await mia.mcp_http.call_tool("redask_select", {"statement": sql})
            assert not result.is_error, result
        case "pg":
            await served._afar.run_from_afar(mia.pg.execute(sql))


@pytest.mark.parametrize("way", ["here", "http", "rpc", "grpc", "mcp", "mcp-http", "pg"])
def test_a_select_leaves_its_row_on_every_transport(served: Transports, way: str) -> None:
    async def main() -> None:
        sql = f"SELECT count(*) AS {way.replace('-', '_')}_way FROM red_ask_audit"
        await select(served, way, sql)
        found = [row for row in await newest(served) if row["subject"] == sql]
        assert [(row["action"], row["user"], row["outcome"]) for row in found] == [
            ("select", "mia", "ok")
        ]

    served.run(main())


@pytest.mark.parametrize("way", ["here", "http", "rpc", "mcp", "mcp-http"])
def test_a_search_leaves_its_row_on_every_transport_that_has_it(
    served: Transports, way: str
) -> None:
    async def main() -> None:
        mia, question = served.clients["mia"], f"the way {way}"
        asked: dict[str, Any] = {"question": question}
        match way:
            case "here":
                await mia.db.search(question)
            case "http":
                assert (await mia.http.post("/v1/search", json=asked)).status_code == 200
            case "rpc":
                assert "result" in (await mia.lines.call("search", asked))[1]
            case "mcp":
                assert not (await mia.mcp.call_tool("redask_search", asked)).is_error
            case "mcp-http":
                assert not (await mia.mcp_http.call_tool("redask_search", asked)).is_error
        row = (await newest(served, 1))[0]
        assert (row["action"], row["subject"], row["user"]) == ("search", question, "mia")

    served.run(main())


def test_what_fails_leaves_a_row_with_its_kind(served: Transports) -> None:
    async def main() -> None:
        sql = "SELECT nothing FROM nowhere"
        reply = await served.clients["mia"].http.post("/v1/query", json={"statement": sql})
        row = (await newest(served, 1))[0]
        assert (row["subject"], row["outcome"]) == (sql, reply.json()["error"]["kind"])

    served.run(main())


def test_refused_sign_ins_leave_few_rows_on_every_transport(served: Transports) -> None:
    async def main() -> None:
        mia = served.clients["mia"]
        for n in range(30):
            reply = await mia.http.get("/v1/audit", headers={"Authorization": f"Bearer no{n}"})
            assert reply.status_code == 401
        with pytest.raises(grpc.aio.AioRpcError):
            await served.stub.Query(
                pb.QueryRequest(statement="SELECT 1"),
                metadata=(("authorization", "Bearer nonsense"),),
            )
        with pytest.raises(psycopg.OperationalError):
            await served._afar.run_from_afar(
                psycopg.AsyncConnection.connect(f"{served.pg}/local", user="mia", password="no")
            )
        await asyncio.sleep(0)
        await served.db.search("so that what waits is written")
        rows = await newest(served, 1000)
        refused = [row for row in rows if row["action"] == "sign_in"]
        assert {row["outcome"] for row in refused} == {"unauthenticated"}
        assert {row["subject"] for row in refused} == {"", "mia"}
        assert len(refused) <= 8  # of 32 and more: a new minute may begin meanwhile

    served.run(main())


def test_users_read_own_rows_an_auditor_the_tenants_by_http_and_select(served: Transports) -> None:
    async def main() -> None:
        mia, sql = served.clients["mia"], 'SELECT DISTINCT "user" FROM red_access_log'
        other = next(user for user in served.clients if user != "mia")
        await served.clients[other].db.search("not for mia")
        reply = await mia.http.get("/v1/audit", params={"log": "access", "limit": "1000"})
        rows = reply.json()["rows"]
        assert {each["row"]["user"] for each in rows} == {"mia"}
        assert [each["seq"] for each in rows] == list(range(len(rows), 0, -1))
        assert [dict(each) for each in await mia.db.select(sql)] == [{"user": "mia"}]
        all_of_them = {each["user"] for each in await served.db.select(sql)}
        assert {"mia", other} <= all_of_them
        assert "red_access_log" in [each.name for each in await served.db.tables()]
        wrong = await mia.http.get("/v1/audit", params={"log": "x"})
        assert (wrong.status_code, json.loads(wrong.content)["error"]["kind"]) == (400, "bad_ask")

    served.run(main())


def test_the_access_log_verifies_and_is_no_source(served: Transports) -> None:
    async def main() -> None:
        verdict = await served.db.verify_audit(log="access")
        assert isinstance(verdict, Intact)
        assert verdict.rows > 10
        found = await served.db.search("the way http")
        assert not any("red_" in hit.urn for hit in found.hits)

    served.run(main())
