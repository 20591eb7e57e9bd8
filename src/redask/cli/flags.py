"""The clauses as command-line flags, made from their rows: `--min-score 0.2`, `--no-strict`."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from redask.core.clauses import CLAUSES, Clause
from redask.core.clauses.definitions import Takes

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
            return click.option(f"--{name}/--no-{name}", default=None, help=text)
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
