"""Trying statements as a server runs them: `Trial`, a pool of worker processes beside a loop.

    with Trial(location, timeout_ms=300) as trial:
        trial.tried(sql)          → what came of it, how long it took, what of the processor

Calls are made in a thread of an event loop, as the transports make them, while a task of the loop
looks every LOOK_SECONDS how late it is: `trial.loop_late` is the most so far.
"""

import asyncio
import os
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from loop_thread import LoopThread
from waiting import SECONDS, until

from redask.core.errors import AskError, BadAsk, DeadlineExceeded, LimitExceeded
from redask.core.model import Caller
from redask.engine.processes.process_selector import ProcessSelector
from redask.engine.processes.worker_messages import WorkerLimits

LOOK_SECONDS = 0.01
GRACE_SECONDS = 1.0  # for a worker that is interrupted, before it is killed
MEMORY = 1024 * 2**20
ME = Caller()
_LONG_MS = int(SECONDS * 1000)
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of one statement."""

    outcome: str  # "rows", "refused", "late", "limit"; anything else is a fault
    seconds: float
    processor: float
    said: str = ""


class PoolIsStuck(Exception):
    """No process of the pool has answered for a long time."""


class Trial:
    """See the module."""

    def __init__(self, location: Path, timeout_ms: int) -> None:
        self._timeout_ms = timeout_ms
        self._selector = ProcessSelector(
            "redask.stores.selectors:open_selector",
            (str(location),),
            processes=1,
            limits=WorkerLimits(grace_seconds=GRACE_SECONDS, memory_bytes=MEMORY),
        )
        self._loop = LoopThread()
        self.loop_late = 0.0
        self.late_at = ""
        self._sql = ""

    def __enter__(self) -> Self:
        self._loop.run(self._watched())
        self._live()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.run(self._unwatched())
        self._loop.close()
        self._selector.close()

    def tried(self, sql: str, *, pages: bool = False) -> Tried:
        """Run one; in pages, as the Postgres wire does, or whole, as HTTP does."""
        self._sql = sql
        before = self._processor()
        while True:
            began = time.monotonic()
            outcome, said = self._loop.run(asyncio.to_thread(self._outcome, sql, pages))
            seconds = time.monotonic() - began
            gone, after = self._processor_since(before)
            if gone:
                self._live()  # the next one has opened its tables
            if not said.startswith("no worker process was free"):
                break
        processor = seconds if gone else min(seconds, after)
        return Tried(outcome, seconds, processor, said)

    def alive(self) -> bool:
        """Whether the pool answers."""
        try:
            self._selector.select("SELECT count(*) FROM t", (), ME, timeout_ms=_LONG_MS)
        except AskError:
            return False
        return True

    def _live(self) -> None:
        if not until(self.alive):
            raise PoolIsStuck(f"the pool does not answer within {SECONDS} s")

    def _outcome(self, sql: str, pages: bool) -> tuple[str, str]:
        try:
            if pages:
                for _ in self._selector.select_pages(sql, (), ME, timeout_ms=self._timeout_ms):
                    pass
            else:
                self._selector.select(sql, (), ME, timeout_ms=self._timeout_ms)
        except DeadlineExceeded as error:
            return "late", error.message
        except LimitExceeded as error:
            return "limit", error.message
        except BadAsk as error:
            return "refused", error.message
        except AskError as error:
            return type(error).__name__, f"{error.message} {error.detail}"
        return "rows", ""

    def _processor(self) -> dict[int, float]:
        """What each worker has had of the processor so far, in seconds."""
        return {each: processor_seconds(each) for each in self._selector._pool.processes()}

    def _processor_since(self, before: dict[int, float]) -> tuple[bool, float]:
        """Whether a worker is gone, and what the others had since."""
        now = self._processor()
        had = sum(seconds - before.get(each, seconds) for each, seconds in now.items())
        return bool(before.keys() - now.keys()), had

    async def _watched(self) -> None:
        self._watch = asyncio.ensure_future(self._watching())

    async def _unwatched(self) -> None:
        self._watch.cancel()
        await asyncio.wait([self._watch])

    async def _watching(self) -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(LOOK_SECONDS)
            late = time.monotonic() - began - LOOK_SECONDS
            if late > self.loop_late:
                self.loop_late, self.late_at = late, self._sql


def processor_seconds(process: int) -> float:
    """What a process has had of the processor so far."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS
