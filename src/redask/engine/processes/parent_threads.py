"""What workers have their parent do, in threads that give way: `ParentThreads().run(…)`.

A vector of 256 tokens takes 30 ms of a core. In a thread of the server it would go before the work
of every worker process, also that of another tenant's ask: so it is done at the niceness of the
call it is for (`worker_shares.niceness`), and one at a time for each tenant. Where threads have no
niceness (other systems than Linux), the second is all.
"""

import contextvars
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar
from weakref import WeakValueDictionary

_T = TypeVar("_T")


class ParentThreads:
    """See the module; any thread may call it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pools: dict[int, ThreadPoolExecutor] = {}  # by niceness, of which there are a few
        self._turns: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()  # of tenants

    def run(self, tenant: str, niceness: int, work: Callable[[], _T]) -> _T:
        """What the work gives, or raises; it has the context of who waits for it."""
        with self._lock:
            turn = self._turns.setdefault(tenant, threading.Lock())
            pool = self._pools.get(niceness)
            if pool is None:
                name = f"redask-parent-{niceness}"
                pool = ThreadPoolExecutor(os.cpu_count(), name, give_way, (niceness,))
                self._pools[niceness] = pool
        with turn:
            return pool.submit(contextvars.copy_context().run, work).result()

    def close(self) -> None:
        """Wait for what is done, and end the threads."""
        with self._lock:
            pools, self._pools = list(self._pools.values()), {}
        for each in pools:
            each.shutdown()


def give_way(niceness: int) -> None:
    """Let the thread that calls this have so much more niceness than its process."""
    if sys.platform == "linux":
        with suppress(OSError):  # as the process, then
            most = min(19, os.getpriority(os.PRIO_PROCESS, os.getpid()) + niceness)
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), most)
