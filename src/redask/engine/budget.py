"""The limits of running ASKs, with the clock and the ledger that `rules.cost` needs.

Before a call: every limit, and with a cap or a budget the worst price is reserved: no prompt has
more tokens than bytes, no completion more than its limit. While tokens come and after the call:
everything but cost, for a paid answer is never withheld. `settle` replaces the reservation by what
was really spent, also when the call failed; it is booked on the day the call began, which is the
ledger's where there is a cap: nodes whose clocks differ spend under one. What a call used is
what it `reported`, or was `billed` when it brought no answer: one that was cut off, the worst it
may have cost. A price that nobody knows is None, and counted as such.
"""

import asyncio
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import NoReturn

from redask.core import token_count
from redask.core.errors import DeadlineExceeded, LimitExceeded, ProviderFailed
from redask.core.model import Notice, Prompt, Usage
from redask.core.ports import Account, Completion, Ledger, Provider
from redask.core.rules import cost
from redask.core.rules.spending import budgets
from redask.engine.ask_state import AskState

_FRAME = 64  # tokens that a chat template adds around the messages, generously


@dataclass(frozen=True, slots=True)
class Booking:
    """Where a call will be booked, and the number of its reservation; 0 if it has none."""

    account: Account
    reservation: int = 0


@dataclass(frozen=True, slots=True)
class Budget:
    """What ASKs may use."""

    limits: cost.Limits
    ledger: Ledger
    clock: Callable[[], int]
    rules: Sequence[budgets.BudgetRule] = ()

    def capped(self, run: AskState) -> bool:
        """Whether a call needs a reservation."""
        caps = budgets.budgets_of(self.rules, run.caller, cost.day_of(self.clock()))
        return self.limits.daily_cost_cap_usd is not None or bool(caps)

    def check(self, run: AskState, usage: Usage) -> None:
        """Raise if a limit other than cost is broken."""
        verdict = self._judge(run, usage, cost.Spent(0, 0.0), cost.CheckMoment.AFTER)
        if isinstance(verdict, cost.Reject):
            _refuse(verdict)

    def booking(self, run: AskState, provider: Provider) -> Booking:
        """Where a call that begins now is booked."""
        return self._booking(run, provider, cost.day_of(self.clock()))

    def reserve(self, run: AskState, size: Usage, prompt: Prompt, provider: Provider) -> Booking:
        """Raise if a cap would be broken by the worst this call could cost; else reserve it."""
        day = self.ledger.booking_day(cost.day_of(self.clock()))
        booking = self._booking(run, provider, day)
        price = self.worst(size, prompt, provider)
        nanos = None if price is None or not math.isfinite(price) else cost.nanos(price)
        usage = replace(size, cost_usd=None if nanos is None else cost.dollars(nanos))
        caps = budgets.budgets_of(self.rules, run.caller, day)

        def check(spent: cost.Spent) -> cost.Allow | cost.Reject:
            verdict = self._judge(run, usage, spent, cost.CheckMoment.BEFORE)
            if isinstance(verdict, cost.Reject):
                return verdict
            return budgets.check(usage.cost_usd, caps, spent.purses)

        purses = [cap.purse for cap in caps]
        verdict = self.ledger.reserve(booking.account, nanos or 0, check, purses)
        if isinstance(verdict, cost.Reject):
            _refuse(verdict)
        return replace(booking, reservation=verdict)

    def worst(self, size: Usage, prompt: Prompt, provider: Provider) -> float | None:
        """The most that a call could cost; None if nobody knows its price."""
        most = max(size.prompt_tokens, len((prompt.system + prompt.user).encode()) + _FRAME)
        return provider.price(most, self.limits.max_completion_tokens)

    def settle(self, booking: Booking, used: Usage) -> None:
        """Book what a call cost in place of what was reserved for it."""
        nanos = cost.nanos(used.cost_usd or 0.0)
        if booking.reservation:
            self.ledger.settle(booking.reservation, nanos)
        elif nanos or used.cost_usd is None:
            self.ledger.add(booking.account, nanos, unpriced=int(used.cost_usd is None))

    def share(self, run: AskState, providers_left: int) -> float | None:
        """Seconds for one provider; None for the last, which only the deadline bounds."""
        if providers_left == 1:
            return None
        remaining = self.limits.timeout_ms - self._elapsed(run)
        return cost.share(remaining, providers_left) / 1000

    @staticmethod
    def _booking(run: AskState, provider: Provider, day: int) -> Booking:
        who = run.caller
        return Booking(Account(who.tenant, day, provider.name, who.user, who.role))

    def _judge(
        self, run: AskState, usage: Usage, spent: cost.Spent, moment: cost.CheckMoment
    ) -> cost.Allow | cost.Reject:
        usage = replace(usage, elapsed_ms=self._elapsed(run))
        return cost.check(usage, spent, self.limits, cost.start_of(spent.day), moment)

    def _elapsed(self, run: AskState) -> int:
        return (self.clock() - run.started) // 10**6


def reported(
    completion: Completion, size: Usage, provider: Provider
) -> tuple[Usage, tuple[Notice, ...]]:
    """What a call used, as reported, else as estimated and with a warning."""
    prompt_tokens, completion_tokens = completion.prompt_tokens, completion.completion_tokens
    warnings: tuple[Notice, ...] = ()
    if prompt_tokens is None or completion_tokens is None:
        warnings = (Notice("usage_estimated", f"{provider.name} reported no usage"),)
        prompt_tokens, completion_tokens = size.prompt_tokens, token_count.estimate(completion.text)
    used = _priced(prompt_tokens, completion_tokens, provider)
    if used.cost_usd is None:
        unknown = f"nobody knows what {provider.name} takes for {provider.model}: it is not in cost"
        warnings = (*warnings, Notice("price_unknown", unknown))
    return used, warnings


def billed(error: BaseException, size: Usage, provider: Provider, worst: float | None) -> Usage:
    """What a call without an answer cost: what it says, else the worst it may have cost.

    A call that we cut off was read by the provider, who may have written the whole answer; one
    that failed before it said anything was not billed. Tokens are those that are known.
    """
    if isinstance(error, ProviderFailed) and error.billed is not None:
        return _priced(*error.billed, provider)
    cut_off = isinstance(error, TimeoutError | asyncio.CancelledError)
    if not size.completion_tokens and not cut_off:
        return Usage()
    return replace(_priced(size.prompt_tokens, size.completion_tokens, provider), cost_usd=worst)


def _priced(prompt_tokens: int, completion_tokens: int, provider: Provider) -> Usage:
    price = provider.price(prompt_tokens, completion_tokens)
    return Usage(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens, cost_usd=price)


def _refuse(verdict: cost.Reject) -> NoReturn:
    broken = DeadlineExceeded if verdict.limit == "timeout_ms" else LimitExceeded
    raise broken(verdict.limit, verdict.detail)


def spending_report(
    ledger: Ledger, tenant: str | None, now: int, days: int
) -> list[dict[str, object]]:
    """What a tenant (None: all) spent, by day and provider, newest first, today included.

    `unpriced_calls` are those whose price nobody knows: no amount has them.
    """
    since = cost.day_of(now) - days + 1
    return [
        {
            "day": (date(1970, 1, 1) + timedelta(line.account.day)).isoformat(),
            "provider": line.account.provider,
            "reserved_usd": line.reserved,
            "spent_usd": line.spent,
            "tenant": line.account.tenant,
            "unpriced_calls": line.unpriced,
        }
        for line in ledger.report(since, tenant)
    ]
