"""A session knows its number, statements and cursors, and ends sessions of its user only."""

import asyncio
import threading
from typing import Any

import asyncpg
import psycopg
import pytest
from pgwire_server import PgwireServer
from waiting import until

SLOW = "SELECT pg_sleep(3600)"


@pytest.fixture(scope="module")
def transport(patient_transport: PgwireServer) -> PgwireServer:
    return patient_transport


def connected(transport: PgwireServer, user: str = "mia", **more: Any) -> psycopg.Connection[Any]:
    return psycopg.connect(
        f"{transport.address}/local",
        user=user,
        password=transport.tokens[user],
        autocommit=True,
        **more,
    )


def only(connection: psycopg.Connection[Any], sql: str, *values: object) -> Any:
    [row] = connection.execute(sql, values or None).fetchall()
    return row[0]


def test_each_session_has_the_number_that_it_was_told_at_start_up(transport: PgwireServer) -> None:
    with connected(transport) as one, connected(transport) as two:
        for each in (one, two, one):
            assert only(each, "SELECT pg_backend_pid()") == each.pgconn.backend_pid
        assert one.pgconn.backend_pid != two.pgconn.backend_pid


def test_activity_is_of_the_users_own_sessions(transport: PgwireServer) -> None:
    asked = "SELECT pid, usename, application_name, state FROM pg_stat_activity ORDER BY pid"
    with (
        connected(transport, application_name="one") as one,
        connected(transport, application_name="two") as two,
        connected(transport, "olga", application_name="other") as other,
    ):
        two.execute("BEGIN")
        assert one.execute(asked).fetchall() == [
            (one.pgconn.backend_pid, "mia", "one", "active"),
            (two.pgconn.backend_pid, "mia", "two", "idle in transaction"),
        ]
        assert [row[1] for row in other.execute(asked)] == ["olga"]
        assert only(one, "SELECT query FROM pg_stat_activity WHERE application_name = 'two'") == (
            "BEGIN"
        )


def test_prepared_statements_and_cursors_are_listed_until_they_are_closed(
    transport: PgwireServer,
) -> None:
    listed = "SELECT name, statement, parameter_types::text FROM pg_prepared_statements"
    with connected(transport) as connection, connected(transport) as another:
        connection.pgconn.prepare(b"mine", b"SELECT $1::int2 + 1, $2::text")
        row = ("mine", "SELECT $1::int2 + 1, $2::text", "{smallint,text}")
        assert connection.execute(listed, prepare=False).fetchall() == [row]
        assert another.execute(listed, prepare=False).fetchall() == []
        connection.execute("DEALLOCATE mine")
        assert connection.execute(listed, prepare=False).fetchall() == []
        connection.execute("BEGIN")
        connection.execute("DECLARE rows SCROLL CURSOR FOR SELECT 1")
        cursors = "SELECT name, statement, is_holdable, is_scrollable FROM pg_cursors"
        assert connection.execute(cursors, prepare=False).fetchall() == [
            ("rows", "SELECT 1", False, True)
        ]
        connection.execute("ROLLBACK")
        assert connection.execute(cursors, prepare=False).fetchall() == []


def test_a_server_cursor_of_psycopg_closes_one_that_was_declared_by_hand(
    transport: PgwireServer,
) -> None:
    with connected(transport) as connection, connection.transaction():
        for _ in range(2):
            connection.execute("DECLARE stolen CURSOR FOR SELECT 1")
            connection.cursor("stolen").close()


@pytest.mark.parametrize("name", ["pg_cancel_backend", "pg_terminate_backend"])
def test_a_user_ends_what_runs_in_another_session_of_theirs(
    transport: PgwireServer, name: str
) -> None:
    caught: list[psycopg.Error] = []

    def sleep(connection: psycopg.Connection[Any]) -> None:
        try:
            connection.execute(SLOW)
        except psycopg.Error as error:
            caught.append(error)

    with connected(transport) as boss, connected(transport) as sleeper:
        thread = threading.Thread(target=sleep, args=(sleeper,))
        thread.start()
        number = sleeper.pgconn.backend_pid
        asked = "SELECT count(*) FROM pg_stat_activity WHERE (pid, query, state) = (%s, %s, %s)"
        assert until(lambda: only(boss, asked, number, SLOW, "active") == 1)
        assert only(boss, f"SELECT {name}(%s)", number) is True
        thread.join()
        [error] = caught
        if name == "pg_cancel_backend":
            assert error.sqlstate == "57014"
            assert only(sleeper, "SELECT 1") == 1
        else:
            assert error.sqlstate == "57P01"
            assert sleeper.closed
            assert until(lambda: only(boss, asked, number, SLOW, "active") == 0)


def test_an_idle_session_is_ended_too_and_one_may_end_itself(transport: PgwireServer) -> None:
    with connected(transport) as boss, connected(transport) as idle:
        assert only(boss, f"SELECT pg_terminate_backend({idle.pgconn.backend_pid})") is True
        with pytest.raises(psycopg.errors.AdminShutdown):
            idle.execute("SELECT 1")
        with pytest.raises(psycopg.errors.AdminShutdown):
            boss.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    with connected(transport) as boss:
        with pytest.raises(psycopg.errors.QueryCanceled):
            boss.execute("SELECT pg_cancel_backend(pg_backend_pid()) AS done")
        assert only(boss, "SELECT 1") == 1


@pytest.mark.parametrize("name", ["pg_cancel_backend", "pg_terminate_backend"])
def test_of_another_users_session_nothing_is_told_or_ended(
    transport: PgwireServer, name: str
) -> None:
    with connected(transport) as mine, connected(transport, "olga") as other:
        assert only(mine, f"SELECT {name}(%s)", other.pgconn.backend_pid) is False
        assert only(mine, f"SELECT {name}(%s)", 999_999) is False
        assert only(mine, f"SELECT {name}(%s::int)", None) is None
        # called over rows, it reaches no session at all
        assert only(mine, f"SELECT bool_or({name}(pid)) FROM pg_stat_activity") is False
        assert only(other, "SELECT 1") == 1


def test_a_portal_that_was_bound_is_a_cursor_before_it_is_run(transport: PgwireServer) -> None:
    async def main() -> None:
        connection = await asyncpg.connect(
            host=transport.host,
            port=transport.port,
            user="mia",
            password=transport.tokens["mia"],
            database="local",
        )
        async with connection.transaction():
            cursor = await connection.cursor("SELECT generate_series(0, 100)")
            assert await cursor.forward(42) == 42
            assert await cursor.fetchrow() == (42,)
            assert await connection.fetchval("SELECT pg_backend_pid()") == (
                connection.get_server_pid()
            )
        await connection.close()

    asyncio.run(main())


def test_types_that_are_not_here_are_refused_by_name(transport: PgwireServer) -> None:
    refused = {
        "SELECT int4range(1, 2) * int4range(1, 3)": r"int4range \* int4range is not supported",
        "SELECT box '(1,1),(0,0)'": "the type box is not supported",
        "SELECT sha256('x')": "the function sha256 is not supported",
    }
    with connected(transport) as connection:
        for sql, message in refused.items():
            with pytest.raises(psycopg.errors.FeatureNotSupported, match=message):
                connection.execute(sql)
        with pytest.raises(psycopg.errors.UndefinedFunction):
            connection.execute("SELECT nosuch(1)")
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="an array of arrays"):
            connection.execute("SELECT %b::int[] || 1", ([[1, 2], [3, 4]],))
