"""A power cut loses unsynced writes: the manifest of a vector index names only synced files.

`Disk` watches the system calls. A file is unsafe from its first byte until it is synced, and
again with every later write. At the moment a manifest becomes the current one, it and all it
names must be safe.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from redask.index.vector import files as vector_files
from redask.index.vector.nearest import VectorIndex

D = 8


class Disk:
    """Which files of an index a power cut would harm, and the manifests there were."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self.manifests: list[vector_files.Manifest] = []
        self._unsafe: set[tuple[int, int]] = set()
        self._replace = os.replace
        for name in ("write", "pwrite", "ftruncate"):
            monkeypatch.setattr(os, name, self._recording(getattr(os, name), self._unsafe.add))
        monkeypatch.setattr(os, "fsync", self._recording(os.fsync, self._unsafe.discard))
        monkeypatch.setattr(os, "replace", self._become_current)

    def unsafe(self) -> set[str]:
        """The names of files, and of the directory, that were written and not synced since."""
        here = [self.directory, *self.directory.iterdir()]
        return {path.name for path in here if _identity(path.stat()) in self._unsafe}

    def _recording(
        self, call: Callable[..., Any], record: Callable[[tuple[int, int]], None]
    ) -> Callable[..., Any]:
        def recorded(file: int, *args: Any) -> Any:
            result = call(file, *args)
            record(_identity(os.fstat(file)))
            return result

        return recorded

    def _become_current(self, source: Path, target: Path) -> None:
        assert target.name == vector_files.MANIFEST
        body = source.read_bytes().split(b"\n", 1)[1]
        manifest = vector_files.Manifest(**json.loads(body))
        named = {manifest.floats_name, manifest.rows_name, manifest.journal_name}
        named |= {manifest.codes_name} - {""}
        assert named <= set(os.listdir(self.directory))
        assert self.unsafe() & (named | {source.name}) == set(), "named before it was synced"
        self._replace(source, target)
        self._unsafe.add(_identity(self.directory.stat()))  # the new name itself
        self.manifests.append(manifest)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(tmp_path / "vectors", monkeypatch)


@pytest.fixture
def index(disk: Disk) -> VectorIndex:
    return VectorIndex(disk.directory, D, exact_limit=40)


def put(index: VectorIndex, keys: range, seq: int, deleted: range = range(0)) -> None:
    rows = np.random.default_rng(seq).standard_normal((len(keys), D))
    added = [(key, 0, row) for key, row in zip(keys, rows, strict=True)]
    index.apply(added, list(deleted), seq)


def test_floats_are_synced_before_a_manifest_names_their_rows(
    index: VectorIndex, disk: Disk
) -> None:
    put(index, range(10), 1)
    assert disk.unsafe(), "appending does not sync: the test would show nothing"
    index.fold()
    first, folded = disk.manifests
    assert (first.rows, folded.rows) == (0, 10)
    assert folded.floats_name == first.floats_name, "the floats were appended to, not copied"
    assert disk.unsafe() == set()


def test_every_file_of_every_fold_is_synced_before_its_manifest_names_it(
    index: VectorIndex, disk: Disk
) -> None:
    put(index, range(60), 1)
    index.fold()
    put(index, range(60, 90), 2)
    index.fold()
    put(index, range(90, 95), 3, deleted=range(50))
    index.fold()
    _, coded, more, compacted = disk.manifests
    assert (coded.coded, more.coded) == (60, 90), "codes were written, and more of them"
    assert more.floats_name == coded.floats_name
    assert compacted.floats_name != more.floats_name, "the live floats were copied"
    assert disk.unsafe() == set()


def test_after_a_torn_journal_the_floats_are_synced_too(index: VectorIndex, disk: Disk) -> None:
    put(index, range(10), 1)
    [journal] = disk.directory.glob("journal-*")
    with open(journal, "ab") as file:
        file.write(b"torn")
    put(index, range(10, 12), 2)
    assert [manifest.rows for manifest in disk.manifests] == [0, 10]
    assert index.count == 12
