"""The vectors of one partition: nearest by cosine, the same whatever the history.

    VectorIndex(directory, dimensions)
    .seq                           the last sequence applied, here or by another process
    .apply(added, deleted, seq)    (key, label, vector) to put, keys to remove; repeatable
    .search(vector, k, allowed)    → (key, cosine), nearest first, **ties with the k-th included**
    .fold(), .wants_fold           move what was applied since the last fold into the base
    .count, .pending, .verify()    live vectors; changes since the fold; a full check

A label says who may see a vector; `allowed` is the set of labels the caller may see, None for
all. Keys and labels never influence which vectors are found: among equal cosines the caller
chooses (by URN), which is why every tie is returned, and `k` may be exceeded.

The caller's duty: hold the partition's lock around `apply` and `fold`; replay the store's log
from `seq`, which a power cut (not a killed process) may take back to an earlier value; on
`Damaged` delete the directory and start again. Searching needs no lock, in any number of
threads and processes: each notices what others wrote.

Vectors are kept as float32 of length 1, in one file that is only appended to and is mapped
into memory. A fold writes codes and a table of rows beside it, and leaves the floats as they
are, unless a quarter of them is dead: then the live ones are copied, in the order of their
keys. How files change safely is `vector_files`; how they are followed, `vector_state`; what a
search does, `vector_view`.
"""

import contextlib
import os
import threading
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from redask.core.errors import BadAsk, Damaged, StoreFailed
from redask.index.vector import files
from redask.index.vector.cosine import Floats, Places, unit
from redask.index.vector.files import Batch, Manifest
from redask.index.vector.quantization import Codes
from redask.index.vector.snapshot import VectorView, whole
from redask.index.vector.state import VectorState

Vector = Sequence[float] | npt.NDArray[np.float32] | npt.NDArray[np.float64]

EXACT_ROWS = 20_000  # vectors compared one by one with the query, in about 3 ms
EXACT_NUMBERS = EXACT_ROWS * 384  # … or more of them when they are shorter
FOLD_AT = 20_000

_COPIED = 4_096  # rows copied or checked at a time


class VectorIndex:
    def __init__(self, directory: Path, dimensions: int, *, exact: int | None = None) -> None:
        """`exact`: up to how many permitted vectors every one is compared."""
        if dimensions < 1:
            raise BadAsk(f"a vector needs at least one dimension, not {dimensions}")
        if exact is None:
            exact = max(EXACT_ROWS, EXACT_NUMBERS // dimensions)
        self._directory = directory
        self._dimensions = dimensions
        self._exact = exact
        self._state = VectorState(directory, dimensions, exact)
        self._writing = threading.RLock()

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
    def wants_fold(self) -> bool:
        """Whether searching or opening would gain from a fold."""
        view = self._current()
        return view.pending >= FOLD_AT or (view.codes is None and view.count > self._exact)

    def search(
        self, vector: Vector, k: int, allowed: Collection[int] | None = None
    ) -> list[tuple[int, float]]:
        query = self._units([("the query's vector", vector)])[0]
        return self._current().search(query, k, allowed)

    def verify(self) -> None:
        """Read every vector once; `Damaged` when one is not as it was written."""
        view = self._current()
        for start in range(0, len(view.keys), _COPIED):
            if not whole(view.floats[start : start + _COPIED]):
                raise Damaged(f"the vector index has damaged floats after row {start}")

    def _current(self) -> VectorView:
        with _as_store_failure("read"):
            return self._state.current()

    # --- writing, under the partition's lock --------------------------------------------

    def apply(
        self, added: Sequence[tuple[int, int, Vector]], deleted: Sequence[int], seq: int
    ) -> None:
        """Put and remove, all or nothing; a key that is there already is replaced."""
        latest = {key: (label, vector) for key, label, vector in added}
        floats = self._units([(f"the vector of key {k}", v) for k, (_, v) in latest.items()])
        keys = np.fromiter(latest, np.int64, len(latest))
        labels = np.fromiter((label for label, _ in latest.values()), np.int64, len(latest))
        gone = np.array([key for key in set(deleted) if key not in latest], np.int64)
        with self._writing, _as_store_failure("written"):
            view = self._prepared()
            old = self._state.find(keys)
            same = old >= 0
            same[same] = view.labels[view.numbers[old[same]]] == labels[same]
            same[same] = (view.floats[old[same]] == floats[same]).all(axis=1)
            dead = np.concatenate((old[~same], self._state.find(gone)))
            floats, first = floats[~same], len(view.keys)
            crc = files.crc_of(floats)
            batch = Batch(seq, first, keys[~same], labels[~same], dead[dead >= 0], crc)
            self._append(batch, floats)
            self._state.current()

    def fold(self) -> None:
        """Write the current state as a new base. Searches go on meanwhile."""
        with self._writing, _as_store_failure("written"):
            view, manifest = self._state.current(), self._state.manifest
            if manifest is not None and (view.pending or self._state.torn):
                try:
                    files.write_manifest(self._directory, self._write_base(view, manifest))
                finally:
                    files.sweep(self._directory)
                self._state.current()

    def _units(self, named: Sequence[tuple[str, Vector]]) -> Floats:
        """The vectors at length 1, or what is wrong with the first that cannot be used."""
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
            (~floats.any(axis=1), "is zero, and so has no direction to compare"),
        ):
            if fault_of.any():
                raise BadAsk(f"{named[int(np.argmax(fault_of))][0]} {problem}")
        return unit(floats)

    def _prepared(self) -> VectorView:
        """The state to go on from, with files to append to."""
        view = self._state.current()
        if self._state.manifest is None:
            self._directory.mkdir(parents=True, exist_ok=True)
            files.write_manifest(self._directory, self._write_base(view, None))
        elif self._state.torn:
            # What follows the last whole frame is never overwritten: a new journal is begun,
            # so that whoever reads the old one cannot take the one for the other.
            self.fold()
        return self._state.current()

    def _append(self, batch: Batch, floats: Floats) -> None:
        manifest = self._state.manifest
        assert manifest is not None
        width = 4 * self._dimensions
        with _opened(self._directory / manifest.floats_name) as file:
            needed = batch.first + len(floats)
            if os.fstat(file).st_size < needed * width:
                # Room ahead, without blocks, lets readers keep one mapping for long.
                os.ftruncate(file, (needed + needed // 4 + _COPIED) * width)
            files.write_at(file, floats.tobytes(), batch.first * width)
        with _opened(self._directory / manifest.journal_name) as file:
            files.write_at(file, files.pack_frame(batch), self._state.end)

    def _write_base(self, view: VectorView, old: Manifest | None) -> Manifest:
        """Every file of a new base but its manifest."""
        codes = None
        if old is None or 4 * (len(view.keys) - view.count) > len(view.keys):
            view, floats_name = self._compacted(view)
        else:
            floats_name = old.floats_name
            files.sync(self._directory / floats_name)
            if old.coded:
                codes = Codes.read(self._directory / old.codes_name, self._dimensions)
        codes_name, codes_crc, coded = "", 0, 0
        if view.count > self._exact:
            codes = codes or Codes(self._dimensions)
            codes.add(view.floats[len(codes) :])
            codes_name, coded = files.name_for("codes"), len(codes)
            codes_crc = files.write_file(self._directory / codes_name, codes.write)
        rows = files.pack_rows(view.keys, view.numbers, view.alive, view.labels)
        rows_name, journal_name = files.name_for("rows"), files.name_for("journal")
        files.write_file(self._directory / journal_name, lambda _: None)
        return Manifest(
            layout=files.LAYOUT,
            dimensions=self._dimensions,
            seq=view.seq,
            rows=len(view.keys),
            coded=coded,
            floats_name=floats_name,
            rows_name=rows_name,
            rows_crc=files.write_file(self._directory / rows_name, lambda sink: sink(rows)),
            codes_name=codes_name,
            codes_crc=codes_crc,
            journal_name=journal_name,
        )

    def _compacted(self, view: VectorView) -> tuple[VectorView, str]:
        """The live rows in the order of their keys, with their floats in a new file."""
        rows = np.flatnonzero(view.alive)
        rows = rows[np.argsort(view.keys[rows], kind="stable")]
        name = files.name_for("floats")
        path = self._directory / name
        files.write_file(path, lambda sink: _copy(view.floats, rows, sink))
        floats = files.map_floats(path, self._dimensions)
        alive = np.ones(len(rows), np.bool_)
        keys, numbers = view.keys[rows], view.numbers[rows]
        return replace(view, floats=floats, keys=keys, numbers=numbers, alive=alive), name


def _copy(floats: Floats, rows: Places, sink: files.Sink) -> None:
    for start in range(0, len(rows), _COPIED):
        sink(floats[rows[start : start + _COPIED]].tobytes())


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    file = os.open(path, os.O_WRONLY)
    try:
        yield file
    finally:
        os.close(file)


@contextlib.contextmanager
def _as_store_failure(verb: str) -> Iterator[None]:
    try:
        yield
    except OSError as fault:
        reason = fault.strerror or type(fault).__name__
        raise StoreFailed(f"the vector index could not be {verb}: {reason}") from fault
