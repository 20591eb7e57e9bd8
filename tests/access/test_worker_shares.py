"""Who gets the next worker process, and who may not wait for one."""

import pytest

from redask.core.access.worker_shares import (
    IdleProcess,
    Lane,
    WorkerClaim,
    WorkerQuota,
    may_take,
    next_place,
    niceness,
    refusal,
    which_process,
)
from redask.core.errors import LimitExceeded, Overloaded
from redask.engine.processes.worker_usage import WorkerUsage

MIA, BO = WorkerClaim("local", "mia"), WorkerClaim("local", "bo")
EVA = WorkerClaim("other", "eva")
ASKING = WorkerClaim("local", "mia", Lane.ASK)
BO_ASKING = WorkerClaim("local", "bo", Lane.ASK)
CY_ASKING = WorkerClaim("local", "cy", Lane.ASK)
EVA_ASKING = WorkerClaim("other", "eva", Lane.ASK)
OWNING = WorkerClaim("local", "mia", Lane.ADMINISTRATION)
FREE = WorkerQuota()


@pytest.mark.parametrize(
    ("waiting", "held", "size", "following"),
    [
        ([], [], 5, None),
        ([MIA], [], 5, 0),
        ([MIA, MIA], [MIA], 5, 0),  # two of one user
        ([MIA], [MIA, MIA], 5, None),  # and no more
        ([MIA, BO], [MIA, MIA], 5, 1),
        ([BO], [MIA, MIA, EVA], 5, None),  # two processes are for asks
        ([BO, ASKING], [MIA, MIA, EVA], 5, 1),
        ([ASKING], [MIA, MIA, EVA], 5, 0),
        ([MIA, BO], [MIA], 5, 1),  # who holds less goes first
        ([MIA, BO, EVA], [WorkerClaim("local", "cy")], 5, 2),  # and whose tenant does
        ([BO, MIA], [], 5, 0),  # then who came first
        ([MIA], [], 1, 0),  # nobody is kept out of a small pool
        ([MIA], [BO], 2, None),
        ([MIA], [WorkerClaim("other", "eva", Lane.ASK)], 2, 0),  # an ask is no SELECT
        ([MIA], [ASKING], 3, None),
        ([None], [None, MIA], 3, 0),  # who claims nothing waits for nobody's share
        ([MIA, None], [MIA], 5, 1),
        ([ASKING], [ASKING, ASKING], 5, 0),
        ([ASKING], [ASKING, ASKING, ASKING], 5, None),  # one process is for other users
        ([ASKING], [MIA, MIA, ASKING], 5, None),
        ([MIA], [ASKING, ASKING, ASKING], 5, None),
        ([ASKING, BO_ASKING], [MIA, MIA, ASKING], 5, 1),
        ([BO_ASKING], [ASKING, ASKING, ASKING], 5, 0),
        ([BO_ASKING], [ASKING, ASKING, ASKING, BO_ASKING], 5, None),  # one for other tenants
        ([CY_ASKING, EVA_ASKING], [ASKING, ASKING, BO_ASKING, BO], 5, 1),
        ([EVA_ASKING], [ASKING, ASKING, BO_ASKING, BO], 5, 0),
        ([BO_ASKING], [ASKING, ASKING, ASKING, EVA_ASKING], 5, 0),  # only its own counts
        ([BO_ASKING], [ASKING, ASKING, ASKING, OWNING], 5, 0),  # and no administration
        ([ASKING], [], 1, 0),
        ([BO_ASKING, OWNING], [MIA, MIA, ASKING], 5, 1),  # the owner goes first
        ([BO_ASKING, OWNING], [OWNING, OWNING], 5, 0),  # with so many processes
        ([OWNING], [], 1, 0),
    ],
)
def test_the_next_process_goes_to(
    waiting: list[WorkerClaim | None],
    held: list[WorkerClaim | None],
    size: int,
    following: int | None,
) -> None:
    assert next_place(waiting, held, size) == following


@pytest.mark.parametrize(
    ("claim", "held", "given"),
    [
        (ASKING, [], 3),
        (ASKING, [None, EVA], 3),  # another tenant's work changes nothing
        (ASKING, [BO], 5),  # after those whose tenant has none
        (ASKING, [MIA], 8),  # after those who have none
        (ASKING, [ASKING, BO, EVA], 8),
        (None, [None, MIA], 3),
        (MIA, [], 10),
        (MIA, [ASKING], 10),
        (OWNING, [], 10),
    ],
)
def test_on_the_processor_a_call_gives_way_by(
    claim: WorkerClaim | None, held: list[WorkerClaim | None], given: int
) -> None:
    assert niceness(claim, held) == given


def test_a_user_has_so_many_calls_in_the_queue() -> None:
    quota = WorkerQuota(user_waiting=2)
    assert refusal(MIA, [MIA, BO, None], 0, 0, quota) is None
    assert refusal(MIA, [MIA, BO, ASKING], 0, 0, quota) is None
    refused = refusal(MIA, [MIA, BO, MIA, ASKING], 0, 0, quota)
    assert isinstance(refused, Overloaded)
    assert refusal(ASKING, [MIA, MIA, ASKING, ASKING], 0, 0, quota) is None
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
    assert refusal(ASKING, [], 10, 10, quota) is not None
    assert refusal(OWNING, [], 10, 20, quota) is None


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
    for worker in ("b", "c"):
        usage.end(worker, 70)
    assert usage.seconds(BO, 71) == (65, 65)
    assert usage.seconds(BO, 130) == (0, 0)
    assert usage._users.keys() | usage._tenants.keys() == set()  # who has nothing left is forgotten


def test_sums_of_use_are_those_of_all_calls_to_the_last_bit() -> None:
    usage, now = WorkerUsage(), 0.0
    for each in range(1, 5001):
        usage.begin("a", MIA, now)
        now += 0.1 / each
        usage.end("a", now)
    assert list(usage.seconds(MIA, now)) == pytest.approx([now, now])
    assert usage.seconds(MIA, now + 61) == (0, 0)


WARM, THEIRS, SELECTED, FRESH = (
    IdleProcess(ASKING, True),
    IdleProcess(EVA_ASKING, True),
    IdleProcess(MIA, True),
    IdleProcess(None, False),
)


@pytest.mark.parametrize(
    ("claim", "idle", "given"),
    [
        (ASKING, [WARM, SELECTED], 0),
        (ASKING, [WARM, WARM, FRESH], 1),
        (ASKING, [WARM, THEIRS, SELECTED], 0),
        (ASKING, [THEIRS, SELECTED, THEIRS], 1),  # another tenant's is left to it
        (ASKING, [THEIRS, THEIRS, FRESH], 0),  # unless it is the only one that is ready
        (ASKING, [FRESH, SELECTED, FRESH], 1),
        (ASKING, [FRESH, FRESH], 1),
        (MIA, [WARM, SELECTED], 1),
        (MIA, [SELECTED, WARM], 0),
        (MIA, [SELECTED, SELECTED, WARM], 1),
        (MIA, [FRESH, WARM], 0),
        (MIA, [WARM, WARM], 0),
        (MIA, [FRESH, SELECTED, FRESH], 1),
        (MIA, [THEIRS, WARM], 1),  # rather its own tenant's than another's
        (MIA, [WARM, THEIRS], 0),
        (MIA, [THEIRS, THEIRS], 0),
        (OWNING, [SELECTED, WARM], 0),
        (None, [SELECTED, WARM], 0),
    ],
)
def test_of_the_idle_a_call_leaves_asks_the_process_that_served_theirs(
    claim: WorkerClaim | None, idle: list[IdleProcess], given: int
) -> None:
    assert which_process(claim, idle, [EVA]) == given


def test_an_ask_whose_tenant_has_a_process_would_rather_wait_for_one_than_take_anothers() -> None:
    idle = [THEIRS, FRESH]
    assert which_process(ASKING, idle, []) == 0
    assert which_process(ASKING, idle, [BO]) == 1
    assert which_process(ASKING, [THEIRS, WARM, FRESH], [BO]) == 1


def test_the_last_process_that_served_an_ask_is_left_to_asks_while_others_start() -> None:
    assert not may_take(MIA, [WARM], [], [None])
    assert not may_take(None, [WARM], [], [None, None])
    assert may_take(ASKING, [WARM], [], [None])
    assert may_take(MIA, [WARM], [], [])
    assert may_take(MIA, [WARM, WARM], [], [None])
    assert may_take(MIA, [FRESH], [], [None])
    assert may_take(MIA, [], [], [None])


def test_processes_of_another_tenants_asks_are_left_to_it_while_others_start() -> None:
    assert may_take(ASKING, [THEIRS, THEIRS], [EVA, None], [None])  # who has none may have any
    assert not may_take(ASKING, [THEIRS, THEIRS], [BO], [None])
    assert may_take(ASKING, [THEIRS, THEIRS], [BO], [])
    assert may_take(ASKING, [THEIRS, WARM], [BO], [None])
    assert may_take(ASKING, [THEIRS, SELECTED], [BO], [None])
    assert may_take(ASKING, [], [BO], [None])
    assert not may_take(MIA, [THEIRS, THEIRS], [BO], [None])  # a statement no more than an ask
    assert may_take(MIA, [THEIRS, WARM], [BO], [None])
    assert may_take(MIA, [THEIRS, THEIRS], [EVA], [None])


def test_a_tenant_whose_process_is_being_replaced_waits_for_that_one() -> None:
    assert not may_take(ASKING, [THEIRS], [], [BO])
    assert not may_take(ASKING, [THEIRS], [], [None, BO])
    assert may_take(ASKING, [THEIRS], [], [EVA])
    assert may_take(ASKING, [THEIRS, SELECTED], [], [BO])
