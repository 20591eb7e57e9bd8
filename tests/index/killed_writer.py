"""Kill a writer of a vector index before each of its system calls; see `test_vector_damage`.

Run as a program with an empty directory. For n = 1, 2, 3 … a child applies and folds, and dies
at its n-th call that touches a file (half of what it was to write is written). fsync does
nothing here, since a killed process, unlike a power cut, loses no page. Then the index must be
exactly the state after a prefix of the log, with everything that was acknowledged, and must catch
up with the rest. Ends when a child gets through; prints how many died.
"""

import itertools
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from redask.index.vector.nearest import VectorIndex

DIMENSIONS = 8
EXACT = 40
Log = list[tuple[list[tuple[int, int, list[float]]], list[int]]]


def log() -> Log:
    """Growth past the exact limit, changes, and enough deletions for a compaction."""
    random = np.random.default_rng(1)

    def rows(keys: range) -> list[tuple[int, int, list[float]]]:
        return [(key, key % 3, random.standard_normal(DIMENSIONS).tolist()) for key in keys]

    return [
        (rows(range(60)), []),
        (rows(range(50, 70)), [5, 6]),
        (rows(range(70, 90)), list(range(30, 60))),
    ]


def write(index: VectorIndex, acknowledge: Callable[[bytes], object]) -> None:
    for seq, (added, deleted) in enumerate(log(), 1):
        if seq > index.seq:
            index.apply(added, deleted, seq)
            acknowledge(b".")
        if seq != 2:
            index.fold()


def answers(index: VectorIndex) -> list[object]:
    queries = np.random.default_rng(2).standard_normal((5, DIMENSIONS))
    found = [index.search(query, 7, allowed) for query in queries for allowed in (None, {1, 2})]
    return [index.count, found]


def expected(root: Path) -> list[list[object]]:
    """What each prefix of the log answers, written without a fold."""
    results: list[list[object]] = [[0, [[] for _ in range(10)]]]
    index = VectorIndex(root / "expected", DIMENSIONS, exact_limit=EXACT)
    for seq, (added, deleted) in enumerate(log(), 1):
        index.apply(added, deleted, seq)
        results.append(answers(index))
    return results


def die_at(step: int) -> None:
    """From now on, the `step`-th call ends this process."""
    calls = itertools.count(1)

    def deadly(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if next(calls) == step:
                if name in ("write", "pwrite"):
                    real(args[0], bytes(args[1])[: len(args[1]) // 2], *args[2:])
                os._exit(9)
            return real(*args, **options)

        return call

    for name in ("open", "write", "pwrite", "ftruncate", "fsync", "replace", "unlink", "mkdir"):
        setattr(os, name, deadly(name, getattr(os, name)))


def main(root: Path) -> int:
    prefixes = expected(root)
    for step in itertools.count(1):
        directory = root / "killed"
        heard, told = os.pipe()
        child = os.fork()
        if child == 0:
            acknowledge = partial(os.write, told)
            die_at(step)
            write(VectorIndex(directory, DIMENSIONS, exact_limit=EXACT), acknowledge)
            os._exit(0)
        os.close(told)
        survived = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        with open(heard, "rb") as pipe:
            acknowledged = len(pipe.read())
        index = VectorIndex(directory, DIMENSIONS, exact_limit=EXACT)
        index.verify()
        assert index.seq >= acknowledged, f"step {step}: lost what was acknowledged"
        assert answers(index) == prefixes[index.seq], f"step {step}: not what was applied"
        write(index, len)
        assert answers(index) == prefixes[-1], f"step {step}: did not catch up"
        reopened = VectorIndex(directory, DIMENSIONS, exact_limit=EXACT)
        assert answers(reopened) == prefixes[-1], f"step {step}: lost when reopened"
        index.apply([], [], 99)
        index.fold()
        assert len(list(directory.iterdir())) == 5, (
            f"step {step}: unreferenced files were not removed"
        )
        shutil.rmtree(directory)
        if survived:
            return step - 1
    raise AssertionError


if __name__ == "__main__":
    with mock.patch("os.fsync"):
        sys.stdout.write(f"{main(Path(sys.argv[1]))}\n")
