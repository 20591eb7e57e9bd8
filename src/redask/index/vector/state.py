"""Loading the files of a vector index, and following changes to them by other processes.

    VectorState(directory, dimensions, exact_limit)
    .current()      the newest `VectorSnapshot`; checks the disk each time, by two `stat` calls
    .find(keys)     the live row of each key, −1 for none; for the writer
    .manifest, .end, .torn    where the writer appends

A new manifest is loaded as a whole. Otherwise new frames of the journal are applied to the last
snapshot. A frame with a wrong CRC is ignored: another process may be writing it. To the writer,
which holds the lock, `torn` means the incomplete frame of a writer that was killed.

Keys and filter indexes are in arrays with spare capacity: a snapshot is a slice of them, and rows
added later are beyond its end. Filter keys are dictionary-encoded: a row has an index into the
list of distinct filter keys, in the order they first occurred.
"""

import os
import threading
from pathlib import Path
from typing import TypeVar

import numpy as np

from redask.index.corruption import corrupt, unusable
from redask.index.vector import files
from redask.index.vector.cosine import I64, Floats
from redask.index.vector.files import I32, U32, Batch, Manifest
from redask.index.vector.quantization import Codes
from redask.index.vector.snapshot import ComparedRows, UnfoldedCodes, VectorSnapshot

Array = TypeVar("Array", I64, I32, U32)

_TRIES = 8  # a fold may remove files between our reading the manifest and opening them


class VectorState:
    def __init__(self, directory: Path, dimensions: int, exact_limit: int) -> None:
        self._directory = directory
        self._dimensions = dimensions
        self._exact_limit = exact_limit
        self._lock = threading.RLock()
        self._reset()

    def _reset(self) -> None:
        self.manifest: Manifest | None = None
        self.end = 0
        self.torn = False
        self._stamp: tuple[int, int] | None = None
        self._floats: Floats = np.empty((0, self._dimensions), np.float32)
        self._keys = filter_keys = np.empty(0, np.int64)
        self._sums = np.empty(0, np.uint32)
        self._filter_indexes = np.empty(0, np.int32)
        self._compared = ComparedRows()
        self._lookup: KeyLookup | None = None
        self._snapshot = VectorSnapshot(
            seq=0,
            pending=0,
            exact_limit=self._exact_limit,
            floats=self._floats,
            keys=self._keys,
            sums=self._sums,
            compared=self._compared,
            filter_indexes=self._filter_indexes,
            filter_keys=filter_keys,
            live=np.empty(0, np.bool_),
            codes=None,
            unfolded=UnfoldedCodes(self._dimensions, 0),
        )

    def current(self) -> VectorSnapshot:
        with self._lock:
            for _ in range(_TRIES):
                try:
                    if self._replaced():
                        self._load()
                    self._read_journal()
                    return self._snapshot
                except FileNotFoundError as fault:
                    missing = fault.filename
                    self._stamp = (0, 0)  # no file has this stamp: load again
            raise corrupt(f"{Path(missing).name} of the vector index is missing")

    def find(self, keys: I64) -> I64:
        with self._lock:
            if self._lookup is None:
                self._lookup = KeyLookup(self._snapshot)
            return self._lookup.find(keys)

    def _replaced(self) -> bool:
        try:
            stamp = files.file_stamp(os.stat(self._directory / files.MANIFEST))
        except FileNotFoundError:
            stamp = None
        return stamp != self._stamp

    def _load(self) -> None:
        found = files.read_manifest(self._directory)
        if found is None:
            self._reset()
            return
        manifest, stamp = found
        if manifest.dimensions != self._dimensions:
            raise unusable(
                f"the vector index has {manifest.dimensions} dimensions, not {self._dimensions}"
            )
        codes = None
        if manifest.coded:
            path = self._directory / manifest.codes_name
            files.verify_crc(path, manifest.codes_crc)
            codes = Codes.read(path, self._dimensions)
        path = self._directory / manifest.rows_name
        keys, sums, filter_indexes, live, filter_keys = files.read_rows(path, manifest)
        if self.manifest is None or self.manifest.floats_name != manifest.floats_name:
            self._floats = self._floats[:0]
            self._compared = ComparedRows()
        floats = self._mapped(manifest, manifest.rows)
        if len(floats) < manifest.rows:
            raise corrupt(
                f"{manifest.floats_name} of the vector index has {len(floats)} rows,"
                f" not {manifest.rows}"
            )
        self._keys, self._filter_indexes, self._lookup = keys, filter_indexes, None
        self._sums = sums
        self._snapshot = VectorSnapshot(
            seq=manifest.seq,
            pending=0,
            exact_limit=self._exact_limit,
            floats=floats[: manifest.rows],
            keys=keys,
            sums=sums,
            compared=self._compared,
            filter_indexes=filter_indexes,
            filter_keys=filter_keys,
            live=live,
            codes=codes,
            unfolded=UnfoldedCodes(self._dimensions, manifest.coded),
        )
        self.manifest, self._stamp, self.end = manifest, stamp, 0

    def _mapped(self, manifest: Manifest, count: int) -> Floats:
        """The rows of the file of floats; mapped again if that has grown to `count`."""
        if count > len(self._floats):
            path = self._directory / manifest.floats_name
            self._floats = files.map_floats(path, self._dimensions)
        return self._floats

    def _read_journal(self) -> None:
        """Apply the new frames of the journal."""
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
            if not self._apply_frame(self.manifest, batch):
                break
            self.end = start + length
        self.torn = self.end != start + len(data)

    def _apply_frame(self, manifest: Manifest, batch: Batch) -> bool:
        """Make a new snapshot with this batch. → False when its floats never reached the disk"""
        snapshot, count = self._snapshot, batch.first + len(batch.keys)
        if batch.first != len(snapshot.keys) or not _within(batch.deleted, batch.first):
            return False
        floats = self._mapped(manifest, count)[:count]
        if files.crc_of(floats[batch.first :]) != batch.floats_crc:
            return False
        if self._lookup is not None:
            self._lookup.update(snapshot.keys[batch.deleted], batch)
        self._keys = _appended(self._keys, batch.first, batch.keys)
        added = files.sums_of(floats[batch.first :])
        self._sums = _appended(self._sums, batch.first, added)
        self._compared.add(np.arange(batch.first, count), count)
        filter_keys, filter_indexes = _encoded(snapshot.filter_keys, batch.filter_keys)
        self._filter_indexes = _appended(self._filter_indexes, batch.first, filter_indexes)
        live = np.concatenate((snapshot.live, np.ones(len(batch.keys), np.bool_)))
        live[batch.deleted] = False
        self._snapshot = VectorSnapshot(
            seq=max(snapshot.seq, batch.seq),
            pending=snapshot.pending + max(1, len(batch.keys) + len(batch.deleted)),
            exact_limit=self._exact_limit,
            floats=floats,
            keys=self._keys[:count],
            sums=self._sums[:count],
            compared=self._compared,
            filter_indexes=self._filter_indexes[:count],
            filter_keys=filter_keys,
            live=live,
            codes=snapshot.codes,
            unfolded=snapshot.unfolded,
        )
        return True


class KeyLookup:
    """Key to live row: a sorted array of keys, and a dictionary of later changes.

    Only the last row of a key can be live. Keys mostly come in ascending order, and then need no
    sorting.
    """

    def __init__(self, snapshot: VectorSnapshot) -> None:
        self._keys, self._live = snapshot.keys, snapshot.live
        self._order: I64 | None = None
        if np.any(self._keys[1:] <= self._keys[:-1]):
            self._order = np.argsort(self._keys, kind="stable")
            self._keys = self._keys[self._order]
        self._changed: dict[int, int] = {}

    def find(self, keys: I64) -> I64:
        position = np.searchsorted(self._keys, keys, side="right") - 1
        known = position >= 0
        known[known] = self._keys[position[known]] == keys[known]
        rows = position if self._order is None else self._order[position]
        known[known] = self._live[rows[known]]
        found = np.where(known, rows, -1)
        for i, key in enumerate(keys.tolist() if self._changed else ()):
            found[i] = self._changed.get(key, found[i])
        return found

    def update(self, deleted: I64, batch: Batch) -> None:
        """Apply a batch; `deleted` are keys. A key that is replaced is deleted and added."""
        self._changed.update(dict.fromkeys(deleted.tolist(), -1))
        rows = range(batch.first, batch.first + len(batch.keys))
        self._changed.update(zip(batch.keys.tolist(), rows, strict=True))


def _within(rows: I64, count: int) -> bool:
    return bool(np.all((rows >= 0) & (rows < count)))


def _encoded(known: I64, filter_keys: I64) -> tuple[I64, I32]:
    """The known filter keys with new ones appended, and the index of each of `filter_keys`."""
    here, back = np.unique(filter_keys, return_inverse=True)
    known = np.concatenate((known, here[~np.isin(here, known)]))
    order = np.argsort(known)
    return known, order[np.searchsorted(known, here, sorter=order)][back].astype(np.int32)


def _appended(array: Array, used: int, more: Array) -> Array:
    """`array` with `more` after the first `used`; copied only when its capacity is exceeded."""
    needed = used + len(more)
    if needed > len(array) or not array.flags.writeable:
        larger = np.empty(needed + needed // 4 + 1_024, array.dtype)
        larger[:used] = array[:used]
        array = larger
    array[used:needed] = more
    return array
