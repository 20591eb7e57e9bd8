"""A database to ingest into; whatever a test did, it must be sound in the end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import redask


@pytest.fixture
def db(tmp_path: Path) -> Iterator[redask.OpenDatabase]:
    with redask.open(tmp_path / "db") as opened:
        yield opened
        assert opened.doctor()["problems"] == []
