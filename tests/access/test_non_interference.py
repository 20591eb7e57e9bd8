"""What a principal may not read changes no byte of what that principal gets.

Each round makes a database at random (see `worlds`). What its principal can read is compared
with what the policies mean, worked out a second time; all that the principal gets, with what a
twin gives that holds only what the principal can read, under no policy. Then what the principal
may not read is changed at random, and nothing may change. `--access-rounds` says how many
databases; `make test-access` makes 10,000.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from tests.access.checking import problem

_SHOWN_EVERY = 500


def test_nothing_depends_on_what_a_principal_may_not_read(
    request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str]
) -> None:
    rounds = int(request.config.getoption("--access-rounds"))
    found = []
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        results = pool.map(problem, range(rounds), chunksize=5)
        for done, each in enumerate(results, start=1):
            if each:
                found.append(each)
            if done % _SHOWN_EVERY == 0:
                with capfd.disabled():
                    sys.stderr.write(f"\n{done:,} of {rounds:,}, {len(found)} problems")
    assert found == []
