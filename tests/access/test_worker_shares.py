"""Who gets the next worker process, and who may not wait for one."""

import pytest

from redask.core.access.worker_shares import (
    Lane,
    WorkerClaim,
    WorkerQuota,
    next_place,
    refusal,
)
from redask.core.errors import LimitExceeded, Overloaded
from redask.engine.processes.worker_usage import WorkerUsage

MIA, BO = WorkerClaim("local", "mia"), WorkerClaim("local", "bo")
EVA = WorkerClaim("other", "eva")
ASKING = WorkerClaim("local", "mia", Lane.ASK)
FREE = WorkerQuota()


@pytest.mark.parametrize(
    ("waiting", "held", "size", "following"),
    [
        ([], [], 4, None),
        ([MIA], [], 4, 0),
        ([MIA, MIA], [MIA], 4, 0),  # two of one user
        ([MIA], [MIA, MIA], 4, None),  # and no more
        ([MIA, BO], [MIA, MIA], 4, 1),
        ([BO], [MIA, MIA, EVA], 4, None),  # one process is for asks
        ([BO, ASKING], [MIA, MIA, EVA], 4, 1),
        ([ASKING], [MIA, MIA, EVA], 4, 0),
        ([MIA, BO], [MIA], 4, 1),  # who holds less goes first
        ([MIA, BO, EVA], [WorkerClaim("local", "cy")], 4, 2),  # and whose tenant does
        ([BO, MIA], [], 4, 0),  # then who came first
        ([MIA], [], 1, 0),  # nobody is kept out of a small pool
        ([MIA], [BO], 2, None),
        ([MIA], [ASKING], 3, 0),  # an ask does not count as a SELECT
        ([None], [None, MIA], 3, 0),  # who claims nothing waits for nobody's share
        ([MIA, None], [MIA], 4, 1),
    ],
)
def test_the_next_process_goes_to(
    waiting: list[WorkerClaim | None],
    held: list[WorkerClaim | None],
    size: int,
    following: int | None,
) -> None:
    assert next_place(waiting, held, size) == following


def test_a_user_has_so_many_calls_in_the_queue() -> None:
    quota = WorkerQuota(user_waiting=2)
    assert refusal(MIA, [MIA, BO, None], 0, 0, quota) is None
    refused = refusal(MIA, [MIA, BO, ASKING], 0, 0, quota)
    assert isinstance(refused, Overloaded)
    assert refused.message == "2 statements of this user are waiting: try again soon"
    assert refusal(WorkerClaim("other", "mia"), [MIA, MIA], 0, 0, quota) is None


def test_users_and_tenants_have_so_many_seconds_a_minute() -> None:
    assert refusal(MIA, [], 1000, 1000, FREE) is None
    quota = WorkerQuota(user_seconds=10, tenant_seconds=20)
    assert refusal(MIA, [], 9.9, 19.9, quota) is None
    refused = refusal(MIA, [], 10, 10, quota)
    assert isinstance(refused, LimitExceeded)
    assert refused.message == (
        "this user has had its 10 s of processing in a minute (select.user_seconds_a_minute)"
    )
    refused = refusal(MIA, [], 0, 20, quota)
    assert refused is not None
    assert "select.tenant_seconds_a_minute" in refused.message


def test_use_is_counted_for_a_minute_with_what_still_runs() -> None:
    usage = WorkerUsage()
    usage.begin("a", MIA, 0)
    usage.begin("b", BO, 5)
    usage.begin("c", EVA, 5)
    assert usage.seconds(MIA, 10) == (10, 15)
    usage.end("a", 10)
    usage.end("never begun", 10)
    assert usage.seconds(MIA, 20) == (10, 25)
    assert usage.seconds(EVA, 20) == (15, 15)
    assert usage.seconds(MIA, 69) == (10, 74)
    assert usage.seconds(MIA, 70) == (0, 65)  # a minute after its end
