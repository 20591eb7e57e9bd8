"""`redask policy list|show|set|remove|check`: who may read what of a collection.

A policy is a JSON or TOML file, or comes on standard input (`-`). `check` writes nothing: it
says what is wrong with a policy, and what a user or a role would see.
"""

import json
import sys
import time
import tomllib
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from redask.cli import opening
from redask.cli.opening import pretty, reports_errors
from redask.cli.terminal_text import echo
from redask.core.errors import BadAsk
from redask.core.values import printable
from redask.core.wire import json as canonical

if TYPE_CHECKING:
    from redask.api.sync import OpenDatabase

MAX_BYTES = 1 << 20
_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_NO_WAIT = click.option(
    "--no-wait", is_flag=True, help="Leave a large collection to whoever has the database open."
)


@click.group("policy")
def command() -> None:
    """Say who may read what, and look at what they would see; for owners."""


@command.command("list")
@_JSON
@click.pass_obj
def list_policies(db: str, as_json: bool) -> None:
    """The collections under a policy; all others are open to their tenant."""
    with reports_errors(as_json), opening.opened(db) as opened:
        policies: dict[str, Any] = opened.policies()
        if as_json:
            echo(canonical.text(policies))
            return
        for name, document in policies.items():
            roles = dict.fromkeys(role for rule in document["read"] for role in rule["roles"])
            echo(f"{name}  read by {', '.join(roles) or 'nobody'}")
        if not policies:
            echo("no policies: everybody of the tenant reads everything")


@command.command("show")
@click.argument("collection")
@_JSON
@click.pass_obj
def show(db: str, collection: str, as_json: bool) -> None:
    """The policy of COLLECTION, as `set` reads it."""
    with reports_errors(as_json), opening.opened(db) as opened:
        policies = opened.policies()
        if collection not in policies:
            raise BadAsk(f"{printable(collection)} has no policy", detail="collection")
        found = policies[collection]
        echo(canonical.text(found) if as_json else pretty(found))


@command.command("set")
@click.argument("collection")
@click.argument("file", type=click.File("rb"))
@_NO_WAIT
@_JSON
@click.pass_obj
def put(db: str, *, collection: str, file: BinaryIO, no_wait: bool, as_json: bool) -> None:
    """Put COLLECTION under the policy in FILE (JSON or TOML; - for standard input).

    It holds at once. Until all rows are sorted by it, the policy before holds as well. Interrupted,
    that goes on when the database is opened again.
    """
    with reports_errors(as_json):
        document = _read(file)
        with opening.opened(db) as opened:
            _set(opened, collection, document, no_wait)
        echo(
            canonical.text({"set": collection})
            if as_json
            else f"{collection} is under its new policy"
        )


@command.command("remove")
@click.argument("collection")
@_NO_WAIT
@_JSON
@click.pass_obj
def remove(db: str, collection: str, no_wait: bool, as_json: bool) -> None:
    """Open COLLECTION to everybody of its tenant."""
    with reports_errors(as_json), opening.opened(db) as opened:
        if collection not in opened.policies():
            raise BadAsk(f"{printable(collection)} has no policy", detail="collection")
        _set(opened, collection, None, no_wait)
        echo(
            canonical.text({"removed": collection})
            if as_json
            else f"{collection} is open to its tenant"
        )


@command.command("check")
@click.argument("collection", required=False)
@click.argument("file", type=click.File("rb"), required=False)
@click.option("--user", help="What this user would see.")
@click.option("--role", help="What somebody of this role, of whom nothing is known, would see.")
@_JSON
@click.pass_obj
def check(
    db: str,
    *,
    collection: str | None,
    file: BinaryIO | None,
    user: str | None,
    role: str | None,
    as_json: bool,
) -> None:
    """Try the policy in FILE on COLLECTION, or look at those in force; nothing is written."""
    with reports_errors(as_json), opening.opened(db) as opened:
        document = None if file is None else _read(file)
        if user is None and role is None:
            if document is None:
                raise BadAsk("name a FILE to check, or --user or --role to look for", detail="user")
            # a preview needs a role: the owner's only parses the policy
            opened.preview_policy(collection, document, role="owner")
            echo(canonical.text({"ok": True}) if as_json else "the policy is valid")
            return
        report = opened.preview_policy(collection, document, user=user, role=role)
        if as_json:
            echo(canonical.text(report))
            return
        who = f"user {report['user']}, role" if report["user"] else "role"
        echo(f"{who} {report['role']}")
        for each in report["collections"]:
            echo(f"  {each['collection']}: {_sentence(each)}")


def _sentence(seen: dict[str, Any]) -> str:
    if not seen["readable"]:
        return "closed"
    line = f"{seen['rows']} of {seen['rows_in_all']} rows"
    for word in ("shown", "hidden", "masked"):
        if seen.get(word):
            line += f"; {word}: {', '.join(seen[word])}"
    return line


def _read(file: BinaryIO) -> object:
    """The content of a JSON or TOML file."""
    content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise BadAsk(f"a policy has at most {MAX_BYTES} bytes", detail="file")
    try:
        written = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadAsk("the policy is not UTF-8 text", detail="file") from None
    # an object starts with a brace, and no TOML does
    is_json = written.lstrip().startswith("{") or str(getattr(file, "name", "")).endswith(".json")
    try:
        if is_json:
            return json.loads(written, object_pairs_hook=_object)
        return tomllib.loads(written)
    except (ValueError, RecursionError) as error:
        kind = "JSON" if is_json else "TOML"
        raise BadAsk(f"the policy is not {kind}: {error}", detail="file") from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object, refused if a key is duplicated: a second `hide` would replace the first."""
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {printable(name)} stands twice")
        found[name] = value
    return found


def _set(opened: "OpenDatabase", collection: str, document: object, no_wait: bool) -> None:
    """Set a policy, and unless told otherwise wait until all is as it says."""
    opened.set_policy(collection, document, wait=not no_wait, progress=_progress)
    if not no_wait:
        _catch_up(opened)


def _progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        echo(f"\rsorting rows by the policy, {done} of {total} ", nl=False, err=True)


def _catch_up(opened: "OpenDatabase") -> None:
    """Bring the index up to date now, so that the next question need not wait for it."""
    shown, started = False, time.monotonic()

    def progress(pending: int) -> None:
        nonlocal shown
        shown = sys.stderr.isatty()
        if shown:
            seconds = time.monotonic() - started
            line = f"\rindexing, {pending} changes to go, {seconds:.0f} s "
            echo(line, nl=False, err=True)

    opened.catch_up(progress)
    if shown:
        echo("", err=True)
