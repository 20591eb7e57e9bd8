"""A disk changes a byte, and no time stamp: the index is made again, the answer is the same."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import redask
from redask.core.errors import AskError
from redask.index.forward import block_sums
from tests.index.test_damage import QUESTIONS, rows

PLACES = (0.0, 0.13, 0.37, 0.52, 0.81, 1.0)


def answers(directory: Path) -> list[Any]:
    with redask.open(directory, embedder="hashed") as db:
        found = [db.search(question).buckets for question in QUESTIONS[:3]]
        selected = [dict(each) for each in db.select("SELECT * FROM notes ORDER BY id")]
    return [found, selected]


@pytest.fixture(scope="module", params=[0, 1 << 30], ids=["moved", "in the log"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A database with its index and tables; what was written lately is moved there, or is not."""
    directory = tmp_path_factory.mktemp("built") / "db"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_sums, "_LOG_KEPT", request.param)
        with redask.open(directory, embedder="hashed") as db:
            db.put("notes", rows(count=700))
            db.link("urn:reddb:row:notes/1", "next to", "urn:reddb:row:notes/2")
            db.search("ferry")
            db.put("notes", [{"id": "late", "title": "Late", "text": "ferry harbour storm"}])
            db.search("ferry")
    return directory, answers(directory)


def derived(directory: Path) -> Iterator[Path]:
    for file in sorted(directory.rglob("*")):
        name = file.relative_to(directory)
        kept = name.parts[0] in ("redask.sqlite", "calls.sqlite") or len(name.parts) == 1
        if file.is_file() and not kept and not file.name.endswith((".lock", "-shm")):
            yield name


def flip(path: Path, place: float) -> None:
    """Change one bit, as a disk does: nobody wrote."""
    status, data = path.stat(), bytearray(path.read_bytes())
    if data:
        data[int(place * (len(data) - 1))] ^= 0x10
        path.write_bytes(data)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_changed_byte_in_any_derived_file_changes_no_answer(
    built: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    directory, expected = built
    most = int(request.config.getoption("--rot-places"))
    tried, refused = 0, []
    for number, file in enumerate(derived(directory)):
        first = number * most % len(PLACES)  # another part of the places for each file
        for place in (PLACES * 2)[first : first + most]:
            copy = tmp_path / "copy"
            shutil.copytree(directory, copy)
            flip(copy / file, place)
            try:
                assert answers(copy) == expected, (file, place)
            except AskError as error:
                refused.append((str(file), place, error.message))
            tried += 1
            shutil.rmtree(copy)
    assert tried > 10 * most
    assert refused == []  # everything here can be made again
