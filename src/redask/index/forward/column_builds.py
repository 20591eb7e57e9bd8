"""When the arrays of a generation are made, and which are used: `ColumnBuilds`.

    made        once there are MIN_ROWS; again when more changed since than MIN_CHANGES and than one
                in SHARE of all rows, and when the file is missing, corrupt or of another layout
    by whom     up to WAITED_ROWS at the end of catching up (which a process begins with), under the
                partition's lock; above, by a thread beside the searches (`index.column_thread`),
                which go on with what is there
    used        by every search of the generation, with what changed since, of the search's state
    not made    above MAX_ROWS, and where the file cannot be written: then searches read the forward
                index alone, and find the same

What changes while a thread makes them is noted: `begin`, under the partition's lock, sees to that
before the thread reads, and `record` keeps the notes of what came after it.

The file has a name of its own each time, which the forward index records. Searches of older states
keep theirs: it is removed, but stays mapped.
"""

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from redask.core.errors import CorruptIndex
from redask.index.forward import columns
from redask.index.forward.column_file import ColumnFile
from redask.index.forward.columns import ColumnRow, ForwardColumns
from redask.index.forward.forward_index import ForwardIndex, Snapshot
from redask.index.graph.column_entities import ChangedRows

MIN_ROWS = 64
MIN_CHANGES = 256
SHARE = 16
WAITED_ROWS = 10_000  # half a second
MAX_ROWS = 200_000  # 10 s and 1.2 GB while they are made
_PREFIX = "columns-"


class _Stopped(Exception):
    """Nobody wants the arrays any more."""


def _until(stop: Callable[[], bool], rows: Iterator[ColumnRow]) -> Iterator[ColumnRow]:
    for row in rows:
        if stop():
            raise _Stopped
        yield row


class MadeColumns(NamedTuple):
    """A file of arrays that is not recorded yet."""

    name: str
    through: int  # the last change that it holds, by its number
    instead_of: str  # what was recorded when it was made


class ColumnBuilds:
    """The arrays of one generation."""

    def __init__(self, directory: Path, most: int) -> None:
        """`most`: above so many bytes, a file is not compared with its sums when it is opened."""
        self._directory = directory
        self._most = most
        self._lock = threading.Lock()
        self._open: tuple[str, ForwardColumns | None] = ("", None)

    def changed(self, snapshot: Snapshot) -> ChangedRows | None:
        """The arrays that are recorded, and what changed since; None if they cannot be used."""
        found = self._columns(snapshot.meta_value("columns"))
        if found is None:
            return None
        owners: dict[int, list[tuple[int, str, str]]] = {}
        for key, projection_key, collection, names in snapshot.changed_names():
            for name in names:
                owners.setdefault(name, []).append((key, projection_key, collection))
        count = snapshot.change_count()
        return ChangedRows(found, snapshot.changed_entities(), owners, count)

    def make(self, forward: ForwardIndex, *, most: int) -> bool:
        """Make the arrays if they are due. Hold the partition's lock. → whether they were

        Not of more than `most` rows.
        """
        with forward.snapshot() as snapshot:
            rows = sum(group.entities for group in snapshot.statistics())
            known = self._columns(snapshot.meta_value("columns")) is not None
            changes = snapshot.change_count() if known else None
            if rows > most or not self.is_due(rows, changes):
                return False
            made = self._made(snapshot)
        return made is not None and self.record(forward, made)

    def begin(self, forward: ForwardIndex) -> None:
        """From now on, what changes is noted. Hold the partition's lock."""
        with forward.transaction() as transaction:
            transaction.note_changes()

    def build(self, forward: ForwardIndex, stop: Callable[[], bool]) -> "MadeColumns | None":
        """Write the arrays of the present state, after `begin`. → None if that was stopped"""
        with forward.snapshot() as snapshot:
            return self._made(snapshot, stop)

    def record(self, forward: ForwardIndex, made: "MadeColumns") -> bool:
        """Use what was made, unless others were recorded meanwhile. Hold the partition's lock."""
        with forward.snapshot() as snapshot:
            before = snapshot.meta_value("columns")
        if before != made.instead_of or not (self._directory / made.name).is_file():
            self.discard(made)
            return False
        with forward.transaction() as transaction:
            transaction.set_columns(made.name, made.through)
        forward.checkpoint()
        self._remove_but(made.name)
        return True

    def discard(self, made: "MadeColumns") -> None:
        """Remove what was made, or half made, and is not used."""
        for path in self._directory.glob(f"{made.name}*"):
            with suppress(OSError):
                path.unlink()

    def is_due(self, rows: int, changes: int | None) -> bool:
        """Whether arrays of so many rows are wanted, after so many changes; None: there are none"""
        if not MIN_ROWS <= rows <= MAX_ROWS:
            return False
        return changes is None or changes > max(MIN_CHANGES, rows // SHARE)

    def _made(
        self, snapshot: Snapshot, stop: Callable[[], bool] = lambda: False
    ) -> "MadeColumns | None":
        """The file of a state, written; None if it was stopped, or cannot be written."""
        before, through = snapshot.meta_value("columns"), snapshot.last_change()
        made = MadeColumns(f"{_PREFIX}{secrets.token_hex(8)}", through, before)
        rows = _until(stop, snapshot.column_rows())
        try:
            columns.build(self._directory / made.name, rows, snapshot.name_hashes_since(-1))
        except (OSError, _Stopped):  # a full disk must not end a search that needs no more of it
            self.discard(made)
            return None
        return made

    def verify(self, snapshot: Snapshot) -> None:
        """Raise `CorruptIndex` unless the file that is recorded is what was written.

        One of another layout is, and is made again.
        """
        if name := snapshot.meta_value("columns"):
            ColumnFile(self._directory / name)

    def _remove_but(self, name: str) -> None:
        """Remove the other files, also what a killed process left."""
        for path in self._directory.glob(f"{_PREFIX}*"):
            if path.name != name:
                with suppress(OSError):
                    path.unlink()

    def _columns(self, name: str) -> ForwardColumns | None:
        with self._lock:
            if self._open[0] != name:
                opened = None
                if name:
                    with suppress(CorruptIndex):  # it is made again with the next fold
                        opened = ForwardColumns(self._directory / name, self._most)
                self._open = (name, opened)
            return self._open[1]
