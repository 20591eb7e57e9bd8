"""Killed writers, torn and corrupt files, full disks: never a wrong answer."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from redask.core.errors import CorruptIndex, StoreFailed
from redask.index.vector import files
from redask.index.vector.cosine import Floats
from redask.index.vector.nearest import VectorIndex
from redask.index.vector.snapshot import ComparedRows

D = 8


def random_rows(count: int, seed: int) -> Floats:
    return np.random.default_rng(seed).standard_normal((count, D)).astype(np.float32)


def opened(directory: Path) -> VectorIndex:
    return VectorIndex(directory, D, exact_limit=100)


def put(index: VectorIndex, keys: range, seq: int) -> None:
    rows = random_rows(len(keys), seq)
    index.apply([(key, 0, row) for key, row in zip(keys, rows, strict=True)], [], seq)


def only(directory: Path, kind: str) -> Path:
    (path,) = directory.glob(f"{kind}*")
    return path


@pytest.fixture
def folded(tmp_path: Path) -> Path:
    """150 vectors in a base with codes, and a batch of 5 after it."""
    index = opened(tmp_path)
    put(index, range(150), 1)
    index.fold()
    put(index, range(150, 155), 2)
    return tmp_path


def test_a_writer_killed_at_any_call_leaves_a_state_that_was_applied(tmp_path: Path) -> None:
    program = Path(__file__).with_name("killed_writer.py")
    run = subprocess.run(
        [sys.executable, program, tmp_path], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 50


def test_a_torn_end_of_the_journal_is_ignored_and_written_again(folded: Path) -> None:
    journal = only(folded, "journal")
    complete = journal.read_bytes()
    reader = opened(folded)
    query = random_rows(1, 9)[0]
    for length in (*range(0, len(complete), 9), len(complete) - 1):
        journal = only(folded, "journal")
        journal.write_bytes(complete[:length])
        index = opened(folded)
        assert (index.seq, index.count) == (1, 150)
        put(index, range(150, 155), 2)
        assert (index.seq, index.count) == (2, 155)
        assert reader.search(query, 9) == index.search(query, 9) == opened(folded).search(query, 9)
        if length:  # what was torn was not overwritten, and its file is gone
            assert not journal.exists()


def test_a_corrupt_frame_ends_the_journal(folded: Path) -> None:
    put(opened(folded), range(155, 160), 3)
    journal = only(folded, "journal")
    good = journal.read_bytes()
    for place in (0, 5, 20, len(good) // 2 + 3, len(good) - 1):
        journal.write_bytes(good[:place] + bytes([good[place] ^ 0x40]) + good[place + 1 :])
        index = opened(folded)
        assert (index.seq, index.count) in {(1, 150), (2, 155)}


def test_floats_lost_in_a_power_cut_end_the_journal(folded: Path) -> None:
    floats = only(folded, "floats")
    with open(floats, "r+b") as file:
        file.seek(152 * D * 4)
        file.write(bytes(D * 4))
    assert (opened(folded).seq, opened(folded).count) == (1, 150)
    os.truncate(floats, 151 * D * 4)
    index = opened(folded)
    assert (index.seq, index.count) == (1, 150)
    put(index, range(150, 155), 2)
    assert opened(folded).count == 155


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def scribble(path: Path) -> None:
    path.write_bytes(b"\xff" * path.stat().st_size)


def empty(path: Path) -> None:
    os.truncate(path, 0)


@pytest.mark.parametrize("corruption", [cut, flip, scribble, empty, os.unlink])
@pytest.mark.parametrize("kind", ["codes", "rows", "manifest"])
def test_a_corrupt_file_is_detected_when_opening(
    folded: Path, kind: str, corruption: Callable[[Path], None]
) -> None:
    corruption(only(folded, kind))
    if (kind, corruption) == ("manifest", os.unlink):
        assert opened(folded).seq == 0  # as if there were no index: everything is replayed
    else:
        with pytest.raises(CorruptIndex):
            opened(folded).search(random_rows(1, 3)[0], 3)


@pytest.mark.parametrize("corruption", [cut, empty, os.unlink])
def test_missing_floats_are_detected_when_opening(
    folded: Path, corruption: Callable[[Path], None]
) -> None:
    os.truncate(only(folded, "floats"), 155 * D * 4)
    corruption(only(folded, "floats"))
    with pytest.raises(CorruptIndex, match="floats"):
        assert opened(folded).seq


def test_rows_that_come_after_all_were_compared_are_compared_too() -> None:
    compared, first = ComparedRows(), np.arange(5)
    compared.add(first[:4], 5)
    assert not compared.has_all(5)
    compared.add(first[4:], 5)
    assert compared.has_all(5)
    assert not compared.has_all(6)
    assert compared.others(np.arange(6), 6).tolist() == [5]


@pytest.mark.parametrize("noise", [b"\xff", b"\x00", b"\x7f", b"\x3f"])
def test_overwritten_floats_are_detected_by_verify_and_by_search(
    folded: Path, noise: bytes
) -> None:
    opened(folded).verify()
    floats = only(folded, "floats")
    floats.write_bytes(noise * (150 * D * 4) + floats.read_bytes()[150 * D * 4 :])
    with pytest.raises(CorruptIndex, match="fail their checksum"):
        opened(folded).verify()
    with pytest.raises(CorruptIndex, match="fail their checksum"):
        opened(folded).search(random_rows(1, 3)[0], 150)


def test_a_missing_journal_is_detected(folded: Path) -> None:
    reader = opened(folded)
    assert reader.seq == 2
    os.unlink(only(folded, "journal"))
    for index in (reader, opened(folded)):
        with pytest.raises(CorruptIndex, match="journal"):
            assert index.seq


def test_an_index_of_other_dimensions_or_another_layout_is_not_used(
    folded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CorruptIndex, match="8 dimensions, not 9"):
        assert VectorIndex(folded, 9).seq
    monkeypatch.setattr(files, "LAYOUT", 3)
    with pytest.raises(CorruptIndex, match="layout 2, not 3"):
        assert opened(folded).seq


@pytest.mark.parametrize("verb", ["apply", "fold"])
def test_a_full_disk_is_a_store_failure_and_changes_nothing(
    folded: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    index = opened(folded)
    query = random_rows(1, 3)[0]
    before = (index.seq, index.search(query, 5))
    real = {name: getattr(os, name) for name in ("write", "pwrite")}

    for free in range({"apply": 2, "fold": 3}[verb]):  # how many writes still fit
        left = free

        def full(file: int, data: memoryview, *offset: int) -> int:
            nonlocal left
            left -= 1
            call = real["pwrite" if offset else "write"]
            if left < 0:
                call(file, data[: len(data) // 3], *offset)
                raise OSError(28, os.strerror(28))
            return int(call(file, data, *offset))

        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            patch.setattr(os, "pwrite", full)
            with pytest.raises(StoreFailed, match="could not be written: No space left"):
                index.fold() if verb == "fold" else put(index, range(200, 220), 3)
        assert (index.seq, index.search(query, 5)) == before
        assert (opened(folded).seq, opened(folded).search(query, 5)) == before
    put(index, range(200, 220), 3)
    assert opened(folded).seq == 3
    assert opened(folded).search(query, 5) == index.search(query, 5)


def test_a_directory_that_cannot_be_created_is_a_store_failure(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    index = opened(tmp_path / "file" / "vectors")
    with pytest.raises(StoreFailed, match="could not be"):
        put(index, range(3), 1)
