"""A real `redask serve` with slow SELECTs running gets SIGTERM: it ends, and so do its workers."""

import signal
import threading
from pathlib import Path

import psycopg
import pytest
from served import START, Served
from server_thread import fill
from waiting import SECONDS, until

ENDLESS = "SELECT count(*) FROM generate_series(1, 1000000000000)"
STUBBORN = "SELECT count(initcap(repeat('a', 900000) || n)) FROM generate_series(1, 9999) n"


class PgServe(Served):
    """PostgreSQL clients only get a second to finish."""

    start = f"from redask.server import serving; serving.GRACE_SECONDS = 1; {START}"
    words = ("serve", "--port", "0", "--no-grpc", "--pg-port", "0")


@pytest.mark.parametrize("sql", [ENDLESS, STUBBORN])
def test_a_signal_ends_a_server_with_slow_selects(tmp_path: Path, sql: str) -> None:
    token = fill(tmp_path / "db")["mia"]
    response: list[BaseException | list[object]] = []
    with PgServe(tmp_path / "db") as server:
        address = next(each for each in server.addresses if each.startswith("postgresql"))

        def run(statement: str) -> None:
            try:
                with psycopg.connect(f"{address}/local", user="mia", password=token) as connection:
                    response.append([*connection.execute(statement).fetchall()])
            except psycopg.Error as error:
                response.append(error)

        slow = [threading.Thread(target=run, args=(sql,), daemon=True) for _ in range(3)]
        for each in slow:
            each.start()
        assert until(lambda: len(_workers(server.process.pid)) >= 3)  # some are for others
        workers = _workers(server.process.pid)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(SECONDS) == 0
        assert until(lambda: len(response) == 3)
        assert all(isinstance(each, psycopg.Error) for each in response)
        assert until(lambda: not any(Path(f"/proc/{each}").exists() for each in workers))


def _workers(parent: int) -> list[int]:
    """The child processes of a process; each of its threads may have started some."""
    found = [each.read_text() for each in Path(f"/proc/{parent}/task").glob("*/children")]
    return [int(each) for text in found for each in text.split()]
