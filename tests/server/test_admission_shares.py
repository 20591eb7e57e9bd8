"""One user's asks do not keep another tenant's from running, on any transport."""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import httpx
import psycopg
import pytest
from server_thread import ServerThread
from waiting import SECONDS, until_true

import redask
from redask.core.access.ask_shares import AskClaim, AskQuota
from redask.core.errors import Overloaded
from redask.server import serving
from redask.server.admission import Admission
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.generated import redask_pb2_grpc

MIA, BO, EVA = AskClaim("local", "mia"), AskClaim("local", "bo"), AskClaim("other", "eva")
MANY = 300


def test_users_and_tenants_take_turns_however_many_one_has_waiting() -> None:
    begun: list[AskClaim] = []

    async def main() -> None:
        admission = Admission(1, 2 * MANY)
        gate = asyncio.Event()

        async def work(claim: AskClaim) -> None:
            begun.append(claim)
            await gate.wait()

        tasks = [
            asyncio.create_task(admission.of(claim).run(partial(work, claim)))
            for claim in [*[MIA] * MANY, *[BO] * 3, *[EVA] * 3]
        ]
        await until_true(lambda: len(begun) == 1)
        gate.set()
        await asyncio.gather(*tasks)
        assert not admission._queue
        assert not admission._running
        assert not admission._turns

    asyncio.run(main())
    # tenant by tenant, and in `local` user by user
    assert begun[:12] == [MIA, EVA, BO, EVA, MIA, EVA, BO, MIA, BO, MIA, MIA, MIA]
    assert len(begun) == MANY + 6


def test_a_users_part_is_bounded_while_there_is_room_for_others() -> None:
    async def main() -> None:
        admission = Admission(8, 8, AskQuota(user_running=2, user_waiting=1))
        gate, running = asyncio.Event(), []

        async def work() -> None:
            running.append(1)
            await gate.wait()

        tasks = [asyncio.create_task(admission.of(MIA).run(work)) for _ in range(3)]
        await until_true(lambda: len(admission._queue) == 1)
        with pytest.raises(Overloaded, match="3 asks of this user"):
            await admission.of(MIA).run(work)
        other = asyncio.create_task(admission.of(BO).run(work))
        await until_true(lambda: len(running) == 3)
        tasks[2].cancel()  # who stops waiting leaves the queue
        await until_true(lambda: not admission._queue)
        gate.set()
        await asyncio.gather(*tasks[:2], other)

    asyncio.run(main())


def test_a_place_of_one_that_was_cancelled_is_free() -> None:
    async def main() -> None:
        admission = Admission(1, 9)
        running = asyncio.create_task(admission.of(MIA).run(asyncio.Event().wait))
        await until_true(lambda: len(admission._running) == 1)
        waiting = asyncio.create_task(admission.of(MIA).run(lambda: asyncio.sleep(0, "done")))
        await until_true(lambda: len(admission._queue) == 1)
        running.cancel()
        assert await waiting == "done"

    asyncio.run(main())


def test_a_tenants_flood_waits_while_others_ask_and_who_leaves_meanwhile_is_gone() -> None:
    async def main() -> None:
        admission = Admission(8, 2, rate=1)

        async def asked(claim: AskClaim) -> str:
            return await admission.of(claim).run(lambda: asyncio.sleep(0, "done"))

        assert [await asked(MIA) for _ in range(9)] == ["done"] * 9  # alone, at any pace
        assert await asked(EVA) == "done"
        assert await asked(MIA) == "done"
        flood = [asyncio.create_task(asked(each)) for each in (MIA, BO, MIA)]
        await until_true(lambda: len(admission._early) == 3)
        assert await asked(AskClaim("third", "tom")) == "done"
        assert admission._early == [MIA, BO, MIA]
        for each in flood:
            each.cancel()
        await asyncio.wait(flood)
        assert not admission._early

    asyncio.run(main())


def test_those_that_wait_for_their_pace_count_among_those_that_wait() -> None:
    async def main() -> None:
        admission = Admission(1, 2, AskQuota(1, 2, 1, 2), rate=1)
        for claim in (EVA, MIA):
            await admission.of(claim).run(lambda: asyncio.sleep(0))
        flood = [
            asyncio.create_task(admission.of(MIA).run(lambda: asyncio.sleep(0))) for _ in range(3)
        ]
        await until_true(lambda: len(admission._early) == 3)
        with pytest.raises(Overloaded, match="3 asks"):
            await admission.of(MIA).run(lambda: asyncio.sleep(0))
        for each in flood:
            each.cancel()
        await asyncio.wait(flood)

    asyncio.run(main())


class TwoTenants(ServerThread):
    """A server with few places, and the token of somebody of another tenant."""

    other: str
    rate = 0

    def __enter__(self) -> "TwoTenants":
        with redask.open(self.directory, tenant="other", embedder="none") as db:
            db.put("plans", [{"id": 1, "text": "The ferry leaves at nine."}])
            db.add_user("eva", role="owner")
            self.other = db.make_token("eva")
        self.admission = Admission(2, 2 * MANY, rate=self.rate)
        super().__enter__()
        return self


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoTenants]:
    where: dict[str, Any] = {"http_port": 0, "grpc_port": 0, "pg_port": 0}
    with TwoTenants(tmp_path_factory.mktemp("shares") / "db", **where) as opened:
        yield opened


async def by_http(server: TwoTenants) -> str:
    headers = {"Authorization": f"Bearer {server.other}"}
    async with httpx.AsyncClient(headers=headers, timeout=SECONDS) as client:
        body = {"question": "When does the ferry leave?", "options": {"using": "scripted"}}
        return (await client.post(f"{server.addresses[0]}/v1/ask", json=body)).text


async def by_mcp(server: TwoTenants) -> str:
    headers = {
        "Authorization": f"Bearer {server.other}",
        "Accept": "application/json, text/event-stream",
    }
    called = {"name": "redask_search", "arguments": {"question": "ferry"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
    async with httpx.AsyncClient(headers=headers, timeout=SECONDS) as client:
        return (await client.post(f"{server.addresses[0]}/mcp", json=message)).text


async def by_grpc(server: TwoTenants) -> str:
    async with grpc.aio.insecure_channel(server.addresses[1].removeprefix("grpc://")) as channel:
        stub: Any = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
        asked = pb.AskRequest(question="When does the ferry leave?", using="scripted")
        return str(await stub.Ask(asked, metadata=[("authorization", f"Bearer {server.other}")]))


async def by_postgres(server: TwoTenants) -> str:
    def connect() -> str:
        with psycopg.connect(
            f"{server.addresses[2]}/other", user="eva", password=server.other
        ) as connection:
            return str(connection.execute("SELECT text FROM plans").fetchall())

    return await asyncio.to_thread(connect)


@pytest.mark.parametrize("ask", [by_http, by_mcp, by_grpc, by_postgres])
def test_another_tenants_ask_goes_on_while_one_user_has_hundreds_waiting(
    server: TwoTenants, ask: Any
) -> None:
    async def main() -> str:
        mia = await server.db.signed_in(server.tokens["mia"])
        waiting = [
            asyncio.create_task(server.admission.of(mia.claim).run(asyncio.Event().wait))
            for _ in range(MANY)
        ]
        try:
            await until_true(lambda: len(server.admission._queue) == MANY - 1)
            return str(await ask(server))
        finally:
            for each in waiting:
                each.cancel()
            await asyncio.wait(waiting)

    assert "ferry" in server.run(main())


class PacedTenants(TwoTenants):
    """The same, where a tenant has one ask a second while others ask."""

    rate = 1


@pytest.fixture(scope="module")
def paced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoTenants]:
    where: dict[str, Any] = {"http_port": 0, "grpc_port": 0, "pg_port": 0}
    with PacedTenants(tmp_path_factory.mktemp("paced") / "db", **where) as opened:
        yield opened


@pytest.mark.parametrize("ask", [by_http, by_mcp, by_grpc, by_postgres])
def test_a_tenants_asks_by_any_transport_are_paced_while_another_asks(
    paced: TwoTenants, ask: Any
) -> None:
    async def main() -> list[str]:
        mia = await paced.db.signed_in(paced.tokens["mia"])
        await paced.admission.of(mia.claim).run(lambda: asyncio.sleep(0))
        asks = [asyncio.create_task(ask(paced)) for _ in range(2)]
        await until_true(lambda: AskClaim("other", "eva") in paced.admission._early)
        return [str(await each) for each in asks]

    assert all("ferry" in each for each in paced.run(main()))


def test_a_server_paces_tenants_by_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates: list[int] = []

    def noted(*given: Any, **named: Any) -> Admission:
        rates.append(named["rate"])
        return Admission(*given, **named)

    monkeypatch.setattr(serving, "Admission", noted)
    server = ServerThread(tmp_path / "db", http_port=0)
    server.admission = None  # type: ignore[assignment]  # so that it makes its own
    with server:
        assert rates == [200]


def test_asks_over_http_have_the_share_of_who_signed_in(server: TwoTenants) -> None:
    """The real asks of one user, by a transport: a second one waits, another tenant's runs."""

    async def main() -> None:
        headers = {"Authorization": f"Bearer {server.tokens['mia']}"}
        body = {"question": "When does the ferry leave?", "options": {"using": "anthropic"}}
        async with httpx.AsyncClient(
            base_url=server.addresses[0], headers=headers, timeout=SECONDS
        ) as client:
            asks = [
                asyncio.create_task(client.post("/v1/ask", json=body, timeout=SECONDS))
                for _ in range(5)
            ]
            await until_true(lambda: len(server.admission._queue) == 4)
            assert [claim for claim, _ in server.admission._queue] == [AskClaim("local", "mia")] * 4
            assert "ferry" in await by_http(server)
            for each in asks:
                each.cancel()
            await asyncio.wait(asks)
        await until_true(lambda: not server.admission._running)

    server.run(main())
