"""How long each user and tenant had worker processes in the last minute: `WorkerUsage`."""

from collections import deque

from redask.core.access.worker_shares import WorkerClaim

MINUTE = 60.0


class WorkerUsage:
    """Times of use; not for several threads at once."""

    def __init__(self) -> None:
        self._past: deque[tuple[float, float, WorkerClaim]] = deque()  # ended, seconds, whose
        self._running: dict[object, tuple[float, WorkerClaim]] = {}

    def begin(self, worker: object, claim: WorkerClaim, now: float) -> None:
        """A worker is given to someone."""
        self._running[worker] = now, claim

    def end(self, worker: object, now: float) -> None:
        """A worker is given back; nobody may have had it."""
        began = self._running.pop(worker, None)
        if began is not None:
            self._past.append((now, now - began[0], began[1]))

    def seconds(self, claim: WorkerClaim, now: float) -> tuple[float, float]:
        """What the claim's user and tenant had in the last minute, with what still runs."""
        while self._past and self._past[0][0] <= now - MINUTE:
            self._past.popleft()
        used = [(seconds, whose) for _, seconds, whose in self._past]
        used += [(now - began, whose) for began, whose in self._running.values()]
        tenant = [(each, whose) for each, whose in used if whose.tenant == claim.tenant]
        return (
            sum(each for each, whose in tenant if whose.user == claim.user),
            sum(each for each, _ in tenant),
        )
