"""Sealing at an interval while a server runs, in a thread of its own: `SealingThread(work, every)`.

It is done at once, then every so many seconds, and when it is closed. `work` says whether all was
done; where it was not, it is done again after `RETRY_SECONDS`. Nobody waits for it.
"""

import logging
import threading
import time
from collections.abc import Callable

from redask.core.errors import AskError

_log = logging.getLogger("redask.audit")
RETRY_SECONDS = 30.0


class SealingThread:
    """Does the work from time to time."""

    def __init__(self, work: Callable[[], bool], every: float) -> None:
        self._work = work
        self._every = every
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="redask-sealing", daemon=True)
        self._thread.start()

    def close(self, end: float | None = None) -> None:
        """Do it once more, then stop; by `end` (of `time.monotonic`) at the latest."""
        self._closed.set()
        self._thread.join(None if end is None else max(0.0, end - time.monotonic()))

    def _keep(self) -> None:
        done = self._do()
        while not self._closed.wait(self._every if done else min(self._every, RETRY_SECONDS)):
            done = self._do()
        self._do()

    def _do(self) -> bool:
        try:
            return self._work()
        except AskError as error:
            _log.warning("the logs could not be sealed: %s", error)
            return False
