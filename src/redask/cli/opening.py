"""What every command shares: opening the database, and reporting errors."""

import gc
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, NoReturn

import click

from redask.cli.terminal_text import echo
from redask.core.errors import AskError, BadAsk
from redask.core.serving_limits import ALONE, ProcessPlace
from redask.core.wire import json as canonical
from redask.core.wire import outcomes

if TYPE_CHECKING:
    from redask.api.asynchronous import AsyncDatabase
    from redask.api.sync import OpenDatabase

# Objects before garbage is looked for. A command makes many that stay and few cycles: with the
# 700 of the standard library, looking took a tenth of reading a database of 15,607 rows.
_YOUNG = 50_000


@contextmanager
def reports_errors(as_json: bool = False) -> Iterator[None]:
    """Turn an error into one line (or its JSON) and the exit code of its outcome."""
    try:
        yield
    except AskError as error:
        exit_with(error, as_json)
    except KeyboardInterrupt:
        echo("\nredask: cancelled", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)


def exit_with(error: AskError, as_json: bool) -> NoReturn:
    """Print an error and exit with the code of its outcome."""
    if as_json:
        echo(canonical.text(outcomes.body(error)))
    else:
        tell(error)
    sys.exit(outcomes.of(error).exit)


def tell(error: AskError) -> None:
    """Print an error as one line."""
    more = f" ({error.detail})" if error.detail and error.detail not in error.message else ""
    echo(f"redask: {error.message}{more}", err=True)


def opened(location: str, *, make: bool = False, embedder: str | None = None) -> "OpenDatabase":
    """The database, opened as the user of the token: every command opens it here.

    With `make`, a missing database is created.
    """
    with _imports_kept():
        from redask.api.sync import open_database
    gc.set_threshold(_YOUNG)

    given = click.get_current_context().meta
    place = location if make else existing(location)
    return open_database(
        place, token=given["redask.token"], tenant=given["redask.tenant"], embedder=embedder
    )


@contextmanager
def _imports_kept() -> Iterator[None]:
    """Import without looking for garbage: what a module makes stays until the process ends."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def warn_of_providers(location: str) -> None:
    """Tell whoever is about to ask that another provider answers than they may think."""
    from redask.api.sync import provider_warnings

    for warning in provider_warnings(location):
        echo(f"redask: warning: {warning}", err=True)


async def served(
    location: str,
    tenant: str | None,
    place: ProcessPlace = ALONE,
    *,
    tenants: tuple[str, ...] = (),
) -> "AsyncDatabase":
    """The database for a transport, which authenticates its callers; until then a tenant's.

    `place` is which of the processes of one server this is; `tenants` are those that it serves.
    """
    from redask.api.sync import open_async, settings_for

    if place.is_first:
        warn_of_providers(location)
    found = existing(location)
    return await open_async(
        found, tenant=tenant, serving=True, place=place, settings=settings_for(found, tenants)
    )


def utc_time(nanoseconds: int | None) -> str:
    """A time in UTC, to print; a dash for none."""
    if nanoseconds is None:
        return "–"
    return datetime.fromtimestamp(nanoseconds // 10**9, UTC).strftime("%Y-%m-%d %H:%M:%S")


def existing(location: str) -> str:
    """The location, if there is a database; else a helpful word."""
    from redask.api.sync import has_database, shown

    if not has_database(location):
        raise BadAsk(
            f"there is no database in {shown(location)} yet: `redask ingest PATH` makes one from "
            "your files, `redask demo` one with sample data in redask-demo, `--db DIR` names "
            "another"
        )
    return location


class _StandardOutput:
    """Standard output as something to write lines to."""

    def write(self, line: str) -> None:
        echo(line, nl=False)


@contextmanager
def private_output(path: str) -> Iterator["_StandardOutput | IO[str]"]:
    """A file that nobody else may read, whatever the umask; `-` is standard output."""
    if path == "-":
        yield _StandardOutput()
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        raise BadAsk(f"{path!a} cannot be written: {error.strerror}") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        yield file


def pretty(value: object) -> str:
    """Indented JSON, to print."""
    return json.dumps(json.loads(canonical.encode(value)), indent=2, ensure_ascii=False)
