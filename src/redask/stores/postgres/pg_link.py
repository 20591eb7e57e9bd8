"""A connection that does not wait without end: `Link`, and `connect(url)`.

The server's own time limits end what runs for too long, but not what is heard of no more: a network
that drops what is sent, a machine that stands still. So this side waits `silence` seconds for each
reply, then the connection is closed, and the error is that of a lost connection.

A server that is cancelled while it waits for its synchronous standby (by an operator, or us) says
COMMIT all the same, with a warning beside it: `is_unconfirmed`.
"""

from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from psycopg.adapt import Buffer, Loader

from redask.core.errors import Misconfigured
from redask.stores.postgres.pg_location import UNREADABLE

CONNECT_SECONDS = 5
_LINK = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
    "application_name": "redask",
}
_SILENCE = 60.0
_WAITS_FOR_STANDBY = "SyncRepWaitForLSN"  # in no message's words, which are translated
_T = TypeVar("_T")


class Link(psycopg.Connection[tuple[Any, ...]]):
    """See the module."""

    silence = _SILENCE
    is_unconfirmed = False  # whether something was committed that no standby is known to have

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """What psycopg waits with; `timeout` where it has one of its own."""
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.silence)
        except psycopg.errors._WaitTimeout:
            self.pgconn.finish()  # nobody knows what it still would say
            _leave(gen)
            raise psycopg.OperationalError(
                f"the server said nothing for {self.silence:g} s"
            ) from None
        except psycopg.Error:
            _leave(gen)
            raise


class IntegerLoader(Loader):
    """Sums of whole numbers, which PostgreSQL gives as numeric: nothing of ours is a fraction."""

    def load(self, data: Buffer) -> int:
        """The number."""
        return int(bytes(data))


def connect(url: str) -> Link:
    """A new connection, for statements that begin and end transactions themselves."""
    given = _readable(url)
    if given is None:  # libpq's own words about it hold the password
        raise Misconfigured(UNREADABLE, detail="location")
    chosen = {name: value for name, value in _LINK.items() if name not in given}
    connection: Link = Link.connect(url, autocommit=True, **chosen)  # type: ignore[arg-type]
    connection.adapters.register_loader("numeric", IntegerLoader)

    def note(told: psycopg.errors.Diagnostic) -> None:
        if told.source_function == _WAITS_FOR_STANDBY:
            connection.is_unconfirmed = True

    connection.add_notice_handler(note)
    return connection


def _leave(gen: Any) -> None:
    """End what waits no more: one of a pipeline wants to send more as it ends, and cannot."""
    with suppress(psycopg.Error, RuntimeError):
        gen.close()


def _readable(url: str) -> dict[str, Any] | None:
    """A URL as libpq reads it; None if it cannot."""
    try:
        return psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return None
