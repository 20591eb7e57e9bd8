"""What is open for a database and must be given back: `OpenParts`, closed once, within a time.

    close()      threads finish what they do, logs are written, files let go. After `seconds` what
                 still runs is made to fail: its statements are interrupted. What does not end then
                 either is left to itself, with a warning; it can do nothing more to the database.
    let_go()     the same for a database that nobody closed and nobody has any more: in a thread,
                 for garbage is collected anywhere, even where closing would wait for itself
    at exit      what is open still is closed

In a fork nothing is done: threads, worker processes and files are the parent's.
"""

import atexit
import logging
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol
from weakref import WeakSet

from redask.app.attached.attached_parts import AttachedSync
from redask.app.background.relabelling_thread import RelabellingThread
from redask.core.ports import Selector
from redask.engine.auditing.log_writers import LogWriters
from redask.engine.owning_process import OwningProcess
from redask.index import SearchIndex
from redask.stores.backend import Backend

CLOSE_SECONDS = 10.0
_LAST_SECONDS = 2.0  # for what was interrupted
_log = logging.getLogger("redask.app")


class EndingThreads(Protocol):
    """Threads that can be told to end."""

    def close(self, end: float, /) -> bool:
        """Take nothing more, and wait until `end` (of `time.monotonic`). → whether they ended"""


def distinct(*threads: EndingThreads | None) -> tuple[EndingThreads, ...]:
    """Those that are there, each once."""
    return tuple(dict.fromkeys(each for each in threads if each is not None))


@dataclass(eq=False)
class OpenParts:
    """The parts that hold threads, processes and files."""

    backend: Backend
    index: SearchIndex
    selector: Selector
    logs: LogWriters
    relabelling: RelabellingThread
    threads: tuple[EndingThreads, ...]
    attached: AttachedSync
    _owner: OwningProcess = field(default_factory=OwningProcess)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _closed: bool = False

    def __post_init__(self) -> None:
        _OPEN.add(self)

    def close(self, seconds: float = CLOSE_SECONDS) -> None:
        """See the module; a second time waits for the first."""
        if not self._owner.is_this:
            return
        with self._lock:
            if self._closed:
                return
            self._closed = True
            end = time.monotonic() + seconds
            self.relabelling.close(end)
            self.attached.close(end)
            ended = [each.close(end) for each in self.threads]
            if not all(ended):
                self.backend.interrupt()
                last = time.monotonic() + _LAST_SECONDS
                late = [each for each in self.threads if not each.close(last)]
                if late:
                    _log.warning("closed while work was going on that did not end in time")
            self.logs.close(max(end, time.monotonic() + _LAST_SECONDS))
            self.index.close()
            self.selector.close()
            self.backend.close()

    def let_go(self) -> None:
        """Close it without waiting; see the module."""
        if self._closed or not self._owner.is_this:
            return
        with suppress(RuntimeError):  # no thread can be started: the exit closes it
            threading.Thread(target=self.close, name="redask-closing", daemon=True).start()


_OPEN: "WeakSet[OpenParts]" = WeakSet()


@atexit.register
def _close_all() -> None:
    for each in list(_OPEN):
        each.close()
