"""The answer cache's rules: `decide` whether to use it, the `key`, and what a hit needs.

    asked                  decision
    NOCACHE                Bypass
    CACHE TTL t            Use(t)
    neither                Use(ask.cache.default_ttl) if ask.cache.enabled and it is set,
                           else Bypass

The key is hex SHA-256 over tenant, user, question, provider, model, temperature, seed and
fingerprint, joined by 0x1f; `none` for an absent knob, temperature as positional shortest
decimal (`0`, `0.5`, `0.00001`); where a model judges the claims, its provider and model follow, so
that no answer passes for one that was judged, or judged by another. The TTL is not in it: the TTL
at the time of writing applies; age ≥ TTL, or below 0, is expired. A hit also needs the same
`prompt_hash` (source order and redaction are not in the key) and to pass validation in this call's
mode; else it is a miss. Because of the fingerprint, changed data is never answered from the cache.
An answer that its judge could not judge is not kept (`keeps`): the next call has it judged.

A TTL literal is ASCII digits and one of s m h d, read from left to right; the faults, in order:
empty · missing number · missing unit · zero · unknown unit · overflow (beyond u64 seconds).
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from redask.core.errors import BadTtl, TtlFault
from redask.core.model import Notice, Prompt
from redask.core.rules import prompt as prompts

NOT_JUDGED = "not_judged"  # the warning on an answer whose judge gave no verdict
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_U64_MAX = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Bypass:
    """Neither read nor write the cache."""


@dataclass(frozen=True, slots=True)
class Use:
    """Read the cache; a new entry has this TTL in seconds."""

    ttl: int


def decide(
    *, nocache: bool, ttl: int | None, enabled: bool, default_ttl: int | None
) -> Bypass | Use:
    """Whether this ASK uses the cache; `ttl` is the clause's, the rest are settings."""
    if nocache:
        return Bypass()
    if ttl is not None:
        return Use(ttl)
    return Use(default_ttl) if enabled and default_ttl is not None else Bypass()


def keeps(warnings: Iterable[Notice]) -> bool:
    """Whether an accepted answer with these warnings is kept."""
    return all(each.kind != NOT_JUDGED for each in warnings)


def key(
    *,
    tenant: str,
    user: str,
    question: str,
    provider: str,
    model: str,
    temperature: float | None,
    seed: int | None,
    fingerprint: str,
    judge: tuple[str, ...] = (),
) -> str:
    """The key of an answer in the cache; `judge` are the provider and model of its judge."""
    knobs = (_decimal(temperature), "none" if seed is None else str(seed))
    parts = (tenant, user, question, provider, model, *knobs, fingerprint, *judge)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def prompt_hash(prompt: Prompt) -> str:
    """The hex SHA-256 of the assembled prompt, kept with an entry."""
    return hashlib.sha256(prompts.render(prompt).encode()).hexdigest()


def expired(stored_at: int, ttl: int, now: int) -> bool:
    """Whether an entry of `ttl` seconds is too old; times in epoch nanoseconds.

    One from the future is: a clock that was wrong then, or is now, must not keep it for years.
    """
    return not 0 <= now - stored_at < ttl * 10**9


def parse_ttl(text: str) -> int:
    """The seconds of a TTL literal such as `5m`."""
    unit = text.lstrip("0123456789")
    number = text[: len(text) - len(unit)]
    if not text:
        raise BadTtl(TtlFault.EMPTY, "a TTL is a number and a unit, such as 5m; this is empty")
    if not number:
        raise BadTtl(TtlFault.MISSING_NUMBER, f"{_shown(text)} does not start with a number")
    if not unit:
        raise BadTtl(TtlFault.MISSING_UNIT, f"{_shown(text)} lacks its unit: s, m, h or d")
    digits = number.lstrip("0")
    if not digits:
        raise BadTtl(TtlFault.ZERO, "a TTL is at least 1 second; NOCACHE turns the cache off")
    if unit not in _SECONDS:
        raise BadTtl(TtlFault.UNKNOWN_UNIT, f"{_shown(unit)} is no unit of a TTL: s, m, h or d")
    # more than 20 digits cannot fit, and int() refuses more than 4,300
    if len(digits) > 20 or int(digits) * _SECONDS[unit] > _U64_MAX:
        raise BadTtl(TtlFault.OVERFLOW, f"a TTL is at most {_U64_MAX} seconds")
    return int(digits) * _SECONDS[unit]


def _decimal(temperature: float | None) -> str:
    if temperature is None:
        return "none"
    # repr is the shortest text that reads back as the same double; "f" takes out its exponent
    return format(Decimal(repr(float(temperature) + 0.0)), "f").removesuffix(".0")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 16 else text[:15] + "…")
