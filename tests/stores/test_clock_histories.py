"""Under a clock that jumps nothing is pruned wrongly, and nothing that is missing is approved.

`--file-histories` says how many steps of random histories are played; `make histories` plays 2,000.
"""

from pathlib import Path

import pytest
from clock_histories import play_clock

import redask
from redask.core.rules.auditing.lived_time import DAY_NS

SEEDS = 4


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_clock_that_jumps_loses_no_row_and_hides_no_loss(
    request: pytest.FixtureRequest, tmp_path: Path, seed: int
) -> None:
    steps = max(50, int(request.config.getoption("--file-histories")) // SEEDS)
    played = play_clock(seed, steps, tmp_path)
    assert played.wrong == []
    assert played.jumps > steps // 50
    assert played.broken > 0, "nothing was taken out of a log"
    assert played.pruned > 0 or steps < 200, "nothing was old enough"


def test_a_cached_answer_survives_no_clock_that_jumps(tmp_path: Path) -> None:
    """Stored while the clock stood in 2038, it would have been fresh for twelve years."""
    now = [0]

    def hit(day: float) -> bool:
        now[0] = int((20_000 + day) * DAY_NS)
        return db.ask("When does the ferry leave?", cache={"ttl": "1h"}).cache_hit

    with redask.open(tmp_path, embedder="none", clock=lambda: now[0]) as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        times = [12 * 365, 12 * 365 + 0.01, 0, 0.01, 0.1, 91, 91.01, 90, 90.01]
        found = [hit(each) for each in times]
    assert found == [False, True, False, True, False, False, True, False, True]
