"""Who gets the next free worker process: `next_place`; which one: `which_process`; how far its
work gives way to that of others: `niceness`; and who may not even wait: `refusal`.

A pool of N processes runs the SELECTs of many users, what asks need (searches, plans, the built-in
answerer), and what owners and the server itself need (types, catching up).

    calls                               hold at once at most
    SELECTs of one user                 N - 3, at least 1
    SELECTs of all users                N - 2, at least 1
    SELECTs and asks of one user        N - 2, at least 1
    SELECTs and asks of one tenant      N - 1, at least 1
    asks of all                         N
    administration                      N - 3, at least 1; before the others

So nobody's statements and questions keep another's from running, a tenant's not those of another
tenant, however many users it has; no SELECTs keep an ask from being planned, and none of both keeps
the owner out.
Of the calls that may go on, first the one whose user holds the fewest processes, then the one
whose tenant does, then the one that came first.

A user has at most `waiting` SELECTs in the queue (of asks a server admits so many), and at most
`seconds_a_minute` of processes in the last minute, if that is set; the same for a tenant. Neither
holds for administration. The caller counts, and keeps the clock.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from redask.core.errors import AskError, LimitExceeded, Overloaded

ASK_NICENESS = 3  # after the server itself, which answers for its health and signs people in
SAME_TENANT, SAME_USER = 2, 3
OTHER_NICENESS = 10


class Lane(StrEnum):
    """What a process is wanted for."""

    ASK = "ask"
    SELECT = "select"
    ADMINISTRATION = "administration"


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
class IdleProcess:
    """A process that waits for work: whom and what it served last, and whether it has started."""

    served: WorkerClaim | None
    ready: bool

    def has_asked(self, tenant: str | None = None) -> bool:
        """Whether an ask was its last call, of this tenant or of any."""
        if self.served is None or self.served.lane is not Lane.ASK:
            return False
        return tenant is None or self.served.tenant == tenant


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
    working = [each for each in held if each and each.lane is not Lane.ADMINISTRATION]
    selecting = Counter(each.owner for each in working if each.lane is Lane.SELECT)
    of_user = Counter(each.owner for each in working)
    of_tenant = Counter(each.tenant for each in working)
    administering = sum(each is not None and each.lane is Lane.ADMINISTRATION for each in held)
    fewest, few, most = (max(1, size - spared) for spared in (3, 2, 1))

    def may_go_on(claim: WorkerClaim | None) -> bool:
        if claim is None:
            return True
        if claim.lane is Lane.ADMINISTRATION:
            return administering < fewest
        if of_user[claim.owner] >= few or of_tenant[claim.tenant] >= most:
            return False
        is_ask = claim.lane is Lane.ASK
        return is_ask or (selecting.total() < few and selecting[claim.owner] < fewest)

    def order(at: int) -> tuple[bool, int, int, int]:
        claim = waiting[at]
        if claim is None:
            return False, 0, 0, at
        is_late = claim.lane is not Lane.ADMINISTRATION
        return is_late, users[claim.owner], tenants[claim.tenant], at

    return min(
        (at for at, claim in enumerate(waiting) if may_go_on(claim)), key=order, default=None
    )


def which_process(
    claim: WorkerClaim | None, idle: Sequence[IdleProcess], having: Collection[WorkerClaim | None]
) -> int:
    """Which of the idle processes, the one used last at the end, such a call is given.

        an ask           1. one that last served an ask of its tenant, which has its index open
                         2. one that served none and is ready, or need not be: its tenant has one
                         3. one that is ready: another tenant's, used longest ago
        anything else    1. one that served no ask and is ready    2. one that served none
                         3. one that last served an ask of its tenant
                         4. another tenant's, used longest ago

    So a flood of statements, or of one tenant's questions, whose processes are ended and start
    anew, does not take from the others the process that has all open. `having` are those who hold
    a process, and those whose process was ended and is being replaced.
    """
    is_ask, tenant = claim is not None and claim.lane is Lane.ASK, claim.tenant if claim else ""
    has_another = _has_one(tenant, having)

    def rank(at: int) -> tuple[bool, bool, bool, int]:
        one = idle[at]
        is_free = not one.has_asked()
        is_own = one.has_asked(tenant)
        if not is_ask:
            return is_free, is_own, one.ready, at if is_free else -at
        is_for_it = is_free and (one.ready or has_another)
        return is_own, is_for_it, one.ready, at if is_own or is_free else -at

    return max(range(len(idle)), key=rank)


def niceness(claim: WorkerClaim | None, held: Collection[WorkerClaim | None]) -> int:
    """How far a call gives way on the processor, as `nice` counts, given who holds a process.

        an ask, or what nobody claims                3
        … whose tenant holds a process already       2 more
        … whose user does                            3 more
        anything else                                10

    Scheduled so, an ask has most of a core beside any number of statements, and beside other
    users' many questions; while nobody else wants the processor, it makes no difference.
    """
    if claim is None:
        return ASK_NICENESS
    if claim.lane is not Lane.ASK:
        return OTHER_NICENESS
    others = [each for each in held if each is not None]
    by_tenant = SAME_TENANT * any(each.tenant == claim.tenant for each in others)
    by_user = SAME_USER * any(each.owner == claim.owner for each in others)
    return ASK_NICENESS + by_tenant + by_user


def may_take(
    claim: WorkerClaim | None,
    idle: Sequence[IdleProcess],
    held: Collection[WorkerClaim | None],
    replaced: Collection[WorkerClaim | None],
) -> bool:
    """Whether such a call may have an idle process now, or waits for one that is being started.

    The last one that served an ask is left to asks; those that served asks of other tenants are
    left to these by a tenant that has a process already, or had one that is being replaced: its
    own calls, all ended at their deadline, would take the last warm process of the others.
    `replaced` has for each process that starts who was served by the one before it, if any.
    """
    if not idle or not replaced:
        return True
    is_ask, tenant = claim is not None and claim.lane is Lane.ASK, claim.tenant if claim else ""
    if not is_ask and len(idle) == 1 and idle[0].has_asked():
        return False
    if not _has_one(tenant, [*held, *replaced]):
        return True
    return any(not one.has_asked() or one.has_asked(tenant) for one in idle)


def _has_one(tenant: str, having: Collection[WorkerClaim | None]) -> bool:
    return any(each is not None and each.tenant == tenant for each in having)


def refusal(
    claim: WorkerClaim,
    waiting: Collection[WorkerClaim | None],
    user_seconds: float,
    tenant_seconds: float,
    quota: WorkerQuota,
) -> AskError | None:
    """Why a call may not even wait; the seconds are those of the last minute."""
    same = (claim.owner, Lane.SELECT)
    queued = sum(each is not None and (each.owner, each.lane) == same for each in waiting)
    if claim.lane is Lane.SELECT and queued >= quota.user_waiting:
        return Overloaded(f"{queued} statements of this user are waiting: try again soon")
    if claim.lane is Lane.ADMINISTRATION:
        return None
    for used, most, whose in (
        (user_seconds, quota.user_seconds, "user"),
        (tenant_seconds, quota.tenant_seconds, "tenant"),
    ):
        if most is not None and used >= most:
            setting = f"select.{whose}_seconds_a_minute"
            message = f"this {whose} has had its {most:g} s of processing in a minute ({setting})"
            return LimitExceeded(setting, message, detail=setting)
    return None
