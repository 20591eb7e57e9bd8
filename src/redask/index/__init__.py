"""The search index: a projection of the store's log, one partition a tenant.

`SearchIndex(directory, store)` is the `Index` of `ports`. A tenant's partition lies in
`<directory>/<first 16 hex digits of the SHA-256 of the tenant>`; at most MAX_OPEN of them are
open at a time. Deleting the directory loses nothing.

A search waits for another process that catches up, but gives up before its deadline, so that the
error says which process that is.

    partition       when to catch up, when to rebuild
    generation      in which order files change
    corruption      the error of files that cannot be used
    buckets         the three results of a search
    analysis/       text to tokens: stemmers, stop words, language detection
    forward/        the forward index: tokens, names and edges of every entity
    lexical/        BM25: candidates from the inverted index (tantivy), scored exactly
    vector/         nearest neighbours by cosine
    snapshots/      copies of partitions that new nodes start from
    graph/          edges, names and mentions, and the traversal
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from redask.core.model import Caller
from redask.core.ports import Found, Query, Store, StoreView
from redask.index.forward import forward_index
from redask.index.forward.forward_index import Position
from redask.index.partition import Health, Partition
from redask.index.vector import files as vector_files

MAX_OPEN = 16
_LOCK_SHARE = 0.8  # of the time that a search has


class SearchIndex:
    """All partitions of one store; threads may share it."""

    layout = f"{forward_index.LAYOUT}.{vector_files.LAYOUT}"

    def __init__(self, directory: Path, store: Store, deadline_ms: int = 30_000) -> None:
        self._directory = directory
        self._store = store
        self._lock_seconds = _LOCK_SHARE * deadline_ms / 1000
        self._lock = threading.Lock()
        self._open: dict[str, Partition] = {}  # least recently used first
        self._users: dict[str, int] = {}

    def search(
        self, query: Query, caller: Caller, view: StoreView | None = None
    ) -> tuple[Found, ...]:
        """The buckets bm25, vector and graph, in this order, of what the caller may see."""
        with self._partition(caller.tenant) as partition:
            return partition.search(query, caller, view)

    def finish(self, tenant: str) -> None:
        """Make what a search would begin and not wait for, once it has caught up."""
        with self._partition(tenant) as partition:
            partition.finish()

    def health(self, tenant: str) -> Health:
        """The state of a tenant's partition, without catching up."""
        with self._partition(tenant) as partition:
            return partition.health()

    def verify(self, tenant: str) -> str:
        """Read every file of a tenant's partition. → what is wrong; empty if nothing is"""
        with self._partition(tenant) as partition:
            return partition.verify()

    def rebuild(self, tenant: str) -> None:
        """Delete a tenant's partition and build it from the store's change log."""
        with self._partition(tenant) as partition:
            partition.rebuild()

    def has_files(self, tenant: str) -> bool:
        """Whether a tenant has a partition here."""
        with self._partition(tenant) as partition:
            return partition.has_files()

    def copy_to(self, tenant: str, folder: Path) -> Position | None:
        """Copy a tenant's partition into an empty folder. → up to where it is; None: none"""
        with self._partition(tenant) as partition:
            return partition.copy_to(folder)

    def begin_with(self, tenant: str, folder: Path) -> None:
        """Take such a copy as a tenant's partition, if there is none; `CorruptIndex` if unfit."""
        with self._partition(tenant) as partition:
            partition.begin_with(folder)

    def directory_of(self, tenant: str) -> Path:
        """Where a tenant's partition is."""
        return self._directory / sha256(tenant.encode()).hexdigest()[:16]

    def close(self) -> None:
        """Close every partition; no search may be running."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()

    @contextmanager
    def _partition(self, tenant: str) -> Iterator[Partition]:
        """A tenant's partition, not closed while it is in use."""
        with self._lock:
            found = self._open.pop(tenant, None)
            if found is None:
                directory = self.directory_of(tenant)
                found = Partition(directory, tenant, self._store, self._lock_seconds)
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
        """Close the least recently used above MAX_OPEN, but none in use."""
        idle = [tenant for tenant in self._open if tenant not in self._users]
        for tenant in idle[: max(0, len(self._open) - MAX_OPEN)]:
            self._open.pop(tenant).close()
