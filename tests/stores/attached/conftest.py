"""A shop to attach, and a database of each kind to attach it to."""

from collections.abc import Iterator
from pathlib import Path

import postgres_databases
import pytest
from attached_shop import Shop, shop

import redask
from redask.api.sync import OpenDatabase


@pytest.fixture
def place() -> Iterator[Shop]:
    with shop() as made:
        yield made


@pytest.fixture(params=["sqlite", "postgresql"])
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenDatabase]:
    at = tmp_path / "data"
    location = str(at) if request.param == "sqlite" else postgres_databases.location(at)
    with redask.open(location) as opened:
        yield opened
