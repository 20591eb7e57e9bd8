"""A standby takes over, and another stays behind with what the old primary had and nobody has."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from postgres_cluster import Cluster, Server, cluster
from waiting import SECONDS, until

from redask.core.errors import StoreFailed
from redask.core.model import Caller
from redask.core.ports import AuditRow, Entity
from redask.stores.backend import ReplicaLag
from redask.stores.postgres import pg_location
from redask.stores.postgres.pg_database import PostgresDatabase
from redask.stores.postgres.postgres_backend import PostgresBackend

OWNER, NAME = Caller(), "answers"
READER = Caller(user="ann", role="reader")
URN = "urn:reddb:row:calls/1"


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A cluster for each test: its primary is gone afterwards."""
    monkeypatch.setenv(pg_location.DIRECTORY, str(tmp_path / "local"))
    with cluster(standbys=2) as made:
        made.make(NAME)
        yield made


def put(backend: PostgresBackend, note: str) -> None:
    backend.store.put([Entity(URN, f'{{"id":1,"note":"{note}"}}')], OWNER)


def note(backend: PostgresBackend, caller: Caller = OWNER) -> str:
    found = backend.store.get(URN, caller)
    return found.payload if found else ""


def follow(standby: Server, primary: Server | None) -> None:
    where = f"host=127.0.0.1 port={primary.port} user=postgres" if primary else ""
    standby.execute(f"ALTER SYSTEM SET primary_conninfo = '{where}'", "SELECT pg_reload_conf()")


def left_alone(servers: Cluster, standby: Server) -> None:
    """The primary sends nothing more to a standby."""
    follow(standby, None)
    senders = "SELECT count(*) FROM pg_stat_replication"
    assert until(lambda: servers.primary.execute(senders) == [(len(servers.standbys) - 1,)])


def reads_replica(backend: PostgresBackend) -> bool:
    """Whether the next look finds the replica fit to be read."""
    database = backend.store._database
    assert isinstance(database, PostgresDatabase)
    assert backend._replica is not None
    with backend._replica.fresh(
        "local", database._position("local"), database._begun("local", "BEGIN", 1000, 1.0)
    ) as found:
        return found is not None


def test_a_standby_with_writes_that_are_no_part_of_history_is_not_read(
    servers: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    successor, other = servers.standbys
    old = PostgresBackend(servers.primary.url(NAME))
    put(old, "fog")
    assert all(servers.replayed(each) for each in servers.standbys)
    left_alone(servers, successor)
    put(old, "lost")  # acknowledged by a primary whose standby was not synchronous
    assert servers.replayed(other)
    old.close()
    servers.primary.stop()
    successor.promote()
    monkeypatch.setenv(pg_location.READ_URL, other.url(NAME))
    node = PostgresBackend(successor.url(NAME))
    assert "fog" in note(node)
    put(node, "ice")  # as many writes as the other standby has seen
    assert "ice" in note(node), "a write of the old primary's was read"
    assert not reads_replica(node)
    assert node.replica_lag() == ReplicaLag(is_behind=True)  # and it says so
    node.close()


def test_what_a_node_remembers_of_a_policy_that_was_lost_is_forgotten(servers: Cluster) -> None:
    successor, _ = servers.standbys
    hosts = f"127.0.0.1:{servers.primary.port},127.0.0.1:{successor.port}"
    node = PostgresBackend(f"postgresql://redask@{hosts}/{NAME}?target_session_attrs=read-write")
    put(node, "fog")
    node.store.set_policy("calls", {"read": [{"roles": ["spy"]}]}, OWNER)
    assert note(node, READER) == ""
    assert servers.replayed(successor)
    left_alone(servers, successor)
    node.store.set_policy("calls", {"read": [{"roles": ["reader"]}]}, OWNER)
    assert "fog" in note(node, READER)
    servers.primary.stop()
    successor.promote()
    node.store.set_policy("calls", {"read": [{"roles": ["clerk"]}]}, OWNER)  # as many changes
    assert note(node, READER) == "", "the policy that was lost is remembered"
    node.close()


def test_a_standby_that_follows_the_new_primary_is_read_again(
    servers: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    successor, other = servers.standbys
    monkeypatch.setenv(pg_location.READ_URL, other.url(NAME))
    hosts = f"127.0.0.1:{servers.primary.port},127.0.0.1:{successor.port}"
    node = PostgresBackend(f"postgresql://redask@{hosts}/{NAME}?target_session_attrs=read-write")
    put(node, "fog")
    assert all(servers.replayed(each) for each in servers.standbys)
    assert reads_replica(node)
    servers.primary.stop()
    successor.promote()
    follow(other, successor)
    put(node, "ice")
    successor.execute("CHECKPOINT")
    assert Cluster(successor, [other]).replayed(other)
    other.execute("CHECKPOINT")  # a restart point, as comes by itself with time
    assert until(lambda: reads_replica(node))
    assert "ice" in note(node)
    lag = node.replica_lag()
    assert lag is not None
    assert not lag.is_behind
    node.close()


def test_a_primary_that_is_back_is_read_with_the_first_question_though_a_replica_is_asked_first(
    servers: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(pg_location.READ_URL, servers.standbys[0].url(NAME))
    node = PostgresBackend(servers.primary.url(NAME))
    put(node, "fog")
    assert "fog" in note(node)
    servers.primary.stop()
    servers.primary.start()
    assert "fog" in note(node)  # by a new connection in place of each that was lost
    node.close()


def test_what_no_synchronous_standby_has_confirmed_is_not_acknowledged(servers: Cluster) -> None:
    """Though a server whose waiting is cancelled says COMMIT."""
    node = PostgresBackend(servers.primary.url(NAME))
    put(node, "fog")
    named, waits_for = (
        "SHOW synchronous_standby_names",
        "ALTER SYSTEM SET synchronous_standby_names",
    )
    servers.primary.execute(f"{waits_for} = 'nobody'", "SELECT pg_reload_conf()")
    assert until(lambda: servers.primary.execute(named) == [("nobody",)])
    cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    row = AuditRow({"tenant": "local", "user": "ann", "ts": 1})
    with ThreadPoolExecutor() as threads:
        for work in (lambda: put(node, "ice"), lambda: node.audit.append([row])):
            written = threads.submit(work)
            assert until(lambda: servers.primary.execute(cancel) == [(True,)])
            with pytest.raises(StoreFailed, match="did not confirm"):
                written.result(SECONDS)
    servers.primary.execute(f"{waits_for} = ''", "SELECT pg_reload_conf()")
    assert until(lambda: servers.primary.execute(named) == [("",)])
    put(node, "snow")
    assert "snow" in note(node)
    node.close()
