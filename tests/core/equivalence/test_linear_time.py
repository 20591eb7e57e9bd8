"""Hostile texts cost no more a character when there are ten times as many."""

import time
from collections.abc import Callable

import pytest

from redask.core.equivalence import moments, quantities
from redask.core.equivalence.identifiers import find_identifiers

_SMALL, _LARGE = 2_000, 20_000
_PARTS = """1 1_ 1, 1. 1/ / 5- 9: 1990- one_ one_hundred_and_ nine_hundred_nine_ march_ 12_march_
    at_nine_ 1_in_ T- a- .1 x-1- ( $ - 1' https:// 1_000_ isbn_1_2 q1_ 20th_and_ 1@ a@b. a/b-
    more_than_ first_century_ 1×10 1e5 ½ ²""".split()
_FINDERS: list[Callable[[str], object]] = [quantities.find, moments.find, find_identifiers]


def seconds(find: Callable[[str], object], text: str) -> float:
    """The best of three, of this process alone."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        find(text)
        best = min(best, time.process_time() - start)
    return best


@pytest.mark.parametrize("find", _FINDERS, ids=["quantities", "moments", "identifiers"])
@pytest.mark.parametrize("part", _PARTS)
def test_the_cost_of_a_character_does_not_grow(find: Callable[[str], object], part: str) -> None:
    part = part.replace("_", " ")
    small = (part * _SMALL)[:_SMALL]
    large = (part * _LARGE)[:_LARGE]
    floor = 0.001  # below this the clock decides
    assert seconds(find, large) < 4 * (_LARGE / _SMALL) * max(seconds(find, small), floor)
