"""The guards of one ASK: `check` usage against the limits, `fit` sources into them.

    limit (`ask.<name>`)     default   breached by
    max_prompt_tokens        8192      usage.prompt_tokens, per attempt
    max_sources_bytes        262144    usage.sources_bytes, per attempt
    max_completion_tokens    1024      usage.completion_tokens, per attempt
    timeout_ms               30000     usage.elapsed_ms, per ASK
    daily_cost_cap_usd       none      spent today + usage.cost_usd, per tenant

Checked in this order, the first breach wins, *at* the limit is allowed. Days are UTC, by
floor division of epoch nanoseconds (right before 1970, too); a stored day other than today's
counts as nothing spent. With a cap, an unknown price (None) is a breach, never zero. `AFTER` the
call cost is not judged: a paid answer is never withheld, the next ASK sees the spend.

Money is kept as whole nano-dollars (`nanos`, rounded up), so that sums are exact and a cap is
never passed by a rounding error.

`fit` says how many sources to keep, dropping from the tail, so that only a question that does
not fit with its first source is refused. `share_of_room` says how large a source may be before
that: where not all fit, none takes more than the smaller ones leave it, so that one large source is
cut and does not drop those below it; but a quarter of the room and SMALLEST are never cut. `share`
is the time one attempt gets.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

from redask.core.model import Usage

_DAY_NS = 86_400 * 10**9
SMALLEST = 512, 2048  # tokens and bytes of a source that is never cut
_MOST_NANOS = 1 << 61  # two billion dollars; sums of a few still fit into 64 bits


class CheckMoment(Enum):
    """When the check is made, in relation to the provider call."""

    BEFORE = "before"
    DURING = "during"
    AFTER = "after"


@dataclass(frozen=True, slots=True)
class Limits:
    """The caps of one ASK; see the table."""

    max_prompt_tokens: int = 8192
    max_sources_bytes: int = 262_144
    max_completion_tokens: int = 1024
    timeout_ms: int = 30_000
    daily_cost_cap_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What a tenant has spent on one UTC day (see `day_of`), and others that were asked for."""

    day: int
    usd: float
    purses: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Allow:
    """Go on."""


@dataclass(frozen=True, slots=True)
class Reject:
    """Stop: the limit's name, the value, the cap, and a sentence that names all three."""

    limit: str
    used: float | None
    allowed: float
    detail: str


def check(
    usage: Usage, daily: Spent, limits: Limits, now: int, moment: CheckMoment = CheckMoment.BEFORE
) -> Allow | Reject:
    """The first breached limit, if any; `now` is in epoch nanoseconds."""
    for name, used in (
        ("max_prompt_tokens", usage.prompt_tokens),
        ("max_sources_bytes", usage.sources_bytes),
        ("max_completion_tokens", usage.completion_tokens),
        ("timeout_ms", usage.elapsed_ms),
    ):
        allowed = getattr(limits, name)
        if used > allowed:
            return Reject(name, used, allowed, f"ask.{name} allows {allowed}, this is {used}")
    cap = limits.daily_cost_cap_usd
    if cap is None or moment is CheckMoment.AFTER:
        return Allow()
    return _check_cost(usage.cost_usd, daily, cap, now)


def _check_cost(planned: float | None, daily: Spent, cap: float, now: int) -> Allow | Reject:
    name = "daily_cost_cap_usd"
    if planned is None:
        return Reject(name, None, cap, f"ask.{name} is {cap} and the price is unknown")
    spent = daily.usd if daily.day == day_of(now) else 0.0
    projected = planned + spent
    # As decimals, for 0.1 + 0.2 is at a cap of 0.3; what is no number breaks the cap.
    if math.isfinite(projected) and _dollars(planned) + _dollars(spent) <= _dollars(cap):
        return Allow()
    return Reject(name, projected, cap, f"ask.{name} allows {cap}, this makes {projected}")


def _dollars(amount: float) -> Decimal:
    return Decimal(repr(float(amount)))


def nanos(usd: float) -> int:
    """US dollars as whole nano-dollars, rounded up."""
    return min(math.ceil(_dollars(usd).scaleb(9)), _MOST_NANOS)


def dollars(amount: int) -> float:
    """Nano-dollars as US dollars."""
    return amount / 10**9


def day_of(now: int) -> int:
    """The UTC day of a moment in epoch nanoseconds, counted from 1970-01-01."""
    return now // _DAY_NS


def start_of(day: int) -> int:
    """The first moment of a UTC day, in epoch nanoseconds."""
    return day * _DAY_NS


def fit(sizes: Sequence[tuple[int, int]], question_tokens: int, limits: Limits) -> int:
    """How many of the sources, given as (tokens, bytes), fit beside the question.

    The first source is always kept: whether it fits is for `check` to say.
    """
    tokens, total = question_tokens, 0
    for kept, (more_tokens, more_bytes) in enumerate(sizes):
        tokens += more_tokens
        total += more_bytes
        if kept and (tokens > limits.max_prompt_tokens or total > limits.max_sources_bytes):
            return kept
    return len(sizes)


def share_of_room(
    sizes: Sequence[tuple[int, int]], question_tokens: int, limits: Limits
) -> tuple[int, int]:
    """The most tokens and bytes that one of these sources may have."""
    tokens = _level([size[0] for size in sizes], limits.max_prompt_tokens - question_tokens)
    bytes_ = _level([size[1] for size in sizes], limits.max_sources_bytes)
    return max(tokens, SMALLEST[0]), max(bytes_, SMALLEST[1])


def _level(sizes: Sequence[int], room: int) -> int:
    """The size at which larger ones are cut so that all fit; at least a quarter of the room."""
    left, waiting = room, len(sizes)
    for size in sorted(sizes):
        if size * waiting > left:
            return max(left // waiting, room // 4)
        left, waiting = left - size, waiting - 1
    return max(sizes, default=0)


def share(remaining_ms: int, providers_left: int) -> int:
    """The time for the next attempt: what is left, divided by the providers not yet tried."""
    return max(remaining_ms, 0) // max(providers_left, 1)
