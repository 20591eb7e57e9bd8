"""Embedding elsewhere is allowed, capped and booked like a completion: `LedgerMeter`.

    before    `[[allow]]` for the payer's role, or `Denied`; where there is a cap or a budget, the
              worst that the request could cost is reserved, or `LimitExceeded`
    after     what it used is booked; one that was cut off, at the worst it may have cost; one that
              never reached the host, or was refused by it, at nothing

It is booked under the provider `embedder:NAME`, so the ledger and `redask cost` tell it from
completions. A price that nobody knows breaks every cap, and is counted as unknown. `settled` is
told of each request: whoever keeps a log of them listens there.
"""

import itertools
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from redask.core.errors import Denied, LimitExceeded
from redask.core.model import Notice, Usage
from redask.core.ports import Account, Ledger
from redask.core.rules import cost, failover
from redask.core.rules.spending import budgets, provider_access
from redask.engine.budget import Budget
from redask.engine.spending.payers import Payer, payer_in_force

PREFIX = "embedder:"


@dataclass(frozen=True, slots=True)
class EmbeddingBill:
    """One request as it was settled; `usd` None: nobody knows."""

    account: Account
    model: str
    tokens: int
    usd: float | None
    cut_off: bool


def _nobody(_: EmbeddingBill) -> None:
    pass


@dataclass(frozen=True, slots=True)
class LedgerMeter:
    """`step` is the host and its model, `price` of tokens (prompt, completion)."""

    budget: Budget
    step: failover.Step
    price: Callable[[int, int], float | None]
    allow: Sequence[provider_access.AllowRule] = ()
    settled: Callable[[EmbeddingBill], None] = _nobody
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def model(self) -> str:
        return self.step.model or ""

    def begin(self, most_tokens: int) -> "LedgerCharge":
        """Set aside what a request of at most so many tokens could cost."""
        payer = payer_in_force()
        caller, provider = payer.caller, self.step.provider
        if not provider_access.may_use(caller.role, self.step, self.allow, lambda _: self.model):
            message = f"the role {caller.role!a} may not use {provider} with {self.model!a}"
            raise Denied(f"{message} to embed", detail=provider)
        worst = self.price(most_tokens, 0)
        if worst is None or not math.isfinite(worst):
            worst = None
            unknown = f"nobody knows what {provider} takes for {self.model}: it is not in cost"
            payer.notices[Notice("price_unknown", unknown)] = None
        day = self.budget.ledger.booking_day(cost.day_of(self.budget.clock()))
        account = Account(caller.tenant, day, PREFIX + provider, caller.user, caller.role)
        charge = LedgerCharge(self, payer, account, worst, self._reserve(payer, account, worst))
        with self._lock:
            charge.number = next(self._numbers)
        payer.charges[charge.number] = worst or 0.0
        return charge

    def _reserve(self, payer: Payer, account: Account, worst: float | None) -> int:
        """The number of the reservation; 0 where there is no cap."""
        limits, now = self.budget.limits, cost.start_of(account.day)
        caps = budgets.budgets_of(self.budget.rules, payer.caller, account.day)
        if limits.daily_cost_cap_usd is None and not caps:
            return 0
        nanos = None if worst is None else cost.nanos(worst)
        planned = None if nanos is None else cost.dollars(nanos)

        def check(spent: cost.Spent) -> cost.Allow | cost.Reject:
            verdict = cost.check(Usage(cost_usd=planned), spent, limits, now)
            if isinstance(verdict, cost.Reject):
                return verdict
            return budgets.check(planned, caps, spent.purses)

        ledger: Ledger = self.budget.ledger
        verdict = ledger.reserve(account, nanos or 0, check, [cap.purse for cap in caps])
        if isinstance(verdict, cost.Reject):
            raise LimitExceeded(verdict.limit, verdict.detail)
        return verdict


@dataclass(slots=True)
class LedgerCharge:
    """One request that was begun; it is settled once."""

    meter: LedgerMeter
    payer: Payer
    account: Account
    worst: float | None
    reservation: int
    number: int = 0

    def settle(self, tokens: int) -> None:
        """Book what it used."""
        self._book(tokens, self.meter.price(tokens, 0) if tokens else 0.0, cut_off=False)

    def cut_off(self, most_tokens: int) -> None:
        """Book the worst it may have cost: the host may have read all of it."""
        self._book(most_tokens, self.worst, cut_off=True)

    def _book(self, tokens: int, usd: float | None, *, cut_off: bool) -> None:
        ledger: Ledger = self.meter.budget.ledger
        nanos = cost.nanos(usd or 0.0)
        self.payer.charges[self.number] = usd or 0.0
        if self.reservation:
            ledger.settle(self.reservation, nanos)
        elif nanos or usd is None:
            ledger.add(self.account, nanos, unpriced=int(usd is None))
        self.meter.settled(EmbeddingBill(self.account, self.meter.model, tokens, usd, cut_off))
