"""`make bench-hidden`: do rows that a caller may not read change whether a deadline is met?

    python benchmarks/hidden_timing.py [SEEN] [HIDDEN]        2,000 and 100,000 when not given

Three databases have the same readable rows: two have no others (`control` is a second one, so that
the noise of the machine is seen), one has HIDDEN more that the caller may not read. Each is asked
the same in turns. For each kind of call: the p50, and the largest difference in the share of calls
that meet a deadline, over all deadlines (the distance of Kolmogorov and Smirnov), for the control
and for the hidden rows. A distance near that of the control: an observer learns nothing from
whether a deadline is met. `first` is the first SELECT after a write, which copies the readable rows
of the table: it is asked a few times only.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import redask
from redask.core.settings import load

ROUNDS, FIRSTS = 100, 10
WORDS = ("ferry", "harbour", "kettle", "lamp", "sail", "anchor", "tide", "chart", "rope", "mast")
Timed = Callable[[redask.OpenDatabase], object]
CALLS: dict[str, Timed] = {
    "SELECT count": lambda db: db.select("SELECT count(*) FROM notes"),
    "SELECT group": lambda db: db.select("SELECT team, sum(size) FROM notes GROUP BY 1"),
    "SELECT join": lambda db: db.select("SELECT count(*) FROM notes a JOIN notes b USING (size)"),
    "search": lambda db: db.search("anchor of the ferry"),
    "ask": lambda db: db.ask("Which note tells of the anchor?", using="extractive"),
}


def made(path: Path, seen: int, hidden: int) -> tuple[redask.OpenDatabase, redask.OpenDatabase]:
    """A database of its owner, and as the caller opens it."""
    db = redask.open(path, settings=load('[embedder]\nname = "none"\n', {}))
    rows = [
        {
            "id": number,
            "team": f"t{number % 7}",
            "size": number % 500,
            "text": f"{WORDS[number % 10]} and {WORDS[number // 10 % 10]} of note {number}",
            "open": number < seen,
        }
        for number in range(seen + hidden)
    ]
    for start in range(0, len(rows), 5000):
        db.put("notes", rows[start : start + 5000])
    db.set_policy("notes", {"read": [{"roles": ["clerk"], "rows": "open = true"}]})
    db.add_user("mia", role="clerk")
    return db, db.signed_in(db.make_token("mia"))


def distance(one: Sequence[float], other: Sequence[float]) -> float:
    """The largest difference in the share of calls that meet a deadline."""
    return max(
        abs(
            sum(each <= deadline for each in one) / len(one)
            - sum(each <= deadline for each in other) / len(other)
        )
        for deadline in (*one, *other)
    )


def taken(work: Timed, db: redask.OpenDatabase) -> float:
    started = time.perf_counter()
    work(db)
    return (time.perf_counter() - started) * 1000


def shown(name: str, times: Sequence[Sequence[float]]) -> None:
    plain, control, hidden = times
    p50 = [statistics.median(each) for each in times]
    print(
        f"  {name:<13} p50 {p50[0]:8.2f} ms · control {p50[1]:8.2f} · with hidden {p50[2]:8.2f}"
        f" · distance {distance(plain, control):.2f} (control) {distance(plain, hidden):.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seen", nargs="?", type=int, default=2_000)
    parser.add_argument("hidden", nargs="?", type=int, default=100_000)
    given = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="redask-hidden-"))
    try:
        with ExitStack() as stack:
            pairs = [
                made(root / name, given.seen, hidden)
                for name, hidden in (("plain", 0), ("control", 0), ("hidden", given.hidden))
            ]
            for owner, _ in pairs:
                stack.enter_context(owner)
            print(f"{given.seen:,} readable rows, {given.hidden:,} hidden ones in the third")
            for name, work in CALLS.items():
                for _, caller in pairs:
                    work(caller)
                rounds = [[taken(work, caller) for _, caller in pairs] for _ in range(ROUNDS)]
                shown(name, list(zip(*rounds, strict=True)))
            firsts: list[list[float]] = [[], [], []]
            for number in range(FIRSTS):
                for times, (owner, caller) in zip(firsts, pairs, strict=True):
                    owner.put("notes", [{"id": 0, "team": "t0", "size": number, "open": True}])
                    times.append(taken(CALLS["SELECT count"], caller))
            shown("first SELECT", firsts)
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
