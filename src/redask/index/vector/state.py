"""Following the files of a vector index: from what is on disk to the `VectorView` a search reads.

    VectorState(directory, dimensions, exact)
    .current()      the newest view; looks at the disk each time, by two `stat` calls
    .find(keys)     the live row of each key, −1 for none; for the writer
    .manifest, .end, .torn    where the writer goes on

A new manifest is loaded as a whole. Otherwise whole new frames of the journal are added to
the view before. A frame that does not check is left alone: another process may be writing it.
Only the writer knows better, since it holds the lock: to it, `torn` means litter of a writer
that was killed.

Keys and labels live in arrays with room to grow: a view is a slice of them, and rows added
later lie beyond its end. A label is kept as its number in a list of the labels there are, in
the order they came, so that what a set of labels opens is one look-up in a small table.
"""

import os
import threading
from pathlib import Path
from typing import TypeVar

import numpy as np

from redask.core.errors import Damaged
from redask.index.vector import files
from redask.index.vector.cosine import Floats, Places
from redask.index.vector.files import Batch, Manifest, Numbers
from redask.index.vector.quantization import Codes
from redask.index.vector.snapshot import NewerCodes, VectorView

Growing = TypeVar("Growing", Places, Numbers)

_TRIES = 8  # a fold may sweep files away between our reading the manifest and opening them


class VectorState:
    def __init__(self, directory: Path, dimensions: int, exact: int) -> None:
        self._directory = directory
        self._dimensions = dimensions
        self._exact = exact
        self._lock = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        self.manifest: Manifest | None = None
        self.end = 0
        self.torn = False
        self._stamp: tuple[int, int] | None = None
        self._floats: Floats = np.empty((0, self._dimensions), np.float32)
        self._keys = labels = np.empty(0, np.int64)
        self._numbers = np.empty(0, np.int32)
        self._lookup: Lookup | None = None
        self._view = VectorView(
            seq=0,
            pending=0,
            exact=self._exact,
            floats=self._floats,
            keys=self._keys,
            numbers=self._numbers,
            labels=labels,
            alive=np.empty(0, np.bool_),
            codes=None,
            newer=NewerCodes(self._dimensions, 0),
        )

    def current(self) -> VectorView:
        with self._lock:
            for _ in range(_TRIES):
                try:
                    if self._replaced():
                        self._load()
                    self._follow()
                    return self._view
                except FileNotFoundError as fault:
                    missing = fault.filename
                    self._stamp = (0, 0)  # no file has this one: load again
            raise Damaged(f"the vector index lacks a file: {Path(missing).name}")

    def find(self, keys: Places) -> Places:
        with self._lock:
            if self._lookup is None:
                self._lookup = Lookup(self._view)
            return self._lookup.find(keys)

    def _replaced(self) -> bool:
        try:
            stamp = files.stamp_of(os.stat(self._directory / files.MANIFEST))
        except FileNotFoundError:
            stamp = None
        return stamp != self._stamp

    def _load(self) -> None:
        found = files.read_manifest(self._directory)
        if found is None:
            self._forget()
            return
        manifest, stamp = found
        if manifest.dimensions != self._dimensions:
            raise Damaged(
                f"the vector index has {manifest.dimensions} dimensions, not {self._dimensions}"
            )
        codes = None
        if manifest.coded:
            path = self._directory / manifest.codes_name
            files.check(path, manifest.codes_crc)
            codes = Codes.read(path, self._dimensions)
        path = self._directory / manifest.rows_name
        keys, numbers, alive, labels = files.read_rows(path, manifest)
        if self.manifest is None or self.manifest.floats_name != manifest.floats_name:
            self._floats = self._floats[:0]
        floats = self._mapped(manifest, manifest.rows)
        if len(floats) < manifest.rows:
            raise Damaged(f"the vector index has {len(floats)} of {manifest.rows} rows of floats")
        self._keys, self._numbers, self._lookup = keys, numbers, None
        self._view = VectorView(
            seq=manifest.seq,
            pending=0,
            exact=self._exact,
            floats=floats[: manifest.rows],
            keys=keys,
            numbers=numbers,
            labels=labels,
            alive=alive,
            codes=codes,
            newer=NewerCodes(self._dimensions, manifest.coded),
        )
        self.manifest, self._stamp, self.end = manifest, stamp, 0

    def _mapped(self, manifest: Manifest, count: int) -> Floats:
        """The rows of the floats' file; mapped again when there should be more."""
        if count > len(self._floats):
            path = self._directory / manifest.floats_name
            self._floats = files.map_floats(path, self._dimensions)
        return self._floats

    def _follow(self) -> None:
        """Add the journal's new frames."""
        if self.manifest is None:
            return
        path = self._directory / self.manifest.journal_name
        size = os.stat(path).st_size
        if size == self.end:
            self.torn = False
            return
        with open(path, "rb") as file:
            file.seek(self.end)
            data = file.read()
        start = self.end
        for batch, length in files.unpack_frames(data):
            if not self._absorb(self.manifest, batch):
                break
            self.end = start + length
        self.torn = self.end != start + len(data)

    def _absorb(self, manifest: Manifest, batch: Batch) -> bool:
        """A new view with this batch in it, unless its floats never reached the disk."""
        view, count = self._view, batch.first + len(batch.keys)
        if batch.first != len(view.keys) or not _within(batch.deleted, batch.first):
            return False
        floats = self._mapped(manifest, count)[:count]
        if files.crc_of(floats[batch.first :]) != batch.floats_crc:
            return False
        if self._lookup is not None:
            self._lookup.note(view.keys[batch.deleted], batch)
        self._keys = _extended(self._keys, batch.first, batch.keys)
        labels, numbers = _numbered(view.labels, batch.labels)
        self._numbers = _extended(self._numbers, batch.first, numbers)
        alive = np.concatenate((view.alive, np.ones(len(batch.keys), np.bool_)))
        alive[batch.deleted] = False
        self._view = VectorView(
            seq=max(view.seq, batch.seq),
            pending=view.pending + max(1, len(batch.keys) + len(batch.deleted)),
            exact=self._exact,
            floats=floats,
            keys=self._keys[:count],
            numbers=self._numbers[:count],
            labels=labels,
            alive=alive,
            codes=view.codes,
            newer=view.newer,
        )
        return True


class Lookup:
    """Key to live row: the keys there were in sorted order, and a dictionary of what changed.

    A key's last row is the only one that can be alive. Keys mostly come in ascending order,
    and then need no sorting.
    """

    def __init__(self, view: VectorView) -> None:
        self._keys, self._alive = view.keys, view.alive
        self._order: Places | None = None
        if np.any(self._keys[1:] <= self._keys[:-1]):
            self._order = np.argsort(self._keys, kind="stable")
            self._keys = self._keys[self._order]
        self._changed: dict[int, int] = {}

    def find(self, keys: Places) -> Places:
        place = np.searchsorted(self._keys, keys, side="right") - 1
        known = place >= 0
        known[known] = self._keys[place[known]] == keys[known]
        rows = place if self._order is None else self._order[place]
        known[known] = self._alive[rows[known]]
        found = np.where(known, rows, -1)
        for i, key in enumerate(keys.tolist() if self._changed else ()):
            found[i] = self._changed.get(key, found[i])
        return found

    def note(self, deleted: Places, batch: Batch) -> None:
        """`deleted` are keys here; a key that is replaced is deleted and added."""
        self._changed.update(dict.fromkeys(deleted.tolist(), -1))
        rows = range(batch.first, batch.first + len(batch.keys))
        self._changed.update(zip(batch.keys.tolist(), rows, strict=True))


def _within(rows: Places, count: int) -> bool:
    return bool(np.all((rows >= 0) & (rows < count)))


def _numbered(known: Places, labels: Places) -> tuple[Places, Numbers]:
    """The known labels with the new ones after them, and the number of each of `labels`."""
    here, back = np.unique(labels, return_inverse=True)
    known = np.concatenate((known, here[~np.isin(here, known)]))
    order = np.argsort(known)
    return known, order[np.searchsorted(known, here, sorter=order)][back].astype(np.int32)


def _extended(numbers: Growing, used: int, more: Growing) -> Growing:
    """`numbers` with `more` after the first `used`; copied only when there is no room left."""
    needed = used + len(more)
    if needed > len(numbers) or not numbers.flags.writeable:
        roomier = np.empty(needed + needed // 4 + 1_024, numbers.dtype)
        roomier[:used] = numbers[:used]
        numbers = roomier
    numbers[used:needed] = more
    return numbers
