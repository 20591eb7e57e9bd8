"""`redask user add|list|set|remove`: who may sign in, with which role, and what is known of them.

`--attribute region=north` gives text, `level=3` a number, `ok=true` a boolean,
`regions=["a","b"]` a list: a value that is JSON is read as JSON, anything else is text.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo
from redask.core.errors import BadAsk
from redask.core.values import printable
from redask.core.wire import json as canonical

if TYPE_CHECKING:
    from redask.core.access.credentials import User

_ATTRIBUTE = click.option(
    "--attribute", "given", multiple=True, metavar="NAME=VALUE", help="What policies can look at."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("user")
def command() -> None:
    """Add, list, change and remove users; for owners."""


@command.command("add")
@click.argument("name")
@click.option("--role", required=True, help="The role policies name; `owner` may do everything.")
@_ATTRIBUTE
@_JSON
@click.pass_obj
def add(db: str, name: str, role: str, given: tuple[str, ...], as_json: bool) -> None:
    """Add a user."""
    with reports_errors(as_json), opening.opened(db) as opened:
        _show([opened.add_user(name, role=role, attributes=_attributes(given))], as_json)


@command.command("list")
@_JSON
@click.pass_obj
def list_users(db: str, as_json: bool) -> None:
    """The users, by name."""
    with reports_errors(as_json), opening.opened(db) as opened:
        users = opened.users()
        if as_json:
            echo(canonical.text([plain(user) for user in users]))
        else:
            _show(users, as_json)


@command.command("set")
@click.argument("name")
@click.option("--role", help="Another role.")
@_ATTRIBUTE
@click.option("--without", multiple=True, metavar="NAME", help="Forget an attribute.")
@_JSON
@click.pass_obj
def change(
    db: str,
    *,
    name: str,
    role: str | None,
    given: tuple[str, ...],
    without: tuple[str, ...],
    as_json: bool,
) -> None:
    """Change a user's role or some of the attributes; it holds at once."""
    with reports_errors(as_json), opening.opened(db) as opened:
        attributes = None
        if given or without:
            known = {user.name: user.attributes for user in opened.users()}
            attributes = {**known.get(name, {}), **_attributes(given)}
            for gone in without:
                if attributes.pop(gone, None) is None:
                    raise BadAsk(f"{printable(name)} has no attribute {printable(gone)}")
        _show([opened.set_user(name, role=role, attributes=attributes)], as_json)


@command.command("remove")
@click.argument("name")
@_JSON
@click.pass_obj
def remove(db: str, name: str, as_json: bool) -> None:
    """Forget a user; the user's tokens are revoked."""
    with reports_errors(as_json), opening.opened(db) as opened:
        opened.remove_user(name)
        echo(canonical.text({"removed": name}) if as_json else f"removed {name}")


def plain(user: "User") -> dict[str, object]:
    """A user as plain data."""
    return {"attributes": dict(user.attributes), "name": user.name, "role": user.role}


def _show(users: "Sequence[User]", as_json: bool) -> None:
    for user in users:
        known = " ".join(
            f"{name}={canonical.text(value)}" for name, value in sorted(user.attributes.items())
        )
        line = f"{user.name}  {user.role}  {known}".rstrip()
        echo(canonical.text(plain(user)) if as_json else line)


def _attributes(given: tuple[str, ...]) -> dict[str, object]:
    read: dict[str, object] = {}
    for each in given:
        name, mark, value = each.partition("=")
        if not mark:
            raise BadAsk(f"an attribute is NAME=VALUE, not {printable(each)}", detail="attribute")
        try:
            read[name] = json.loads(value)
        except (ValueError, RecursionError):
            read[name] = value
    return read
