"""The pace of one tenant's asks: nothing for who is alone, a rate while others ask."""

from itertools import pairwise

import pytest

from redask.core.access import tenant_paces
from redask.core.access.tenant_paces import ACTIVE_SECONDS, BURST_SECONDS, TenantPaces

RATE = 100


def test_a_tenant_that_is_alone_waits_for_nothing() -> None:
    paces = TenantPaces(RATE)
    assert [paces.wait("south", 5.0) for _ in range(10 * RATE)] == [0.0] * 10 * RATE


def test_while_another_tenant_asks_a_burst_begins_at_once_and_the_rest_at_the_rate() -> None:
    paces = TenantPaces(RATE)
    paces.wait("north", 5.0)
    waits = [paces.wait("south", 5.0) for _ in range(3 * RATE)]
    burst = round(RATE * BURST_SECONDS)
    assert waits[:burst] == [0.0] * burst
    assert [later - earlier for earlier, later in pairwise(waits[burst:])] == pytest.approx(
        [1 / RATE] * (3 * RATE - burst - 1)
    )


def test_what_one_tenant_sends_does_not_slow_another() -> None:
    paces = TenantPaces(RATE)
    paces.wait("north", 5.0)
    assert max(paces.wait("south", 5.0) for _ in range(5 * RATE)) > 1
    assert paces.wait("north", 5.0) == 0.0
    assert paces.wait("east", 5.0) == 0.0


def test_the_first_begins_at_once_however_low_the_rate() -> None:
    paces = TenantPaces(1)
    paces.wait("north", 5.0)
    assert [paces.wait("south", 5.0) for _ in range(3)] == [0.0, 1.0, 2.0]


def test_who_waited_has_a_burst_again_after_a_while() -> None:
    paces = TenantPaces(RATE)
    paces.wait("north", 5.0)
    for _ in range(RATE):
        paces.wait("south", 5.0)
    paces.wait("north", 9.0)
    at_once = [paces.wait("south", 9.0) for _ in range(RATE)].count(0.0)
    assert at_once == round(RATE * BURST_SECONDS)  # and no more for having been silent


def test_once_the_others_are_silent_nothing_waits() -> None:
    paces = TenantPaces(1)
    paces.wait("north", 5.0)
    later = 5.0 + ACTIVE_SECONDS
    assert [paces.wait("south", later) for _ in range(2)] == [0.0, 1.0]
    assert [paces.wait("south", later + 0.1) for _ in range(9)] == [0.0] * 9


def test_a_rate_of_nothing_is_none() -> None:
    paces = TenantPaces(0)
    paces.wait("north", 5.0)
    assert [paces.wait("south", 5.0) for _ in range(999)] == [0.0] * 999


def test_tenants_that_are_as_new_are_forgotten() -> None:
    paces = TenantPaces(RATE)
    for number in range(3 * tenant_paces._TENANTS):
        paces.wait(str(number), number * 1.0)
    assert len(paces._begin) <= tenant_paces._TENANTS + 1
