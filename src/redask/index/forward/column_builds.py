"""When the arrays of a generation are made, and which are used: `ColumnBuilds`.

    made        at the end of catching up, under the partition's lock, once there are MIN_ROWS;
                again when more changed since than MIN_CHANGES and than one in SHARE of all rows,
                and when the file is missing or corrupt
    used        by every search of the generation, with what changed since, of the search's state
    not made    above MAX_ROWS, as it would take longer than a search may wait, and where the file
                cannot be written: then searches read the forward index alone, and find the same

The file has a name of its own each time, which the forward index records. Searches of older states
keep theirs: it is removed, but stays mapped.
"""

import secrets
import threading
from contextlib import suppress
from pathlib import Path

from redask.core.errors import CorruptIndex
from redask.index.forward import columns
from redask.index.forward.columns import ForwardColumns
from redask.index.forward.forward_index import ForwardIndex, Snapshot
from redask.index.graph.column_entities import ChangedRows

MIN_ROWS = 64
MIN_CHANGES = 256
SHARE = 16
MAX_ROWS = 200_000  # 10 s and 1.2 GB while they are made
_PREFIX = "columns-"


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
        return ChangedRows(found, snapshot.changed_entities(), owners)

    def make(self, forward: ForwardIndex) -> bool:
        """Make the arrays if they are due. Hold the partition's lock. → whether they were"""
        with forward.snapshot() as snapshot:
            rows = sum(group.entities for group in snapshot.statistics())
            if not self._is_due(snapshot, rows):
                return False
            name = f"{_PREFIX}{secrets.token_hex(8)}"
            hashes = snapshot.name_hashes_since(-1)
            try:
                columns.build(self._directory / name, snapshot.column_rows(), hashes)
            except OSError:  # a full disk must not end a search that needs no more of it
                self._remove_but(snapshot.meta_value("columns"))
                return False
        with forward.transaction() as transaction:
            transaction.set_columns(name)
        forward.checkpoint()
        self._remove_but(name)
        return True

    def verify(self, snapshot: Snapshot) -> None:
        """Raise `CorruptIndex` unless the file that is recorded is what was written."""
        if name := snapshot.meta_value("columns"):
            ForwardColumns(self._directory / name)

    def _remove_but(self, name: str) -> None:
        """Remove the other files, also what a killed process left."""
        for path in self._directory.glob(f"{_PREFIX}*"):
            if path.name != name:
                with suppress(OSError):
                    path.unlink()

    def _is_due(self, snapshot: Snapshot, rows: int) -> bool:
        if not MIN_ROWS <= rows <= MAX_ROWS:
            return False
        if self._columns(snapshot.meta_value("columns")) is None:
            return True
        return snapshot.change_count() > max(MIN_CHANGES, rows // SHARE)

    def _columns(self, name: str) -> ForwardColumns | None:
        with self._lock:
            if self._open[0] != name:
                opened = None
                if name:
                    with suppress(CorruptIndex):  # it is made again with the next fold
                        opened = ForwardColumns(self._directory / name, self._most)
                self._open = (name, opened)
            return self._open[1]
