"""One open backend of each that is enrolled, for the suite that asks what every one promises."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from enrolled import ENROLLED, LOCATIONS

from redask.core.ports import OriginManifest
from redask.stores.backend import Backend, EntityStore, Users
from redask.stores.backends import BACKENDS, BackendRow


@pytest.fixture(params=ENROLLED, ids=lambda row: row.name)
def row(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> BackendRow:
    """A row of `BACKENDS`, or one that a test put beside them."""
    found: BackendRow = request.param
    monkeypatch.setitem(BACKENDS, found.scheme, found)
    return found


@pytest.fixture
def locate(row: BackendRow) -> Callable[[Path], str]:
    """How a backend of this row is addressed, given a directory for this test alone."""
    return LOCATIONS[row.name]


@pytest.fixture
def location(locate: Callable[[Path], str], tmp_path: Path) -> str:
    return locate(tmp_path)


@pytest.fixture
def backend(row: BackendRow, location: str) -> Iterator[Backend]:
    """A new backend; whatever a test did to it, its store must be sound in the end."""
    opened = row.open(location)
    yield opened
    assert opened.store.check() == []
    opened.close()


@pytest.fixture
def store(backend: Backend) -> EntityStore:
    return backend.store


@pytest.fixture
def users(backend: Backend) -> Users:
    return backend.users


@pytest.fixture
def manifest(backend: Backend) -> OriginManifest:
    return backend.manifest
