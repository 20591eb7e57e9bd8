"""Which ask runs next, and which may not even wait."""

import pytest

from redask.core.access.ask_shares import (
    ALONE,
    AskBounds,
    AskClaim,
    AskQuota,
    bounds_of,
    next_ask,
    too_many,
)

MIA, BO = AskClaim("local", "mia"), AskClaim("local", "bo")
EVA = AskClaim("other", "eva")
ROOMY = AskBounds(4, 4, 4, 4, 4, 4)
TIGHT = AskBounds(4, 4, 2, 1, 3, 2)


@pytest.mark.parametrize(
    ("running", "waiting", "quota", "parts"),
    [
        (64, 256, AskQuota(), (32, 128, 48, 192)),
        (1, 1, AskQuota(), (1, 1, 1, 1)),
        (0, 0, AskQuota(), (0, 0, 0, 0)),
        (5, 3, AskQuota(), (3, 2, 4, 3)),
        (4, 4, AskQuota(1, 2, 3, 4), (1, 2, 3, 4)),
        (4, 4, ALONE, (4, 4, 4, 4)),  # no part is more than the whole
    ],
)
def test_the_parts_of_a_user_and_a_tenant(
    running: int, waiting: int, quota: AskQuota, parts: tuple[int, ...]
) -> None:
    assert bounds_of(running, waiting, quota) == AskBounds(running, waiting, *parts)


@pytest.mark.parametrize(
    ("waiting", "running", "bounds", "turns", "following"),
    [
        ([], [], ROOMY, {}, None),
        ([MIA], [], ROOMY, {}, 0),
        ([MIA], [BO] * 4, ROOMY, {}, None),  # all run that may
        ([MIA], [MIA] * 2, TIGHT, {}, None),  # a user's part
        ([MIA, BO], [MIA] * 2, TIGHT, {}, 1),
        ([BO], [MIA, MIA, BO], TIGHT, {}, None),  # a tenant's part
        ([BO, EVA], [MIA, MIA, BO], TIGHT, {}, 1),
        ([MIA, EVA], [BO], ROOMY, {}, 1),  # the tenant with the fewest
        ([MIA, MIA, BO], [MIA], ROOMY, {}, 2),  # then the user with the fewest
        ([MIA, EVA], [], ROOMY, {"local": 2, "other": 1}, 1),  # then whose turn was long ago
        ([MIA, EVA], [], ROOMY, {"local": 2}, 1),  # or never
        ([MIA, MIA, BO], [], ROOMY, {MIA: 2, BO: 1, "local": 2}, 2),
        ([BO, MIA], [], ROOMY, {}, 0),  # then who came first
        # a tenant with many users has no more than one with one
        ([BO, EVA], [MIA], ROOMY, {"other": 9, EVA: 9, "local": 1}, 1),
    ],
)
def test_the_next_ask_is(
    waiting: list[AskClaim],
    running: list[AskClaim],
    bounds: AskBounds,
    turns: dict[str | AskClaim, int],
    following: int | None,
) -> None:
    assert next_ask(waiting, running, bounds, turns) == following


@pytest.mark.parametrize(
    ("claim", "admitted", "bounds", "message"),
    [
        (MIA, [], ROOMY, None),
        (MIA, [BO] * 8, ROOMY, "8 asks are running or waiting: try again soon"),
        (MIA, [MIA] * 2, TIGHT, None),
        (MIA, [MIA] * 3, TIGHT, "3 asks of this user are running or waiting: try again soon"),
        (AskClaim("other", "mia"), [MIA] * 3, TIGHT, None),  # a user is one in each tenant
        (BO, [MIA] * 5, TIGHT, "5 asks of this tenant are running or waiting: try again soon"),
        (EVA, [MIA] * 5, TIGHT, None),
    ],
)
def test_who_may_not_even_wait(
    claim: AskClaim, admitted: list[AskClaim], bounds: AskBounds, message: str | None
) -> None:
    refused = too_many(claim, admitted, bounds)
    assert (refused and refused.message) == message
