"""kill -9 between reserving and settling: no reservation is lost, none is counted twice."""

import random
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from reserving import DAY

from redask.stores.relational.ledger import RelationalLedger
from redask.stores.sqlite.sqlite_backend import open_calls

RESERVING = Path(__file__).parent.parent / "support" / "reserving.py"


def killed(directory: Path, seed: int, lifetime: float) -> list[list[str]]:
    """What a process said before it was killed, a list of words a line."""
    command = [sys.executable, str(RESERVING), str(directory), str(seed), "1000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(lifetime)
        process.send_signal(signal.SIGKILL)
        said = first + process.stdout.read()
        assert process.wait() == -signal.SIGKILL
    return [line.split() for line in said.splitlines(keepends=True) if line.endswith("\n")]


def after(lines: list[list[str]], spent: int, held: dict[int, int]) -> list[tuple[int, list[int]]]:
    """What may stand in the ledger: what was acknowledged, with or without the last step."""
    trying: tuple[int, list[int]] | None = None
    for words in lines:
        match words:
            case ["try", "reserve", amount]:
                trying = spent, sorted([*held.values(), int(amount)])
            case ["reserved", number, amount]:
                held[int(number)] = int(amount)
                trying = None
            case ["try", "settle", number, used]:
                spent_then = spent + int(used)
                left = {key: value for key, value in held.items() if key != int(number)}
                trying = spent_then, sorted(left.values())
                pending = int(used)
            case ["settled", number]:
                spent += pending
                del held[int(number)]
                trying = None
            case ["refused", _]:
                trying = None
    now = spent, sorted(held.values())
    return [now] if trying is None else [now, trying]


def test_a_killed_process_loses_no_reservation_and_counts_none_twice(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    rng = random.Random(7)
    spent, reserved = 0, list[int]()
    for turn in range(int(request.config.getoption("--ledger-rounds"))):
        lines = killed(tmp_path, turn, rng.uniform(0, 0.08))
        old = {-number: amount for number, amount in enumerate(reserved, start=1)}
        allowed = after(lines, spent, old)
        with closing(open_calls(tmp_path, busy_timeout=10)) as database:
            ledger = RelationalLedger(database)
            with database.reading() as connection:
                found = connection.execute("SELECT nanos FROM reserved").fetchall()
                booked = connection.execute("SELECT sum(nanos) FROM spent").fetchone()[0] or 0
            reserved = sorted(nanos for (nanos,) in found)
            assert (booked, reserved) in allowed, turn
            assert ledger.total("t", DAY) == booked + sum(reserved)
            assert ledger.total("t", DAY + 1) == 0
        spent = booked
