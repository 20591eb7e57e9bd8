"""One open store of each row of `STORES`, for the suite that asks what every store promises.

A new row needs a line in `LOCATIONS`; without one the whole suite fails for it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from redask.stores import STORES, EntityStore, StoreRow, open_store

LOCATIONS: dict[str, Callable[[Path], str]] = {"sqlite": str}


@pytest.fixture(params=STORES, ids=lambda row: row.name)
def locate(request: pytest.FixtureRequest) -> Callable[[Path], str]:
    """How a store of this row is addressed, given a directory for this test alone."""
    row: StoreRow = request.param
    return LOCATIONS[row.name]


@pytest.fixture
def location(locate: Callable[[Path], str], tmp_path: Path) -> str:
    return locate(tmp_path)


@pytest.fixture
def store(location: str) -> Iterator[EntityStore]:
    """A new store; whatever a test did to it, it must be sound in the end."""
    opened = open_store(location)
    yield opened
    assert opened.check() == []
    opened.close()
