"""What each provider can do: `of(token)`, and which mode it can be asked in: `mode_for`.

    asked, else as the settings say   on       supported   off
    a provider that cites             strict   strict      lenient
    one that does not                 lenient with one warning (off: without)

The strictness in force is what was asked for or, where strict became lenient, off; the warning says
so if `supported` was asked for, too.

The flags are those of the provider's row in `core.provider_table`; an unknown token has the
conservative ones. Tokens are looked up without regard to ASCII case. An override replaces all
four flags: it names each, else `Misconfigured`. `mode_for` never fails.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields

from redask.core.errors import Misconfigured
from redask.core.model import Capabilities, Mode, Notice, Strictness
from redask.core.provider_table import CONSERVATIVE, PROVIDERS
from redask.core.text import lower

MODE_FALLBACK = "mode_fallback"
_FLAGS = tuple(flag.name for flag in fields(Capabilities))

Overrides = Mapping[str, Capabilities | Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Settled:
    """The mode a provider is really asked in, the strictness in force, what to tell about it."""

    effective: Mode
    in_force: Strictness
    warning: Notice | None


def of(token: str, overrides: Overrides | None = None) -> Capabilities:
    """The capabilities of a provider token; an unknown one gets the conservative row."""
    name = lower(token)
    replaced = read_overrides(overrides or {}).get(name)
    if replaced is not None:
        return replaced
    return PROVIDERS[name].capabilities if name in PROVIDERS else CONSERVATIVE


def requested(asked: Strictness | None, default: Strictness) -> Strictness:
    """The strictness that an ASK asks for; None means as the settings say."""
    return asked or default


def mode_of(requested: Strictness) -> Mode:
    """The mode of a strictness, if the provider can cite."""
    return Mode.LENIENT if requested is Strictness.OFF else Mode.STRICT


def mode_for(token: str, requested: Strictness, overrides: Overrides | None = None) -> Settled:
    """The effective mode of a provider for the requested strictness."""
    if requested is Strictness.OFF or of(token, overrides).supports_citations:
        return Settled(mode_of(requested), requested, None)
    detail = f"{lower(token)} does not support citations: strict became lenient"
    if requested is Strictness.SUPPORTED:
        detail += ", and STRICT SUPPORTED is not enforced: claims without support are warnings"
    return Settled(Mode.LENIENT, Strictness.OFF, Notice(MODE_FALLBACK, detail))


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
