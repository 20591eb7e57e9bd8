"""Which providers, in which order, and when to go on to the next.

`plan` makes the list: `USING a,b,c`, else `ask.providers.fallback`, else the default
provider (`ask.providers.default`; unset: the first preferred row of `core.provider_table`
whose key is configured, else `extractive`). MODEL goes to every provider named in USING, else to
the first alone. An unknown provider is a BadAsk if the caller named it, Misconfigured if the
settings did. `judge` is who judges the claims of answers, if the settings name anybody.

`after` one failed call says what next:

    transport (no usable response), 5xx, timeout (and HTTP 408)     Next
    anything else: 400, 401, 429, a refusal, an unreadable reply    Stop

A bad key must not hide behind another vendor, so Stop reports the error as it is. `trail` is
what the audit row keeps: `provider_failed` for each that was moved on from, and
`provider_refused` for the one that stopped the walk.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from redask.core.errors import BadAsk, Failure, Misconfigured, ProviderFailed
from redask.core.model import Notice
from redask.core.provider_table import PROVIDERS, writes
from redask.core.text import lower

BUILT_IN = "extractive"


@dataclass(frozen=True, slots=True)
class Step:
    """One provider of the walk; `model` is None for the provider's own default."""

    provider: str
    model: str | None


@dataclass(frozen=True, slots=True)
class Next:
    """Try the next provider of the list."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Report this error as it is."""


def parse_using(text: str) -> tuple[str, ...]:
    """The providers of a USING list: trimmed, lower-cased, each once; maybe none."""
    names = (lower(part.strip()) for part in text.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def plan(
    *,
    using: Sequence[str],
    model: str | None,
    fallback: Sequence[str],
    default: str | None,
    configured: Collection[str],
    known: Collection[str],
) -> tuple[Step, ...]:
    """The walk of one ASK; `configured` are the providers with a key, `known` those we have."""
    for name in using:
        if name not in known:
            raise BadAsk(f"there is no provider {name!a}", detail=_choices(known))
    chosen = tuple(using or fallback or (default or choose_default(configured),))
    for name in chosen:
        if name not in known:
            raise Misconfigured(f"ask.providers names {name!a}, which is no provider")
    return tuple(
        Step(name, model if using or position == 0 else None)
        for position, name in enumerate(chosen)
    )


def judge(provider: str | None, model: str | None, known: Collection[str]) -> Step | None:
    """The model that judges claims, as `ask.judge` names it; None for nobody."""
    if provider is None:
        if model is not None:
            raise Misconfigured("ask.judge.model is set, and ask.judge.provider is not")
        return None
    if provider not in known:
        raise Misconfigured(f"ask.judge.provider names {provider!a}, which is no provider")
    if not writes(provider):
        raise Misconfigured(f"ask.judge.provider names {provider}, which only quotes")
    return Step(provider, model)


def choose_default(configured: Collection[str]) -> str:
    """The provider when neither the caller nor the settings name one."""
    preferred = (row.name for row in PROVIDERS.values() if row.preferred)
    return next((name for name in preferred if name in configured), BUILT_IN)


def after(error: ProviderFailed) -> Next | Stop:
    """Whether this failure may be answered by another provider."""
    return Stop() if error.failure is Failure.REFUSED else Next()


def failure_of(status: int) -> Failure:
    """What an HTTP status says about the call."""
    if status == 408:
        return Failure.TIMEOUT
    return Failure.SERVER if 500 <= status <= 599 else Failure.REFUSED


def trail(failures: Sequence[ProviderFailed]) -> tuple[Notice, ...]:
    """The audit row's errors for these failures, in order."""
    return tuple(
        Notice(
            "provider_failed" if isinstance(after(error), Next) else "provider_refused",
            error.message,
        )
        for error in failures
    )


def _choices(known: Collection[str]) -> str:
    return "providers: " + ", ".join(sorted(known))
