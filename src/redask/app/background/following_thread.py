"""Search index and tables follow the writes of other nodes: `FollowingThread`, in a server.

Who asks brings them up to date in any case, and waits for it; here it is done as soon as somebody
has written, so that the next question finds little to do. What fails is done by who asks.
"""

import logging
import threading
import time
from collections.abc import Callable
from contextlib import closing

from redask.core.errors import AskError
from redask.stores.backend import ChangeFeed

_LOOK_EVERY = 5.0  # seconds, where nobody says that something was written
_LAST_SECONDS = 1.0
_log = logging.getLogger("redask.nodes")


class FollowingThread:
    """Follows one feed; `catch_up` brings a tenant's index and tables up to date."""

    def __init__(self, feed: ChangeFeed, catch_up: Callable[[str], None]) -> None:
        self._feed = feed
        self._catch_up = catch_up
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="redask-follow", daemon=True)
        self._thread.start()

    def close(self, end: float) -> bool:
        """Stop; what is being caught up ends with who does it. → that nobody need wait for it"""
        self._closed.set()
        self._feed.interrupt()
        self._thread.join(max(0.0, min(end - time.monotonic(), _LAST_SECONDS)))
        return True

    def _follow(self) -> None:
        with closing(self._feed):
            while not self._closed.is_set():
                for tenant in sorted(self._feed.wait(_LOOK_EVERY)):
                    if self._closed.is_set():
                        return
                    try:
                        self._catch_up(tenant)
                    except AskError as error:
                        _log.info("a tenant is not caught up yet: %s", error.message)
