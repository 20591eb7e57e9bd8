"""The index is derived: corrupt, missing or stale files are detected and rebuilt."""

import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import redask

WORDS = "ferry harbour lighthouse tide island amrum nine ten late storm ticket rope".split()
QUESTIONS = [" ".join(random.Random(number).sample(WORDS, 3)) for number in range(8)]


def rows(seed: int = 1, count: int = 250) -> list[dict[str, object]]:
    rng = random.Random(seed)
    return [
        {"id": n, "title": f"Note {n}", "text": " ".join(rng.choices(WORDS, k=rng.randint(3, 30)))}
        for n in range(count)
    ]


def results(directory: Path) -> list[Any]:
    with redask.open(directory, embedder="hashed") as db:
        return [db.search(question).buckets for question in QUESTIONS]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    """A database with its index, and what it answers."""
    directory = tmp_path_factory.mktemp("built") / "db"
    with redask.open(directory, embedder="hashed") as db:
        db.put("notes", rows())
        db.link("urn:reddb:row:notes/1", "next to", "urn:reddb:row:notes/2")
    return directory, results(directory)


def files(directory: Path) -> Iterator[Path]:
    for file in sorted((directory / "index").rglob("*")):
        if file.is_file() and not file.name.endswith((".lock", "-shm")):
            yield file.relative_to(directory)


CORRUPTIONS: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "emptied": lambda file: file.write_bytes(b""),
    "cut in half": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "garbage": lambda file: file.write_bytes(b"\xde\xad\xbe\xef" * (file.stat().st_size // 4 + 1)),
}


@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_any_corrupt_file_is_detected_and_the_answers_are_the_same(
    tmp_path: Path, built: tuple[Path, list[Any]], corruption: str
) -> None:
    directory, expected = built
    for number, file in enumerate(files(directory)):
        copy = tmp_path / str(number)
        shutil.copytree(directory, copy)
        CORRUPTIONS[corruption](copy / file)
        assert results(copy) == expected, file
        shutil.rmtree(copy)


def test_deleting_the_index_loses_nothing(tmp_path: Path, built: tuple[Path, list[Any]]) -> None:
    directory, expected = built
    shutil.copytree(directory, tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "index")
    assert results(tmp_path / "copy") == expected


def test_the_index_of_another_store_is_not_used(
    tmp_path: Path, built: tuple[Path, list[Any]]
) -> None:
    directory, expected = built
    with redask.open(tmp_path / "other", embedder="hashed") as db:
        db.put("notes", rows(seed=2, count=400))
        db.search("ferry")
    shutil.copytree(directory, tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "index")
    shutil.copytree(tmp_path / "other" / "index", tmp_path / "copy" / "index")
    assert results(tmp_path / "copy") == expected


def test_an_index_ahead_of_its_store_is_not_used(
    tmp_path: Path, built: tuple[Path, list[Any]]
) -> None:
    directory, expected = built
    later = tmp_path / "later"
    shutil.copytree(directory, later)
    with redask.open(later, embedder="hashed") as db:
        db.put("notes", rows(seed=3))
        db.search("ferry")
    shutil.rmtree(directory.parent / "back", ignore_errors=True)
    shutil.copytree(directory, tmp_path / "restored")
    shutil.rmtree(tmp_path / "restored" / "index")
    shutil.copytree(later / "index", tmp_path / "restored" / "index")
    assert results(tmp_path / "restored") == expected


WRITER = """
import sys, redask
with redask.open(sys.argv[1], embedder="hashed") as db:
    for n in range(30):
        db.put("notes", [{"id": f"{sys.argv[2]}{n}", "text": f"{sys.argv[2]} word{n}"}])
        assert db.search(f"word{n} {sys.argv[2]}")[0].urn.endswith(f"/{sys.argv[2]}{n}"), n
"""


def test_two_processes_write_and_each_finds_what_it_just_wrote(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name])
        for name in ("anna", "bert")
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0]
    shutil.copytree(tmp_path, tmp_path / "copy", ignore=shutil.ignore_patterns("index", "copy"))
    assert results(tmp_path / "copy") == results(tmp_path)
