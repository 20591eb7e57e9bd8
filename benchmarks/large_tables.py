"""Part of `make bench-pgwire`: SELECTs over a large table, next to a real PostgreSQL.

Prints how long the first catch-up of the typed tables takes, with the memory it needs, and the
median of each statement over the wire of both servers, in turns.
"""

import asyncio
import resource
import statistics
import time
from collections.abc import Awaitable, Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import asyncpg

import redask
from redask.core.model import Caller
from redask.stores.selectors import open_selector

BATCH, TURNS = 20_000, 7
FIRST_DAY = date(2020, 1, 1)
STATEMENTS = (
    "SELECT count(*) FROM sales",
    "SELECT count(*) FROM sales WHERE amount > 5 AND is_open",
    "SELECT region, count(*), sum(amount) FROM sales GROUP BY region ORDER BY region",
    "SELECT date_trunc('month', day), avg(quantity) FROM sales GROUP BY 1 ORDER BY 1",
)


def sale(number: int) -> dict[str, object]:
    return {
        "id": number,
        "region": f"region {number * 7 % 50}",
        "amount": number % 1000 / 100,
        "quantity": number * 13 % 97,
        "day": (FIRST_DAY + timedelta(days=number % 1461)).isoformat(),
        "is_open": number % 3 == 0,
    }


def fill(directory: Path, rows: int) -> str:
    """→ a token"""
    with redask.open(directory, embedder="none") as db:
        began = time.perf_counter()
        for start in range(0, rows, BATCH):
            db.put("sales", [sale(number) for number in range(start, min(start + BATCH, rows))])
        print(f"{rows:,} rows written in {time.perf_counter() - began:.1f} s")
        db.add_user("mia", role="reader")
        return db.make_token("mia")


def first_catch_up(directory: Path, rows: int) -> None:
    selector = open_selector(str(directory))
    began, worked = time.perf_counter(), time.process_time()
    selector.catch_up(Caller())
    wall, processor = time.perf_counter() - began, time.process_time() - worked
    selector.close()
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"first catch-up of {rows:,} rows: {wall:.1f} s, {processor:.1f} s of processor"
        f" (target: below 60 s for 1,000,000); at most {megabytes:.0f} MB resident"
    )


async def fill_postgres(where: dict[str, Any], rows: int) -> None:
    connection = await asyncpg.connect(**where)
    await connection.execute(
        "CREATE TABLE sales (id int4, region text, amount numeric(18,2), quantity int4, day date,"
        " is_open boolean)"
    )
    for start in range(0, rows, BATCH):
        made = [sale(number) for number in range(start, min(start + BATCH, rows))]
        records = [
            (*list(row.values())[:4], FIRST_DAY + timedelta(days=number % 1461), row["is_open"])
            for number, row in enumerate(made, start)
        ]
        await connection.copy_records_to_table("sales", records=records)
    await connection.execute("ANALYZE sales")
    await connection.close()


async def _timed(work: Callable[[], Awaitable[Any]]) -> float:
    began = time.perf_counter()
    await work()
    return (time.perf_counter() - began) * 1000


async def compare(ours: dict[str, Any], real: dict[str, Any] | None) -> None:
    """Print the median of each statement on both servers, in turns."""
    here = await asyncpg.connect(**ours)
    there = None if real is None else await asyncpg.connect(**real)
    print(f"\n{'statement, p50 in ms':84} {'redask':>9} {'PostgreSQL':>11}")
    for sql in STATEMENTS:
        found: dict[str, list[float]] = {"here": [], "there": []}
        for turn in range(TURNS):
            mine = await _timed(lambda sql=sql: here.fetch(sql))  # type: ignore[misc]
            found["here"] += [mine] if turn else []
            if there is not None:
                other = await _timed(lambda sql=sql: there.fetch(sql))  # type: ignore[misc]
                found["there"] += [other] if turn else []
        mine = statistics.median(found["here"])
        other = statistics.median(found["there"]) if found["there"] else 0.0
        ratio = f"{mine / other:.2f} of PostgreSQL's time" if other else "no PostgreSQL here"
        print(f"{sql:84} {mine:9.1f} {other:11.1f}   {ratio}")
    await here.close()
    if there is not None:
        await there.close()


async def bench(directory: Path, rows: int, serve: Any, real: dict[str, Any] | None) -> None:
    """All of it; `serve(directory, token)` is a running redask server."""
    token = await asyncio.to_thread(fill, directory, rows)
    await asyncio.to_thread(first_catch_up, directory, rows)
    if real is not None:
        await fill_postgres(real, rows)
    async with serve(directory, token) as ours:
        await compare(ours, real)
