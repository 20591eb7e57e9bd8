"""Who gets the next free worker process: `next_place`; and who may not even wait: `refusal`.

A pool of N processes runs the SELECTs of many users, and what asks need of the tables.

    calls                       hold at once at most
    SELECTs of one user         N - 2, at least 1
    SELECTs of all users        N - 1, at least 1
    calls of asks               N

So nobody's SELECTs keep another's from running, and no SELECTs keep an ask from being planned.
Of the calls that may go on, first the one whose user holds the fewest processes, then the one
whose tenant does, then the one that came first.

A user has at most `waiting` calls in the queue, and at most `seconds_a_minute` of processes in
the last minute, if that is set; the same for a tenant. The caller counts, and keeps the clock.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from redask.core.errors import AskError, LimitExceeded, Overloaded


class Lane(StrEnum):
    """What a process is wanted for."""

    ASK = "ask"
    SELECT = "select"


@dataclass(frozen=True, slots=True)
class WorkerClaim:
    """Who wants a process, for what."""

    tenant: str
    user: str
    lane: Lane = Lane.SELECT

    @property
    def owner(self) -> tuple[str, str]:
        """The user, who is one in each tenant."""
        return self.tenant, self.user


@dataclass(frozen=True, slots=True)
class WorkerQuota:
    """What one user, and one tenant, may have of a pool; None: as much as there is."""

    user_waiting: int = 48
    user_seconds: float | None = None
    tenant_seconds: float | None = None


def next_place(
    waiting: Sequence[WorkerClaim | None], held: Collection[WorkerClaim | None], size: int
) -> int | None:
    """Which of those who wait goes on, given who holds a process; None: nobody may."""
    users = Counter(each.owner for each in held if each is not None)
    tenants = Counter(each.tenant for each in held if each is not None)
    selecting = Counter(each.owner for each in held if each and each.lane is Lane.SELECT)

    def may_go_on(claim: WorkerClaim | None) -> bool:
        if claim is None or claim.lane is Lane.ASK:
            return True
        return selecting.total() < max(1, size - 1) and selecting[claim.owner] < max(1, size - 2)

    def order(at: int) -> tuple[int, int, int]:
        claim = waiting[at]
        return (users[claim.owner], tenants[claim.tenant], at) if claim else (0, 0, at)

    return min(
        (at for at, claim in enumerate(waiting) if may_go_on(claim)), key=order, default=None
    )


def refusal(
    claim: WorkerClaim,
    waiting: Collection[WorkerClaim | None],
    user_seconds: float,
    tenant_seconds: float,
    quota: WorkerQuota,
) -> AskError | None:
    """Why a call may not even wait; the seconds are those of the last minute."""
    queued = sum(each is not None and each.owner == claim.owner for each in waiting)
    if queued >= quota.user_waiting:
        return Overloaded(f"{queued} statements of this user are waiting: try again soon")
    for used, most, whose in (
        (user_seconds, quota.user_seconds, "user"),
        (tenant_seconds, quota.tenant_seconds, "tenant"),
    ):
        if most is not None and used >= most:
            setting = f"select.{whose}_seconds_a_minute"
            message = f"this {whose} has had its {most:g} s of processing in a minute ({setting})"
            return LimitExceeded(setting, message, detail=setting)
    return None
