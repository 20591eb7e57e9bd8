"""`make faults`: every operation with its Nth system call failing, for every N.

    python tests/faults/inject.py [--keep FILE] [--most N] [--only TEXT …] [--list]

Results go to `--keep`, a line of JSON each; what is in there already is not done again. `--most`
takes so many points, evenly spread over all of them. The last line is `N injected, N wrong, N not
struck`; it ends with 1 if something is wrong.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from faults import shim

if TYPE_CHECKING:
    from faults.injecting import InjectionPoint, Injector

MEMORY = Path("/dev/shm")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[], help="points whose names begin so")
    parser.add_argument("--list", action="store_true")
    quick = MEMORY if os.access(MEMORY, os.W_OK) else None  # an fsync costs nothing there
    parser.add_argument("--directory", type=Path, default=quick, help="where worlds are made")
    given = parser.parse_args()
    if not shim.is_loaded():
        os.environ["REDASK_ACCESS_EDGE_IDS"] = "content"  # two worlds have the same edges
        os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
        os.environ["REDASK_ASK_AUDIT_RETENTION_DAYS"] = "1"
        os.execve(sys.executable, [sys.executable, *sys.argv], shim.preloaded(dict(os.environ)))
    with tempfile.TemporaryDirectory(dir=given.directory) as directory:
        return run(Path(directory), given)


def run(directory: Path, given: argparse.Namespace) -> int:
    from faults.injecting import Injector, Verdict
    from faults.operations import OPERATIONS

    wanted = tuple(
        each
        for each in OPERATIONS
        if not given.only or any(only.partition(":")[0] == each.name for only in given.only)
    )
    injector = Injector(directory, wanted)
    injector.prepare()
    points = injector.points()
    if given.only:
        points = [each for each in points if any(each.name.startswith(o) for o in given.only)]
    if given.most and given.most < len(points):
        points = spread_over(points, given.most, injector)
    if given.list:
        for point in points:
            print(point.name)
        return 0
    done: dict[str, Verdict] = {}
    if given.keep and given.keep.exists():
        lines = [json.loads(line) for line in given.keep.read_text().splitlines()]
        done = {each["point"]: Verdict(**each) for each in lines}
    began, verdicts = time.monotonic(), []
    for number, point in enumerate(points, start=1):
        verdict = done.get(point.name)
        if verdict is None:
            verdict = injector.inject(point)
            if given.keep:
                with given.keep.open("a") as file:
                    file.write(json.dumps(asdict(verdict)) + "\n")
        verdicts.append(verdict)
        for fault in verdict.wrong:
            print(f"WRONG {verdict.point}: {fault}", flush=True)
        if number % 100 == 0:
            pace = (time.monotonic() - began) / number
            print(f"{number} of {len(points)}, {pace:.2f} s each", file=sys.stderr, flush=True)
    hit = [each for each in verdicts if each.struck]
    wrong = sum(bool(each.wrong) for each in verdicts)
    print(f"{len(hit)} injected, {wrong} wrong, {len(verdicts) - len(hit)} not struck")
    return int(wrong > 0)


def spread_over(
    points: list["InjectionPoint"], most: int, injector: "Injector"
) -> list["InjectionPoint"]:
    """So many points, evenly spread; a call that is missed takes a place of its operation."""
    spread = [points[n * len(points) // most] for n in range(most)]
    taken: set[int] = set()  # what stands for a call is not replaced for another one
    for point in filter(injector.is_counted, points):
        operation, _, call = point.name.rpartition(": ")
        if any(f": {call.split()[0]} " in each.name for each in spread):
            continue
        same = [n for n, each in enumerate(spread) if each.name.startswith(f"{operation}:")]
        free = [n for n in same if n not in taken]
        if free:
            spread[free[-1]] = point
            taken.add(free[-1])
    return spread


if __name__ == "__main__":
    sys.exit(main())
