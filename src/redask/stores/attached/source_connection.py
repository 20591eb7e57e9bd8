"""Connections to a source: `AttachedDatabase(url, …)`, read-only transactions under a role.

    reading(role)      one state of the source (repeatable read), read-only, row level security on,
                       nothing but pg_catalog on the search path; what the session is told of the
                       caller is in `redask.tenant`, `redask.user` and `redask.role`
    administering()    as whom the URL signs in, for triggers and slots; nothing else writes there

Parameters are PostgreSQL's own ($1): a name may hold a percent sign.

A password is never part of a URL that is kept. Errors are `StoreFailed`, in our words.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg.types.string import TextLoader

from redask.core.errors import BadAsk, Misconfigured, StoreFailed
from redask.core.model import Caller
from redask.stores.attached.source_types import quoted
from redask.stores.postgres import pg_location
from redask.stores.postgres.pg_location import UNREADABLE

NOT_ALLOWED = "42501"  # the detail of `StoreFailed` where the role may not read (any more)
Connection = psycopg.Connection[tuple[Any, ...]]
CONNECT_SECONDS = 5
READ_MS = 600_000  # for one statement of a reading that may be long
_LOCK_MS = 10_000
_IDLE_MS = 600_000
_LINK = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
    "application_name": "redask attach",
}
_SETTINGS = {
    "search_path": "pg_catalog",
    "row_security": "on",
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "lock_timeout": str(_LOCK_MS),
    "idle_in_transaction_session_timeout": str(_IDLE_MS),
}
_AS_TEXT = ("interval", "json", "jsonb")
NOBODY = Caller("", "", "")


def kept_url(url: str) -> str:
    """The URL to keep; `BadAsk` if it has a password in it, which nothing here keeps."""
    try:
        given = psycopg.conninfo.conninfo_to_dict(pg_location.url_of(url))
    except psycopg.ProgrammingError:  # its words hold the password
        raise Misconfigured(UNREADABLE, detail="location") from None
    if any(given.get(name) for name in ("password", "sslpassword")):
        raise BadAsk(
            "leave the password out of the URL, where others may read it: give it by"
            " REDASK_ATTACH_<NAME>_PASSWORD, …_PASSWORD_FILE or …_PASSWORD_COMMAND, by PGPASSWORD"
            " or in ~/.pgpass",
            detail="url",
        )
    return pg_location.without_secrets(url)


def database_name(url: str) -> str:
    """The database that a URL names, in letters that the name of an attachment may have."""
    try:
        given = psycopg.conninfo.conninfo_to_dict(pg_location.url_of(url))
    except psycopg.ProgrammingError:
        raise Misconfigured(UNREADABLE, detail="location") from None
    return re.sub("[^a-z0-9_]", "_", str(given.get("dbname") or "attached").lower())


class AttachedDatabase:
    """One source; connections are opened when they are needed, and closed at once."""

    def __init__(self, url: str, password: str | None = None) -> None:
        self._url, self._password = url, password
        self.place = pg_location.shown(url)

    @contextmanager
    def reading(
        self, role: str | None, *, timeout_ms: int = READ_MS, caller: Caller = NOBODY
    ) -> Iterator[Connection]:
        """A read-only transaction under a role; None: as whom the URL signs in."""
        with self._connected() as connection:
            yield from self._inside(connection, role, timeout_ms, caller)

    @contextmanager
    def locked(self, role: str | None, key: int) -> Iterator[Connection | None]:
        """The same, for one reader of this key at a time; None: there is another."""
        with self._connected() as connection:
            taken = connection.execute("SELECT pg_try_advisory_lock($1)", (key,)).fetchone()
            if taken != (True,):
                yield None
                return
            try:
                yield from self._inside(connection, role, READ_MS, NOBODY)
            finally:  # a server may take a while to notice that its client is gone
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                    connection.execute("SELECT pg_advisory_unlock($1)", (key,))

    @contextmanager
    def administering(self) -> Iterator[Connection]:
        """A transaction that may write, as whom the URL signs in."""
        with self._connected() as connection, connection.transaction():
            _set(connection, {**_SETTINGS, "statement_timeout": str(READ_MS)})
            yield connection

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """A connection without a transaction, for what can be in none."""
        with self._connected() as connection:
            yield connection

    def _inside(
        self, connection: Connection, role: str | None, timeout_ms: int, caller: Caller
    ) -> Iterator[Connection]:
        told = {
            "redask.tenant": caller.tenant,
            "redask.user": caller.user,
            "redask.role": caller.role,
        }
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        if role is not None:
            connection.execute(f"SET LOCAL ROLE {quoted(role)}")
        _set(connection, {**_SETTINGS, **told, "statement_timeout": str(timeout_ms)})
        yield connection

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        given: dict[str, Any] = dict(_LINK)
        if self._password is not None:
            given["password"] = self._password
        try:
            connection = psycopg.connect(
                self._url, autocommit=True, cursor_factory=psycopg.RawCursor, **given
            )
        except psycopg.Error as error:
            raise self._failed("cannot be reached, or refuses", error) from None
        try:
            connection.server_cursor_factory = psycopg.RawServerCursor
            connection.adapters.register_loader("interval", TextLoader)
            yield connection
        except psycopg.Error as error:
            raise self._failed("failed", error) from error
        finally:
            connection.close()

    def _failed(self, what: str, error: psycopg.Error) -> StoreFailed:
        """What went wrong; messages about values can hold the values, so they are not told."""
        state = error.sqlstate or ""
        told = error.diag.message_primary or "" if state[:2] in _TOLD else ""
        return StoreFailed(f"{self.place} {what}{f': {told}' if told else ''}", detail=state)


_TOLD = ("28", "3D", "3F", "42", "53", "55", "57", "25")


def _set(connection: Connection, settings: Mapping[str, str]) -> None:
    """Set these for the transaction."""
    calls = ", ".join(
        f"set_config(${place}, ${place + 1}, true)" for place in range(1, 2 * len(settings), 2)
    )
    values = [part for pair in settings.items() for part in pair]
    connection.execute(f"SELECT {calls}", values)


def keep_json_text(connection: Connection) -> None:
    """Give json and jsonb as PostgreSQL writes them."""
    for name in _AS_TEXT:
        connection.adapters.register_loader(name, TextLoader)
