"""Results of any length on the wire: flat memory, slow readers, cancelling, the bounds."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import pytest
from served import Served, fill
from waiting import until

ROWS = 400_000
LONG = f"SELECT n, repeat('x', 250) AS t FROM generate_series(1, {ROWS}) AS g(n)"
LONG_BYTES = ROWS * 260
SETTINGS = """
[select]
timeout_ms = 120000
max_bytes = 300000000
spool_bytes = 700000000
"""


class StreamingServe(Served):
    """The Postgres wire alone."""

    words = ("serve", "--port", "0", "--no-grpc", "--pg-port", "0")

    @property
    def where(self) -> str:
        [address] = [each for each in self.addresses if each.startswith("postgresql")]
        return f"{address}/local"

    def connect(self, token: str, **more: Any) -> psycopg.Connection:
        return psycopg.connect(self.where, user="mia", password=token, **more)

    def processes(self) -> list[int]:
        """The server and its workers."""
        pid = self.process.pid
        found = [each.read_text() for each in Path(f"/proc/{pid}/task").glob("*/children")]
        return [pid, *(int(each) for text in found for each in text.split())]

    def resident(self) -> list[int]:
        """The bytes of memory of each."""
        return [_resident(each) for each in self.processes()]

    def unnamed_files(self) -> list[int]:
        """The sizes of results on disk, which have no names."""
        found = []
        for each in Path(f"/proc/{self.process.pid}/fd").iterdir():
            try:
                target = str(each.readlink())
                if "(deleted)" in target and target.startswith(str(self.directory)):
                    found.append(each.stat().st_size)
            except OSError:
                continue
        return found


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[StreamingServe, str]]:
    directory = tmp_path_factory.mktemp("streaming") / "db"
    token = fill(directory, SETTINGS)["mia"]
    with StreamingServe(directory) as server:
        with server.connect(token) as connection:
            connection.execute("SELECT count(*) FROM notes")
        yield server, token


def test_a_long_result_takes_no_more_memory_than_a_short_one(
    served: tuple[StreamingServe, str],
) -> None:
    server, token = served
    assert until(lambda: len(server.processes()) == 6)  # all workers have started
    with server.connect(token) as connection:
        with connection.cursor().copy(f"COPY ({LONG} LIMIT 50000) TO STDOUT") as copy:
            for _ in copy:
                pass
        before, most = max(server.resident()), 0
        done = threading.Event()

        def watch() -> None:
            nonlocal most
            while not done.wait(0.01):
                most = max(most, *server.resident())

        watching = threading.Thread(target=watch)
        watching.start()
        with connection.cursor().copy(f"COPY ({LONG}) TO STDOUT") as copy:
            rows, size = 0, 0
            for data in copy:
                rows, size = rows + 1, size + len(data)
        connection.rollback()
        found = sum(1 for _ in connection.cursor().stream(LONG, size=1000))
        done.set()
        watching.join()
    assert (rows, found) == (ROWS, ROWS)
    assert size > LONG_BYTES * 0.95
    assert most - before < LONG_BYTES / 4, (before, most)


def test_slow_readers_hold_neither_workers_nor_memory(served: tuple[StreamingServe, str]) -> None:
    server, token = served
    slow = [server.connect(token) for _ in range(3)]
    try:
        before = max(server.resident())
        for each in slow:
            each.pgconn.send_query(LONG.encode())  # and never read
            each.pgconn.flush()
        assert until(lambda: sum(server.unnamed_files()) > 3 * LONG_BYTES * 0.9)
        with server.connect(token) as other:  # two workers, three readers
            assert other.execute("SELECT count(*) FROM notes").fetchone() == (3,)
            with pytest.raises(psycopg.errors.ProgramLimitExceeded, match=r"select\.spool_bytes"):
                [other.execute(f"DECLARE c{n} CURSOR FOR {LONG}") for n in range(5)]
        assert max(server.resident()) - before < LONG_BYTES / 2
    finally:
        for each in slow:
            each.close()
    assert until(lambda: server.unnamed_files() == [])


def test_a_result_is_cancelled_while_it_is_sent(served: tuple[StreamingServe, str]) -> None:
    server, token = served
    with server.connect(token, autocommit=True) as connection:
        cursor = connection.cursor()
        rows = cursor.stream(LONG)
        next(rows)
        connection.cancel()
        with pytest.raises(psycopg.errors.QueryCanceled):
            sum(1 for _ in rows)
        assert connection.execute("SELECT 1").fetchone() == (1,)
        connection.execute("SET statement_timeout = 50")
        with pytest.raises(psycopg.errors.QueryCanceled, match="statement_timeout"):
            connection.execute(LONG)
    assert until(lambda: server.unnamed_files() == [])


def test_a_cursor_over_a_long_result_reads_it_in_parts(served: tuple[StreamingServe, str]) -> None:
    server, token = served

    async def work() -> None:
        connection = await asyncpg.connect(server.where, user="mia", password=token, ssl=False)
        async with connection.transaction():
            count = 0
            async for row in connection.cursor(f"{LONG} LIMIT 60000", prefetch=7000):
                count += 1
                assert row[0] == count
        assert count == 60000
        await connection.close()

    asyncio.run(work())
    with server.connect(token) as connection:
        connection.execute(f"DECLARE c SCROLL CURSOR FOR {LONG}")
        assert connection.execute("FETCH LAST FROM c").fetchall()[0][0] == ROWS
        assert [row[0] for row in connection.execute("FETCH BACKWARD 3000 FROM c")] == [
            *range(ROWS - 1, ROWS - 3001, -1)
        ]
        assert connection.execute("FETCH ABSOLUTE 123456 FROM c").fetchall()[0][0] == 123456


def test_the_operators_bounds_on_bytes_and_time_hold(tmp_path: Path) -> None:
    token = fill(tmp_path / "db", "[select]\ntimeout_ms = 8000\nmax_bytes = 2000000\n")["mia"]
    with StreamingServe(tmp_path / "db") as server:
        with server.connect(token, autocommit=True) as connection:
            with pytest.raises(psycopg.errors.ProgramLimitExceeded, match=r"select\.max_bytes"):
                connection.execute(LONG)
            with pytest.raises(psycopg.errors.QueryCanceled, match="8000 ms"):
                connection.execute("SELECT count(*) FROM generate_series(1, 100000000000)")
            assert (
                len(connection.execute("SELECT * FROM generate_series(1, 20000)").fetchall())
                == 20000
            )
            with pytest.raises(psycopg.errors.ProgramLimitExceeded):
                copied(connection)
        assert server.unnamed_files() == []


def copied(connection: psycopg.Connection) -> list[object]:
    with connection.cursor().copy(f"COPY ({LONG}) TO STDOUT") as copy:
        return list(copy)
