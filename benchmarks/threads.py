"""`make bench-threads`: what it costs to do work in a thread, by each of three pools, in turns.

    ours        `engine.workers.Workers`
    anyio       `anyio.to_thread.run_sync` with a CapacityLimiter
    executor    `loop.run_in_executor` with a ThreadPoolExecutor

Prints the time of one call that does nothing (p50), such calls a second with 16 at once, and the
time of an EXPLAIN ASK (one search, no audit row) whose engine runs on that pool. The pools take
turns, so that a busy machine slows all of them alike; ratios are to ours, of the medians.

On two cores that eight other jobs kept busy, four runs: one call took 45 us with ours, 101 to 121
with anyio (2.2 to 2.6 times as long) and 88 to 124 with the executor; 16 at once made 17,600 to
21,000 calls a second with ours, 0.23 to 0.55 of that with anyio, 0.9 to 1.4 with the executor; an
EXPLAIN ASK took 1.06 to 1.21 times as long with anyio. So ours stayed.
"""

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import anyio.to_thread
from ask import QUESTION, fill

import redask
from redask.engine.workers import Workers

_T = TypeVar("_T")
THREADS, WIDTH, CALLS = 8, 16, 320


class Anyio:
    """The same interface over anyio's worker threads."""

    def __init__(self) -> None:
        self._limiter = anyio.CapacityLimiter(THREADS)

    async def run(self, work: Callable[[], _T]) -> _T:
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._limiter)

    def close(self) -> None:
        """They end with the loop."""


class Executor:
    """The same interface over the standard library's pool."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS)

    async def run(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def close(self) -> None:
        self._pool.shutdown()


def nothing() -> None:
    """The work."""


async def timed(once: Callable[[], Awaitable[object]], count: int) -> list[float]:
    taken = []
    for _ in range(count):
        started = time.perf_counter()
        await once()
        taken.append((time.perf_counter() - started) * 1e6)
    return taken


async def at_once(pool: Any) -> float:
    started = time.perf_counter()
    for _ in range(CALLS // WIDTH):
        await asyncio.gather(*(pool.run(nothing) for _ in range(WIDTH)))
    return CALLS / (time.perf_counter() - started)


async def bench(directory: Path, turns: int) -> None:
    pools: dict[str, Any] = {
        "ours": Workers(THREADS, "w"),
        "anyio": Anyio(),
        "executor": Executor(),
    }
    one: dict[str, list[float]] = {name: [] for name in pools}
    many: dict[str, list[float]] = {name: [] for name in pools}
    explained: dict[str, list[float]] = {name: [] for name in pools}
    async with await redask.aopen(directory, embedder="none") as db:
        own, engine = db._app.workers, db._app.engine
        await db.explain(QUESTION, using="scripted")
        for turn in range(turns + 1):  # the first warms up
            for name, pool in pools.items():
                engine.workers = pool
                hops = await timed(partial(pool.run, nothing), 200)
                rate = await at_once(pool)
                asked = await timed(lambda: db.explain(QUESTION, using="scripted"), 30)
                if turn:
                    one[name] += hops
                    many[name].append(rate)
                    explained[name] += asked
        engine.workers = own
    for pool in pools.values():
        pool.close()
    report(one, many, explained)


def report(*figures: dict[str, list[float]]) -> None:
    print(f"cores {os.cpu_count()}, load {os.getloadavg()[0]:.1f}")
    for what, found in zip(
        ("one call, us", "calls a second", "EXPLAIN ASK, us"), figures, strict=True
    ):
        medians = {name: statistics.median(each) for name, each in found.items()}
        shown = "   ".join(
            f"{name} {each:9,.0f} ({each / medians['ours']:.2f})" for name, each in medians.items()
        )
        print(f"{what:16} {shown}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="redask-bench-") as name:
        directory = Path(name) / "data"
        with redask.open(directory, embedder="none") as db:
            fill(db, 2000)
        asyncio.run(bench(directory, given.turns))


if __name__ == "__main__":
    main()
