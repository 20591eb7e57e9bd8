"""Readers of settings that no clause has: a value of TOML becomes what the setting means.

Each raises `values.Unfit` with what was expected; `settings` says where.
"""

from decimal import Decimal

from redask.core import values
from redask.core.text import lower

PERSONAL = ("email", "iban", "card", "ipv6", "ipv4", "phone")  # what `access.redaction` knows


def either(no: str, yes: str) -> values.Reader:
    """Whether the second of two words is said."""

    def read(value: object) -> bool:
        if value not in (no, yes):
            raise values.Unfit(f'"{no}" or "{yes}"', values.shown(value))
        return value == yes

    return read


def weight(value: object) -> Decimal:
    """A number as it is written, so that 0.4 + 1 equals 1.4."""
    return Decimal(repr(values.real(0, 1000)(value)))


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
