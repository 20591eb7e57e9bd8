"""Collections are classified anew in the background: `RelabellingThread`, one for a database.

It takes step after step (`EntityStore.relabel`) for as long as there is anything to do, and brings
the index up to date in between, so that no question has to do that for a whole collection. In a
server it looks every few seconds for what another process has begun or left.
"""

import logging
import threading
import time
from collections.abc import Callable

from redask.core.errors import AskError
from redask.stores.backend import EntityStore, Relabelling

RelabelProgress = Callable[[int, int], None]  # rows that are done, of how many
_LOOK_EVERY = 2.0  # seconds
_log = logging.getLogger("redask.policies")


class RelabellingThread:
    """Does what is left to do for policies; `catch_up` brings a tenant's index up to date."""

    def __init__(self, store: EntityStore, catch_up: Callable[[str], None]) -> None:
        self._store = store
        self._catch_up = catch_up
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self, *, stay: bool = False) -> None:
        """Begin, unless it runs; `stay`: look for more until it is closed."""
        with self._lock:
            if self._closed.is_set() or (self._thread is not None and self._thread.is_alive()):
                return
            if stay or self._store.relabelling():
                self._thread = threading.Thread(
                    target=self._work, args=(stay,), name="redask-relabel", daemon=True
                )
                self._thread.start()

    def finish(self, tenant: str, collection: str, progress: RelabelProgress | None = None) -> None:
        """Wait for one collection, and help with it."""
        while not self._closed.is_set():
            found = [
                each
                for each in self._store.relabelling()
                if (each.tenant, each.collection) == (tenant, collection)
            ]
            if not found:
                return
            if progress is not None:
                progress(found[0].done, found[0].total)
            self._step(tenant)

    def progress(self, tenant: str) -> dict[str, str]:
        """How far a tenant's collections are, in words."""
        return {
            each.collection: f"{each.done} of {each.total}"
            for each in self._store.relabelling()
            if each.tenant == tenant
        }

    def close(self, end: float | None = None) -> None:
        """Stop after the step that is being taken; wait until `end` (of `time.monotonic`)."""
        self._closed.set()
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(None if end is None else max(0.0, end - time.monotonic()))

    def _work(self, stay: bool) -> None:
        known: dict[tuple[str, str], Relabelling] = {}
        while not self._closed.is_set():
            try:
                found = {(each.tenant, each.collection): each for each in self._store.relabelling()}
                for _, collection in sorted(found.keys() - known.keys()):
                    _log.info("the policy of %a is being applied", collection)
                for _, collection in sorted(known.keys() - found.keys()):
                    _log.info("the policy of %a is applied", collection)
                known = found
                for tenant in sorted({tenant for tenant, _ in found}):
                    self._step(tenant)
                if found:
                    continue
            except AskError as error:
                _log.warning("a policy is not applied yet: %s", error.message)
            if not stay and not known:
                return
            self._closed.wait(_LOOK_EVERY)

    def _step(self, tenant: str) -> None:
        self._store.relabel(tenant)
        self._catch_up(tenant)
