"""The vector index of one partition: nearest neighbours by cosine, independent of history.

    VectorIndex(directory, dimensions)
    .seq                           the last sequence applied, here or by another process
    .apply(added, deleted, seq)    (key, filter key, vector) to put, keys to delete; idempotent
    .search(vector, k, allowed)    → (key, cosine), nearest first, **ties with the k-th included**
    .fold(), .needs_fold           move the changes since the last fold into the base
    .count, .pending, .verify()    live vectors; changes since the fold; a full check

A search is restricted to the vectors whose filter key is in `allowed`; None is no restriction.
Keys never influence which vectors are found: the caller breaks ties (by URN), which is why every
tie is returned, and `k` may be exceeded.

The caller holds the partition's lock around `apply` and `fold`; replays the store's change log
from `seq`, which a power cut (not a killed process) may reset to an earlier value; on
`CorruptIndex` deletes the directory and starts again. Searching needs no lock, in any number
of threads and processes: each sees what others wrote.

Vectors are float32 of length 1 in one append-only, memory-mapped file. A fold writes codes and a
table of rows beside it, and leaves the floats as they are, unless more than a quarter of them are
deleted: then the live ones are copied, in the order of their keys. The file formats are in
`files`, loading and following them in `state`, the search in `snapshot`.
"""

import contextlib
import os
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from redask.core.errors import BadAsk, StoreFailed
from redask.index import private_files
from redask.index.corruption import corrupt
from redask.index.vector import files
from redask.index.vector.cosine import I64, Floats, unit_vectors
from redask.index.vector.files import Batch, Manifest
from redask.index.vector.quantization import Codes
from redask.index.vector.snapshot import VectorSnapshot
from redask.index.vector.state import VectorState

Vector = Sequence[float] | npt.NDArray[np.float32] | npt.NDArray[np.float64]

EXACT_ROWS = 20_000  # vectors of an exhaustive search, in about 3 ms
EXACT_FLOATS = EXACT_ROWS * 384  # … or more of them if they have fewer dimensions
FOLD_AT = 20_000

_CHUNK = 4_096  # rows copied or checked at a time


class VectorIndex:
    def __init__(self, directory: Path, dimensions: int, *, exact_limit: int | None = None) -> None:
        """`exact_limit`: up to how many allowed vectors the search is exhaustive."""
        if dimensions < 1:
            raise BadAsk(f"a vector needs at least one dimension, not {dimensions}")
        if exact_limit is None:
            exact_limit = max(EXACT_ROWS, EXACT_FLOATS // dimensions)
        self._directory = directory
        self._dimensions = dimensions
        self._exact_limit = exact_limit
        self._state = VectorState(directory, dimensions, exact_limit)
        self._write_lock = threading.RLock()

    # --- reading ------------------------------------------------------------------------

    @property
    def seq(self) -> int:
        return self._current().seq

    @property
    def count(self) -> int:
        return self._current().count

    @property
    def pending(self) -> int:
        return self._current().pending

    @property
    def needs_fold(self) -> bool:
        """Whether a fold would make searching or opening faster."""
        current = self._current()
        uncoded = current.codes is None and current.count > self._exact_limit
        return current.pending >= FOLD_AT or uncoded

    def search(
        self, vector: Vector, k: int, allowed: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        query = self._units([("the query's vector", vector)])[0]
        return self._current().search(query, k, allowed)

    def verify(self, applied: int = 0) -> None:
        """Read every vector; raise `CorruptIndex` if one is corrupt, or of those `applied` missing.

        A journal ends where a frame is damaged, or its floats are: who holds the partition's lock
        and knows what was applied finds out that way. What is missing would be replayed.
        """
        snapshot = self._current()
        if snapshot.seq < applied:
            raise corrupt(f"the vector index ends at change {snapshot.seq}, not at {applied}")
        for start in range(0, len(snapshot.keys), _CHUNK):
            end = min(start + _CHUNK, len(snapshot.keys))
            snapshot.compare(np.arange(start, end), again=True)

    def _current(self) -> VectorSnapshot:
        with _file_errors("read"):
            return self._state.current()

    # --- writing, under the partition's lock --------------------------------------------

    def apply(
        self, added: Sequence[tuple[int, int, Vector]], deleted: Sequence[int], seq: int
    ) -> None:
        """Put and delete, all or nothing; an existing key is replaced."""
        latest = {key: (filter_key, vector) for key, filter_key, vector in added}
        floats = self._units([(f"the vector of key {k}", v) for k, (_, v) in latest.items()])
        keys = np.fromiter(latest, np.int64, len(latest))
        filter_keys = np.fromiter((own for own, _ in latest.values()), np.int64, len(latest))
        removed = np.array([key for key in set(deleted) if key not in latest], np.int64)
        with self._write_lock, _file_errors("written"):
            snapshot = self._writable()
            old = self._state.find(keys)
            unchanged = old >= 0
            old_filter_keys = snapshot.filter_keys[snapshot.filter_indexes[old[unchanged]]]
            unchanged[unchanged] = old_filter_keys == filter_keys[unchanged]
            unchanged[unchanged] = (snapshot.floats[old[unchanged]] == floats[unchanged]).all(
                axis=1
            )
            dead = np.concatenate((old[~unchanged], self._state.find(removed)))
            floats, first = floats[~unchanged], len(snapshot.keys)
            crc = files.crc_of(floats)
            added_rows = keys[~unchanged], filter_keys[~unchanged]
            batch = Batch(seq, first, *added_rows, dead[dead >= 0], crc)
            self._append(batch, floats)
            self._state.current()

    def fold(self) -> None:
        """Write the current state as a new base. Searches may run meanwhile."""
        with self._write_lock, _file_errors("written"):
            snapshot, manifest = self._state.current(), self._state.manifest
            if manifest is not None and (snapshot.pending or self._state.torn):
                try:
                    files.write_manifest(self._directory, self._write_base(snapshot, manifest))
                finally:
                    files.remove_unreferenced(self._directory)
                self._state.current()

    def _units(self, named: Sequence[tuple[str, Vector]]) -> Floats:
        """The vectors at length 1; raises `BadAsk` for the first that cannot be used."""
        floats = np.empty((len(named), self._dimensions), np.float32)
        for row, (name, vector) in zip(floats, named, strict=True):
            try:
                with np.errstate(over="ignore"):
                    numbers = np.asarray(vector, np.float32)
            except (TypeError, ValueError, OverflowError) as fault:
                raise BadAsk(f"{name} is not a list of numbers") from fault
            if numbers.shape != row.shape:
                found = f"{numbers.size}" if numbers.ndim == 1 else f"{numbers.shape}"
                raise BadAsk(f"{name} has {found} dimensions, not {self._dimensions}")
            row[:] = numbers
        for fault_of, problem in (
            (~np.isfinite(floats).all(axis=1), "has a number that is infinite or not a number"),
            (~floats.any(axis=1), "is zero, and so has no cosine"),
        ):
            if fault_of.any():
                raise BadAsk(f"{named[int(np.argmax(fault_of))][0]} {problem}")
        return unit_vectors(floats)

    def _writable(self) -> VectorSnapshot:
        """The current state, with a journal that can be appended to."""
        snapshot = self._state.current()
        if self._state.manifest is None:
            private_files.make_directory(self._directory)
            files.write_manifest(self._directory, self._write_base(snapshot, None))
        elif self._state.torn:
            # A torn frame is never overwritten: a new journal is begun, so that a process that
            # reads the old one cannot mistake new frames for the rest of the torn one.
            self.fold()
        return self._state.current()

    def _append(self, batch: Batch, floats: Floats) -> None:
        manifest = self._state.manifest
        assert manifest is not None
        width = 4 * self._dimensions
        with _opened(self._directory / manifest.floats_name) as file:
            needed = batch.first + len(floats)
            if os.fstat(file).st_size < needed * width:
                # Spare capacity (a sparse file) lets readers keep their mapping for long.
                os.ftruncate(file, (needed + needed // 4 + _CHUNK) * width)
            files.write_at(file, floats.tobytes(), batch.first * width)
        with _opened(self._directory / manifest.journal_name) as file:
            files.write_at(file, files.pack_frame(batch), self._state.end)

    def _write_base(self, snapshot: VectorSnapshot, old: Manifest | None) -> Manifest:
        """Write every file of a new base but its manifest."""
        codes = None
        if old is None or 4 * (len(snapshot.keys) - snapshot.count) > len(snapshot.keys):
            snapshot, floats_name = self._compacted(snapshot)
        else:
            floats_name = old.floats_name
            files.sync(self._directory / floats_name)
            if old.coded:
                codes = Codes.read(self._directory / old.codes_name, self._dimensions)
        codes_name, codes_crc, coded = "", 0, 0
        if snapshot.count > self._exact_limit:
            codes = codes or Codes(self._dimensions)
            codes.add(snapshot.floats[len(codes) :])
            codes_name, coded = files.new_name("codes"), len(codes)
            codes_crc = files.write_file(self._directory / codes_name, codes.write)
        rows = files.pack_rows(
            *(snapshot.keys, snapshot.sums, snapshot.filter_indexes),
            *(snapshot.live, snapshot.filter_keys),
        )
        rows_name, journal_name = files.new_name("rows"), files.new_name("journal")
        files.write_file(self._directory / journal_name, lambda _: None)
        return Manifest(
            layout=files.LAYOUT,
            dimensions=self._dimensions,
            seq=snapshot.seq,
            rows=len(snapshot.keys),
            coded=coded,
            floats_name=floats_name,
            rows_name=rows_name,
            rows_crc=files.write_file(self._directory / rows_name, lambda sink: sink(rows)),
            codes_name=codes_name,
            codes_crc=codes_crc,
            journal_name=journal_name,
        )

    def _compacted(self, snapshot: VectorSnapshot) -> tuple[VectorSnapshot, str]:
        """The live rows in the order of their keys, with their floats written to a new file."""
        rows = np.flatnonzero(snapshot.live)
        rows = rows[np.argsort(snapshot.keys[rows], kind="stable")]
        name = files.new_name("floats")
        path = self._directory / name
        files.write_file(path, lambda sink: _copy(snapshot.floats, rows, sink))
        floats = files.map_floats(path, self._dimensions)
        live = np.ones(len(rows), np.bool_)
        keys, indexes = snapshot.keys[rows], snapshot.filter_indexes[rows]
        sums = snapshot.sums[rows]
        compacted = replace(
            snapshot, floats=floats, keys=keys, sums=sums, filter_indexes=indexes, live=live
        )
        return compacted, name


def _copy(floats: Floats, rows: I64, sink: files.Sink) -> None:
    for start in range(0, len(rows), _CHUNK):
        sink(floats[rows[start : start + _CHUNK]].tobytes())


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_WRONLY)
    try:
        yield file
    finally:
        os.close(file)


@contextlib.contextmanager
def _file_errors(verb: str) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        reason = fault.strerror or type(fault).__name__
        raise StoreFailed(f"the vector index could not be {verb}: {reason}") from fault
