"""`redask token make|list|revoke`: what users sign in with. A token is shown once, when made."""

from typing import TYPE_CHECKING

import click

from redask.cli import opening
from redask.cli.opening import reports_errors, utc_time
from redask.cli.terminal_text import echo
from redask.core.wire import json as canonical

if TYPE_CHECKING:
    from redask.core.access.credentials import TokenFacts

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group("token")
def command() -> None:
    """Make, list and revoke tokens; for owners."""


@command.command("make")
@click.argument("user")
@click.option("--expires", metavar="TIME", help="How long it is good, such as 30d; else for ever.")
@_JSON
@click.pass_obj
def make(db: str, user: str, expires: str | None, as_json: bool) -> None:
    """Make a token for USER and print it: nobody can print it again."""
    with reports_errors(as_json), opening.opened(db) as opened:
        token = opened.make_token(user, expires=expires)
        if as_json:
            echo(canonical.text({"token": token, "user": user}))
            return
        echo(token)
        echo("keep it: this is the only time it is shown", err=True)


@command.command("list")
@_JSON
@click.pass_obj
def list_tokens(db: str, as_json: bool) -> None:
    """The tokens, without their secrets."""
    with reports_errors(as_json), opening.opened(db) as opened:
        tokens = opened.tokens()
        if as_json:
            echo(canonical.text([_plain(token) for token in tokens]))
            return
        for token in tokens:
            state = f"expires {utc_time(token.expires)}" if token.expires else "does not expire"
            if token.revoked is not None:
                state = f"revoked {utc_time(token.revoked)}"
            echo(f"{token.id}  {token.user}  made {utc_time(token.made)}  {state}")


@command.command("revoke")
@click.argument("ident", metavar="ID")
@_JSON
@click.pass_obj
def revoke(db: str, ident: str, as_json: bool) -> None:
    """Let the token ID open nothing from now on."""
    with reports_errors(as_json), opening.opened(db) as opened:
        opened.revoke_token(ident)
        echo(canonical.text({"revoked": ident}) if as_json else f"revoked {ident}")


def _plain(token: "TokenFacts") -> dict[str, object]:
    return {
        "expires": token.expires,
        "id": token.id,
        "made": token.made,
        "revoked": token.revoked,
        "user": token.user,
    }
