"""How many HTTP connections there are at once: `ConnectionLimits`, which makes room for the next.

    limit           beyond it
    `total`         the connection that has been idle for longest is closed
    `per_address`   the same, of those from the client's address
    all are busy    the new one is closed

Idle is a connection on which no request is answered. So clients that connect and say nothing, or
little, cannot keep a health check out, and who was working goes on. `for_descriptors` keeps some
of the process's descriptors in reserve, for files, workers and the other transports.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

TOTAL = 2000
_RESERVED = 384  # descriptors that are not for HTTP
_LEAST = 16


class IdleConnection(Protocol):
    """A connection as it is counted."""

    address: str

    def is_busy(self) -> bool:
        """Whether a request is answered on it."""

    def close_idle(self) -> None:
        """Close it, at once."""


@dataclass(slots=True)
class ConnectionLimits:
    """The connections of one server."""

    total: int = TOTAL
    per_address: int = TOTAL
    _open: dict[IdleConnection, None] = field(default_factory=dict, init=False)  # in order of use

    def enter(self, connection: IdleConnection) -> bool:
        """Count a new connection; False: there is no room, and it must be closed."""
        same = [each for each in self._open if each.address == connection.address]
        if len(same) >= self.per_address and not self._make_room(same):
            return False
        if len(self._open) >= self.total and not self._make_room(list(self._open)):
            return False
        self._open[connection] = None
        return True

    def used(self, connection: IdleConnection) -> None:
        """A request on it is answered: it has been idle for the shortest time."""
        if connection in self._open:
            del self._open[connection]
            self._open[connection] = None

    def leave(self, connection: IdleConnection) -> None:
        """It is closed; twice is fine."""
        self._open.pop(connection, None)

    def _make_room(self, there: list[IdleConnection]) -> bool:
        idle = next((each for each in there if not each.is_busy()), None)
        if idle is None:
            return False
        self.leave(idle)
        idle.close_idle()
        return True


def for_descriptors(limit: Callable[[], int | None]) -> ConnectionLimits:
    """Limits that leave enough of the descriptors that a process may have; None: no limit."""
    most = limit()
    total = TOTAL if most is None else max(_LEAST, min(TOTAL, (most - _RESERVED) // 2))
    return ConnectionLimits(total, max(_LEAST, total - total // 10))


def descriptor_limit() -> int | None:
    """How many descriptors this process may have; None where that is not known."""
    try:
        import resource  # not on every platform
    except ImportError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft
