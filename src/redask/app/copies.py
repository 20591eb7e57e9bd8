"""A whole database into another place, of whatever kind: `copy_database(source, destination)`.

The source may be in use; what is written there meanwhile is brought by copying again, which is
quick and needs nobody to have opened the destination. See `stores.relational.copying`.
"""

from contextlib import AbstractContextManager, closing

from redask.core.errors import BadAsk
from redask.stores.backends import BackendRow, backend_for
from redask.stores.relational.copying import CopiedTables, CopyProgress, CopyReport, copy

__all__ = ["CopyProgress", "CopyReport", "copy_database"]


def copy_database(
    source: str, destination: str, progress: CopyProgress = lambda *_: None
) -> CopyReport:
    """Copy everything but the answer cache and what is derived, and verify it."""
    origin, target = backend_for(source), backend_for(destination)
    if origin.directory(source) == target.directory(destination):
        raise BadAsk("source and destination are the same database", detail="destination")
    if not origin.exists(source):
        raise BadAsk(f"there is no database at {origin.shown(source)}", detail="source")
    origin.open(source).close()  # which upgrades it
    with _tables(origin, source) as read, _tables(target, destination) as written:
        return copy(read, written, progress)


def _tables(row: BackendRow, location: str) -> AbstractContextManager[CopiedTables]:
    if row.tables is None:
        raise BadAsk(f"a database at {row.scheme}:// cannot be copied")
    return closing(row.tables(location))
