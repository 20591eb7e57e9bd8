"""How long each user and tenant had worker processes in the last minute: `WorkerUsage`.

Sums are kept as they change, in whole nanoseconds: a call costs the same after one call and after
the ten thousands of a busy minute.
"""

from collections import Counter, deque

from redask.core.access.worker_shares import WorkerClaim

MINUTE = 60.0
_NANOSECONDS = 10**9


class WorkerUsage:
    """Times of use; not for several threads at once."""

    def __init__(self) -> None:
        self._past: deque[tuple[float, int, WorkerClaim]] = deque()  # ended, how long, whose
        self._users: Counter[tuple[str, str]] = Counter()  # sums of what is past
        self._tenants: Counter[str] = Counter()
        self._running: dict[object, tuple[float, WorkerClaim]] = {}

    def begin(self, worker: object, claim: WorkerClaim, now: float) -> None:
        """A worker is given to someone."""
        self._running[worker] = now, claim

    def end(self, worker: object, now: float) -> None:
        """A worker is given back; nobody may have had it."""
        self._forget(now)
        began = self._running.pop(worker, None)
        if began is not None:
            used = round((now - began[0]) * _NANOSECONDS)
            self._past.append((now, used, began[1]))
            self._users[began[1].owner] += used
            self._tenants[began[1].tenant] += used

    def seconds(self, claim: WorkerClaim, now: float) -> tuple[float, float]:
        """What the claim's user and tenant had in the last minute, with what still runs."""
        self._forget(now)
        user = self._users[claim.owner] / _NANOSECONDS
        tenant = self._tenants[claim.tenant] / _NANOSECONDS
        for began, whose in self._running.values():
            if whose.tenant == claim.tenant:
                tenant += now - began
                user += (now - began) * (whose.user == claim.user)
        return user, tenant

    def _forget(self, now: float) -> None:
        """Take off what is older than a minute, and whoever has nothing left."""
        while self._past and self._past[0][0] <= now - MINUTE:
            _, used, whose = self._past.popleft()
            self._users[whose.owner] -= used
            self._tenants[whose.tenant] -= used
            if not self._users[whose.owner]:
                del self._users[whose.owner]
            if not self._tenants[whose.tenant]:
                del self._tenants[whose.tenant]
