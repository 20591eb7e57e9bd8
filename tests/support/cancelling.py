"""Cancel a statement from another session of the same user, as somebody watching would.

with cancelled_elsewhere(url, "generate_series"):
    …                                     runs until the other session finds and cancels it
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from waiting import until

AGAIN = 5.0  # seconds, should a request have come before there was something to cancel
_FOUND = (
    "SELECT pid FROM pg_stat_activity"
    " WHERE state = 'active' AND pid <> pg_backend_pid() AND strpos(query, %s) > 0"
)


@contextmanager
def cancelled_elsewhere(url: str, part: str) -> Iterator[None]:
    """A session cancels the statement that holds `part`, once it runs, until this is left."""
    over = threading.Event()

    def watch() -> None:
        with psycopg.connect(url, autocommit=True) as watcher:
            asked: dict[int, float] = {}

            def cancel() -> bool:
                running = {process for (process,) in watcher.execute(_FOUND, (part,)).fetchall()}
                for process in asked.keys() - running:
                    del asked[process]
                for process in running:
                    # once: a second request would meet the statement that comes next
                    if time.monotonic() - asked.get(process, -AGAIN) >= AGAIN:
                        asked[process] = time.monotonic()
                        watcher.execute("SELECT pg_cancel_backend(%s)", (process,))
                return over.is_set()

            until(cancel)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
