"""`redask serve --workers 2`: what only several processes that are one server can get wrong."""

import os
import signal
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from loopback import Loopback
from served import START, Served, audited, fill
from waiting import SECONDS, until
from wires import CHAT
from worker_transports import TwoWorkers

from redask.stores.sqlite.calls_migrations import CALLS_FILE

QUESTION = "When does the ferry to Amrum leave?"
SCRIPTED = {"using": "scripted"}
PAGE = {"X-Redask-Page": "1"}
CAP = 5_000_000  # nano-dollars
PRICED = """
[ask]
daily_cost_cap_usd = 0.005
max_completion_tokens = 300
[select]
timeout_ms = 60000
"""


class OnceWrong(TwoWorkers):
    """Who brought too many wrong tokens waits for an hour."""

    start = (
        "from redask.core.access import sign_in_delays as delays; "
        f"delays.FIRST_SECONDS = delays.MOST_SECONDS = 3600.0; {START}"
    )


class Patient(TwoWorkers):
    """Running asks have a minute to finish."""

    start = (
        f"from redask.server import serving; serving.GRACE_SECONDS = {SECONDS}; "
        f"from redask.server.supervising import supervisor; supervisor.END_SECONDS = 300; {START}"
    )


class Opened:
    """The server of this module, its tokens, and the host of its provider."""

    def __init__(self, server: TwoWorkers, tokens: dict[str, str], host: Loopback) -> None:
        self.server, self.tokens, self.host = server, tokens, host
        self.url = server.addresses[0]

    def headers(self, user: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[user]}", "Connection": "close"}

    def ask(self, question: str = QUESTION, user: str = "mia", **options: Any) -> httpx.Response:
        """Over a connection of its own."""
        return httpx.post(
            f"{self.url}/v1/ask",
            json={"question": question, "options": options or SCRIPTED},
            headers=self.headers(user),
            timeout=SECONDS,
        )

    def processes(self) -> list[int]:
        """The ids of the server's processes, without those that work for them."""
        return children(self.server.process.pid)


def children(pid: int) -> list[int]:
    found = [each.read_text().split() for each in Path(f"/proc/{pid}/task").glob("*/children")]
    return sorted(int(each) for some in found for each in some)


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    directory = tmp_path_factory.mktemp("workers") / "db"
    tokens = fill(directory, PRICED)
    with Loopback() as host:
        host.play(CHAT.whole("The ferry to Amrum leaves at nine. [^1]", (1000, 1000)))
        env = {"REDASK_OPENAI_BASE_URL": host.url, "OPENAI_API_KEY": "sk-none"}
        with OnceWrong(directory, **env) as server:
            yield Opened(server, tokens, host)


def test_two_processes_answer_at_each_port_and_their_asks_are_counted_together(
    opened: Opened,
) -> None:
    assert len(opened.processes()) == 2
    connections = opened.server.backends(2, "mia", opened.tokens["mia"])
    for connection in connections:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        connection.close()
    for _ in range(6):
        assert opened.ask().status_code == 200
    settled = {"ready": True, "reasons": []}  # after the next look of whichever process is asked
    assert until(lambda: httpx.get(f"{opened.url}/readyz").json() == settled)
    found = set()
    for _ in range(4):
        text = httpx.get(f"{opened.url}/metrics", headers=opened.headers("olga")).text
        found.add(text.partition('redask_asks_total{outcome="answered"} ')[2].partition("\n")[0])
    assert found == {"6.0"}  # whichever process is asked


def test_a_cancel_request_finds_its_session_in_whichever_process_it_came_in(
    opened: Opened,
) -> None:
    for connection in opened.server.backends(2, "mia", opened.tokens["mia"]):
        for _ in range(4):  # each cancel is a connection of its own, at any process
            raised: list[Exception] = []

            def sleep(on: Any = connection, into: list[Exception] = raised) -> None:
                try:
                    on.execute("SELECT pg_sleep(4)")
                except Exception as error:
                    into.append(error)

            thread = threading.Thread(target=sleep)
            thread.start()
            while thread.is_alive():  # it may not have begun yet
                connection.cancel_safe(timeout=SECONDS)
                thread.join(0.2)
            assert [type(each) for each in raised] == [psycopg.errors.QueryCanceled]
            assert "on request" in str(raised[0])  # not by its time
        connection.close()


def test_a_user_sees_and_ends_own_sessions_of_all_processes_and_no_others(opened: Opened) -> None:
    mine = opened.server.backends(2, "mia", opened.tokens["mia"])
    theirs = opened.server.backends(2, "olga", opened.tokens["olga"])
    numbers = [each.info.backend_pid for each in mine]
    for connection in mine:
        rows = connection.execute("SELECT pid FROM pg_stat_activity ORDER BY pid").fetchall()
        assert [pid for (pid,) in rows] == sorted(numbers)
        for other in theirs:
            found = connection.execute(f"SELECT pg_terminate_backend({other.info.backend_pid})")
            assert found.fetchone() == (False,)
    assert mine[0].execute(f"SELECT pg_terminate_backend({numbers[1]})").fetchone() == (True,)
    with pytest.raises(psycopg.OperationalError):
        mine[1].execute("SELECT 1")
    mine[1].close()
    for each in (mine[0], *theirs):
        assert each.execute("SELECT 1").fetchone() == (1,)
        each.close()


def test_a_browser_is_signed_in_and_out_at_all_processes_at_once(opened: Opened) -> None:
    begun = httpx.post(f"{opened.url}/v1/session", headers={**PAGE, **opened.headers("mia")})
    assert begun.status_code == 200
    cookie = {"Cookie": begun.headers["set-cookie"].partition(";")[0], "Connection": "close"}

    def users(count: int = 12) -> set[str]:
        return {
            httpx.get(f"{opened.url}/v1/session", headers={**PAGE, **cookie}).json()["user"]
            for _ in range(count)
        }

    assert users() == {"mia"}
    ended = httpx.delete(f"{opened.url}/v1/session", headers={**PAGE, **cookie})
    assert ended.status_code == 200
    assert users() == {""}


def test_wrong_tokens_are_counted_together(opened: Opened) -> None:
    """Each process alone would take 6 of one name, 12 in all."""
    wrong = {"Authorization": "Bearer wrong-for-both", "Connection": "close"}
    body = {"question": QUESTION}
    codes: list[int] = []

    def refused() -> int:
        codes.append(httpx.post(f"{opened.url}/v1/ask", json=body, headers=wrong).status_code)
        return codes[-1]

    assert opened.ask().status_code == 200
    assert [refused() for _ in range(6)] == [401] * 6
    assert until(lambda: refused() == 429)  # one that was told a moment later may take another
    assert [refused() for _ in range(12)] == [429] * 12
    assert codes.count(401) < 9
    assert {opened.ask().status_code for _ in range(6)} == {200}  # it was good at one of them


def test_a_request_of_mcp_is_cancelled_from_whichever_process(opened: Opened) -> None:
    released = threading.Event()
    accept = {"Accept": "application/json, text/event-stream", "Mcp-Session-Id": "mine"}
    headers = {**opened.headers("olga"), **accept}
    opened.host.play(CHAT.whole("Late. [^1]"))
    for number in range(4):
        arguments = {"question": f"Who cancels ferry {number}?", "options": {"using": "openai"}}
        params = {"name": "redask_ask", "arguments": arguments}
        call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        opened.host.play(_waiting(released))
        before = len(opened.host.requests)
        said: list[str] = []

        def asking(message: Any = call, into: list[str] = said) -> None:
            into.append(
                httpx.post(f"{opened.url}/mcp", json=message, headers=headers, timeout=SECONDS).text
            )

        thread = threading.Thread(target=asking)
        thread.start()
        assert more_than(opened.host.requests, before)
        cancel = {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": number},
        }
        assert httpx.post(f"{opened.url}/mcp", json=cancel, headers=headers).status_code == 202
        thread.join(SECONDS)
        assert "cancelled" in said[0]
    released.set()


def _waiting(released: threading.Event) -> Any:
    return replace(CHAT.whole("Late. [^1]"), after=released)


def test_a_process_that_is_killed_is_replaced_and_no_answer_is_without_its_row(
    opened: Opened,
) -> None:
    answered: list[str] = []
    stop = threading.Event()

    def client(name: str) -> None:
        number = 0
        while not stop.is_set():
            number += 1
            question = f"When does ferry {name} {number} leave?"
            try:
                reply = opened.ask(question)
            except httpx.TransportError:
                continue  # it was killed with the connection
            if reply.status_code == 200:
                answered.append(question)

    threads = [threading.Thread(target=client, args=(f"n{each}",)) for each in range(3)]
    for thread in threads:
        thread.start()
    try:
        for round_ in range(2):
            assert more_than(answered, len(answered) + 3)
            before = opened.processes()
            os.kill(before[round_ % 2], signal.SIGKILL)
            assert until(partial(has_others, opened, before))
            assert until(lambda: len(opened.processes()) == 2)
            assert until(lambda: ready(opened.url) == [])
        assert more_than(answered, len(answered) + 3)
    finally:
        stop.set()
        for thread in threads:
            thread.join(SECONDS)
    said = opened.server.stderr().decode()
    assert said.count("ended by SIGKILL: another starts in") == 2
    rows, whole = audited(opened.server.directory)
    assert whole
    assert {question: rows[question] for question in answered} == dict.fromkeys(answered, 1)


def more_than(some: Sequence[object], count: int) -> bool:
    """Wait until there are more of them."""
    return until(lambda: len(some) > count)


def has_others(opened: Opened, before: list[int]) -> bool:
    return bool(set(opened.processes()) - set(before))


def ready(url: str) -> list[str] | None:
    try:
        found: list[str] = httpx.get(f"{url}/readyz").json()["reasons"]
    except httpx.TransportError:
        return None
    return found


def test_both_processes_together_spend_no_more_than_the_cap(opened: Opened) -> None:
    """The worst that a call can cost is set aside before it is made, in one ledger."""
    opened.host.play(CHAT.whole("The ferry to Amrum leaves at nine. [^1]", (100, 300)))
    codes: list[int] = []

    def client(name: int) -> None:
        for number in range(6):
            asked = f"When does ferry {name} {number} leave?"
            codes.append(opened.ask(asked, using="openai", nocache=True).status_code)

    threads = [threading.Thread(target=client, args=(each,)) for each in range(6)]
    with closing(sqlite3.connect(opened.server.directory / CALLS_FILE, timeout=30)) as watching:
        for thread in threads:
            thread.start()
        most = 0
        while any(thread.is_alive() for thread in threads):
            (total,) = watching.execute(
                "SELECT (SELECT coalesce(sum(nanos), 0) FROM spent)"
                " + (SELECT coalesce(sum(nanos), 0) FROM reserved)"
            ).fetchone()
            most = max(most, total)
            assert total <= CAP
        (booked,) = watching.execute("SELECT sum(nanos) FROM spent").fetchone()
    assert len(codes) == 36
    assert {200, 413} <= set(codes)
    assert CAP / 2 < booked <= most <= CAP


def test_a_server_that_is_told_to_stop_finishes_what_both_processes_do(tmp_path: Path) -> None:
    tokens = fill(tmp_path / "db", "[ask]\ntimeout_ms = 600000\n")
    released = threading.Event()
    with Loopback() as host:
        host.play(_waiting(released))
        env = {"REDASK_OPENAI_BASE_URL": host.url, "OPENAI_API_KEY": "sk-none"}
        with Patient(tmp_path / "db", **env) as server:
            opened = Opened(server, tokens, host)
            replies: list[httpx.Response] = []
            threads = [
                threading.Thread(
                    target=lambda n=each: replies.append(opened.ask(f"Ferry {n}?", using="openai"))
                )
                for each in range(6)
            ]
            for thread in threads:
                thread.start()
            assert until(lambda: len(host.requests) == 6)
            both = opened.processes()
            server.process.send_signal(signal.SIGHUP)
            assert until(lambda: refuses_or_waits(opened.url))
            released.set()
            for thread in threads:
                thread.join(SECONDS)
            assert until(lambda: server.stderr().count(b"redask: serving") == 6, 3 * SECONDS)
            assert not set(opened.processes()) & set(both)
            lines = server.stderr().decode().splitlines()
            assert lines[3:] == ["redask: restarting", *lines[:3]]  # at the same ports
            assert opened.ask().status_code == 200
            last = opened.processes()
            assert server.stop() == 0
            assert not [each for each in last if Path(f"/proc/{each}").exists()]
    assert [each.status_code for each in replies] == [200] * 6
    rows, whole = audited(tmp_path / "db")
    assert whole
    assert [rows[f"Ferry {n}?"] for n in range(6)] == [1] * 6


def refuses_or_waits(url: str) -> bool:
    try:
        httpx.get(f"{url}/healthz", timeout=0.5)
    except httpx.TransportError:
        return True
    return False


def test_processes_whose_parent_is_killed_stop_by_themselves(tmp_path: Path) -> None:
    fill(tmp_path / "db")
    with TwoWorkers(tmp_path / "db") as server:
        both = children(server.process.pid)
        server.process.kill()
        server.process.wait()
        assert until(lambda: not [each for each in both if _lives(each)])


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_cannot_be_served_is_said_once_with_its_exit_code(tmp_path: Path) -> None:
    fill(tmp_path / "db", '[ask.providers]\ndefault = "scripted"\n')
    (tmp_path / "db" / "redask.toml").write_text("[nonsense]\nkey = 1\n")
    server = TwoWorkers(tmp_path / "db")
    with pytest.raises(RuntimeError) as caught:
        server.__enter__()
    assert str(caught.value).count("nonsense") == 1
    assert server.stop() == 7  # as of one process


def test_one_worker_has_no_parent(tmp_path: Path) -> None:
    class OneWorker(Served):
        words = ("serve", "--port", "0", "--no-grpc", "--no-pg", "--workers", "1")

    fill(tmp_path / "db")
    with OneWorker(tmp_path / "db") as server:
        working = [
            Path(f"/proc/{each}/cmdline").read_text() for each in children(server.process.pid)
        ]
        assert working
        assert all("worker_child" in each for each in working)
        assert (
            "REDASK_SERVER_PROCESS" not in Path(f"/proc/{server.process.pid}/environ").read_text()
        )
