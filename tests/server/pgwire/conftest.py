"""One server of the wire and one real PostgreSQL for all modules that a worker of pytest runs."""

from collections.abc import Iterator
from typing import Any

import psycopg
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


@pytest.fixture(scope="module")
def both(
    transport: PgwireServer, real_postgres: dict[str, Any]
) -> Iterator[tuple[psycopg.Connection[Any], psycopg.Connection[Any]]]:
    """A connection to ours and one to PostgreSQL, for statements that are to mean the same."""
    own: dict[str, Any] = {"user": "mia", "password": transport.tokens["mia"]}
    # a statement that PostgreSQL prepared keeps the zone in which it read its literals
    once: dict[str, Any] = {"autocommit": True, "prepare_threshold": None}
    with (
        psycopg.connect(f"{transport.address}/local", **own, **once) as ours,
        psycopg.connect(**real_postgres, **once) as theirs,
    ):
        yield ours, theirs
