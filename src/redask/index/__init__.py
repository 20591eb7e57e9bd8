"""The search index: a projection of the store's log, one partition a tenant.

`SearchIndex(directory, store)` is the `Index` of `ports`. A tenant's partition lies in
`<directory>/<first 16 hex digits of the SHA-256 of the tenant>`; at most MAX_OPEN of them are
open at a time. Deleting the directory loses nothing.

    partition       when to catch up, when to rebuild
    generation      in which order files change
    buckets         the three results of a search
    analysis/       what the tokens of a text are; stemmers, stop words, language detection
    forward/        what is kept of an entity, and in which form
    lexical/        BM25: tantivy proposes and counts, `scoring` scores
    vector/         nearest neighbours
    graph/          edges, names and mentions, and the traversal
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from redask.core.model import Caller
from redask.core.ports import Found, Query, Store, StoreView
from redask.index.partition import Health, Partition

MAX_OPEN = 16


class SearchIndex:
    """All partitions of one store; threads may share it."""

    def __init__(self, directory: Path, store: Store) -> None:
        self._directory = directory
        self._store = store
        self._lock = threading.Lock()
        self._open: dict[str, Partition] = {}  # the one used last is the last
        self._users: dict[str, int] = {}

    def search(
        self, query: Query, caller: Caller, view: StoreView | None = None
    ) -> tuple[Found, ...]:
        """The buckets bm25, vector and graph, in this order, of what the caller may see."""
        with self._partition(caller.tenant) as partition:
            return partition.search(query, caller, view)

    def health(self, tenant: str) -> Health:
        """How a tenant's index is; nothing is applied."""
        with self._partition(tenant) as partition:
            return partition.health()

    def rebuild(self, tenant: str) -> None:
        """Throw a tenant's index away and build it anew."""
        with self._partition(tenant) as partition:
            partition.rebuild()

    def close(self) -> None:
        """Let go of every file; nobody may be searching."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()

    @contextmanager
    def _partition(self, tenant: str) -> Iterator[Partition]:
        """A tenant's partition, kept open while it is used."""
        with self._lock:
            found = self._open.pop(tenant, None)
            if found is None:
                name = sha256(tenant.encode()).hexdigest()[:16]
                found = Partition(self._directory / name, tenant, self._store)
            self._open[tenant] = found
            self._users[tenant] = self._users.get(tenant, 0) + 1
            self._close_idle()
        try:
            yield found
        finally:
            with self._lock:
                self._users[tenant] -= 1
                if not self._users[tenant]:
                    del self._users[tenant]

    def _close_idle(self) -> None:
        """Close those unused for longest; what is being used stays, however many."""
        idle = [tenant for tenant in self._open if tenant not in self._users]
        for tenant in idle[: max(0, len(self._open) - MAX_OPEN)]:
            self._open.pop(tenant).close()
