"""How many connections a transport has at once: `ConnectionLimits`, which makes room for the next.

    limit               beyond it
    `total`             the connection that has been idle for longest is closed
    `per_address`       the same, of those from the client's address
    `unauthenticated`   the same, of those on which nobody has signed in
    all are busy        the new one has no room; but RESERVED more may ask for health (`HEALTH`)

Idle is a connection on which no request is answered and no session runs. So clients that connect
and say nothing, or little, cannot keep a health check out, and who was working goes on.
`limits_for` keeps some of the process's descriptors in reserve, for files, workers and the others.

asyncio accepts as many connections in one step as its backlog says, before any of them is counted:
more than there are descriptors for, or so many that a request is pushed out before it is read. So
that number is small (ACCEPTED_AT_ONCE), and the kernel's queue is made long again (`queue`).

Clients of all our transports speak first. So, where it can (Linux), the kernel keeps a connection
to itself until its client has said something, for SILENT_SECONDS at least: those that say nothing
cost no work here, and push nobody out.
"""

import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from redask.core.access.sign_in_delays import network_of
from redask.core.serving_limits import ProcessPlace, ServingLimits

TOTAL = 2000
ACCEPTED_AT_ONCE = 32
_BACKLOG = 4096  # connections that wait in the kernel; beyond it they come again after seconds
SILENT_SECONDS = 30
RESERVED = 8  # connections beyond the limit that are for health checks
_KEPT_DESCRIPTORS = 384  # that are for no connection
_LEAST = 16
# of the descriptors that are left: half for HTTP, a quarter for PostgreSQL's clients, and for gRPC
HTTP_SHARE, PG_SHARE, GRPC_SHARE = 2, 4, 4


def queue(listening: socket.socket) -> None:
    """Let connections wait in the kernel that are not accepted at once, or are silent."""
    listening.listen(_BACKLOG)
    with suppress(AttributeError, OSError):  # not on every platform
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, SILENT_SECONDS)


def accepted_at_once(place: ProcessPlace) -> int:
    """How many connections are accepted in one step: processes that share a queue take turns."""
    return ACCEPTED_AT_ONCE if place.count == 1 else 1


class ConnectionEntry(Enum):
    """How a connection was let in."""

    OPEN = "open"
    HEALTH = "for health checks alone"
    NO_ROOM = "no room"


class LimitedConnection(Protocol):
    """A connection as it is counted."""

    address: str
    signed_in: bool

    def is_busy(self) -> bool:
        """Whether a request is answered on it, or a session runs."""

    def close_idle(self) -> None:
        """Close it, at once."""


@dataclass(slots=True)
class ConnectionLimits:
    """The connections of one transport."""

    total: int = TOTAL
    per_address: int = TOTAL
    unauthenticated: int = TOTAL
    _open: dict[LimitedConnection, str] = field(default_factory=dict)  # in order of use
    _for_health: dict[LimitedConnection, None] = field(default_factory=dict)

    def enter(self, connection: LimitedConnection) -> ConnectionEntry:
        """Count a new connection; without room it must be closed."""
        network = network_of(connection.address)
        same = [each for each, its in self._open.items() if its == network]
        nobody = [each for each in self._open if not each.signed_in]
        for there, most in (
            (same, self.per_address),
            (nobody, self.unauthenticated),
            ([*self._open], self.total),
        ):
            still = [each for each in there if each in self._open]
            if len(still) >= most and not self._make_room(still):
                return self._enter_for_health(connection)
        self._open[connection] = network
        return ConnectionEntry.OPEN

    def used(self, connection: LimitedConnection) -> None:
        """A request on it is answered: it has been idle for the shortest time."""
        if connection in self._open:
            self._open[connection] = self._open.pop(connection)

    def leave(self, connection: LimitedConnection) -> None:
        """It is closed; twice is fine."""
        self._open.pop(connection, None)
        self._for_health.pop(connection, None)

    def _enter_for_health(self, connection: LimitedConnection) -> ConnectionEntry:
        if len(self._for_health) >= RESERVED and not self._make_room([*self._for_health]):
            return ConnectionEntry.NO_ROOM
        self._for_health[connection] = None
        return ConnectionEntry.HEALTH

    def _make_room(self, there: list[LimitedConnection]) -> bool:
        idle = next((each for each in there if not each.is_busy()), None)
        if idle is None:
            return False
        self.leave(idle)
        idle.close_idle()
        return True


def limits_for(
    share: int, chosen: ServingLimits, limit: Callable[[], int | None]
) -> ConnectionLimits:
    """The limits of a transport that has this share of a process's descriptors (None: no limit)."""
    most = limit()
    left = TOTAL if most is None else (most - _KEPT_DESCRIPTORS) // share
    fitting = max(_LEAST, min(TOTAL, left))
    total = fitting if chosen.connections is None else min(fitting, chosen.connections)
    return ConnectionLimits(
        total,
        _part(chosen.connections_per_address, total, total - total // 10),
        _part(chosen.unauthenticated_connections, total, total - total // 4),
    )


def _part(chosen: int | None, total: int, usual: int) -> int:
    return min(total, usual if chosen is None else chosen)


def descriptor_limit() -> int | None:
    """How many descriptors this process may have; None where that is not known."""
    try:
        import resource  # not on every platform
    except ImportError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft
