"""`make bench-plan`: planning a question over 50 tables, one of them of 1,000,000 rows.

    python benchmarks/planning.py [--rows N] [--tables N] [--keep DIR] [--workers]

Customers by name (every one another) and city, orders that reference them, and small tables beside.
Printed: what the first schema costs, and the first after a write to the large table; then p50 and
p95 of the schema, of looking up all n-grams of a question, and of the whole plan, once warm. With
`--workers` SELECT is in worker processes, as under `redask serve`.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from redask.app import App, build
from redask.core.model import Caller
from redask.core.planning.plan import plan
from redask.core.settings import Settings
from redask.stores.entity_rows import entities

ME = Caller()
BATCH, ROUNDS, LONGEST = 5_000, 200, 5
CITIES = tuple(f"{first} {last}" for first in ("New", "Old", "Port") for last in "ABCDEFGHIJKLMNOP")
QUESTIONS = (
    "How many customers live in New A?",
    "How many orders are there?",
    "Which customer has the most orders?",
    "What is the average price of the items of kind 3?",
    "List the names of all customers in Port K with more than 100 points",
    "How many customers never ordered anything in the year 2019 from the shop of Customer 17?",
)


def customers(rows: int) -> Iterator[dict[str, object]]:
    for number in range(rows):
        yield {
            "id": number,
            "name": f"Customer {number:x}",
            "city": CITIES[number % len(CITIES)],
            "points": number % 997,
            "joined": f"20{number % 24:02}-03-{1 + number % 28:02}",
        }


def small(table: int) -> Iterator[dict[str, object]]:
    for number in range(200):
        yield {
            "id": number,
            "title": f"Item {table} {number}",
            "kind": f"kind {number % 7}",
            "price": number / 4,
            "customer_id": number,
        }


def fill(app: App, rows: int, tables: int) -> None:
    batch: list[dict[str, object]] = []
    for row in customers(rows):
        batch.append(row)
        if len(batch) == BATCH:
            app.backend.store.put(entities("customer", batch), ME)
            batch = []
    app.backend.store.put(entities("customer", batch), ME)
    for table in range(1, tables):
        name = "orders" if table == 1 else f"items_{table}"
        app.backend.store.put(entities(name, list(small(table))), ME)


def grams(question: str) -> list[str]:
    words = question.strip("?").split()
    return [
        " ".join(words[start:end])
        for start in range(len(words))
        for end in range(start + 1, min(start + LONGEST, len(words)) + 1)
    ]


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def show(name: str, work: Callable[[str], object]) -> None:
    for question in QUESTIONS:
        work(question)
    worked = time.process_time()
    times = sorted(
        seconds(lambda: work(question)) * 1000  # noqa: B023 - run at once
        for _ in range(ROUNDS)
        for question in QUESTIONS
    )
    worked = (time.process_time() - worked) * 1000 / len(times)
    p95 = times[len(times) * 95 // 100]
    print(
        f"{name:28} p50 {statistics.median(times):6.2f} ms   p95 {p95:6.2f} ms"
        f"   {worked:6.2f} ms of processor"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Planning at a size.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--tables", type=int, default=50)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--workers", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="redask-plan-") as temporary:
        home = options.keep or Path(temporary)
        settings = Settings(select_workers=1 if options.workers else 0)
        app = build(home, settings=settings, embedder="none")
        if not app.backend.store.watermark(ME.tenant):
            print(f"filled in {seconds(lambda: fill(app, options.rows, options.tables)):.0f} s")
        print(f"tables made in {seconds(lambda: app.selector.catch_up(ME)):.1f} s")
        measure(app)
        app.close()


def measure(app: App) -> None:
    sources = app.plan_sources
    print(f"first schema {seconds(lambda: sources.schema(ME)):.2f} s")
    schema = sources.schema(ME)
    columns = sum(len(each.columns) for each in schema.tables)
    rows = max(each.rows for each in schema.tables)
    print(f"{len(schema.tables)} tables, {columns} columns, largest {rows} rows", end="")
    print(f", {len(schema.keys)} foreign keys")
    show("schema", lambda _: sources.schema(ME))
    show("values of all n-grams", lambda question: sources.values(ME).find(grams(question)))
    show(
        "schema, values and plan",
        lambda question: plan(question, sources.schema(ME), sources.values(ME)),
    )
    row = {"id": -1, "name": "Somebody new", "city": "Nowhere", "points": 1, "joined": "2020-01-01"}
    app.backend.store.put(entities("customer", [row]), ME)
    print(f"SELECT after a write {seconds(lambda: app.selector.select(_COUNT, (), ME)):.2f} s")
    print(f"schema after a write {seconds(lambda: sources.schema(ME)):.2f} s")
    assert sources.values(ME).find(["somebody new"])
    app.backend.store.delete(["urn:reddb:row:customer/-1"], ME)


_COUNT = "SELECT count(*) FROM customer"

if __name__ == "__main__":
    main()
