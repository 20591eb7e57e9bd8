"""rules.auditing.lived_time: small steps count, jumps do not, and it is never far ahead."""

import random

import pytest

from redask.core.rules.auditing.lived_time import DAY_NS, MARGIN, LivedTime, expires, passed

NOON = 20_000 * DAY_NS


def lived(*times: int) -> int:
    state = LivedTime()
    for ts in times:
        state = passed(state, ts)
    return state.lived


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([0], 0),
        ([0, 5], 5),
        ([0, DAY_NS], DAY_NS),
        ([0, DAY_NS + 1], DAY_NS),
        ([0, 4000 * DAY_NS], DAY_NS),
        ([0, 4000 * DAY_NS, 4000 * DAY_NS + 7], DAY_NS + 7),
        ([9, 5, 7, 9, 10], 1),  # out of order by a little
        ([DAY_NS, 0, 5, DAY_NS, DAY_NS + 3], 3),
        ([0, 4000 * DAY_NS, 1], DAY_NS),  # back again: the day was wrong …
        ([0, 4000 * DAY_NS, 1, *(n * DAY_NS for n in range(1, 4))], DAY_NS),  # … made up for
        ([0, 4000 * DAY_NS, 1, *(n * DAY_NS for n in range(1, 5))], 2 * DAY_NS - 1),
        ([0, 4000 * DAY_NS, 1, 4000 * DAY_NS, 2, 4000 * DAY_NS, 3], DAY_NS),
        ([n * 8 * DAY_NS for n in range(50)], 49 * DAY_NS),  # seldom used: a day each time
    ],
)
def test_what_counts(times: list[int], expected: int) -> None:
    assert lived(*(NOON + each for each in times)) == expected


@pytest.mark.parametrize("seed", range(30))
def test_however_the_clock_jumps_the_log_is_not_ahead_by_more_than_the_margin(seed: int) -> None:
    rng = random.Random(seed)
    offsets = [0, -DAY_NS, DAY_NS // 2, 91 * DAY_NS, 4380 * DAY_NS, -20_000 * DAY_NS]
    now, offset, state = NOON, 0, LivedTime()
    known: list[tuple[int, int]] = []
    for _ in range(2000):
        now += rng.randrange(DAY_NS // 2)
        if rng.random() < 0.3:
            offset = rng.choice(offsets)
        state = passed(state, now + offset)
        known.append((now, state.lived))
        for before, then in known[-200::20]:
            assert state.lived - then <= now - before + MARGIN


def test_a_row_expires_when_it_was_kept_for_longer_than_asked_and_the_margin() -> None:
    assert not expires(5, 5 + DAY_NS + MARGIN, DAY_NS)
    assert expires(5, 6 + DAY_NS + MARGIN, DAY_NS)
