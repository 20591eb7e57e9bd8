"""What one session may have the server keep: settings, and savepoints that remember them."""

from typing import Any

import psycopg
import pytest
from pgwire_server import PgwireServer

from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session.runtime_parameters import RuntimeParameters
from redask.server.pgwire.session.session_state import MAX_SAVEPOINTS, SessionState


def test_a_transaction_has_so_many_savepoints_and_those_released_do_not_count() -> None:
    state = SessionState(status="T")
    for each in range(MAX_SAVEPOINTS):
        state.savepoint(f"s{each}")
    with pytest.raises(SqlStateError, match="more than 1000 savepoints") as caught:
        state.savepoint("more")
    assert caught.value.sqlstate == "54000"
    state.release("s999")
    state.savepoint("again")
    state.end_transaction(committed=False)
    state.savepoint("another transaction's")


def test_a_session_has_so_many_settings_and_so_many_characters_of_them() -> None:
    parameters = RuntimeParameters({})
    for each in range(200):
        parameters.set(f"my.v{each}", "x")
    with pytest.raises(SqlStateError, match="too many settings"):
        parameters.set("my.more", "x")
    parameters.set("my.v0", "y")  # one that is there may be changed
    parameters.set("my.v1", "x" * 10_000)
    with pytest.raises(SqlStateError, match="too long"):
        parameters.set("my.v1", "x" * 10_001)
    for each in range(2, 7):
        parameters.set(f"my.v{each}", "x" * 10_000)
    with pytest.raises(SqlStateError, match="too many settings"):
        parameters.set("my.v7", "x" * 6_000)
    parameters.set("my.v6", "x" * 5_000)  # what takes its own place counts once
    parameters.set("my.v7", "x" * 6_000)
    assert parameters.get("my.v0") == "y"


def test_the_wire_refuses_more_savepoints_in_one_message_and_goes_on(
    transport: PgwireServer,
) -> None:
    own: dict[str, Any] = {"user": "mia", "password": transport.tokens["mia"], "autocommit": True}
    with psycopg.connect(f"{transport.address}/local", **own) as connection:
        connection.execute("BEGIN")
        with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="savepoints"):
            connection.execute("SAVEPOINT a; " * (MAX_SAVEPOINTS + 1))
        connection.execute("ROLLBACK")
        connection.execute("SET my.v TO 'x'")
        assert connection.execute("SHOW my.v").fetchone() == ("x",)


def test_a_long_result_that_waits_counts_for_whose_it_is(transport: PgwireServer) -> None:
    own: dict[str, Any] = {"user": "mia", "password": transport.tokens["mia"], "autocommit": True}
    spool = transport.db._app.spool
    with psycopg.connect(f"{transport.address}/local", **own) as connection:
        connection.execute(
            "DECLARE c CURSOR WITH HOLD FOR SELECT repeat('x', 1000) FROM generate_series(1, 3000)"
        )
        assert set(spool._shares) == {("local",), ("local", "mia")}
        connection.execute("CLOSE c")
        assert spool._shares == {}
