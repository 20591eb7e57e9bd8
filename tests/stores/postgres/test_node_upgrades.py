"""Nodes of one database are upgraded one by one, while clients ask; see docs/postgresql.md."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import node_runs
import pytest
from node_histories import violations
from postgres_cluster import Cluster

from redask.core.errors import StoreFailed
from redask.stores.postgres import pg_migrations

NEXT = (*pg_migrations.MIGRATIONS, ("ALTER TABLE store ADD COLUMN later text DEFAULT ''",))
Nodes = list[node_runs.Node]


def schema(servers: Cluster, name: str) -> int:
    [(found,)] = servers.primary.execute("SELECT max(version) FROM redask.migrations", dbname=name)
    return int(found)


def open_next(url: str) -> node_runs.Node:
    """A node of the next release, whose schema has a column more."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pg_migrations, "MIGRATIONS", NEXT)
        return node_runs.open_node(url)


@contextmanager
def one_upgraded(nodes: Nodes, url: str) -> Iterator[None]:
    """The first node gets no more questions, is stopped, and one of the next release starts."""
    old = nodes.pop(0)
    old.close()
    nodes.append(open_next(f"{url}?application_name=next{len(nodes)}"))
    with pytest.raises(StoreFailed, match="newer redask: upgrade redask to open it"):
        node_runs.open_node(url)  # one of the old release that is started again
    yield


def test_nodes_are_upgraded_one_by_one_while_clients_ask(servers: Cluster, name: str) -> None:
    url = servers.primary.url(name)
    before = schema(servers, name)
    nodes = [node_runs.open_node(f"{url}?application_name=old{at}") for at in range(3)]
    try:
        steps = [partial(one_upgraded, nodes, url)] * len(nodes)
        history = node_runs.run_on(nodes, steps, operations=60, clients=4)
        assert violations(history) == []
        assert any(each.is_answered for each in history.asks)
        assert schema(servers, name) == before + 1
    finally:
        for each in nodes:
            each.close()


def test_a_standby_of_an_older_schema_is_refused_until_its_primary_is_upgraded(
    servers: Cluster, name: str
) -> None:
    standby = servers.standbys[0]
    assert servers.replayed(standby)
    with pytest.raises(StoreFailed, match="open its primary first"):
        open_next(standby.url(name))
    open_next(servers.primary.url(name)).close()
    assert servers.replayed(standby)
    open_next(standby.url(name)).close()
