"""A tenant has so many large results in memory, and one page of rows encoded, at a time."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from server_thread import ServerThread
from waiting import SECONDS, until_true

import redask
from redask.core.errors import Overloaded
from redask.server.admission import LONG_RESULTS, ResultPlace, TenantTurns

LONG = "SELECT n, repeat('x', 900) AS x FROM generate_series(1, 2000) n"


def test_tenants_have_turns_of_their_own_and_are_forgotten() -> None:
    async def main() -> None:
        turns = TenantTurns(1)
        async with turns.of("south"):
            assert turns.of("south").locked()
            assert not turns.of("north").locked()
        assert not turns._turns

    asyncio.run(main())


def test_a_turn_is_given_back_once_and_only_if_it_was_had() -> None:
    async def main() -> None:
        places = asyncio.Semaphore(1)
        first, second = ResultPlace(places), ResultPlace(places)
        await first.begin(SECONDS)
        with pytest.raises(Overloaded, match="still being sent"):
            await second.begin(0.01)
        second.end()
        assert places.locked()
        first.end()
        first.end()
        await second.begin(SECONDS)
        assert places.locked()

    asyncio.run(main())


class TwoTenants(ServerThread):
    """A server, and the token of somebody of another tenant."""

    other: str

    def __enter__(self) -> "TwoTenants":
        with redask.open(self.directory, tenant="other", embedder="none") as db:
            db.add_user("eva", role="owner")
            self.other = db.make_token("eva")
        super().__enter__()
        return self


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoTenants]:
    where: dict[str, Any] = {"http_port": 0, "pg_port": 0}
    directory: Path = tmp_path_factory.mktemp("turns") / "db"
    with TwoTenants(directory, **where) as opened:
        yield opened


def client(server: TwoTenants, token: str) -> httpx.AsyncClient:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.AsyncClient(base_url=server.addresses[0], headers=headers, timeout=SECONDS)


def query(statement: str = "SELECT 1 AS one") -> dict[str, Any]:
    return {"url": "/v1/query", "json": {"statement": statement}}


def test_a_select_over_http_waits_while_its_tenant_has_enough_results_in_memory(
    server: TwoTenants,
) -> None:
    async def main() -> None:
        places = server.admission._results.of("other")
        for _ in range(LONG_RESULTS):
            await places.acquire()
        async with client(server, server.other) as eva, client(server, server.tokens["mia"]) as mia:
            waiting = asyncio.create_task(eva.post(**query()))
            await until_true(lambda: len(server.admission._running) == 1)
            assert (await mia.post(**query())).json() == {"rows": [{"one": 1}]}
            assert not waiting.done()
            places.release()
            assert (await waiting).json() == {"rows": [{"one": 1}]}
            assert places._value == 1  # what is short has no place while it is sent

    server.run(main())


def test_what_a_select_waits_for_its_turn_is_of_its_time(
    server: TwoTenants, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = server.db._app
    given: list[int] = []

    def noted(*_: object, timeout_ms: int, **__: object) -> list[bytes]:
        given.append(timeout_ms)
        return [b"[]"]

    async def waited(seconds: float) -> None:
        assert seconds == app.settings.select_timeout_ms / 1000
        await asyncio.sleep(0.02)

    monkeypatch.setattr(app.selector, "select_json", noted)
    server.run(server.db.query_json("SELECT 1", browsers=True))
    server.run(server.db.query_json("SELECT 1", browsers=True, turn=waited))
    assert given[0] == app.settings.select_timeout_ms > given[1] > 0


def test_a_long_result_has_its_place_until_it_was_sent_or_its_client_has_left(
    server: TwoTenants,
) -> None:
    async def main() -> None:
        places = server.admission._results.of("other")
        async with client(server, server.other) as eva:
            async with eva.stream("POST", **query(LONG)) as reply:
                assert reply.status_code == 200
                held = places._value
            await until_true(lambda: places._value == LONG_RESULTS)
            assert len((await eva.post(**query(LONG))).json()["rows"]) == 2000
            assert (await eva.post(**query("SELECT no_such_column"))).status_code == 400
        await until_true(lambda: places._value == LONG_RESULTS)
        assert held < LONG_RESULTS

    server.run(main())


def test_one_page_of_a_tenants_rows_is_encoded_at_a_time_on_the_wire(server: TwoTenants) -> None:
    def selected(user: str, tenant: str, token: str) -> int:
        address = f"{server.addresses[-1]}/{tenant}"
        with psycopg.connect(address, user=user, password=token) as connection:
            return len(connection.execute(LONG).fetchall())

    async def main() -> None:
        turn = server.admission._encoding.of("other")
        async with turn:
            eva = asyncio.to_thread(selected, "eva", "other", server.other)
            waiting = asyncio.create_task(eva)
            await until_true(lambda: turn._waiters)
            mia = server.tokens["mia"]
            assert await asyncio.to_thread(selected, "mia", "local", mia) == 2000
            assert not waiting.done()
        assert await waiting == 2000

    server.run(main())
