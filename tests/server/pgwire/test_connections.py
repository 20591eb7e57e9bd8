"""Connections: TLS, who is let in, who leaves, who cancels whom, and closing time."""

import asyncio
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from typing import Any

import fake_pgwire as wire
import pytest
from certificates import pair
from deadlines import deadlines, let_deadlines_pass
from fake_pgwire import (
    GSS_REQUEST,
    SSL_REQUEST,
    SYNC,
    TERMINATE,
    TOKEN,
    BackendMessage,
    FakeAuthenticator,
    FakeServer,
    RawClient,
    ScramClient,
    bind,
    execute,
    parse,
    query,
    start_up,
)
from waiting import SECONDS, until_true

from redask.core.access import credentials
from redask.server import connection_limits
from redask.server.connection_limits import ConnectionLimits
from redask.server.pgwire.protocol import client_connection
from redask.server.pgwire.session import startup

Script = Callable[[FakeServer], Awaitable[None]]
CREDENTIALS = {"user": "mia", "database": "local", "token": TOKEN}


def played(script: Script, **more: Any) -> None:
    async def main() -> None:
        async with FakeServer(**more) as transport:
            await script(transport)

    asyncio.run(main())


def states(found: list[BackendMessage]) -> list[tuple[str, str]]:
    return [(each.fields["S"], each.fields["C"]) for each in found if each.kind == "E"]


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """The server's and the client's."""
    certificate, key = pair(tmp_path_factory.mktemp("tls"))
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.load_cert_chain(certificate, key)
    return ours, ssl.create_default_context(cafile=certificate)


# --- who is let in -----------------------------------------------------------------------------


def test_a_client_with_a_good_token_is_let_in() -> None:
    async def script(transport: FakeServer) -> None:
        found = await (await transport.connect()).sign_in()
        assert [each.kind for each in found][:2] == ["R", "R"]
        assert found[-1] == BackendMessage("Z", b"I")

    played(script)


@pytest.mark.parametrize(
    "wrong",
    [
        {"token": credentials.new_token()[1]},
        {"token": ""},
        {"user": "nobody"},
        {"database": "elsewhere"},
        {"database": ""},  # as if it had not been said: the user's name
    ],
    ids=["another token", "no token", "no such user", "no such tenant", "no tenant"],
)
def test_whatever_is_wrong_is_answered_with_the_same_bytes(wrong: dict[str, str]) -> None:
    async def script(transport: FakeServer) -> None:
        found = await (await transport.connect()).sign_in(**{**CREDENTIALS, **wrong})
        expected = await (await transport.connect()).sign_in(token="redask_x")
        assert found == expected
        assert states(found) == [("FATAL", "28P01")]
        assert transport.planners == []

    played(script)


def test_unknown_users_have_a_salt_of_their_own_that_stays() -> None:
    async def challenge(transport: FakeServer, user: str) -> bytes:
        client = await transport.connect()
        await client.send(start_up(user=user, database="local"))
        await client.until("R")
        await client.send(wire.sasl_first(ScramClient("x").first()))
        [answer] = await client.until("R")
        return answer.body.split(b",")[1]

    async def script(transport: FakeServer) -> None:
        salts = [await challenge(transport, user) for user in ("mia", "nobody", "nobody", "else")]
        assert salts[1] == salts[2]
        assert len(set(salts)) == 3

    played(script)


def test_looking_up_verifiers_takes_the_same_time_for_every_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(startup, "LOOKUP_SECONDS", 3)
    now, answered, real = [100.0], [], asyncio.sleep

    class SlowDesk(FakeAuthenticator):
        async def verifiers(
            self, user: str, tenant: str, address: str = ""
        ) -> credentials.Verifiers:
            now[0] += 2 if user == "mia" else 0
            return await super().verifiers(user, tenant)

    async def sleep(seconds: float) -> None:
        now[0] += seconds
        await real(0)

    async def script(transport: FakeServer) -> None:
        loop = asyncio.get_running_loop()
        with monkeypatch.context() as patch:
            patch.setattr(loop, "time", lambda: now[0])
            patch.setattr(asyncio, "sleep", sleep)
            for user in ("mia", "nobody"):
                client = await transport.connect()
                began = now[0]
                await client.send(start_up(user=user, database="local"))
                await client.until("R")
                answered.append(now[0] - began)

    played(script, authenticator=SlowDesk())
    assert answered == [3, 3]


def test_all_tokens_of_a_user_open_the_transport() -> None:
    tokens = [credentials.new_token()[1] for _ in range(3)]

    async def script(transport: FakeServer) -> None:
        for token in tokens:
            found = await (await transport.connect()).sign_in(token=token)
            assert found[-1].kind == "Z"

    played(script, authenticator=FakeAuthenticator(tokens))


def test_where_unauthenticated_clients_are_the_owner_no_password_is_requested() -> None:
    async def script(transport: FakeServer) -> None:
        client = await transport.connect()
        found = await client.ask(start_up(user="anybody"))
        assert found[0] == BackendMessage("R", bytes(4))
        assert found[-1].kind == "Z"

    played(script, authenticator=FakeAuthenticator(anonymous=True))


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        (start_up(2 << 16, user="mia"), "0A000"),
        (start_up(4 << 16, user="mia"), "0A000"),
        (start_up(database="local"), "28000"),
        (start_up(user="mia", replication="database"), "0A000"),
    ],
)
def test_a_start_up_that_is_not_supported_gets_the_reason(first: bytes, expected: str) -> None:
    async def script(transport: FakeServer) -> None:
        client = await transport.connect()
        assert states(await client.ask(first)) == [("FATAL", expected)]

    played(script)


def test_a_newer_protocol_is_negotiated_down() -> None:
    async def script(transport: FakeServer) -> None:
        client = await transport.connect()
        await client.send(start_up(3 << 16 | 2, user="mia", **{"_pq_.x": "1"}))
        response = await client.receive()
        assert response == BackendMessage("v", struct.pack("!ii", 3 << 16, 1) + b"_pq_.x\0")
        assert (await client.receive() or response).kind == "R"

    played(script)


@pytest.mark.parametrize(
    "noise",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        b"\0\0\0\4",
        SSL_REQUEST + SSL_REQUEST,
        query("rows 1"),
        start_up(user="mia", database="local") + query("rows 1"),
        start_up(user="mia", database="local") + SYNC,
        start_up(user="mia", database="local") + parse("rows 1") + bind() + execute() + SYNC,
        start_up(user="mia", database="local") + TERMINATE,
    ],
)
def test_unauthenticated_clients_receive_nothing_but_how_to_authenticate(noise: bytes) -> None:
    async def script(transport: FakeServer) -> None:
        client = await transport.connect()
        await client.send(noise)
        received = await client.reader.read()
        assert received in (b"", b"N", bytes.fromhex("52000000170000000a") + b"SCRAM-SHA-256\0\0")
        assert transport.planners == []

    played(script)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (b"x", b"", "08P01"),
        (wire.sasl_first(b"n,,n=,r=x", "PLAIN")[5:], b"", "08P01"),
        (wire.sasl_first(b"p=tls-unique,,n=,r=x")[5:], b"", "08P01"),
        (wire.sasl_first(b"n,,n=,r=x")[5:], b"nonsense", "08P01"),
    ],
)
def test_what_is_no_scram_is_refused(first: bytes, second: bytes, expected: str) -> None:
    async def script(transport: FakeServer) -> None:
        client = await transport.connect()
        await client.send(start_up(user="mia", database="local"))
        await client.send(wire.framed(b"p", first), wire.framed(b"p", second))
        assert states(await client.until()) == [("FATAL", expected)]

    played(script)


def test_who_takes_too_long_to_sign_in_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "SECONDS", SECONDS)

    async def script(transport: FakeServer) -> None:
        loop = asyncio.get_running_loop()
        client, silent, slow = await transport.client(), *[await transport.connect() for _ in "ab"]
        await silent.send(b"\0")  # and no more: until then the kernel may keep it
        await slow.send(start_up(user="mia", database="local"))
        assert (await slow.until("R"))[-1].kind == "R"
        await until_true(lambda: len(transport.server._limits._open) == 3)
        await asyncio.sleep(0)
        assert len(deadlines(loop)) == 2  # who is signed in may take all the time
        let_deadlines_pass(loop)
        assert await silent.reader.read() == b""
        assert await slow.until("?") == []
        assert (await client.ask(query("rows 1")))[-1].kind == "Z"

    played(script)


def test_who_is_in_start_up_for_longest_makes_room() -> None:
    async def script(transport: FakeServer) -> None:
        client = await transport.client()
        waiting = [await transport.connect() for _ in range(2)]
        await waiting[0].send(b"\0")
        await until_true(lambda: len(transport.server._limits._open) == 2)
        await waiting[1].send(b"\0")
        await until_true(lambda: len(transport.server._limits._open) == 3)
        third = await transport.connect()
        assert (await third.sign_in())[-1].kind == "Z"
        assert await waiting[0].until("?") == []  # closed
        assert (await client.ask(query("rows 1")))[-1].kind == "Z"

    played(script, limits=ConnectionLimits(9, 9, 2))


@pytest.mark.parametrize("limits", [(2, 9, 9), (9, 2, 9)], ids=["in all", "of an address"])
def test_sessions_are_limited_and_make_room_for_nobody(
    limits: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, "RESERVED", 1)

    async def script(transport: FakeServer) -> None:
        first, second = await transport.client(), await running(transport)
        assert states(await (await transport.connect()).sign_in()) == [("FATAL", "53300")]
        other = await transport.connect()  # a cancel request is taken nevertheless
        await other.send(wire.cancel(second.key))
        assert states(await second.until()) == [("ERROR", "57014")]
        await first.send(TERMINATE)
        await until_true(lambda: len(transport.server._limits._open) == 1)
        assert (await (await transport.connect()).sign_in())[-1].kind == "Z"

    played(script, limits=ConnectionLimits(*limits))


def test_without_room_for_a_cancel_request_the_connection_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_limits, "RESERVED", 0)

    async def script(transport: FakeServer) -> None:
        await transport.client()
        assert states(await (await transport.connect()).sign_in()) == [("FATAL", "53300")]

    played(script, limits=ConnectionLimits(1))


def test_who_proves_no_token_is_noted_with_the_address() -> None:
    desk = FakeAuthenticator()

    async def script(transport: FakeServer) -> None:
        await transport.client()
        for token in ("redask_x", credentials.new_token()[1]):
            await (await transport.connect()).sign_in(token=token)
        assert desk.wrong == [("mia", "local", "127.0.0.1")] * 2

    played(script, authenticator=desk)


# --- TLS ---------------------------------------------------------------------------------------


def test_tls_starts_when_it_is_asked_for(contexts: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    async def script(transport: FakeServer) -> None:
        client = await transport.connect()
        await client.send(GSS_REQUEST)
        assert await client.reader.readexactly(1) == b"N"
        await client.send(SSL_REQUEST)
        assert await client.reader.readexactly(1) == b"S"
        await client.writer.start_tls(contexts[1], server_hostname="127.0.0.1")
        assert (await client.sign_in())[-1].kind == "Z"
        assert len(await client.ask(query("rows 1000"))) == 1003

    played(script, context=contexts[0])


def test_with_a_certificate_tls_is_required(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    async def script(transport: FakeServer) -> None:
        found = await (await transport.connect()).sign_in()
        assert states(found) == [("FATAL", "28000")]

    played(script, context=contexts[0])


def test_bytes_sent_before_tls_starts_end_it(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    async def script(transport: FakeServer) -> None:
        for smuggled in (b"x", start_up(user="mia")):
            client = await transport.connect()
            await client.send(SSL_REQUEST + smuggled)
            assert await client.reader.read() == b""

    played(script, context=contexts[0])


def test_noise_in_place_of_tls_harms_no_other_client(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    async def script(transport: FakeServer) -> None:
        client = await transport.connect()
        await client.send(SSL_REQUEST)
        assert await client.reader.readexactly(1) == b"S"
        await client.send(start_up(user="mia", database="local"))
        answer = await client.reader.read()
        assert b"SCRAM" not in answer
        await until_true(lambda: not transport.server._connections)

    played(script, context=contexts[0])


def test_without_a_certificate_tls_is_declined_and_plain_words_are_fine() -> None:
    async def script(transport: FakeServer) -> None:
        client = await transport.connect()
        for request in (SSL_REQUEST, GSS_REQUEST):
            await client.send(request)
            assert await client.reader.readexactly(1) == b"N"
        assert (await client.sign_in())[-1].kind == "Z"

    played(script)


# --- leaving and cancelling ----------------------------------------------------------------------


async def running(transport: FakeServer) -> RawClient:
    client = await transport.client()
    await client.send(query("wait"))
    await until_true(lambda: transport.planners[-1].ran == ["wait"])
    return client


def test_a_request_to_cancel_stops_the_statement_and_not_the_connection() -> None:
    async def script(transport: FakeServer) -> None:
        client = await running(transport)
        other = await transport.connect()
        await other.send(wire.cancel(client.key))
        assert await other.reader.read() == b""
        assert states(await client.until()) == [("ERROR", "57014")]
        assert transport.planners[0].left == 1
        assert (await client.ask(query("rows 1")))[-1].kind == "Z"
        idle = await transport.connect()
        await idle.send(wire.cancel(client.key))
        assert await idle.reader.read() == b""
        assert states(await client.ask(query("rows 1"))) == []

    played(script)


def test_a_wrong_key_cancels_nothing() -> None:
    async def script(transport: FakeServer) -> None:
        client = await running(transport)
        number, key = client.key[:4], client.key[4:]
        wrong = bytes([key[0] ^ 1]) + key[1:]
        for guess in (number + wrong, number + key + b"x", number + key[:3], bytes(4) + key):
            other = await transport.connect()
            await other.send(wire.cancel(guess))
            assert await other.reader.read() == b""
        assert transport.planners[0].left == 0

    played(script)


def test_a_cancel_request_for_a_statement_that_waits_counts() -> None:
    async def script(transport: FakeServer) -> None:
        transport.admission.at_once = 1
        await running(transport)
        second = await transport.client()
        await second.send(query("wait"))
        await until_true(lambda: len(transport.admission._tasks) == 2)
        other = await transport.connect()
        await other.send(wire.cancel(second.key))
        assert states(await second.until()) == [("ERROR", "57014")]
        assert [planner.left for planner in transport.planners] == [0, 0]

    played(script)


@pytest.mark.parametrize("way", ["end of file", "closed", "reset"])
def test_a_client_that_disconnects_cancels_what_runs(way: str) -> None:
    async def script(transport: FakeServer) -> None:
        client = await running(transport)
        if way == "end of file":
            client.writer.write_eof()
        elif way == "closed":
            client.writer.close()
        else:
            client.writer.transport.abort()
        await until_true(
            lambda: transport.planners[0].left == 1 and not transport.server._connections
        )
        assert transport.admission._tasks == set()

    played(script)


def test_a_client_that_disconnects_over_tls_cancels_what_runs(
    contexts: tuple[ssl.SSLContext, ssl.SSLContext],
) -> None:
    async def script(transport: FakeServer) -> None:
        client = await transport.connect()
        await client.send(SSL_REQUEST)
        await client.reader.readexactly(1)
        await client.writer.start_tls(contexts[1], server_hostname="127.0.0.1")
        await client.sign_in()
        await client.send(query("wait"))
        await until_true(lambda: transport.planners[-1].ran == ["wait"])
        client.writer.close()
        await until_true(
            lambda: transport.planners[0].left == 1 and not transport.server._connections
        )

    played(script, context=contexts[0])


def test_a_client_who_does_not_read_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_connection, "SEND_SECONDS", 0.1)
    monkeypatch.setattr(client_connection, "CLOSE_SECONDS", 0.1)

    async def script(transport: FakeServer) -> None:
        client = await transport.client()
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]
        [connection] = transport.server._connections
        sock = connection.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        await client.send(query("rows 100000"))
        await until_true(lambda: not transport.server._connections)

    played(script)


def test_a_flood_while_a_statement_runs_is_not_all_taken_in(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client_connection, "_LIMIT", 100_000)

    async def script(transport: FakeServer) -> None:
        client = await running(transport)
        [connection] = transport.server._connections
        client.writer.write(query("rows 1") * 2_000_000)
        await until_true(lambda: not connection.transport.is_reading())
        await asyncio.sleep(0.05)  # and takes nothing more
        assert len(connection.reader) < 1_000_000
        client.writer.transport.abort()

    played(script)


# --- closing time ------------------------------------------------------------------------------


def test_closing_sends_idle_clients_away_and_lets_the_others_end() -> None:
    async def script(transport: FakeServer) -> None:
        idle, connect = await transport.client(), await transport.connect()
        await connect.send(b"\0")
        busy = await running(transport)
        await until_true(lambda: len(transport.server._limits._open) == 3)
        closing = asyncio.create_task(transport.server.close(SECONDS))
        assert states(await idle.until()) == [("FATAL", "57P01")]
        await connect.reader.read()
        await transport.admission.close(0)
        found = await busy.until("?")
        assert states(found) == [("ERROR", "57014"), ("FATAL", "57P01")]
        assert "stopping" in found[0].fields["M"]
        await closing
        assert transport.planners[1].left == 1
        with pytest.raises(OSError, match="Connect call failed"):
            await transport.connect()

    played(script)


def test_what_does_not_end_in_time_is_cut() -> None:
    async def script(transport: FakeServer) -> None:
        await running(transport)
        await transport.server.close(0.1)
        await until_true(lambda: transport.planners[0].left == 1)

    played(script)
