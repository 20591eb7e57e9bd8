"""The Postgres wire transport of one small database in a thread, and drivers behind one projection.

    with WireServed(directory) as transport:
        with transport.driver("asyncpg") as driver:
            driver.rows("ASK $1 LIMIT 2", "Why?")       → list of tuples
            driver.state("ASK")                         → "42601"

The database and its server are those of `server_thread`. Every driver takes `$1` and gives what it
makes of the values. Each runs where it may block: beside the server, never in its loop.
"""

import re
import ssl
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import asyncpg
import pg8000.exceptions
import pg8000.native
import psycopg
from loop_thread import LoopThread
from server_thread import ServerThread

_T = TypeVar("_T")


class PgwireServer(ServerThread):
    """The transport, open."""

    host = "127.0.0.1"

    def __init__(self, directory: Path, **more: Any) -> None:
        super().__init__(directory, pg_port=0, **more)

    async def connect(self, stack: AsyncExitStack) -> None:
        [self.address] = self.addresses
        self.port = int(self.address.rpartition(":")[2])
        self.certificate = self.where.certificate

    def driver(self, name: str, user: str = "mia", token: str | None = None) -> "Driver":
        """A driver that is connected."""
        given = self.tokens[user] if token is None else token
        return DRIVERS[name](self, user, given)

    def newest(self) -> dict[str, Any]:
        """The newest audit row."""
        return self.run(self.db.audit(1))[0].row


class Driver:
    """One connection of one driver."""

    def rows(self, sql: str, *params: object) -> list[tuple[Any, ...]]:
        raise NotImplementedError

    def state(self, sql: str, *params: object) -> str:
        """The SQLSTATE of the error that this must be."""
        try:
            found = self.rows(sql, *params)
        except (psycopg.Error, asyncpg.PostgresError, pg8000.exceptions.DatabaseError) as error:
            return sqlstate(error)
        raise AssertionError(f"no error, but {found}")

    def leave(self) -> None:
        """Go without a word, while a statement may be running in another thread."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def sqlstate(error: BaseException) -> str:
    """As each driver says it."""
    if isinstance(error, pg8000.exceptions.DatabaseError):
        return str(error.args[0]["C"])
    return str(getattr(error, "sqlstate", None))


class Psycopg(Driver):
    """psycopg 3; `binary` and `prepare` are its own words."""

    def __init__(
        self,
        transport: PgwireServer,
        user: str,
        token: str,
        *,
        binary: bool = False,
        prepare: bool | None = None,
    ) -> None:
        tls: dict[str, Any] = {}
        if transport.certificate:
            tls = {"sslmode": "verify-full", "sslrootcert": transport.certificate}
        self.connection = psycopg.connect(
            f"{transport.address}/local", user=user, password=token, autocommit=True, **tls
        )
        self._binary, self._prepare = binary, prepare

    def rows(self, sql: str, *params: object) -> list[tuple[Any, ...]]:
        placed = re.sub(r"\$\d", "%s", sql)
        cursor = self.connection.cursor(binary=self._binary)
        return cursor.execute(placed, params or None, prepare=self._prepare).fetchall()

    def leave(self) -> None:
        self.connection.close()

    def close(self) -> None:
        self.connection.close()


class InItsLoop(Driver):
    """A driver for asyncio, in a loop and a thread of its own."""

    def _begin(self) -> None:
        self._loop = LoopThread()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return self._loop.run(work)

    def _end(self) -> None:
        self._loop.close()


class AsyncPsycopg(InItsLoop):
    """psycopg 3 for asyncio."""

    def __init__(self, transport: PgwireServer, user: str, token: str) -> None:
        self._begin()
        self.connection = self.run(
            psycopg.AsyncConnection.connect(
                f"{transport.address}/local", user=user, password=token, autocommit=True
            )
        )

    def rows(self, sql: str, *params: object) -> list[tuple[Any, ...]]:
        async def work() -> list[tuple[Any, ...]]:
            placed = re.sub(r"\$\d", "%s", sql)
            return await (await self.connection.execute(placed, params or None)).fetchall()

        return self.run(work())

    def leave(self) -> None:
        self.run(self.connection.close())

    def close(self) -> None:
        self.run(self.connection.close())
        self._end()


class Asyncpg(InItsLoop):
    """asyncpg, which prepares everything and speaks binary."""

    def __init__(self, transport: PgwireServer, user: str, token: str) -> None:
        self._begin()
        tls = (
            ssl.create_default_context(cafile=transport.certificate)
            if transport.certificate
            else False
        )
        self.connection = self.run(
            asyncpg.connect(f"{transport.address}/local", user=user, password=token, ssl=tls)
        )

    def rows(self, sql: str, *params: object) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.run(self.connection.fetch(sql, *params))]

    def leave(self) -> None:
        self._loop.call_soon(self.connection.terminate)

    def close(self) -> None:
        if not self.connection.is_closed():
            self.run(self.connection.close())
        self._end()


class Pg8000(Driver):
    """pg8000, in Python alone."""

    def __init__(self, transport: PgwireServer, user: str, token: str) -> None:
        tls = (
            ssl.create_default_context(cafile=transport.certificate)
            if transport.certificate
            else None
        )
        self.connection = pg8000.native.Connection(
            user,
            host=transport.host,
            port=transport.port,
            database="local",
            password=token,
            ssl_context=tls,
        )

    def rows(self, sql: str, *params: object) -> list[tuple[Any, ...]]:
        placed = re.sub(r"\$(\d)", r":p\1", sql)
        named = {f"p{number}": value for number, value in enumerate(params, start=1)}
        return [tuple(row) for row in self.connection.run(placed, **named) or []]

    def leave(self) -> None:
        self.connection._usock.close()

    def close(self) -> None:
        try:
            self.connection.close()
        except (pg8000.exceptions.InterfaceError, OSError):
            return  # it has left


DRIVERS: dict[str, Callable[[PgwireServer, str, str], Driver]] = {
    "psycopg": Psycopg,
    "psycopg-binary": lambda *given: Psycopg(*given, binary=True),
    "psycopg-prepared": lambda *given: Psycopg(*given, prepare=True),
    "psycopg-async": AsyncPsycopg,
    "asyncpg": Asyncpg,
    "pg8000": Pg8000,
}
