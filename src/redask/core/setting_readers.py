"""Readers of settings that no clause has: a value of TOML becomes what the setting means.

Each raises `values.Unfit` with what was expected; `settings` says where.
"""

from decimal import Decimal

from redask.core import values
from redask.core.text import lower

PERSONAL = ("email", "iban", "card", "ipv6", "ipv4", "phone")  # what `access.redaction` knows


def audit_question(value: object) -> bool:
    """Whether questions are kept as hashes."""
    if value not in ("text", "hash"):
        raise values.Unfit('"text" or "hash"', values.shown(value))
    return value == "hash"


def modes(value: object) -> bool:
    """Whether modes of files are checked."""
    if value not in ("private", "any"):
        raise values.Unfit('"private" or "any"', values.shown(value))
    return value == "private"


def followups(value: object) -> bool:
    """Whether a model reads them."""
    if value not in ("rules", "model"):
        raise values.Unfit('"rules" or "model"', values.shown(value))
    return value == "model"


def weight(value: object) -> Decimal:
    """A number as it is written, so that 0.4 + 1 equals 1.4."""
    return Decimal(repr(values.real(0, 1000)(value)))


def fallback(value: object) -> tuple[str, ...]:
    """Providers, at least one."""
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = ",".join(value)
    named = values.providers(value)
    if not named:
        raise values.Unfit("at least one provider", "none")
    return named


def default_provider(value: object) -> str | None:
    """One provider, or none."""
    named = values.providers(value)
    if len(named) > 1:
        raise values.Unfit("one provider; several go into ask.providers.fallback", str(len(named)))
    return named[0] if named else None


def personal(value: object) -> tuple[str, ...]:
    """Kinds of personal data, in a fixed order, however they were listed."""
    listed = value.split(",") if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
        raise values.Unfit("a list of kinds", values.shown(value))
    named = {each.strip() for each in listed} - {""}
    unknown = sorted(named - set(PERSONAL))
    if unknown:
        raise values.Unfit(f"kinds out of {', '.join(PERSONAL)}", values.shown(unknown[0]))
    return tuple(kind for kind in PERSONAL if kind in named)


def one_name(value: object) -> str:
    """A name, in lower case."""
    return lower(values.name(value))
