"""The limits of running ASKs, with the clock and the ledger that `rules.cost` needs.

Before a call: every limit, and with a cap the worst price is reserved: no prompt has more tokens
than bytes, no completion more than its limit. While tokens come and after the call: everything
but cost, for a paid answer is never withheld. `settle` replaces the reservation by what was
really spent, also when the call failed; it is booked on the day the call began. What a call used
is what it `reported`, or was `billed` when it brought no answer.
"""

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn

from redask.core import token_count
from redask.core.errors import DeadlineExceeded, LimitExceeded, ProviderFailed
from redask.core.model import Notice, Prompt, Usage
from redask.core.ports import Account, Completion, Ledger, Provider
from redask.core.rules import cost
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

    @property
    def capped(self) -> bool:
        """Whether a call needs a reservation."""
        return self.limits.daily_cost_cap_usd is not None

    def check(self, run: AskState, usage: Usage) -> None:
        """Raise if a limit other than cost is broken."""
        verdict = self._judge(run, usage, cost.Spent(0, 0.0), cost.CheckMoment.AFTER)
        if isinstance(verdict, cost.Reject):
            _refuse(verdict)

    def booking(self, run: AskState, provider: Provider) -> Booking:
        """Where a call that begins now is booked."""
        return Booking(Account(run.caller.tenant, cost.day_of(self.clock()), provider.name))

    def reserve(self, run: AskState, size: Usage, prompt: Prompt, provider: Provider) -> Booking:
        """Raise if the cap would be broken by the worst this call could cost; else reserve it."""
        booking = self.booking(run, provider)
        most = max(size.prompt_tokens, len((prompt.system + prompt.user).encode()) + _FRAME)
        price = provider.price(most, self.limits.max_completion_tokens)
        nanos = None if price is None or not math.isfinite(price) else cost.nanos(price)
        usage = replace(size, cost_usd=None if nanos is None else cost.dollars(nanos))
        verdict = self.ledger.reserve(
            booking.account,
            nanos or 0,
            lambda spent: self._judge(run, usage, spent, cost.CheckMoment.BEFORE),
        )
        if isinstance(verdict, cost.Reject):
            _refuse(verdict)
        return replace(booking, reservation=verdict)

    def settle(self, booking: Booking, used: Usage) -> None:
        """Book what a call cost in place of what was reserved for it."""
        nanos = cost.nanos(used.cost_usd or 0.0)
        if booking.reservation:
            self.ledger.settle(booking.reservation, nanos)
        elif nanos:
            self.ledger.add(booking.account, nanos)

    def share(self, run: AskState, providers_left: int) -> float | None:
        """Seconds for one provider; None for the last, which only the deadline bounds."""
        if providers_left == 1:
            return None
        remaining = self.limits.timeout_ms - self._elapsed(run)
        return cost.share(remaining, providers_left) / 1000

    def _judge(
        self, run: AskState, usage: Usage, spent: cost.Spent, moment: cost.CheckMoment
    ) -> cost.Allow | cost.Reject:
        usage = replace(usage, elapsed_ms=self._elapsed(run))
        return cost.check(usage, spent, self.limits, self.clock(), moment)

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
    return _priced(prompt_tokens, completion_tokens, provider), warnings


def billed(error: BaseException, size: Usage, provider: Provider) -> Usage:
    """What a call without an answer cost: what it says, else the prompt and what had come.

    A call that we cut off was read by the provider; one that failed before it said anything
    was not billed.
    """
    if isinstance(error, ProviderFailed) and error.billed is not None:
        return _priced(*error.billed, provider)
    cut_off = isinstance(error, TimeoutError | asyncio.CancelledError)
    if not size.completion_tokens and not cut_off:
        return Usage()
    return _priced(size.prompt_tokens, size.completion_tokens, provider)


def _priced(prompt_tokens: int, completion_tokens: int, provider: Provider) -> Usage:
    price = provider.price(prompt_tokens, completion_tokens) or 0.0
    return Usage(prompt_tokens=prompt_tokens, completion_tokens=completion_tokens, cost_usd=price)


def _refuse(verdict: cost.Reject) -> NoReturn:
    broken = DeadlineExceeded if verdict.limit == "timeout_ms" else LimitExceeded
    raise broken(verdict.limit, verdict.detail)
