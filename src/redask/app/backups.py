"""Back-ups of a whole database, from its location: who may make one, and who restores it.

A back-up holds every tenant, so it is for whoever opened the directory without a token; an owner of
a tenant dumps that tenant.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from redask import __version__
from redask.app import App
from redask.core.errors import BadAsk, Denied
from redask.core.model import Caller
from redask.stores.backend import BackupReport, RestoreReport
from redask.stores.backends import backend_for

__all__ = ["BackupProgress", "BackupReport", "RestoreReport", "back_up", "restore"]
BackupProgress = Callable[[int, int], None]


def back_up(
    app: App,
    destination: str | Path,
    caller: Caller,
    progress: BackupProgress | None = None,
    *,
    keep: int | None = None,
) -> BackupReport:
    """Add a back-up of the whole database to a directory; of those there, `keep` the last ones."""
    if caller != Caller():
        raise Denied(
            "a back-up holds every tenant: make it without a token and without a tenant, "
            "or dump what is yours"
        )
    return app.backend.back_up(
        Path(destination), made_at=app.clock(), made_by=__version__, progress=progress, keep=keep
    )


def restore(
    source: str | Path,
    to: str | Path,
    *,
    at: str | None = None,
    overwrite: bool = False,
) -> RestoreReport:
    """Make a database from a back-up: the last, or the last one made by a time (ISO 8601)."""
    row = backend_for(str(to))
    if row.restore is None:
        raise BadAsk(f"a database at {row.scheme}:// is not restored from a back-up", detail="to")
    moment = None if at is None else time_of(at)
    return row.restore(Path(source), row.directory(str(to)), at=moment, overwrite=overwrite)


def time_of(text: str) -> int:
    """A time in ISO 8601 as epoch nanoseconds; without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadAsk(
            f"{text!a} is no time: write 2026-01-31T18:00:00, or with a zone", detail="at"
        ) from None
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    if found.microsecond == 0:
        return int(found.timestamp()) * 10**9 + 10**9 - 1  # the whole second
    return int(found.timestamp()) * 10**9 + found.microsecond * 1000 + 999
