"""The state of a server: `Readiness`, for /healthz and /readyz, which load balancers trust.

    /healthz    starting    not every transport is open yet
                ok          all are
                stopping    the server admits nothing new
                closed      a port was closed behind the server's back

    /readyz     reasons     what the database is busy with (`AsyncDatabase.unsettled`), and any of
                            the three words above
                ready       unless one of them is in `_NOT_READY`

A process of several speaks for itself: its parent replaces one that ends, and the others serve
meanwhile, with the reason WORKER_MISSING.

Catching up, relabelling and embedding leave a server ready: it answers meanwhile, and if it got no
questions, nothing would ever catch up. So does a replica that lags: the primary is read then. The
words tell nothing of anybody's data. `watch` looks every few seconds, so that a probe waits for
nothing; each change is a line in the log, and shows in /metrics.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from prometheus_client import Gauge

from redask.core.errors import AskError
from redask.server.listening_sockets import ListeningSockets

LOOK_EVERY = 2.0  # seconds
WORKER_MISSING, LAGGING = "worker_missing", "lagging"
STATES = (
    *("catching_up", "relabelling", "embedding_pending"),
    *(LAGGING, "replica_unavailable", "audit_unavailable"),
)
_NOT_READY = frozenset({"audit_unavailable", "starting", "stopping", "closed"})
READY = Gauge("redask_ready", "Whether the server is ready: 1 or 0.", multiprocess_mode="livemin")
BUSY = Gauge(
    "redask_busy",
    "Whether the database is busy with this: 1 or 0.",
    ("reason",),
    multiprocess_mode="livemax",
)
_log = logging.getLogger("redask.server")


class Readiness:
    """The state of one server."""

    def __init__(
        self, sockets: ListeningSockets | None = None, missing: Callable[[], int] = lambda: 0
    ) -> None:
        """`missing` says how many processes of this server are not open."""
        self._missing = missing
        self._phase = "starting"
        self._busy: tuple[str, ...] = ()
        self.sockets = sockets or ListeningSockets()  # must stay open; gRPC keeps its own

    def opened(self) -> None:
        """Every transport is open."""
        self._phase = "ok"

    def stopping(self) -> None:
        """The server stops."""
        self._phase = "stopping"

    def status(self) -> str:
        """One of the words of /healthz."""
        if self._phase == "ok" and not self.sockets.all_open:
            return "closed"
        return self._phase

    def reasons(self) -> tuple[str, ...]:
        """The words of /readyz."""
        status = self.status()
        missing = (WORKER_MISSING,) if self._missing() else ()
        return (*(() if status == "ok" else (status,)), *missing, *self._busy)

    async def watch(self, look: Callable[[], Awaitable[tuple[str, ...]]]) -> None:
        """Look what the database is busy with, again and again, until it is cancelled."""
        while True:
            try:
                self.note(await look())
            except AskError:  # a database that cannot be looked at gives no answers
                self.note(("audit_unavailable",))
            await asyncio.sleep(LOOK_EVERY)

    def note(self, busy: tuple[str, ...]) -> None:
        """What the database is busy with from now on."""
        for word in STATES:
            BUSY.labels(word).set(word in busy)
            if (word in busy) != (word in self._busy):
                level = logging.WARNING if word in _NOT_READY and word in busy else logging.INFO
                _log.log(level, "%s: %s", word, "begins" if word in busy else "is over")
        self._busy = busy
        READY.set(is_ready(self.reasons()))


def is_ready(reasons: tuple[str, ...]) -> bool:
    """Whether a server with these words should get questions."""
    return _NOT_READY.isdisjoint(reasons)
