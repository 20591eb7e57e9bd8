"""`make bench-nodes`: nodes on one PostgreSQL: asks a second, and how fast a new node catches up.

    asks        COUNT questions, none twice, over WIDTH connections to 1, 2 and 4 `redask serve`; a
                second of time, and a second of the nodes' own processor; the connections to
                PostgreSQL that they have then. They start from the snapshot; the first 16 asks are
                not counted
    from log    the index of a new node, made from the change log alone, words and vectors
    from snapshot   the same from a peer's snapshot in a directory, a hundredth of it written since

Passages are generated, vectors are synthetic. PostgreSQL, nodes and the client share one machine,
whose cores the first line tells: with fewer cores than nodes more nodes cannot answer more.
Each figure is printed when it is there. `--short` shows that all of it works.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))
sys.path.insert(0, str(Path(__file__).parent))

import postgres_databases
import psycopg
from serve import Wire
from serve_workers import processor_ms
from served import Served

import redask
from redask.core.model import Caller, Terms
from redask.core.ports import Entity, Query
from redask.core.settings import load
from redask.index import SearchIndex
from redask.index.snapshots.index_snapshots import IndexSnapshots
from redask.index.snapshots.snapshot_places import DirectoryPlace
from redask.stores.postgres.postgres_backend import PostgresBackend

WIDTH, DIMENSIONS, WORDS, PASSAGE = 8, 384, 20_000, 60
SETTINGS = load('[embedder]\nname = "none"', {})
TENANT, OWNER = "local", Caller()
ENVIRONMENT = {"REDASK_ASK_TIMEOUT_MS": "120000"}


class Node(Served):
    start_seconds = 300
    words = ("serve", "--port", "0", "--no-grpc", "--no-pg")


def passages(first: int, count: int) -> list[Entity]:
    """Texts with words by a rank, and vectors of no meaning."""
    made = []
    for number in range(first, first + count):
        chance = random.Random(number)
        words = " ".join(f"w{int(WORDS ** chance.random())}" for _ in range(PASSAGE))
        vector = tuple(chance.gauss(0, 1) for _ in range(DIMENSIONS))
        urn = f"urn:reddb:row:passages/{number}"
        made.append(Entity(urn, f'{{"id":{number},"text":"{words}"}}', vector=vector))
    return made


def fill(url: str, rows: int) -> str:
    """→ a token"""
    with redask.open(url, settings=SETTINGS) as db:
        store = db._async._app.backend.store
        for first in range(0, rows, 1000):
            store.put(passages(first, min(1000, rows - first)), OWNER)
        db.add_user("mia", role="reader")
        return db.make_token("mia")


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """→ seconds of time, and of this process"""
    began, spent = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - spent


def catch_up(index: SearchIndex) -> None:
    index.search(Query("", Terms((), ()), top_k=1, depth=0), OWNER)
    index.finish(TENANT)


def measure_starts(url: str, folder: Path, rows: int) -> None:
    """A new node from the log, and from a snapshot."""
    backend = PostgresBackend(url)
    store, place = backend.store, DirectoryPlace(folder / "snapshots")
    later = max(1, rows // 100)
    try:
        first = SearchIndex(folder / "first", store)
        tell("from the log", rows, *timed(lambda: catch_up(first)))
        peer = IndexSnapshots(first, store, store.edge_key, place)
        tell("writing a snapshot", rows, *timed(lambda: peer.write(TENANT)))
        size = sum(path.stat().st_size for path in (folder / "snapshots").rglob("*"))
        print(f"a snapshot of {rows:,} passages has {size / 1e6:,.1f} MB", flush=True)
        store.put(passages(rows, later), OWNER)
        second = SearchIndex(folder / "second", store)
        snapshots = IndexSnapshots(second, store, store.edge_key, place)

        def start() -> None:
            if not snapshots.start_from(TENANT):
                raise SystemExit("the snapshot was not used")

        tell("from a snapshot", rows, *timed(start))
        tell("… and what was written since", later, *timed(lambda: catch_up(second)))
        for index in (first, second):
            index.close()
    finally:
        backend.close()


def tell(what: str, rows: int, seconds: float, processor: float) -> None:
    rate = f"{rows / seconds:,.0f} rows/s, {rows / max(processor, 1e-9):,.0f} a processor second"
    print(f"{what}: {rows:,} rows in {seconds:.2f} s: {rate}", flush=True)


def measure_asks(url: str, token: str, nodes: int, count: int) -> None:
    """Asks a second with so many nodes."""
    with ExitStack() as stack:
        served = [
            stack.enter_context(Node(Path(f"{url}&application_name=node{number}"), **ENVIRONMENT))
            for number in range(nodes)
        ]

        def connected() -> list[Wire]:
            return [Wire(served[each % nodes].port, token) for each in range(WIDTH)]

        def ask(wire: Wire, number: int) -> None:
            chance = random.Random(f"{nodes}/{number}")
            words = " ".join(f"w{int(WORDS ** chance.random())}" for _ in range(4))
            reply = wire.send(wire.request("/v1/ask", {"question": f"What is {words}?"}))
            if b"200 OK" not in reply[:20]:
                raise SystemExit(f"no answer: {reply[:300]!r}")

        share = count // WIDTH

        def work(place: int, wire: Wire, times: int) -> None:
            for each in range(times):
                ask(wire, place * share + each)

        def run(first: int, times: int) -> None:
            numbers = range(first, first + WIDTH)
            list(pool.map(work, numbers, connected(), [times] * WIDTH))

        pool = stack.enter_context(ThreadPoolExecutor(WIDTH))
        run(WIDTH, 2)  # questions of another number: warm, and not remembered
        before, began = sum(map(processor_ms, served)), time.perf_counter()
        run(0, share)
        seconds = time.perf_counter() - began
        spent = (sum(map(processor_ms, served)) - before) / 1000
        connections = connections_of(url)
    asked = share * WIDTH
    print(
        f"{nodes} nodes: {asked} asks in {seconds:.1f} s: {asked / seconds:.1f} a second,"
        f" {asked / spent:.1f} a second of the nodes' processor; {connections} connections",
        flush=True,
    )


def connections_of(url: str) -> int:
    """How many connections there are to the database of the nodes."""
    count = "SELECT count(*) FROM pg_stat_activity WHERE usename = %s"
    with psycopg.connect(**postgres_databases.superuser(url)) as connection:
        found = connection.execute(count, (postgres_databases.ROLE,)).fetchone()
    return int(found[0]) if found else 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--asks", type=int)
    given = parser.parse_args()
    rows = given.rows or (600 if given.short else 100_000)
    asks = given.asks or (16 if given.short else 800)
    cores, load_now = os.cpu_count(), os.getloadavg()[0]
    print(f"{cores} cores, load {load_now:.1f}; {rows:,} passages", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        url = postgres_databases.location(place / "database")
        token: list[str] = []
        tell("written to PostgreSQL", rows, *timed(lambda: token.append(fill(url, rows))))
        measure_starts(url, place, rows)
        ENVIRONMENT["REDASK_SERVE_SNAPSHOTS"] = str(place / "snapshots")
        for nodes in (1, 2, 4):
            measure_asks(url, token[0], nodes, asks)


if __name__ == "__main__":
    main()
