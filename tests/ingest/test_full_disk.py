"""An ingest into a file system that is full: a real one, of a few megabytes.

Needs the right to mount one; where that is missing, `test_ingest` fills the database alone.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from filing import held, write

import redask
from redask.core.errors import StoreFailed


@pytest.fixture
def cramped(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "cramped"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no right to mount a small file system")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_disk_that_is_full_keeps_what_it_held_and_the_ingest_resumes_when_there_is_space(
    cramped: Path, tmp_path: Path
) -> None:
    write(tmp_path / "small" / "a.md", "The ferry leaves at nine.")
    for number in range(70):
        words = " ".join(f"word{(number * 37 + n) % 5000} ferry" for n in range(4000))
        write(tmp_path / "large" / f"n{number}.md", words)
    with redask.open(cramped / "db") as db:
        db.ingest(tmp_path / "small")
        before = held(db)
        with pytest.raises(StoreFailed, match="the disk is full"):
            db.ingest(tmp_path / "large")
        assert held(db) == before
        assert db.doctor()["problems"] == []
    subprocess.run(["mount", "-o", "remount,size=200m", str(cramped)], check=True)
    with redask.open(cramped / "db") as db:
        done = db.ingest(tmp_path / "large")
        assert done.ok
        assert len(held(db)) == len(before) + done.written
        assert db.search("ferry nine")[0].urn == "urn:reddb:document:small/a.md#top"
