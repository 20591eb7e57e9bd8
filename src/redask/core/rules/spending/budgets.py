"""What users and roles may spend beside their tenant: `[[budget]]` in the settings.

    [[budget]]
    roles = ["intern"]      whom it is about; `*` is everybody
    per = "user"            each of them; or "role": all of a role together
    day_usd = 1.0           on one UTC day
    month_usd = 10.0        in one UTC month; one of the two, or both

Every budget that is about a caller holds, and the tenant's cap (`ask.daily_cost_cap_usd`) with
them. As there: *at* the budget is allowed, a call is reserved at the worst it could cost, and an
unknown price breaks every budget. `budgets_of` a caller gives the sums that the ledger is asked
for; `check` judges them inside the transaction that reserves.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from redask.core import values
from redask.core.errors import Misconfigured
from redask.core.model import Caller
from redask.core.rules.cost import Allow, Reject
from redask.core.text import name_fault

LIMIT = "budget"
_ANY = "*"
_PER = ("user", "role")
_AMOUNTS = ("day_usd", "month_usd")
_KEYS = ("roles", "per", *_AMOUNTS)
_amount = values.real(0, 2**53)


@dataclass(frozen=True, slots=True)
class BudgetRule:
    """What each of some, or all of a role, may spend; None is no bound."""

    roles: frozenset[str]
    per: str
    day_usd: float | None = None
    month_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Purse:
    """Whose spending is summed up in a tenant, by user or by role, from a UTC day on."""

    by: str
    name: str
    since: int


@dataclass(frozen=True, slots=True)
class BudgetCap:
    """What a purse may hold, and how it is called."""

    purse: Purse
    usd: float
    called: str


def read_rules(document: object) -> tuple[BudgetRule, ...]:
    """The tables of `[[budget]]`, or `Misconfigured` that says what is wrong and where."""
    if not isinstance(document, list):
        raise Misconfigured("budget must be a list of tables: [[budget]]", detail="budget")
    return tuple(_rule(f"budget[{number}]", each) for number, each in enumerate(document))


def budgets_of(rules: Sequence[BudgetRule], caller: Caller, day: int) -> tuple[BudgetCap, ...]:
    """The budgets of a caller on a UTC day, in the order of the rules."""
    found = []
    for rule in rules:
        if _ANY in rule.roles or caller.role in rule.roles:
            name = caller.user if rule.per == "user" else caller.role
            for usd, since, span in (
                (rule.day_usd, day, "day"),
                (rule.month_usd, month_start(day), "month"),
            ):
                if usd is not None:
                    called = f"the budget of the {rule.per} {name!a} for one {span}"
                    found.append(BudgetCap(Purse(rule.per, name, since), usd, called))
    return tuple(found)


def check(
    planned: float | None, caps: Sequence[BudgetCap], spent: Sequence[float]
) -> Allow | Reject:
    """The first budget that a call would break, if any; `spent` goes with the caps one by one."""
    for cap, sum_so_far in zip(caps, spent, strict=True):
        if planned is None:
            return Reject(LIMIT, None, cap.usd, f"{cap.called} is {cap.usd}: the price is unknown")
        projected = planned + sum_so_far
        exact = _dollars(planned) + _dollars(sum_so_far) if math.isfinite(projected) else None
        if exact is None or exact > _dollars(cap.usd):
            detail = f"{cap.called} allows {cap.usd}, this makes {projected}"
            return Reject(LIMIT, projected, cap.usd, detail)
    return Allow()


def month_start(day: int) -> int:
    """The first day of the month of a UTC day, both counted from 1970-01-01 (Gregorian)."""
    days = day + 719_468  # from 0000-03-01, so that a leap day is a year's last
    of_era = days % 146_097
    year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    return day - (of_year - (153 * month + 2) // 5)


def _dollars(amount: float) -> Decimal:
    return Decimal(repr(float(amount)))


def _rule(where: str, document: object) -> BudgetRule:
    if not isinstance(document, Mapping):
        raise Misconfigured(f"{where} must be a table", detail=where)
    unknown = next((key for key in document if key not in _KEYS), None)
    if unknown is not None:
        raise Misconfigured(
            f"{where}: no such key {values.printable(unknown)}; there are {', '.join(_KEYS)}",
            detail=where,
        )
    roles, per = document.get("roles"), document.get("per")
    if not isinstance(roles, list) or not roles or not all(map(_is_name, roles)):
        raise Misconfigured(f"{where}.roles must be a list of names", detail=f"{where}.roles")
    if per not in _PER:
        raise Misconfigured(f'{where}.per must be "user" or "role"', detail=f"{where}.per")
    amounts = {key: _read(f"{where}.{key}", document[key]) for key in _AMOUNTS if key in document}
    if not amounts:
        raise Misconfigured(f"{where} needs day_usd, month_usd or both", detail=where)
    return BudgetRule(frozenset(roles), str(per), **amounts)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and name_fault(value) is None


def _read(where: str, value: object) -> float:
    try:
        return float(str(_amount(value)))
    except values.Unfit as unfit:
        raise Misconfigured(f"{where}: {unfit}", detail=where) from None
