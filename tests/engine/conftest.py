"""Fixtures of the engine's tests: a stage, and one with three notes about a harbour."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from stage import ROWS, Stage

import redask


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path / "db")
    yield made
    for db in made.opened:
        db.close()


@pytest.fixture
def harbour(stage: Stage) -> Stage:
    """A stage whose database holds three notes about a harbour."""
    with redask.open(stage.directory) as db:
        db.put("notes", ROWS)
    return stage
