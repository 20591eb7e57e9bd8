"""The limits of running ASKs, with the clock and the ledger that `rules.cost` needs.

Before a call: every limit, and with a cap the worst price is reserved. While tokens come and
after the call: everything but cost, for a paid answer is never withheld. `settle` replaces the
reservation by what was really spent, also when the call failed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from redask.errors import DeadlineExceeded, LimitExceeded
from redask.model import Usage
from redask.ports import Ledger, Provider
from redask.rules import cost
from redask.run import Run


@dataclass(frozen=True, slots=True)
class Budget:
    """What ASKs may use."""

    limits: cost.Limits
    ledger: Ledger
    clock: Callable[[], int]

    @property
    def capped(self) -> bool:
        """Whether a call needs a reservation."""
        return self.limits.daily_cost_cap_usd is not None

    def check(self, run: Run, usage: Usage) -> None:
        """Raise if a limit other than cost is broken."""
        _refuse(self._judge(run, usage, cost.Spent(0, 0.0), cost.Moment.AFTER))

    def reserve(self, run: Run, size: Usage, provider: Provider) -> float:
        """Raise if the cap would be broken by a call of this size. → what is reserved for it."""
        planned = provider.price(size.prompt_tokens, self.limits.max_completion_tokens)
        usage = replace(size, cost_usd=planned)
        day = cost.day_of(self.clock())
        _refuse(
            self.ledger.reserve(
                run.caller.tenant,
                day,
                planned or 0.0,
                lambda spent: self._judge(run, usage, spent, cost.Moment.BEFORE),
            )
        )
        return planned or 0.0

    def settle(self, run: Run, reserved: float, used: Usage) -> None:
        """Note what a call cost in place of what was reserved for it."""
        day = cost.day_of(self.clock())
        self.ledger.settle(run.caller.tenant, day, reserved, used.cost_usd or 0.0)

    def share(self, run: Run, providers_left: int) -> float | None:
        """Seconds for one provider; None for the last, which only the deadline bounds."""
        if providers_left == 1:
            return None
        remaining = self.limits.timeout_ms - self._elapsed(run)
        return cost.share(remaining, providers_left) / 1000

    def _judge(
        self, run: Run, usage: Usage, spent: cost.Spent, moment: cost.Moment
    ) -> cost.Allow | cost.Reject:
        usage = replace(usage, elapsed_ms=self._elapsed(run))
        return cost.check(usage, spent, self.limits, self.clock(), moment)

    def _elapsed(self, run: Run) -> int:
        return (self.clock() - run.started) // 10**6


def _refuse(verdict: cost.Allow | cost.Reject) -> None:
    if isinstance(verdict, cost.Reject):
        broken = DeadlineExceeded if verdict.limit == "timeout_ms" else LimitExceeded
        raise broken(verdict.limit, verdict.detail)
