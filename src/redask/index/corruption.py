"""The error of index files that cannot be used, worded for an operator."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from redask.core.errors import CorruptIndex, StoreFailed

# SQLite's codes for a corrupt file: ERROR, CORRUPT, SCHEMA, MISMATCH, NOTADB, and short reads.
# A full disk or a missing permission has other codes.
_CORRUPT_CODES = frozenset((1, 11, 17, 20, 26, 522))


def corrupt(problem: str, *, detail: str = "") -> CorruptIndex:
    """The error to raise; whoever catches it rebuilds the index from the store's change log."""
    return unusable(f"the index is corrupt: {problem}", detail=detail)


def unusable(problem: str, *, detail: str = "") -> CorruptIndex:
    """The same for an index that is intact but of another version or another store."""
    return CorruptIndex(
        f"{problem}; rebuild the index with `redask doctor --rebuild-index`", detail=detail
    )


@contextmanager
def index_errors() -> Iterator[None]:
    """Turn errors of SQLite and the file system into `CorruptIndex`, or else `StoreFailed`."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if getattr(error, "sqlite_errorcode", 1) in _CORRUPT_CODES:
            raise corrupt("forward.sqlite cannot be read", detail=str(error)) from error
        raise StoreFailed(
            "SQLite error in forward.sqlite of the index", detail=str(error)
        ) from error
    except OSError as error:
        raise StoreFailed("the index files cannot be used", detail=str(error)) from error
