"""What each provider can do: `of(token)`, and which mode it can be asked in: `mode_for`.

`requested_mode` is what the caller's strictness, else the settings', asks for: off is lenient.

The flags are those of the provider's row in `core.provider_table`; an unknown token has the
conservative ones. Tokens are looked up without regard to ASCII case. An override replaces all
four flags: it names each, else `Misconfigured`. `mode_for` never fails: strict with a provider
that cannot cite becomes lenient, with one warning; lenient is always allowed and never warns.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from redask.core.errors import Misconfigured
from redask.core.model import Capabilities, Mode, Notice, Strictness
from redask.core.provider_table import CONSERVATIVE, PROVIDERS
from redask.core.text import lower

_FLAGS = tuple(flag.name for flag in fields(Capabilities))

Overrides = Mapping[str, Capabilities | Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Settled:
    """The mode a provider is really asked in, and what to tell about it."""

    effective: Mode
    warning: Notice | None


def of(token: str, overrides: Overrides | None = None) -> Capabilities:
    """The capabilities of a provider token; an unknown one gets the conservative row."""
    name = lower(token)
    replaced = read_overrides(overrides or {}).get(name)
    if replaced is not None:
        return replaced
    return PROVIDERS[name].capabilities if name in PROVIDERS else CONSERVATIVE


def requested_mode(asked: Strictness | None, default: Strictness) -> Mode:
    """The mode that an ASK asks for; None means as the settings say."""
    return Mode.LENIENT if (asked or default) is Strictness.OFF else Mode.STRICT


def mode_for(token: str, requested: Mode, overrides: Overrides | None = None) -> Settled:
    """The effective mode of a provider for the requested one."""
    if requested is Mode.LENIENT or of(token, overrides).supports_citations:
        return Settled(requested, None)
    detail = f"{lower(token)} does not support citations: strict became lenient"
    return Settled(Mode.LENIENT, Notice("mode_fallback", detail))


def read_overrides(tables: Overrides) -> dict[str, Capabilities]:
    """The tables of `ask.capabilities`, by lower-cased token."""
    rows: dict[str, Capabilities] = {}
    for token, table in tables.items():
        name = lower(token)
        if name in rows:
            raise Misconfigured(f"ask.capabilities names {name} twice")
        rows[name] = table if isinstance(table, Capabilities) else _row(name, table)
    return rows


def _row(name: str, table: Mapping[str, object]) -> Capabilities:
    where = f"ask.capabilities.{name}"
    if not isinstance(table, Mapping):
        raise Misconfigured(f"{where} must be a table of the flags {', '.join(_FLAGS)}")
    for flag in table:
        if flag not in _FLAGS:
            raise Misconfigured(f"{where}.{flag} is unknown: the flags are {', '.join(_FLAGS)}")
    for flag in _FLAGS:
        if not isinstance(table.get(flag), bool):
            raise Misconfigured(f"{where}.{flag} must be true or false: a row names all four")
    return Capabilities(**{flag: table[flag] is True for flag in _FLAGS})
