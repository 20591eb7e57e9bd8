"""`make bench-pgwire`: what the Postgres wire transport costs, next to a real PostgreSQL.

    cached ASK       p50 over the wire, minus p50 of the same call in process
    SELECT           of one row of 20 by its id, from 16 connections at once, on both servers
    large tables     see `large_tables`
    refusals         of unknown users and of wrong tokens, in turns: how often one took longer than
                     the other; 0.5 reveals nothing

Both are asked by the same asyncpg clients in the same run, in turns, each in a process of its own;
the machine's noise then affects both. Without PostgreSQL's programs the ratio
is missing, and the line shows that.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import asyncpg

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

import large_tables
from real_postgres import NoPostgres, private_postgres

import redask
from redask.api.sync import open_async
from redask.server.serving import Serving, serve

ROWS, CONNECTIONS = 20, 16
QUESTION = "When does ferry 17 leave?"
ASK = "ASK $1 USING scripted CACHE TTL '1h' LIMIT 3"
SELECT = "SELECT id, title FROM tickets WHERE id = $1"


def rows() -> list[dict[str, object]]:
    return [{"id": n, "title": f"Ferry {n} leaves at {n % 24}"} for n in range(1, ROWS + 1)]


def fill(directory: Path) -> str:
    """→ a token."""
    with redask.open(directory) as db:
        db.put("tickets", rows())
        db.add_user("mia", role="reader")
        return db.make_token("mia")


@asynccontextmanager
async def redask_transport(directory: Path, token: str) -> AsyncIterator[dict[str, Any]]:
    """A server in a process of its own, as `redask serve` starts it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, __file__, "--serve", str(directory), stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    port = int((await process.stdout.readline()).decode().rpartition(":")[2])
    yield {"host": "127.0.0.1", "port": port, "user": "mia", "password": token, "database": "local"}
    process.terminate()
    await process.wait()


@contextmanager
def postgres() -> Iterator[dict[str, Any] | None]:
    """A real PostgreSQL, or None."""
    try:
        with private_postgres(tcp=True) as where:
            yield {**{key: where[key] for key in ("host", "port", "user")}, "database": "postgres"}
    except NoPostgres as error:
        print(error)
        yield None


async def selects(where: dict[str, Any], seconds: float) -> float:
    """SELECTs a second, from all connections at once."""
    pool = [await asyncpg.connect(**where) for _ in range(CONNECTIONS)]
    end = time.perf_counter() + seconds

    async def ask(connection: Any, start: int) -> int:
        done = 0
        while time.perf_counter() < end:
            number = (start * 37 + done) % ROWS + 1
            [row] = await connection.fetch(SELECT, number)
            assert row["id"] == number
            done += 1
        return done

    began = time.perf_counter()
    counts = await asyncio.gather(*(ask(each, at) for at, each in enumerate(pool)))
    taken = time.perf_counter() - began
    for each in pool:
        await each.close()
    return sum(counts) / taken


async def asked(work: Any, rounds: int) -> float:
    """p50 in milliseconds."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        await work()
        taken.append((time.perf_counter() - began) * 1000)
    return statistics.median(taken)


async def refused(where: dict[str, Any], user: str) -> float:
    """How long it takes to be sent away, in milliseconds."""
    began = time.perf_counter()
    try:
        await asyncpg.connect(**{**where, "user": user, "password": "wrong" * 8})
    except asyncpg.InvalidPasswordError:
        return (time.perf_counter() - began) * 1000
    raise SystemExit("a wrong token was let in")


async def refusals(where: dict[str, Any], rounds: int) -> tuple[list[float], list[float]]:
    unknown, wrong = [], []
    for number in range(rounds):
        unknown.append(await refused(where, f"nobody{number % 7}"))
        wrong.append(await refused(where, where["user"]))
    return unknown, wrong


async def fill_postgres(where: dict[str, Any]) -> None:
    connection = await asyncpg.connect(**where)
    await connection.execute("CREATE TABLE tickets (id bigint PRIMARY KEY, title text)")
    values = [(row["id"], row["title"]) for row in rows()]
    await connection.executemany("INSERT INTO tickets VALUES ($1, $2)", values)
    await connection.execute("ANALYZE tickets")
    await connection.close()


async def bench(directory: Path, seconds: float, rounds: int) -> None:
    token = fill(directory / "db")
    with postgres() as real:
        async with redask_transport(directory / "db", token) as ours:
            if real is not None:
                await fill_postgres(real)
            figures: dict[str, list[float]] = {"redask": [], "PostgreSQL": []}
            for turn in range(4):  # the first warms up
                for name, where in (("redask", ours), ("PostgreSQL", real)):
                    if where is not None:
                        found = await selects(where, seconds if turn else 0.5)
                        figures[name] += [found] if turn else []
            connection = await asyncpg.connect(**ours)
            async with await open_async(directory / "db") as db:
                mia = await db.signed_in(token)
                wire, here = [], []
                for turn in range(4):
                    far = await asked(lambda: connection.fetchrow(ASK, QUESTION), rounds)
                    near = await asked(lambda: mia.execute(ASK, [QUESTION]), rounds)
                    wire += [far] if turn else []
                    here += [near] if turn else []
            await connection.close()
            sent_away = await refusals(ours, rounds)
    report(figures, wire, here)
    show_refusal_times(*sent_away)


def show_refusal_times(unknown: list[float], wrong: list[float]) -> None:
    longer = sum((one > other) + (one == other) / 2 for one in unknown for other in wrong)
    share = longer / (len(unknown) * len(wrong))
    spread = 1.96 * ((len(unknown) + len(wrong) + 1) / (12 * len(unknown) * len(wrong))) ** 0.5
    medians = f"{statistics.median(unknown):12.2f} {statistics.median(wrong):12.2f}"
    print(f"{'unknown user refused, ms (wrong token beside)':44} {medians}", end="")
    print(f"   longer in {share:.3f} (chance alone: 0.5 ± {spread:.3f})")


def report(figures: dict[str, list[float]], wire: list[float], here: list[float]) -> None:
    print(f"cores {os.cpu_count()}, load {os.getloadavg()[0]:.1f}, {CONNECTIONS} connections\n")
    print(f"{'what':44} {'redask':>12} {'beside it':>12} {'':>22}")
    ours = max(figures["redask"])
    real = max(figures["PostgreSQL"], default=0)
    ratio = f"{ours / real:.2f} of PostgreSQL" if real else "no PostgreSQL here"
    print(f"{'SELECT of one row, a second (best of 3)':44} {ours:12,.0f} {real:12,.0f} {ratio:>22}")
    near, far = statistics.median(here), statistics.median(wire)
    gap = f"{far - near:+.2f} ms by the wire"
    print(f"{'cached ASK, p50 in ms (in process beside)':44} {far:12.2f} {near:12.2f} {gap:>22}")


async def serve_here(directory: Path) -> None:
    async with await open_async(directory, serving=True) as db:
        where = Serving(http_port=None, pg_port=0)
        await serve(db, where, lambda opened: print(opened[0], flush=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", type=Path)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the large table; 0: none")
    given = parser.parse_args()
    os.environ["REDASK_EMBEDDER_NAME"] = "none"
    if given.serve:
        asyncio.run(serve_here(given.serve))
        return
    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(bench(Path(directory), given.seconds, given.rounds))
        if given.rows:
            with postgres() as real:
                large = Path(directory) / "large"
                asyncio.run(large_tables.bench(large, given.rows, redask_transport, real))


if __name__ == "__main__":
    main()
