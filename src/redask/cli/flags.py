"""The clauses as command-line flags, made from their rows: `--min-score 0.2`, `--no-strict`.

A flag cannot take a word and do without one, so STRICT SUPPORTED is a flag of its own:
`--supported`.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from redask.core.clauses import CLAUSES, Clause
from redask.core.clauses.definitions import Takes
from redask.core.model import Strictness

_SUPPORTED = "supported"
_BY_OPTION = {clause.option: clause for clause in CLAUSES}
_F = TypeVar("_F", bound=Callable[..., Any])


def clause_flags(*left_out: str) -> Callable[[_F], _F]:
    """A decorator that adds a flag for every clause that has an option."""

    def decorate(function: _F) -> _F:
        for clause in reversed(CLAUSES):
            if clause.option and clause.option not in left_out:
                function = _flag(clause)(function)
        return function

    return decorate


def options_of(flags: dict[str, Any]) -> dict[str, object]:
    """The options given by flags, without those that are absent."""
    if flags.pop(_SUPPORTED, False):
        if flags.get("strict") is not None:
            raise click.UsageError("--supported is strict: give no --strict or --no-strict with it")
        flags["strict"] = Strictness.SUPPORTED.value
    return {
        name: _BY_OPTION[name].option_of(value)
        for name, value in flags.items()
        if value not in (None, ())
    }


def _flag(clause: Clause) -> Callable[[_F], _F]:
    name = (clause.option or "").replace("_", "-")
    text = clause.help[0].upper() + clause.help[1:] + "."
    match clause.takes:
        case Takes.NOTHING:
            return click.option(f"--{name}", is_flag=True, default=None, help=text)
        case Takes.STRICTNESS:
            text = "Refuse an answer whose citations are wrong."
            plain = click.option(f"--{name}/--no-{name}", default=None, help=text)
            text = "As --strict, and refuse claims that are not borne out by what they cite."
            further = click.option(f"--{_SUPPORTED}", is_flag=True, help=text)
            return lambda function: plain(further(function))
        case Takes.NUMBER:
            kind = (clause.schema or {}).get("type")
            number = click.INT if kind == "integer" else click.FLOAT
            return click.option(f"--{name}", type=number, help=text)
        case Takes.NAMES:
            return click.option(f"--{name}", multiple=True, metavar="NAME", help=text)
        case Takes.TTL:
            return click.option(f"--{name}", metavar="TTL", help=f"{text} Such as 5m.")
        case _:
            return click.option(f"--{name}", metavar="TEXT", help=text)
