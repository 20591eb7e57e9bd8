"""`make test-sql`: the same statements here and on a real PostgreSQL, over the same tables.

    python tests/sql/differential.py --count 10000 --seed 7 --list causes.txt

Runs the corpus, then generated statements. Each is equal (values, names, types, order), refused by
both, refused here (counted, grouped by cause), or different. Anything different ends with 1, and
so does a machine without PostgreSQL. Ctrl-C stops it and reports what was compared until then.
"""

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from real_postgres import NoPostgres
from sql_twin.cases import CORPUS, Case, read
from sql_twin.generator.statements import generate
from sql_twin.tally import Tally
from sql_twin.twins import Twins, shared_world, twins

SHOWN = 40


def corpus() -> Iterator[Case]:
    for path in sorted(CORPUS.glob("*.sql"), key=lambda each: each.name):
        yield from read(path)


def run(both: Twins, cases: Iterable[Case], tally: Tally, title: str) -> bool:
    """Compare them all; False when interrupted."""
    began = shown = time.monotonic()
    try:
        for number, case in enumerate(cases, start=1):
            tally.add(case, both.compare(case))
            if time.monotonic() - shown > 5:
                shown = time.monotonic()
                rate = number / (shown - began)
                print(f"{title}: {number:,}, {rate:.0f}/s, {tally.different} different", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        return False
    return True


def report(title: str, tally: Tally, listing: Path | None) -> None:
    lines = list(tally.listing())
    print(f"\n{title}: {tally.summary()}")
    for line in lines[:SHOWN]:
        print(f"  {line[:600]}")
    if len(lines) > SHOWN:
        print(f"  and {len(lines) - SHOWN} more causes (--list FILE has them all)")
    if listing is not None:
        with listing.open("a", encoding="utf-8") as into:
            into.write("\n".join([f"# {title}: {tally.summary()}", *lines, ""]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="generated statements")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", type=Path, help="a file for every cause")
    given = parser.parse_args()
    os.environ["REDASK_EMBEDDER_NAME"] = "none"
    if given.list:
        given.list.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as place:
        try:
            with twins(shared_world(Path(place))) as both:
                return compare(both, given.count, given.seed, given.list)
        except NoPostgres as error:
            print(f"make test-sql: NOTHING WAS COMPARED: {error}", file=sys.stderr)
            return 1


def compare(both: Twins, count: int, seed: int, listing: Path | None) -> int:
    first, second = Tally(), Tally()
    whole = run(both, corpus(), first, "corpus")
    report("corpus", first, listing)
    if whole and count:
        tables = [table for table, _ in both.here.tables()]
        made = itertools.islice(generate(tables, seed), count)
        whole = run(both, made, second, "generated")
        report(f"generated (seed {seed})", second, listing)
    return 1 if first.different or second.different else 0 if whole else 130


if __name__ == "__main__":
    sys.exit(main())
