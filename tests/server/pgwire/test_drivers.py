"""Real drivers at the Postgres wire transport: rows, types and SQLSTATEs, value by value."""

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock_time
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import psycopg
import pytest
from certificates import pair
from deadlines import let_timers_pass
from pgwire_server import DRIVERS, Asyncpg, AsyncPsycopg, Driver, PgwireServer, Psycopg, sqlstate
from psycopg import errors as psycopg_errors
from waiting import SECONDS, until, until_true

from redask.core import errors
from redask.core.wire import envelope
from redask.server.pgwire.session import prepared_statements

COLUMNS = (
    "answer cache_hit citations completion_tokens cost_usd mode model prompt_tokens provider"
    " retry_count sources_flat validation"
).split()
JSON_COLUMNS = ("citations", "sources_flat", "validation")
ODD = "When does the 'ferry' — \"Ümläut\" \U0001f6a2; leave? $1 %s :p1 \\"


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest, transport: PgwireServer) -> Iterator[Driver]:
    with transport.driver(request.param) as opened:
        yield opened


def here(transport: PgwireServer, question: str, **options: Any) -> dict[str, Any]:
    """The envelope of the same question in process."""

    async def asked() -> dict[str, Any]:
        mia = await transport.db.signed_in(transport.tokens["mia"])
        return envelope.build(await mia.ask(question, **options))

    return transport.run(asked())


def plain(row: tuple[Any, ...]) -> dict[str, Any]:
    """A row as the envelope has it; some drivers leave JSON as text."""
    whole = dict(zip(COLUMNS, row, strict=True))
    for name in JSON_COLUMNS:
        found = whole[name]
        whole[name] = json.loads(found) if isinstance(found, str) else found
    assert type(whole["cost_usd"]) is Decimal
    return {**whole, "cost_usd": float(whole["cost_usd"])}


def test_an_ask_is_the_envelope_in_a_row(transport: PgwireServer, driver: Driver) -> None:
    options = {"using": "scripted", "limit": 2}
    for question in ("When does the ferry leave?", ODD):
        [row] = driver.rows("ASK $1 USING scripted LIMIT 2", question)
        found = plain(row)
        assert found == here(transport, question, **options)
        assert transport.newest()["question"] == question
        kinds = {name: type(value).__name__ for name, value in found.items()}
        assert kinds["cache_hit"] == "bool"
        assert kinds["prompt_tokens"] == kinds["completion_tokens"] == "int"
        assert found["citations"]


def test_a_literal_question_is_the_same_as_a_bound_one(
    transport: PgwireServer, driver: Driver
) -> None:
    [row] = driver.rows("ASK 'Isn''t the ferry late, Ümläut?' USING scripted")
    assert plain(row) == here(transport, "Isn't the ferry late, Ümläut?", using="scripted")


def test_a_plan_is_one_column_of_json(transport: PgwireServer, driver: Driver) -> None:
    [(plan,)] = driver.rows("EXPLAIN ASK 'ferry' USING scripted LIMIT 3")
    found = json.loads(plan) if isinstance(plan, str) else plan
    assert found["fusion"]["limit"] == 3
    assert found["provider"]["name"] == "scripted"


def test_a_select_has_the_types_of_its_columns(driver: Driver) -> None:
    rows = driver.rows("SELECT id, title, text FROM notes WHERE id = $1", 1)
    assert len(rows) == 1
    assert rows[0][0] == 1
    assert isinstance(rows[0][2], str)
    assert driver.rows("SELECT count(*) FROM notes WHERE id < 0") == [(0,)]
    assert driver.rows("SELECT id FROM notes WHERE id < 0") == []


ERRORS: dict[str, tuple[str, tuple[object, ...], str]] = {
    "bad_ask": ("ASK 'x' LIMIT 999", (), "42601"),
    "bad_ask, bound": ("ASK $1", (" \n",), "42601"),
    "denied": ("ASK 'ferry' COLLECTION secrets", (), "42501"),
    "limit_exceeded": ("ASK $1 USING scripted", ("ferry " * 5000,), "54000"),
    "ungrounded": ("ASK 'ferry' USING openai", (), "22000"),
    "misconfigured": ("ASK 'ferry' USING deepseek", (), "F0000"),
    "provider_refused": ("ASK 'ferry' USING groq", (), "58000"),
    "providers_exhausted": ("ASK 'ferry' USING together", (), "57P03"),
    "deadline_exceeded": ("ASK 'ferry' USING venice", (), "57014"),
    "internal": ("ASK 'ferry' USING openrouter", (), "XX000"),
    "STREAM": ("ASK 'ferry' STREAM", (), "0A000"),
}


TYPED = {
    "date '2024-02-29'": date(2024, 2, 29),
    "time '10:00:00.5'": clock_time(10, 0, 0, 500_000),
    "timestamp '2024-02-29 10:00:00'": datetime(2024, 2, 29, 10),
    "timestamptz '2024-02-29 11:00:00+01'": datetime(2024, 2, 29, 10, tzinfo=UTC),
    "interval '1 day 02:00:00'": timedelta(days=1, hours=2),
    "12.50": Decimal("12.50"),
    "0.1::float8": 0.1,
    "'6ecd8c99-4036-403d-bf84-cf8400f67836'::uuid": UUID("6ecd8c99-4036-403d-bf84-cf8400f67836"),
    "3000000000": 3_000_000_000,
    "7::int2": 7,
    "ARRAY[1, NULL, 3]": [1, None, 3],
    "ARRAY['a', 'b \"c\"']": ["a", 'b "c"'],
    "ARRAY[date '2024-02-29']": [date(2024, 2, 29)],
    "true": True,
    "NULL::date": None,
}


def test_values_of_every_type_come_and_go(driver: Driver) -> None:
    [row] = driver.rows(f"SELECT {', '.join(TYPED)}")
    assert list(row) == list(TYPED.values())
    kinds = ("date", "time", "timestamp", "timestamptz", "interval", "numeric", "float8", "uuid")
    values = list(TYPED.values())[: len(kinds)]
    places = ", ".join(f"${number}::{kind}" for number, kind in enumerate(kinds, start=1))
    assert [list(found) for found in driver.rows(f"SELECT {places}", *values)] == [values]
    assert driver.rows("SELECT id FROM notes WHERE id = ANY($1::int4[]) ORDER BY id", [3, 1]) == [
        (1,), (3,),
    ]  # fmt: skip


@pytest.mark.parametrize("what", ERRORS)
def test_an_error_has_the_sqlstate_of_its_outcome(driver: Driver, what: str) -> None:
    sql, params, expected = ERRORS[what]
    assert driver.state(sql, *params) == expected
    assert driver.rows("SELECT 1") == [(1,)]


def test_the_other_outcomes_have_theirs(
    transport: PgwireServer, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise errors.StoreFailed("the disk is gone")

    async def full(at_once: int, waiting: int) -> None:
        transport.admission.at_once, transport.admission.waiting = at_once, waiting

    with monkeypatch.context() as patch:
        patch.setattr("redask.engine.retrieval.Retriever.find_for_provider", broken)
        assert driver.state("ASK 'which disk is gone?' USING scripted") == "57P03"
    transport.run(full(0, 0))
    assert driver.state("ASK 'ferry' USING scripted") == "53300"
    transport.run(full(64, 256))
    assert driver.rows("SELECT 1") == [(1,)]


@pytest.mark.parametrize("name", DRIVERS)
def test_a_token_that_is_revoked_opens_nothing_more(transport: PgwireServer, name: str) -> None:
    token = transport.run(transport.db.make_token("mia"))
    with transport.driver(name, token=token) as driver:
        assert driver.rows("SELECT 1") == [(1,)]
        transport.run(transport.db.revoke_token(token.split("_")[1]))
        assert driver.state("ASK 'ferry' USING scripted") == "28P01"
        assert driver.state("SELECT * FROM notes") == "28P01"
    with pytest.raises(Exception, match="not a valid token"):
        transport.driver(name, token=token)
    with transport.driver(name) as again:  # mia's other token is as good as ever
        assert again.rows("SELECT 1") == [(1,)]


@pytest.mark.parametrize("name", DRIVERS)
def test_a_client_that_disconnects_cancels_the_ask_as_its_audit_row_shows(
    transport: PgwireServer, name: str
) -> None:
    question = f"ferry, asked by {name} and left"
    before = len(transport.actors["anthropic"].calls)
    driver = transport.driver(name)

    def asked() -> None:
        try:
            driver.rows("ASK $1 USING anthropic", question)
        except Exception:
            return

    asking = threading.Thread(target=asked, daemon=True)
    asking.start()
    wait(lambda: len(transport.actors["anthropic"].calls) > before)
    if name in ("psycopg", "psycopg-binary", "psycopg-prepared", "pg8000"):
        disconnect(driver)
    else:
        driver.leave()
    wait(lambda: transport.newest()["question"] == question)
    assert [each["kind"] for each in transport.newest()["errors"]] == ["cancelled"]
    asking.join(SECONDS)
    driver.close()
    with transport.driver(name) as again:
        assert again.rows("SELECT 1") == [(1,)]


def disconnect(driver: Any) -> None:
    """Shut a socket that another thread is waiting on."""
    import os
    import socket

    connection = driver.connection
    pgconn = getattr(connection, "pgconn", None)
    number = pgconn.socket if pgconn is not None else connection._usock.fileno()
    with socket.socket(fileno=os.dup(number)) as same:
        same.shutdown(socket.SHUT_RDWR)


def wait(true: Any) -> None:
    assert until(true)


# --- psycopg ---------------------------------------------------------------------------------


@pytest.fixture
def connection(transport: PgwireServer) -> Iterator[psycopg.Connection[Any]]:
    with transport.driver("psycopg") as driver:
        assert isinstance(driver, Psycopg)
        yield driver.connection


def test_psycopg_sends_several_statements_at_once(connection: Any) -> None:
    cursor = connection.execute("SELECT 1; SELECT 'two'; SELECT 3 AS c WHERE 1 = 0")
    found = [cursor.fetchall()]
    while cursor.nextset():
        found.append(cursor.fetchall())
    assert found == [[(1,)], [("two",)], []]


def test_psycopg_hears_where_and_what_is_wrong(connection: Any) -> None:
    with pytest.raises(psycopg_errors.UndefinedColumn) as caught:
        connection.execute("SELECT 'ü'; SELECT titel FROM notes")
    diagnosis = caught.value.diag
    assert (diagnosis.sqlstate, diagnosis.message_primary) == (
        "42703",
        'column "titel" does not exist',
    )
    assert diagnosis.statement_position == "20"
    assert "title" in (diagnosis.message_hint or "")
    with pytest.raises(psycopg_errors.DivisionByZero):
        connection.execute("SELECT 1 / (id - id) FROM notes")
    with pytest.raises(psycopg_errors.InvalidTextRepresentation, match='type integer: "one"'):
        connection.execute("SELECT id FROM notes WHERE id = %s", ["one"])


def test_psycopg_runs_a_pipeline_and_survives_an_error_in_it(connection: Any) -> None:
    with connection.pipeline():
        cursors = [
            connection.execute("SELECT id FROM notes WHERE id = %s", (n,)) for n in (1, 2, 3)
        ]
        asked = connection.execute("ASK %s USING scripted", ("ferry",))
    assert [cursor.fetchall() for cursor in cursors] == [[(1,)], [(2,)], [(3,)]]
    assert asked.fetchone()[0]

    def fail() -> None:
        with connection.pipeline():
            for sql in ("SELECT 1", "nonsense", "SELECT 2"):
                connection.execute(sql)

    with pytest.raises(psycopg_errors.SyntaxError):
        fail()
    assert connection.execute("SELECT 3").fetchone() == (3,)


def test_psycopg_cancels_the_ask_and_goes_on(transport: PgwireServer, connection: Any) -> None:
    before = len(transport.actors["anthropic"].calls)

    def cancel() -> None:
        wait(lambda: len(transport.actors["anthropic"].calls) > before)
        connection.cancel_safe(timeout=SECONDS)

    cancelling = threading.Thread(target=cancel)
    cancelling.start()
    with pytest.raises(psycopg_errors.QueryCanceled):
        connection.execute("ASK 'ferry, cancelled' USING anthropic")
    row = transport.newest()  # it is there before the error arrives
    assert row["question"] == "ferry, cancelled"
    assert [each["kind"] for each in row["errors"]] == ["cancelled"]
    cancelling.join()
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_statement_has_the_time_it_is_given(transport: PgwireServer, connection: Any) -> None:
    before = len(transport.actors["anthropic"].calls)

    async def pass_the_time() -> None:
        await until_true(lambda: len(transport.actors["anthropic"].calls) > before)
        let_timers_pass("cancel")

    connection.execute("SET statement_timeout = 60000")
    passing = threading.Thread(target=lambda: transport.run(pass_the_time()))
    passing.start()
    with pytest.raises(psycopg_errors.QueryCanceled, match="statement_timeout"):
        connection.execute("ASK 'ferry, too slow' USING anthropic")
    passing.join()
    assert transport.newest()["question"] == "ferry, too slow"
    connection.execute("SET statement_timeout = 0")
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_psycopg_sees_the_state_of_its_transaction(transport: PgwireServer) -> None:
    with psycopg.connect(
        f"{transport.address}/local", user="mia", password=transport.tokens["mia"]
    ) as given:
        connection: Any = given
        status: Any = psycopg.pq.TransactionStatus
        assert connection.info.transaction_status is status.IDLE
        connection.execute("SELECT 1")
        assert connection.info.transaction_status is status.INTRANS
        with pytest.raises(psycopg_errors.SyntaxError):
            connection.execute("nonsense")
        assert connection.info.transaction_status is status.INERROR
        with pytest.raises(psycopg_errors.InFailedSqlTransaction):
            connection.execute("SELECT 1")
        connection.rollback()
        assert connection.info.transaction_status is status.IDLE
        with connection.transaction():
            connection.execute("SELECT 1")
            with pytest.raises(psycopg_errors.SyntaxError), connection.transaction():
                connection.execute("nonsense")  # back to the savepoint
            assert connection.execute("SELECT 2").fetchone() == (2,)


def test_psycopg_prepares_more_than_is_kept(connection: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(prepared_statements, "MAX_STATEMENTS", 8)
    connection.prepared_max = 3
    for number in range(30):
        found = connection.execute(f"SELECT {number} AS n", prepare=True).fetchone()
        assert found == (number,)
    connection.execute("DEALLOCATE ALL")
    connection.execute("DISCARD ALL")
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_psycopg_streams_rows_one_by_one(connection: Any) -> None:
    rows = list(connection.cursor().stream("SELECT id FROM notes ORDER BY id"))
    assert rows == connection.execute("SELECT id FROM notes ORDER BY id").fetchall()


def test_async_psycopg_cancels_by_cancelling_the_task(transport: PgwireServer) -> None:
    with transport.driver("psycopg-async") as driver:
        assert isinstance(driver, AsyncPsycopg)
        before = len(transport.actors["anthropic"].calls)

        async def story() -> None:
            asking = asyncio.create_task(
                driver.connection.execute("ASK 'ferry, left' USING anthropic")
            )
            while len(transport.actors["anthropic"].calls) == before:
                await asyncio.sleep(0.01)
            asking.cancel()
            await asyncio.wait([asking])
            assert asking.cancelled()

        driver.run(story())
        assert [each["kind"] for each in transport.newest()["errors"]] == ["cancelled"]
        assert driver.rows("SELECT 1") == [(1,)]


# --- asyncpg ---------------------------------------------------------------------------------


@pytest.fixture
def apg(transport: PgwireServer) -> Iterator[Asyncpg]:
    with transport.driver("asyncpg") as driver:
        assert isinstance(driver, Asyncpg)
        yield driver


def test_asyncpg_walks_a_cursor_in_parts(apg: Asyncpg) -> None:
    async def walk() -> list[int]:
        async with apg.connection.transaction():
            rows = apg.connection.cursor("SELECT id FROM notes ORDER BY id", prefetch=2)
            return [row["id"] async for row in rows]

    assert apg.run(walk()) == [row[0] for row in apg.rows("SELECT id FROM notes ORDER BY id")]


def test_asyncpg_has_a_pool(transport: PgwireServer, apg: Asyncpg) -> None:
    async def work() -> list[Any]:
        pool = asyncpg.create_pool(
            f"{transport.address}/local",
            user="mia",
            password=transport.tokens["mia"],
            min_size=2,
            max_size=4,
        )
        async with pool:
            return await asyncio.gather(
                *(pool.fetchval("SELECT id FROM notes WHERE id = $1", 1) for _ in range(20))
            )

    assert apg.run(work()) == [1] * 20


def test_asyncpg_prepares_and_times_out(transport: PgwireServer, apg: Asyncpg) -> None:
    async def story() -> None:
        prepared = await apg.connection.prepare("ASK $1 USING scripted")
        assert [each.name for each in prepared.get_attributes()] == COLUMNS
        assert [each.name for each in prepared.get_parameters()] == ["text"]
        assert (await prepared.fetchrow("ferry"))["cache_hit"] is False
        before, seconds = len(transport.actors["anthropic"].calls), 0.3
        while len(transport.actors["anthropic"].calls) == before:  # a slow machine needs more
            with pytest.raises(TimeoutError):
                await apg.connection.fetch(
                    "ASK 'ferry, out of time' USING anthropic", timeout=seconds
                )
            seconds *= 2
        assert await apg.connection.fetchval("SELECT 1") == 1

    apg.run(story())
    assert transport.newest()["question"] == "ferry, out of time"
    assert [each["kind"] for each in transport.newest()["errors"]] == ["cancelled"]


# --- signing in ------------------------------------------------------------------------------


def received(transport: PgwireServer, user: str, token: str, database: str = "local") -> str:
    with pytest.raises(psycopg.OperationalError) as caught:
        psycopg.connect(f"{transport.address}/{database}", user=user, password=token)
    return str(caught.value)


def test_unknown_users_wrong_tokens_and_wrong_tenants_get_the_same_error(
    transport: PgwireServer,
) -> None:
    mia, olga = transport.tokens["mia"], transport.tokens["olga"]
    expired = transport.run(transport.db.make_token("mia", expires="1s"))
    said = {
        received(transport, "mia", olga),
        received(transport, "mia", "x"),
        received(transport, "nobody", mia),
        received(transport, "local", mia),
        received(transport, "mia", "x", "elsewhere"),
        received(transport, "nobody", mia, "mia"),
    }
    time.sleep(1.1)
    said.add(received(transport, "mia", expired))
    assert len(said) == 1
    assert "not a valid token" in said.pop()
    # whoever has proven a token of the only tenant is told that there is no other
    assert 'database "elsewhere" does not exist' in received(transport, "mia", mia, "elsewhere")


def test_a_token_from_before_has_no_keys_and_is_refused_alike(transport: PgwireServer) -> None:
    import sqlite3
    from contextlib import closing

    token = transport.run(transport.db.make_token("mia"))
    with closing(sqlite3.connect(transport.directory / "redask.sqlite")) as file, file:
        file.execute(
            "UPDATE tokens SET stored_key = NULL, server_key = NULL WHERE id = ?",
            (token.split("_")[1],),
        )
    assert "not a valid token" in received(transport, "mia", token)
    assert received(transport, "mia", token) == received(transport, "mia", "x")


def test_every_driver_comes_in_over_tls(tmp_path: Path) -> None:
    certificate, key = pair(tmp_path)
    with PgwireServer(tmp_path / "db", certificate=certificate, key=key) as secure:
        for name in ("psycopg", "asyncpg", "pg8000"):
            with secure.driver(name) as driver:
                assert driver.rows("SELECT 1") == [(1,)]
        address = f"{secure.address}/local"
        mia: dict[str, Any] = {"user": "mia", "password": secure.tokens["mia"]}
        with psycopg.connect(address, **mia, sslmode="require") as connection:
            assert connection.pgconn.ssl_in_use
            connection.cancel_safe()
        with pytest.raises(psycopg.OperationalError, match="TLS only"):
            psycopg.connect(address, **mia, sslmode="disable")
        with pytest.raises(psycopg.OperationalError, match="certificate"):
            psycopg.connect(address, **mia, sslmode="verify-full", sslrootcert="system")


def test_without_authentication_every_client_is_the_local_owner(tmp_path: Path) -> None:
    with (
        PgwireServer(tmp_path / "db", anonymous=True) as open_transport,
        psycopg.connect(f"{open_transport.address}/local", user="anybody") as connection,
    ):
        assert connection.execute("SELECT count(*) FROM secrets").fetchone() == (1,)
        connection.execute("ASK 'ferry' USING scripted")
        assert open_transport.newest()["user"] == "local"


def test_the_sqlstate_of_an_error_is_found_with_every_driver() -> None:
    assert sqlstate(ValueError()) == "None"
