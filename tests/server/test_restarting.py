"""SIGHUP: what runs is finished, the ports stay open, and the same process serves anew."""

import os
import signal
import socket
import threading
from dataclasses import replace
from pathlib import Path

import httpx
import psycopg
import pytest
from loopback import Loopback
from served import START, Served
from server_thread import fill
from waiting import SECONDS, until
from wires import CHAT

import redask
from redask.core.errors import Misconfigured
from redask.server.listening_sockets import VARIABLE, ListeningSockets

QUESTION = "When does the ferry leave?"
ANSWER = "The ferry to Amrum leaves at nine. [^1]"


class Serve(Served):
    """HTTP and PostgreSQL clients, with a minute to finish what runs."""

    start = f"from redask.server import serving; serving.GRACE_SECONDS = {SECONDS}; {START}"
    words = ("serve", "--port", "0", "--pg-port", "0", "--no-grpc")


def ask(url: str, token: str, using: str, into: list[httpx.Response]) -> threading.Thread:
    """Ask in a thread; a client that comes while the server restarts waits."""

    def work() -> None:
        into.append(
            httpx.post(
                f"{url}/v1/ask",
                json={"question": QUESTION, "options": {"using": using}},
                headers={"Authorization": f"Bearer {token}"},
                timeout=SECONDS,
            )
        )

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_server_that_is_told_to_restart_loses_no_client(tmp_path: Path) -> None:
    token = fill(tmp_path / "db")["mia"]
    received: list[httpx.Response] = []
    released = threading.Event()
    with Loopback() as host:
        host.play(replace(CHAT.whole(ANSWER), after=released))
        env = {"REDASK_OPENAI_BASE_URL": host.url, "OPENAI_API_KEY": "sk-none"}
        with Serve(tmp_path / "db", **env) as server:
            http, pg = server.addresses
            first = ask(http, token, "openai", received)
            assert until(lambda: host.requests)
            server.process.send_signal(signal.SIGHUP)
            # the old program accepts nothing any more, so this one waits for the new program
            assert until(lambda: b"healthz" in stopped_accepting(http))
            second = ask(http, token, "extractive", received)
            released.set()
            first.join(SECONDS)
            second.join(SECONDS)
            assert until(lambda: server.stderr().count(b"redask: serving") == 4)
            assert server.alive()  # the same process
            lines = server.stderr().decode().splitlines()
            assert lines[2:] == ["redask: restarting", *lines[:2]]  # at the same ports
            port = pg.rpartition(":")[2]
            address = f"host=127.0.0.1 port={port} user=mia password={token} dbname=local"
            with psycopg.connect(address) as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)
            assert server.stop() == 0
    assert [each.status_code for each in received] == [200, 200]
    assert received[0].json()["provider"] == "openai"
    assert received[1].json()["provider"] == "extractive"
    with redask.open(tmp_path / "db") as db:
        assert [each.row["provider"] for each in db.audit()] == ["extractive", "openai"]


def stopped_accepting(url: str) -> bytes:
    """Whether a connection is made, and nobody answers: then what was sent."""
    asked = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    port = int(url.rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
        connection.sendall(asked)
        try:
            return b"" if connection.recv(1) else asked
        except TimeoutError:
            return asked
        except ConnectionError:
            return b""


def test_sockets_are_handed_over_by_name_and_taken_once() -> None:
    environment: dict[str, str] = {}
    before = ListeningSockets(environment)
    with before.open("http", "127.0.0.1", 0) as opened:
        port = opened.getsockname()[1]
        copies = before.copy()
    assert not before.all_open
    before.hand_over(copies)
    assert os.get_inheritable(copies["http"])
    after = ListeningSockets(environment)
    assert VARIABLE not in environment
    with after.open("http", "127.0.0.1", 0) as taken:
        assert taken.fileno() == copies["http"]
        assert taken.getsockname()[1] == port
        assert not os.get_inheritable(taken.fileno())
        with pytest.raises(Misconfigured, match=f"port {port} of 127.0.0.1 cannot be opened"):
            after.open("pg", "127.0.0.1", port)


@pytest.mark.parametrize("told", ["http=", "http=x", "http=999999", "nonsense", "http=0"])
def test_what_is_no_listening_socket_is_not_taken(told: str) -> None:
    with ListeningSockets({VARIABLE: told}).open("http", "127.0.0.1", 0) as opened:
        assert opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
