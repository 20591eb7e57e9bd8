"""`--db`, `--token` and `--tenant` after a command: `redask ask "…" --db DIR`.

Before the command they are options of `redask` itself; here the same ones are added to a command
and to all that are below it; one that signs nobody in (`serve`) takes no token. Given twice, the
last one holds; the environment comes after both.
"""

from typing import Any

import click
from click.core import ParameterSource

HELP = {
    "db": "The database directory (or set REDASK_DB).",
    "token": "Sign in with this token; better set REDASK_TOKEN, which other users cannot see.",
    "tenant": "The tenant, `local` by default (or REDASK_TENANT).",
}


NAMED = "redask.db_named"  # in a context's meta: whether the command line names the database


def keep(ctx: click.Context, **given: str | None) -> None:
    """Remember what was given, for `opening.opened` and the commands below this context."""
    for name, value in given.items():
        ctx.meta[f"redask.{name}"] = value
        if name == "db":
            ctx.obj = value
            ctx.meta[NAMED] = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def accept(command: click.Command, *, token: bool = True) -> click.Command:
    """The command, taking all of them from now on, or all but the token."""
    for name, text in HELP.items():
        if name == "token" and not token:
            continue
        command.params.append(
            click.Option([f"--{name}"], expose_value=False, callback=_keep_given, help=text)
        )
    if isinstance(command, click.Group):
        for below in command.commands.values():
            accept(below)
    return command


def _keep_given(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value is not None and param.name is not None:
        keep(ctx, **{param.name: value})
