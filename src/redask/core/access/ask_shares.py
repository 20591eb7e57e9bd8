"""Which ask runs next: `next_ask`; and which may not even wait: `too_many`.

A server lets `running` asks run at once and `waiting` more wait. One user, and one tenant, may
have a part of both:

    by default      running              waiting
    one user        half of them         half of them
    one tenant      three quarters       three quarters       (rounded up, so at least 1 of any)

Of the asks that may go on, first that of the tenant with the fewest running, then that of the
tenant whose turn was longest ago, then the same by user, then the one that came first. So asks of
tenants, and of the users in each, take turns, however many one of them has waiting. The tenant
comes before the user, as a tenant may have any number of users.

The caller counts, and notes the turns: a number that grows with each ask that begins, by tenant
and by user; who has none yet comes first.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from redask.core.errors import Overloaded


@dataclass(frozen=True, slots=True)
class AskClaim:
    """Whose ask it is."""

    tenant: str = ""
    user: str = ""


@dataclass(frozen=True, slots=True)
class AskQuota:
    """What one user and one tenant may have of a server; None: their part of what all may."""

    user_running: int | None = None
    user_waiting: int | None = None
    tenant_running: int | None = None
    tenant_waiting: int | None = None


ALONE = AskQuota(2**31, 2**31, 2**31, 2**31)  # who has a server to itself


@dataclass(frozen=True, slots=True)
class AskBounds:
    """How many asks run and wait, of all, of one tenant and of one user."""

    running: int
    waiting: int
    user_running: int
    user_waiting: int
    tenant_running: int
    tenant_waiting: int


def bounds_of(running: int, waiting: int, quota: AskQuota) -> AskBounds:
    """The bounds of a server that lets so many run and wait; no part is more than the whole."""

    def part(given: int | None, whole: int, quarters: int) -> int:
        return min(whole, -(-whole * quarters // 4) if given is None else given)

    return AskBounds(
        running,
        waiting,
        part(quota.user_running, running, 2),
        part(quota.user_waiting, waiting, 2),
        part(quota.tenant_running, running, 3),
        part(quota.tenant_waiting, waiting, 3),
    )


def next_ask(
    waiting: Sequence[AskClaim],
    running: Collection[AskClaim],
    bounds: AskBounds,
    turns: Mapping[str | AskClaim, int],
) -> int | None:
    """Which of those who wait goes on, given which asks run; None: nobody may."""
    if len(running) >= bounds.running:
        return None
    users = Counter(running)
    tenants = Counter(each.tenant for each in running)

    def order(at: int) -> tuple[int, int, int, int, int]:
        claim = waiting[at]
        tenant, turn = tenants[claim.tenant], turns.get(claim.tenant, 0)
        return tenant, turn, users[claim], turns.get(claim, 0), at

    return min(
        (
            at
            for at, claim in enumerate(waiting)
            if users[claim] < bounds.user_running and tenants[claim.tenant] < bounds.tenant_running
        ),
        key=order,
        default=None,
    )


def too_many(
    claim: AskClaim, admitted: Collection[AskClaim], bounds: AskBounds
) -> Overloaded | None:
    """Why an ask may not even wait, given those that run and wait."""
    of_user = sum(each == claim for each in admitted)
    of_tenant = sum(each.tenant == claim.tenant for each in admitted)
    for count, most, whose in (
        (len(admitted), bounds.running + bounds.waiting, ""),
        (of_user, bounds.user_running + bounds.user_waiting, " of this user"),
        (of_tenant, bounds.tenant_running + bounds.tenant_waiting, " of this tenant"),
    ):
        if count >= most:
            return Overloaded(f"{count} asks{whose} are running or waiting: try again soon")
    return None
