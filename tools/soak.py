"""`make soak`: half an hour of mixed load at every transport, by clients good and bad.

    python tools/soak.py --minutes 30

One `redask serve`, a `redask rpc` and a `redask mcp` over one database. Clients ask through every
transport, some vanish in the middle of an answer, some cancel, some send rubbish (as `make
fuzz-wire` does); meanwhile rows are written and policies change. At the end: every answer has
exactly one audit row and no question has two, every row that was acknowledged is there, the audit
log is whole, nothing failed on our side, every process leaves with 0 and in silence, and memory is
flat: after the warm-up (five minutes, or a third of a shorter run) the server grew by no more than
GROWTH of its size and GROWTH_BYTES.

Each client asks one question at a time and thinks in between, so that all take about one core.
"""

import argparse
import random
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "support"))

from served import Served, audited, fill, megabytes
from soak_clients import CLIENTS, ENDING, ENDS, QUIET, ProviderTurn, Soak

import redask

THINK = 0.25  # seconds, on average
GROWTH, GROWTH_BYTES = 0.10, 32 * 1024 * 1024


def work(soak: Soak, make: Callable[[Soak], ProviderTurn], seed: int) -> None:
    rng = random.Random(seed)
    try:
        turn = make(soak)
        while not soak.over():
            turn(rng)
            time.sleep(rng.random() * 2 * THINK)
        if make in ENDS:
            turn(ENDING)
    except Exception:
        soak.failures.append(traceback.format_exc())


def run(directory: Path, minutes: float, seed: int) -> tuple[Soak, list[int]]:
    """→ what came of it, and the server's memory when warm and at the end"""
    tokens = fill(directory)
    warm_after = min(300.0, minutes * 20)
    with Served(directory) as server:
        started = time.monotonic()
        soak = Soak(server, tokens, started + minutes * 60)
        threads = [
            threading.Thread(target=work, args=(soak, make, seed * 1009 + number), daemon=True)
            for number, make in enumerate(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        sizes: list[int] = []
        reported = 0.0
        try:
            while any(thread.is_alive() for thread in threads):
                time.sleep(0.2)
                passed = time.monotonic() - started
                if not sizes and passed > warm_after:
                    sizes.append(server.rss())
                if passed - reported >= 10 and server.alive():
                    reported = passed
                    facts = f"{soak.answered.total():,} answers, {len(soak.written):,} rows"
                    print(f"{passed:6.0f} s: {facts}, {megabytes(server.rss())}", flush=True)
        except KeyboardInterrupt:
            print("stopping early", flush=True)
            soak.until = 0
            for thread in threads:
                thread.join(90)
        sizes.append(server.rss() if server.alive() else 0)
    if b"Traceback" in server.said or server.process.returncode != 0:
        soak.failures.append(f"the server left: {server.said.decode(errors='replace')}")
    return soak, sizes


def results_table(soak: Soak, sizes: list[int], directory: Path) -> list[tuple[str, str]]:
    """The table; what is wrong is added to the failures."""
    rows, intact = audited(directory)
    unaudited = [each for each, times in soak.answered.items() if rows[each] < times]
    twice = [each for each in soak.sent if rows[each] > 1]
    with redask.open(directory, settings=QUIET) as db:
        lost = [urn for urn, text in soak.written.items() if text not in (db.get(urn) or "")]
    warm, end = sizes[0], sizes[-1]
    grown = end - warm
    for wrong, what in (
        (unaudited, "answers without an audit row"),
        (twice, "questions with two audit rows"),
        (lost, "rows lost"),
    ):
        if wrong:
            soak.failures.append(f"{len(wrong)} {what}: {wrong[:3]}")
    if not intact:
        soak.failures.append("the audit log is not what was written")
    if grown > GROWTH_BYTES or grown > GROWTH * warm:
        soak.failures.append(f"memory grew from {megabytes(warm)} to {megabytes(end)}")
    table = [
        (who, ", ".join(f"{number:,} {what}" for what, number in sorted(found.items())))
        for who, found in sorted(soak.figures.items())
    ]
    return [
        *table,
        ("questions, and of them answered", f"{len(soak.sent):,}, {soak.answered.total():,}"),
        ("answers without exactly one audit row", f"{len(unaudited) + len(twice)}"),
        ("audit rows, and the chain", f"{rows.total():,}, {'whole' if intact else 'BROKEN'}"),
        ("rows written, and of them lost", f"{len(soak.written):,}, {len(lost)}"),
        ("the server's memory, warm and at the end", f"{megabytes(warm)}, {megabytes(end)}"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Load every transport for a while.")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="redask-soak-") as name:
        directory = Path(name) / "db"
        soak, sizes = run(directory, options.minutes, options.seed)
        table = results_table(soak, sizes, directory)
    print(f"\n| {options.minutes:g} minutes | figure |\n| --- | --- |")
    for what, figure in table:
        print(f"| {what} | {figure} |")
    for failure in soak.failures:
        print(f"\n{failure}")
    print("\nfailed" if soak.failures else "\nall held")
    return 1 if soak.failures else 0


if __name__ == "__main__":
    sys.exit(main())
