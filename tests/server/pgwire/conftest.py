"""One server of the wire and one real PostgreSQL for all modules that a worker of pytest runs."""

from collections.abc import Iterator
from typing import Any

import pytest
from pgwire_server import PgwireServer
from real_postgres import private_postgres


@pytest.fixture(scope="session")
def transport(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PgwireServer]:
    with PgwireServer(tmp_path_factory.mktemp("pgwire") / "db") as opened:
        yield opened


@pytest.fixture(scope="session")
def patient_transport(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PgwireServer]:
    """One where a statement that nobody cancels outlasts the tests."""
    settings = "[select]\ntimeout_ms = 3600000\n"
    with PgwireServer(tmp_path_factory.mktemp("patient") / "db", settings=settings) as opened:
        yield opened


@pytest.fixture(scope="session")
def real_postgres() -> Iterator[dict[str, Any]]:
    """How to connect to it."""
    with private_postgres() as where:
        yield where
