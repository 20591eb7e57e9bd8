"""`make fuzz-slow`: a hundred thousand SELECTs that grow towards being slow; each ends in time.

    python tests/fuzz/fuzz_slow.py --statements 100000 --seed 7

Statements come of a grammar of growth (`tests/support/slow_statements`): nesting, repetition,
products, patterns, series, casts, aggregates. What takes long for its length is kept and
mutated. Each runs in a pool of worker processes with TIMEOUT_MS, and

    is answered or refused       rows, an SQLSTATE, a limit or the deadline: nothing else
    within LIMIT_SECONDS         its time, the grace of a worker that must be killed, the reply
    without holding up the loop  of the process that serves, for more than LOOP_SECONDS

A violation prints the statement, and the run ends with 1. At the end: the slowest ten.

With `--keep FILE` what came of each chunk is kept there, a line each: a run that was stopped goes
on with those that are missing, and tells of all.
"""

import argparse
import heapq
import json
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from slow_statements.growing import written
from slow_statements.searching import SlowSearch
from slow_statements.trying import GRACE_SECONDS, PoolIsStuck, Trial, Tried

import redask
from redask.core.settings import load

CHUNK = 250
TIMEOUT_MS = 100  # a third of all meet it: with a longer one the run is longer, not better
REPLY_SECONDS = 1.0  # for what is killed to end, and its caller to be told
LIMIT_SECONDS = TIMEOUT_MS / 1000 + GRACE_SECONDS + REPLY_SECONDS
LOOP_SECONDS = 0.25
ANSWERED = ("rows", "refused", "late", "limit")
SLOWEST = 10


@dataclass(slots=True)
class SlowReport:
    """What came of one chunk."""

    outcomes: Counter[str] = field(default_factory=Counter)
    slowest: list[tuple[float, float, str, str]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    loop_late: float = 0.0
    seed: int = 0

    def add(self, sql: str, tried: Tried) -> None:
        self.outcomes[tried.outcome] += 1
        self.slowest.append((tried.seconds, tried.processor, tried.outcome, sql))
        self.slowest = heapq.nlargest(SLOWEST, self.slowest)
        if tried.outcome not in ANSWERED:
            self.violations.append(f"{tried.outcome}: {tried.said}\n{sql}")
        if tried.seconds > LIMIT_SECONDS:
            self.violations.append(f"took {tried.seconds:.2f} s ({tried.outcome})\n{sql}")

    def join(self, other: "SlowReport") -> None:
        """What came of another chunk, too."""
        self.outcomes += other.outcomes
        self.slowest = heapq.nlargest(SLOWEST, [*self.slowest, *other.slowest])
        self.violations += other.violations
        self.loop_late = max(self.loop_late, other.loop_late)

    def line(self) -> str:
        """It as it is kept."""
        return json.dumps({each.name: getattr(self, each.name) for each in fields(self)})

    @staticmethod
    def of(line: str) -> "SlowReport":
        kept = json.loads(line)
        slowest = [(one, two, three, four) for one, two, three, four in kept["slowest"]]
        return SlowReport(**{**kept, "outcomes": Counter(kept["outcomes"]), "slowest": slowest})


def fill(location: Path) -> None:
    """A database with a table of 300 rows, caught up."""
    with redask.open(location, settings=load('[embedder]\nname = "none"', {})) as db:
        db.put("t", [{"id": n, "s": f"x{n}, y{n}"} for n in range(300)])
        db.select("SELECT count(*) FROM t")


def run(job: tuple[str, int, int]) -> SlowReport:
    """Try so many statements of one seed."""
    location, seed, count = job
    rng = random.Random(seed)
    search, report = SlowSearch(rng), SlowReport(seed=seed)
    with Trial(Path(location), TIMEOUT_MS) as trial:
        try:
            for _ in range(count):
                tree = search.propose()
                sql = written(tree)
                tried = trial.tried(sql, pages=rng.random() < 0.25)
                search.learn(tree, len(sql), tried.processor)
                report.add(sql, tried)
        except PoolIsStuck as error:  # the others of the chunk are left out
            report.violations.append(f"{error}\n{sql}")
        if not trial.alive():
            report.violations.append(f"the pool does not answer after chunk {seed}")
        report.loop_late = trial.loop_late
        if trial.loop_late > LOOP_SECONDS:
            late = f"the loop was held up for {trial.loop_late:.2f} s"
            report.violations.append(f"{late}\n{trial.late_at}")
    return report


def jobs(location: Path, statements: int, seed: int) -> Iterator[tuple[str, int, int]]:
    for start in range(0, statements, CHUNK):
        yield str(location), seed * 1_000_003 + start, min(CHUNK, statements - start)


def main() -> int:
    parser = argparse.ArgumentParser(description="Look for slow SELECTs.")
    parser.add_argument("--statements", type=int, default=int(os.environ.get("COUNT", "100000")))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SEED", "0")))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, help="a file of what was done: go on with the rest")
    parser.add_argument("--minutes", type=float, default=0, help="stop after so many")
    options = parser.parse_args()
    print(f"slow SELECTs: {options.statements:,} statements, seed {options.seed}", flush=True)
    location = Path(tempfile.mkdtemp(prefix="redask-slow-"))
    try:
        fill(location / "db")
        return hunt(location / "db", options)
    finally:
        shutil.rmtree(location, ignore_errors=True)


def hunt(location: Path, options: argparse.Namespace) -> int:
    """Run all chunks, and print what came of them."""
    started = time.monotonic()
    total, done = SlowReport(), set[int]()
    if options.keep and options.keep.exists():
        for line in options.keep.read_text(encoding="utf-8").splitlines():
            report = SlowReport.of(line)
            total.join(report)
            done.add(report.seed)
        print(f"{total.outcomes.total():>9,} were done before", flush=True)
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        chunks = (
            job for job in jobs(location, options.statements, options.seed) if job[1] not in done
        )
        for report in pool.imap_unordered(run, chunks):
            total.join(report)
            if options.keep:
                with options.keep.open("a", encoding="utf-8") as kept:
                    kept.write(f"{report.line()}\n")
            for violation in report.violations:
                print(f"VIOLATION {violation[:2000]}\n", flush=True)
            elapsed = time.monotonic() - started
            slowest = total.slowest[0][0]
            print(
                f"{total.outcomes.total():>9,} in {elapsed:,.0f} s; the slowest {slowest:.2f} s",
                flush=True,
            )
            if options.minutes and elapsed > 60 * options.minutes:
                break
    for seconds, processor, outcome, sql in total.slowest:
        shown = sql if len(sql) <= 300 else f"{sql[:200]} … {sql[-90:]}"
        print(f"{seconds:6.2f} s, {processor:5.2f} of processor, {outcome}: {shown}")
    for outcome, count in total.outcomes.most_common():
        print(f"{count:>9,}  {outcome}")
    print(
        f"limit {LIMIT_SECONDS:g} s; the loop was late by {total.loop_late * 1000:.0f} ms at most"
    )
    failed = len(total.violations)
    print(f"{total.outcomes.total() - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
