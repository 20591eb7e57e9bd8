"""What a database is still busy with, in words that tell nothing of anybody's data: `Settling`.

    catching_up         the index of a tenant is behind its store: the next question waits for it
    relabelling         the policy of a collection is being applied
    embedding_pending   something waits for its vector
    lagging             the replica is behind: the primary is read in its place
    replica_unavailable it cannot be reached: likewise
    audit_unavailable   the log cannot be written, so there are no answers

Looking is cheap where nothing changed; it writes nothing but an empty transaction to the log.
"""

import time
from collections.abc import Callable

from redask.core.errors import AskError
from redask.engine.auditing.audit_writer import AuditWriter
from redask.index import SearchIndex
from redask.stores.backend import Backend

CATCHING_UP, RELABELLING = "catching_up", "relabelling"
EMBEDDING, NO_AUDIT = "embedding_pending", "audit_unavailable"
LAGGING, NO_REPLICA = "lagging", "replica_unavailable"
WORDS = (CATCHING_UP, RELABELLING, EMBEDDING, LAGGING, NO_REPLICA, NO_AUDIT)


class Settling:
    """Looks at one open database."""

    def __init__(
        self,
        backend: Backend,
        index: SearchIndex,
        audit: AuditWriter,
        *,
        is_pending: Callable[[str], bool],
        serves: Callable[[str], bool] = lambda _: True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._backend = backend
        self._store = backend.store
        self.lag_bytes = 0  # of the replica, when it was looked at last
        self._index = index
        self._audit = audit
        self._is_pending = is_pending
        self._serves = serves
        self._clock = clock
        self._settled: dict[str, tuple[int, str]] = {}  # tenants that had nothing to do, and when

    def look(self) -> tuple[str, ...]:
        """Those of the words that hold now, in their order."""
        found = set() if self._audit.is_available(self._clock()) else {NO_AUDIT}
        try:
            found |= self._lagging()
            if self._store.relabelling():
                found.add(RELABELLING)
            for tenant in filter(self._serves, self._store.tenants()):
                found |= self._busy(tenant)
        except AskError:
            found.add(NO_AUDIT)  # a store that cannot be read answers nobody either
        return tuple(word for word in WORDS if word in found)

    def _lagging(self) -> set[str]:
        lag = self._backend.replica_lag()
        self.lag_bytes = lag.bytes or 0 if lag and lag.is_behind else 0
        if lag is None or not lag.is_behind:
            return set()
        return {NO_REPLICA if lag.bytes is None else LAGGING}

    def _busy(self, tenant: str) -> set[str]:
        now = (self._store.watermark(tenant), self._store.history(tenant))
        if self._settled.get(tenant) == now:
            return set()
        found = set()
        health = self._index.health(tenant)
        if health.pending or health.problem:
            found.add(CATCHING_UP)
        if self._is_pending(tenant):
            found.add(EMBEDDING)
        if not found:
            self._settled[tenant] = now
        return found
