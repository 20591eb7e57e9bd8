"""HAProxy as docs/postgresql.md configures it, in front of two nodes of different tenants."""

import asyncio
import re
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from haproxy import proxy
from server_thread import serving_database
from waiting import until_true

import redask
from redask.api.asynchronous import AsyncDatabase
from redask.api.sync import open_async
from redask.core.settings import load
from redask.server import readiness
from redask.server.serving import Serving

SETTINGS = load('[embedder]\nname = "none"', {})
QUESTION = {"question": "Where is the harbour?"}


@pytest.fixture
def tokens(tmp_path: Path) -> dict[str, str]:
    made = {}
    for tenant in ("north", "south"):
        with redask.open(tmp_path / "db", tenant=tenant, settings=SETTINGS) as db:
            db.put("notes", [{"id": 1, "text": f"The harbour of the {tenant}."}])
            db.add_user("ann", role="reader")
            made[tenant] = db.make_token("ann")
    return made


def test_every_tenant_is_answered_through_the_proxy_by_the_node_that_serves_it(
    tmp_path: Path, tokens: dict[str, str]
) -> None:
    async def main() -> None:
        async with AsyncExitStack() as opened:
            servers = {}
            for tenant in tokens:
                chosen = replace(SETTINGS, serving=replace(SETTINGS.serving, tenants=(tenant,)))
                db = await opened.enter_async_context(
                    await open_async(tmp_path / "db", settings=chosen)
                )
                where = Serving(http_port=0, grpc_port=None, pg_port=None)
                servers[tenant] = await opened.enter_async_context(serving_database(db, where))
            nodes = [each.addresses[0] for each in servers.values()]
            url = opened.enter_context(proxy(tmp_path, nodes))

            texts: list[str] = []  # of replies, for a failure

            async def status(tenant: str) -> int:
                headers = {"authorization": f"Bearer {tokens[tenant]}"}
                try:
                    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
                        reply = await client.post("/v1/ask", json=QUESTION, headers=headers)
                except httpx.HTTPError:
                    return 0
                texts.append(reply.text)
                return reply.status_code

            async def told(tenant: str, expected: int) -> None:
                async with asyncio.timeout(60):
                    while await status(tenant) != expected:
                        await asyncio.sleep(0.02)

            await told("north", 200)  # once the proxy listens
            for tenant in tokens:
                assert [await status(tenant) for _ in range(4)] == [200] * 4, texts
            servers["north"].stop.set()
            await until_true(servers["north"].task.done)
            await told("north", 503)  # its only node is gone
            assert [await status("south") for _ in range(4)] == [200] * 4, texts

    asyncio.run(main())


def test_a_node_that_is_not_ready_or_whose_replica_lags_gets_no_questions(
    tmp_path: Path, tokens: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By /readyz alone: the node itself would answer."""
    monkeypatch.setattr(readiness, "LOOK_EVERY", 0.02)
    headers = {"authorization": f"Bearer {tokens['north']}"}

    async def main() -> None:
        busy: list[tuple[str, ...]] = [(), ()]
        async with AsyncExitStack() as opened:
            nodes = []
            for number in range(2):
                db = await opened.enter_async_context(
                    await open_async(tmp_path / "db", settings=SETTINGS)
                )
                pretend(db, number, busy, monkeypatch)
                where = Serving(http_port=0, grpc_port=None, pg_port=None)
                server = await opened.enter_async_context(serving_database(db, where))
                nodes.append(server.addresses[0])
            url = opened.enter_context(proxy(tmp_path, nodes, checks=True))

            async def who() -> set[str]:
                """The nodes that answer, as the proxy's cookie names them."""
                found = set()
                for _ in range(6):
                    with suppress(httpx.HTTPError):
                        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
                            reply = await client.post("/v1/ask", json=QUESTION, headers=headers)
                        found |= set(re.findall("node[12]", reply.headers.get("set-cookie", "")))
                return found

            async def until_answered_by(expected: set[str]) -> None:
                async with asyncio.timeout(60):
                    while await who() != expected:
                        await asyncio.sleep(0.05)
                assert await who() == expected

            await until_answered_by({"node1", "node2"})
            for words in (("lagging",), ("audit_unavailable",)):
                busy[0] = words
                await until_answered_by({"node2"})
                busy[0] = ()
                await until_answered_by({"node1", "node2"})

    asyncio.run(main())


def pretend(
    db: AsyncDatabase, number: int, busy: list[tuple[str, ...]], patch: pytest.MonkeyPatch
) -> None:
    """A database that says to be busy with what it is told."""

    async def unsettled() -> tuple[str, ...]:
        return busy[number]

    patch.setattr(db, "unsettled", unsettled)
