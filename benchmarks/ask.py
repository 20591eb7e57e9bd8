"""`make bench-ask`: what the engine itself costs, with a scripted provider.

Prints each step's share of an ASK, the engine's own time next to one bare durable commit of
SQLite on the same disk, the throughput of 16 asks at once against one at a time, memory over
10,000 asks, and the price of an audit row in a small and in a large log.
"""

import asyncio
import resource
import sqlite3
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import redask
from redask.engine import telemetry
from redask.engine.auditing.audit_writer import AuditWriter
from redask.stores.sqlite.sqlite_backend import SqliteBackend

QUESTION = "Which harbour does ferry 17 serve on Sundays?"
STEPS: dict[str, list[float]] = defaultdict(list)


@contextmanager
def timed_step(name: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    STEPS[name].append(time.perf_counter() - started)


def p50_ms(seconds: list[float]) -> float:
    return statistics.median(seconds) * 1000


class BareCommits(AbstractContextManager["BareCommits"]):
    """Durable commits of one row each, without any of our code."""

    def __init__(self, directory: Path) -> None:
        self._connection = sqlite3.connect(directory / "bare.sqlite", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE IF NOT EXISTS bare (row TEXT)")

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def commit(self) -> float:
        """The seconds that one commit takes."""
        started = time.perf_counter()
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT INTO bare VALUES (?)", (f"{started:800}",))
        self._connection.execute("COMMIT")
        return time.perf_counter() - started


def fill(db: redask.OpenDatabase, rows: int) -> None:
    names = ("Amrum", "Föhr", "Sylt", "Pellworm", "Hooge")
    db.put(
        "timetable",
        [
            {
                "id": number,
                "title": f"Ferry {number}",
                "text": f"Ferry {number} serves the harbour of {names[number % 5]} on Sundays. "
                * 6,
            }
            for number in range(rows)
        ],
    )


def own_time(db: redask.OpenDatabase, directory: Path) -> None:
    for _ in range(20):
        db.ask(QUESTION, using="scripted")
    STEPS.clear()
    whole, bare = [], []
    with BareCommits(directory) as commits:
        for _ in range(300):  # in turn, so that a busy machine slows both alike
            started = time.perf_counter()
            db.ask(QUESTION, using="scripted")
            whole.append(time.perf_counter() - started)
            bare.append(commits.commit())
    total = p50_ms(whole)
    print(f"one ASK, p50                     {total:8.3f} ms")
    for name, taken in STEPS.items():
        print(f"  {name:30} {p50_ms(taken):8.3f} ms  {p50_ms(taken) / total:5.0%}")
    elsewhere = sum(p50_ms(STEPS[name]) for name in ("embed", "search", "provider") if STEPS[name])
    own = total - elsewhere
    commit = p50_ms(bare)
    print(f"engine without search, provider  {own:8.3f} ms")
    print(f"one bare durable commit          {commit:8.3f} ms")
    print(f"engine beyond the commit         {own - commit:8.3f} ms   (target: below 2 ms)")


async def at_once(directory: str, asks: int, width: int) -> float:
    """Asks a second, `width` of them at a time."""
    async with await redask.aopen(directory, embedder="none") as db:
        await db.ask(QUESTION, using="scripted")
        started = time.perf_counter()
        for _ in range(asks // width):
            await asyncio.gather(*(db.ask(QUESTION, using="scripted") for _ in range(width)))
        return asks / (time.perf_counter() - started)


def memory(db: redask.OpenDatabase, asks: int) -> None:
    for _ in range(500):
        db.ask(QUESTION, using="scripted")
    before = resident_mb()
    for _ in range(asks):
        db.ask(QUESTION, using="scripted")
    print(f"resident before and after {asks} asks: {before:.1f} MB, {resident_mb():.1f} MB")


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def append_price(directory: Path, rows: int) -> float:
    """The p50 of one append to a log that already has `rows` rows."""
    row = {"ts": 1, "tenant": "local", "user": "local", "question": "?" * 700}

    async def appends(log: AuditWriter, count: int) -> list[float]:
        taken = []
        for _ in range(count):
            started = time.perf_counter()
            await log.append(row)
            taken.append(time.perf_counter() - started)
        return taken

    async def together(log: AuditWriter, count: int) -> None:
        for _ in range(0, count, 500):
            await asyncio.gather(*(log.append(row) for _ in range(500)))

    with SqliteBackend(directory) as backend:
        log = AuditWriter(backend.audit)
        asyncio.run(together(log, rows))
        price = p50_ms(asyncio.run(appends(log, 300)))
        log.close()
    return price


def main() -> None:
    telemetry.step = timed_step
    with tempfile.TemporaryDirectory(prefix="redask-bench-") as name:
        directory = Path(name)
        data = str(directory / "data")
        with redask.open(data, embedder="none") as db:
            fill(db, 2000)
            own_time(db, directory)
            memory(db, 10_000)
        one = asyncio.run(at_once(data, 480, 1))
        many = asyncio.run(at_once(data, 960, 16))
        print(f"asks a second: {one:.0f} one at a time, {many:.0f} at 16; ratio {many / one:.2f}")
        small = append_price(directory / "small", 1_000)
        large = append_price(directory / "large", 1_000_000)
        print(
            f"one audit row: {small:.3f} ms in a log of 1,000, "
            f"{large:.3f} ms in one of 1,000,000; ratio {large / small:.2f}"
        )


if __name__ == "__main__":
    main()
