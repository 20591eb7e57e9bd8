"""One cluster, a primary and two standbys, for all tests of several nodes in this folder."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from postgres_cluster import Cluster, cluster

from redask.stores.postgres import pg_location
from redask.stores.postgres.postgres_backend import PostgresBackend

OpenNode = Callable[..., PostgresBackend]


@pytest.fixture(scope="module")
def servers() -> Iterator[Cluster]:
    with cluster(standbys=2) as made:
        yield made


@pytest.fixture
def name(servers: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A new database of the cluster."""
    monkeypatch.setenv(pg_location.DIRECTORY, str(tmp_path / "local"))
    made = f"t{secrets.token_hex(6)}"
    servers.make(made)
    return made


@pytest.fixture
def node(servers: Cluster, name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenNode]:
    """Opens one more node on the database: at the primary, unless another URL is given."""
    opened: list[PostgresBackend] = []

    def open_node(
        read_url: str = "", *, url: str | None = None, patience: float = 10.0
    ) -> PostgresBackend:
        monkeypatch.setenv(pg_location.READ_URL, read_url)
        opened.append(PostgresBackend(url or servers.primary.url(name), patience=patience))
        return opened[-1]

    yield open_node
    for each in opened:
        each.close()
