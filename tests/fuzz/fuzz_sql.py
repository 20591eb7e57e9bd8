"""`make fuzz-sql`: a hundred thousand SELECTs, and none changes, shows or hints at anything.

    python tests/fuzz/fuzz_sql.py --statements 100000 --seed 7

Each statement is a query from a grammar, one of those mutated, or an attack (`attacks.sql`). It
runs in two worlds (`tests/support/guarded.py`) that differ in everything the reader may not see
and in their history: names, types, rows, errors and descriptions must be equal to the byte. The
word in everything hidden must never come out, neither for the reader nor, of the other tenant, for
the owner. A third of them also go to DuckDB unbound, so that only the second check is tested.
Nothing but `AskError` is raised. After every statement SQLite's own counter, and at the end a hash
of everything, say that no database changed. A violation prints the statement and ends with 1.
"""

import argparse
import hashlib
import multiprocessing
import os
import random
import re
import shutil
import sqlite3
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from fuzz_statements import statement
from guarded import FOREIGN, OWNER, READER, SECRET, STRANGER, build
from selecting_store import SelectingStore

from redask.core.errors import AskError, DeadlineExceeded, SqlError
from redask.core.model import Caller
from redask.stores.columnar.statements.generated_text import check_generated
from redask.stores.columnar.statements.watch import Watch

CHUNK = 500
LEAKS = ("memory.main", "generation.main", "duckdb", "DuckDB", "Catalog Error", "Binder Error")
FORBIDDEN = {READER: (SECRET, FOREIGN), OWNER: (FOREIGN,), STRANGER: (SECRET,)}
TIMEOUT_MS = 500
# what tells the time may differ from one world to the other
CLOCKS = re.compile(
    r"\b(now|current_(date|time|timestamp)|localtime(stamp)?|(clock|statement|transaction)_timestamp"
    r"|timeofday|age|today|tomorrow|yesterday)\b",
    re.IGNORECASE,
)

# --- running ------------------------------------------------------------------------------


class Violation(Exception):
    """A promise that does not hold."""


@dataclass(slots=True)
class Worlds:
    """The stores of one process, and connections that notice a change to them."""

    stores: tuple[SelectingStore, SelectingStore]
    watchers: tuple[sqlite3.Connection, ...]
    hashes: tuple[str, ...]
    versions: tuple[int, ...]


OPENED: list[Worlds] = []


def worlds() -> Worlds:
    """The worlds of this process, made when first needed."""
    if not OPENED:
        places = [Path(tempfile.mkdtemp(prefix="redask-fuzz-")) for _ in range(2)]
        Finalize(None, remove, args=places, exitpriority=1)
        stores = build(places[0], 0), build(places[1], 2)
        files = [place / name for place in places for name in ("redask.sqlite", "calls.sqlite")]
        watchers = tuple(sqlite3.connect(file, isolation_level=None) for file in files)
        opened = Worlds(stores, watchers, (), versions(watchers))
        opened.hashes = tuple(map(content, watchers))
        OPENED.append(opened)
    return OPENED[0]


def remove(*places: Path) -> None:
    for place in places:
        shutil.rmtree(place, ignore_errors=True)


def versions(watchers: tuple[sqlite3.Connection, ...]) -> tuple[int, ...]:
    return tuple(each.execute("PRAGMA data_version").fetchone()[0] for each in watchers)


def content(connection: sqlite3.Connection) -> str:
    """A hash of the schema and of every row of every table."""
    digest = hashlib.sha256()
    for line in connection.iterdump():
        digest.update(line.encode())
    return digest.hexdigest()


def outcome(store: SelectingStore, sql: str, caller: Caller) -> str | None:
    """What a caller gets, described and run, as one text; None when the time was over."""
    try:
        shape = repr(store.selector.describe(sql, caller))
    except AskError as error:
        shape = failure(error)
    try:
        found = store.selector.select(sql, (), caller, timeout_ms=TIMEOUT_MS, max_rows=2000)
        return f"{found.columns!r} {found.rows!r} {shape}"
    except DeadlineExceeded:
        return None
    except AskError as error:
        return f"{failure(error)} {shape}"


def failure(error: AskError) -> str:
    """All that a caller gets of an error."""
    more = (error.sqlstate, error.position, error.hint) if isinstance(error, SqlError) else ()
    said = f"{type(error).__name__}: {error.message} ({error.detail}) {more}"
    if "the statement is not supported (" in said:
        raise Violation(f"the second check refuses what the binder wrote: {said}")
    return said


def unbound(store: SelectingStore, sql: str) -> str:
    """What the second check alone lets out, when nobody binds the statement before DuckDB does."""
    import duckdb

    with store.selector._projection.reading(READER) as tables:
        try:
            with Watch(TIMEOUT_MS, None).watching(tables.cursor):
                check_generated(tables.cursor, sql, ())
                return repr(tables.cursor.execute(sql).fetchmany(50))
        except DeadlineExceeded:
            return "refused"
        except (AskError, duckdb.Error, UnicodeEncodeError):
            return "refused"


def check(sql: str) -> str:
    """Run one statement as several callers. → the outcome of it"""
    opened = worlds()
    mine, other = (outcome(store, sql, READER) for store in opened.stores)
    timed = CLOCKS.search(sql) is not None
    if mine != other and mine is not None and other is not None and not timed:
        raise Violation(f"what is hidden makes a difference:\n{mine[:600]}\n{other[:600]}")
    outcomes = {READER: f"{mine} {other}"}
    number = sum(sql.encode(errors="replace"))
    if number % 3 == 0 and not timed:
        results = {unbound(store, sql) for store in opened.stores} - {"refused"}
        if len(results) > 1:
            raise Violation(f"the second check alone is not enough: {results}"[:900])
        outcomes[READER] += "".join(results)
    if number % 8 == 0:
        outcomes[OWNER] = outcome(opened.stores[1], sql, OWNER) or ""
        outcomes[STRANGER] = outcome(opened.stores[1], sql, STRANGER) or ""
    for caller, words in FORBIDDEN.items():
        found = [word for word in words if word in outcomes.get(caller, "") and word not in sql]
        if found:
            raise Violation(f"{caller} gets {found}: {outcomes[caller][:600]}")
    for name in LEAKS:
        if any(name in said for said in outcomes.values()) and name not in sql.lower():
            raise Violation(f"the engine's own {name!r} came out: {outcomes}"[:900])
    if versions(opened.watchers) != opened.versions:
        raise Violation("a database was written")
    if mine is None:
        return "too slow"
    return "rows" if mine.startswith("(") else mine.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Report:
    """What came of one chunk."""

    outcomes: dict[str, int]
    violation: str = ""


def run(job: tuple[int, int]) -> Report:
    seed, count = job
    rng = random.Random(seed)
    outcomes: dict[str, int] = {}
    for _ in range(count):
        sql = statement(rng)
        try:
            came = check(sql)
        except Exception:
            return Report(outcomes, f"{traceback.format_exc()}\nstatement: {sql!r}")
        outcomes[came] = outcomes.get(came, 0) + 1
    opened = worlds()
    if tuple(map(content, opened.watchers)) != opened.hashes:
        return Report(outcomes, f"the content of a database changed in chunk {seed}")
    return Report(outcomes)


def jobs(statements: int, seed: int) -> Iterator[tuple[int, int]]:
    for start in range(0, statements, CHUNK):
        yield seed * 1_000_003 + start, min(CHUNK, statements - start)


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz SELECT.")
    parser.add_argument("--statements", type=int, default=int(os.environ.get("COUNT", "100000")))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    started, reported = time.monotonic(), 0.0
    totals: dict[str, int] = {}
    print(f"fuzzing SELECT: {options.statements:,} statements, seed {options.seed}", flush=True)
    pool = multiprocessing.Pool(options.jobs)
    try:
        for report in pool.imap_unordered(run, jobs(options.statements, options.seed)):
            for came, count in report.outcomes.items():
                totals[came] = totals.get(came, 0) + count
            passed, elapsed = sum(totals.values()), time.monotonic() - started
            if report.violation:
                print(f"{report.violation}\n{passed} passed, 1 failed (seed {options.seed})")
                pool.terminate()
                return 1
            if elapsed - reported >= 5:
                reported = elapsed
                print(f"{passed:>10,} statements, {passed / elapsed:,.0f}/s", flush=True)
    finally:
        pool.close()
        pool.join()  # so that each process removes its stores
    for came, count in sorted(totals.items()):
        print(f"{count:>10,}  {came}")
    print(f"{sum(totals.values())} passed, 0 failed in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
