"""Copies of the index are kept where new nodes find them: `SnapshotThread`, in a server.

It looks every minute at each tenant's; `IndexSnapshots.keep` says when another is worth it. What
fails is tried again with the next look: nobody waits for a snapshot.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence

from redask.core.errors import AskError

_LOOK_EVERY = 60.0  # seconds
_LAST_SECONDS = 1.0
_log = logging.getLogger("redask.snapshots")


class SnapshotThread:
    """Keeps the snapshots of `tenants`; `keep` writes one where it is due."""

    def __init__(self, tenants: Callable[[], Sequence[str]], keep: Callable[[str], bool]) -> None:
        self._tenants = tenants
        self._keep = keep
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._work, name="redask-snapshots", daemon=True)
        self._thread.start()

    def close(self, end: float) -> bool:
        """Stop; one that is being written is left unfinished. → that nobody need wait for it"""
        self._closed.set()
        self._thread.join(max(0.0, min(end - time.monotonic(), _LAST_SECONDS)))
        return True

    def _work(self) -> None:
        while not self._closed.wait(_LOOK_EVERY):
            try:
                for tenant in self._tenants():
                    if self._closed.is_set():
                        return
                    self._keep(tenant)
            except AskError as error:
                _log.warning("a snapshot is not written: %s", error.message)
