"""Killed at any moment, the store holds what it acknowledged, and at most the write under way.

Run as a program (directory, first step), this file walks a fixed journey of writes for ever
and prints the number of each step once the store has acknowledged it.
"""

import itertools
import random
import subprocess
import sys
import time
from pathlib import Path

from redask.core.model import Caller
from redask.core.ports import Entity
from redask.stores import entity_rows
from redask.stores.sqlite.store import SqliteStore

ME = Caller()
ROUNDS = 6


def test_kill_9_while_writing_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    chance = random.Random(3)
    done = 0
    for _ in range(ROUNDS):
        acknowledged = _walk_and_kill(tmp_path, done, chance)
        with SqliteStore(tmp_path) as store:
            assert store.check() == []
            held = {
                source.urn: source.payload
                for collection in ("t", "links")
                for source in store.page(collection, ME, limit=10_000)
            }
            replayed = {
                change.urn: change.entity.payload
                for change in store.changes("local", 0, 10_000)
                if change.entity
            }
        assert held == replayed
        possible = (acknowledged, acknowledged + 1)
        done = max(steps for steps in possible if _destination(steps) == held)
    assert done > ROUNDS


def _walk_and_kill(directory: Path, first: int, chance: random.Random) -> int:
    """Walk on from step `first` for a while. → how many steps were acknowledged in all."""
    command = [sys.executable, __file__, str(directory), str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as walker:
        assert walker.stdout is not None
        lines = [walker.stdout.readline() for _ in range(chance.randrange(1, 30))]
        time.sleep(chance.random() * 0.02)
        walker.kill()
        lines += walker.stdout.readlines()
    return int(lines[-1]) + 1


def _entities(number: int) -> list[Entity]:
    ids = range(number % 17, number % 17 + 40)
    made = entity_rows.entities("t", [{"id": i, "step": number, "text": "word " * i} for i in ids])
    return [*made, entity_rows.link(made[0].urn, f"label {number % 5}", made[-1].urn)]


def _doomed(number: int) -> list[str]:
    return [f"urn:reddb:row:t/{i}" for i in range(number % 23, number % 23 + 10)]


def _step(store: SqliteStore, number: int) -> None:
    """Write (two steps of three) or delete (the third), in one transaction."""
    if number % 3 == 2:
        store.delete(_doomed(number), ME)
    else:
        store.put(_entities(number), ME)


def _destination(steps: int) -> dict[str, str]:
    """What the store holds after so many steps: payloads by URN."""
    held: dict[str, Entity] = {}
    for number in range(steps):
        if number % 3 != 2:
            held |= {entity.urn: entity for entity in _entities(number)}
            continue
        gone = set(_doomed(number))
        held = {u: e for u, e in held.items() if not {u, e.source, e.target} & gone}
    return {urn: entity.payload for urn, entity in held.items()}


def _walk(directory: Path, first: int) -> None:
    with SqliteStore(directory) as store:
        for number in itertools.count(first):
            _step(store, number)
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    _walk(Path(sys.argv[1]), int(sys.argv[2]))
