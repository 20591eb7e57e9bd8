"""Several nodes on one PostgreSQL: replicas by log position, wakes, promotion, locks."""

import gc
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from postgres_cluster import Cluster, Cut, Server
from psycopg import waiting
from waiting import SECONDS, until

from redask.core.errors import Misconfigured, StoreFailed
from redask.core.model import Caller
from redask.core.ports import Account, AuditRow, Entity
from redask.core.rules.audit_chain import Intact
from redask.core.rules.cost import Allow
from redask.stores.postgres import pg_database, pg_location, pg_replica
from redask.stores.postgres.pg_link import connect
from redask.stores.postgres.postgres_backend import PostgresBackend
from redask.stores.relational.sql_database import EVERY_TENANT

OpenNode = Callable[..., PostgresBackend]
OWNER = Caller()
READER = Caller(user="ann", role="reader")
URN = "urn:reddb:row:calls/1"


def entity(note: str, number: int = 1) -> Entity:
    return Entity(f"urn:reddb:row:calls/{number}", f'{{"id":{number},"note":"{note}"}}')


def row(number: int) -> AuditRow:
    return AuditRow({"tenant": "local", "user": "ann", "ts": number, "question": "why?"})


def note(backend: PostgresBackend, caller: Caller = OWNER) -> str | None:
    found = backend.store.get(URN, caller)
    return None if found is None else found.payload


@contextmanager
def not_replaying(standby: Server) -> Iterator[None]:
    """The standby receives what is written, and shows none of it."""
    standby.execute("SELECT pg_wal_replay_pause()")
    assert until(lambda: standby.execute("SELECT pg_get_wal_replay_pause_state()") == [("paused",)])
    try:
        yield
    finally:
        standby.execute("SELECT pg_wal_replay_resume()")


def lent(backend: PostgresBackend) -> int:
    """How many connections to the replica are kept: 0 while it is not read."""
    assert backend._replica is not None
    return len(backend._replica._pool._idle)


@pytest.fixture
def standby(servers: Cluster) -> Server:
    return servers.standbys[0]


def test_what_the_primary_has_is_read_from_the_replica_as_soon_as_it_has_it_too(
    servers: Cluster, standby: Server, name: str, node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = node()
    writer.store.put([entity("fog")], OWNER)
    assert servers.replayed(standby)
    reader = node(standby.url(name))
    read: list[str] = []
    lends = pg_replica.Replica._begun

    def noticed(*given: object) -> object:
        found = lends(*given)  # type: ignore[arg-type]
        read.append("primary" if found is None else "replica")
        return found

    monkeypatch.setattr(pg_replica.Replica, "_begun", noticed)
    assert "fog" in str(note(reader))
    assert reader.store.watermark("local") == 1
    assert set(read) == {"replica"}
    with not_replaying(standby):
        read.clear()
        writer.store.put([entity("ice")], OWNER)
        assert "ice" in str(note(reader)), "an acknowledged write was not read"
        assert reader.store.watermark("local") == 2
        assert [each.seq for each in reader.store.changes("local", 0, 9)] == [2]
        assert set(read) == {"primary"}
    assert servers.replayed(standby)
    read.clear()
    assert "ice" in str(note(reader))
    assert read == ["replica"]


def test_a_policy_holds_on_every_node_though_a_replica_does_not_know_it(
    servers: Cluster, standby: Server, name: str, node: OpenNode
) -> None:
    owner, reader = node(), node(standby.url(name))
    owner.store.put([entity("fog")], OWNER)
    owner.users.add_user("ann", "reader", {}, OWNER)
    token = owner.users.make_token("ann", 1, None, OWNER)
    assert servers.replayed(standby)
    assert note(reader, READER) is not None
    with not_replaying(standby):
        owner.store.set_policy("calls", {"read": [{"roles": ["spy"]}]}, OWNER)
        assert note(reader, READER) is None
        assert reader.users.sign_in(token, 2).user == "ann"
        owner.users.revoke_token(token.split("_")[1] if "_" in token else token, 3, OWNER)
        with pytest.raises(Exception, match="token"):
            reader.users.sign_in(token, 4)


def test_how_far_a_replica_is_behind_is_told(
    servers: Cluster, standby: Server, name: str, node: OpenNode
) -> None:
    assert node().replica_lag() is None
    reader = node(standby.url(name))
    reader.store.put([entity("fog")], OWNER)
    assert servers.replayed(standby)
    assert until(lambda: (lag := reader.replica_lag()) is not None and not lag.is_behind)
    with not_replaying(standby):
        reader.store.put([entity("ice")], OWNER)
        reader.replica_lag()  # notes where the primary is
        lag = reader.replica_lag()
        assert lag is not None
        assert lag.is_behind
        assert lag.bytes is not None
        assert lag.bytes > 0
    assert servers.replayed(standby)
    assert until(lambda: (lag := reader.replica_lag()) is not None and not lag.is_behind)


def test_a_replica_that_is_stopped_or_says_nothing_is_left_alone_and_comes_back(
    servers: Cluster, name: str, node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    standby = servers.standbys[1]
    monkeypatch.setattr(pg_database, "SILENCE_SECONDS", 0.2)
    monkeypatch.setattr(pg_replica, "SILENCE_SECONDS", 0.2)
    monkeypatch.setattr(pg_replica, "_LEFT_ALONE_SECONDS", 0.05)
    reader = node(standby.url(name))
    reader.store.put([entity("fog")], OWNER)
    assert servers.replayed(standby)
    assert until(lambda: note(reader) and lent(reader))
    standby.pause()
    try:
        assert "fog" in str(note(reader))
        lag = reader.replica_lag()
        assert lag is not None
        assert lag.is_behind
        assert lag.bytes is None
    finally:
        standby.resume()
    assert until(lambda: note(reader) and lent(reader)), "the replica is not read any more"
    standby.stop()
    assert "fog" in str(note(reader))
    assert not lent(reader)
    standby.start()
    assert until(lambda: note(reader) and lent(reader)), "the replica is not read any more"


@pytest.mark.parametrize("is_copy", [False, True])
def test_a_replica_of_another_database_is_never_read(
    servers: Cluster, standby: Server, name: str, node: OpenNode, is_copy: bool
) -> None:
    writer = node()
    writer.store.put([entity("fog")], OWNER)
    other = servers.make(f"{name}x")
    if is_copy:
        renamed = f"UPDATE redask.store SET identity = '{writer.store.identity}'"
        servers.primary.execute(renamed, dbname=f"{name}x")
    with_more = node(url=other)
    for number in range(5):
        with_more.store.put([entity("wrong", 1), entity("wrong", number + 2)], OWNER)
    assert servers.replayed(standby)
    assert "fog" in str(note(node(standby.url(f"{name}x"))))


def test_a_url_of_a_replica_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pg_location.read_url({}) is None
    assert pg_location.read_url({"REDASK_READ_URL": " "}) is None
    assert pg_location.read_url({"REDASK_READ_URL": "postgres://h/d"}) == (
        "postgresql://h/d",
        "the PostgreSQL database d at h",
    )
    with pytest.raises(Misconfigured, match="REDASK_READ_URL"):
        pg_location.read_url({"REDASK_READ_URL": "h/secret"})


def test_a_node_is_woken_by_a_write_of_another(node: OpenNode) -> None:
    writer, listener = node(), node()
    writer.store.put([entity("fog")], OWNER)
    feed = listener.change_feed()
    assert feed.wait(SECONDS) == {"local"}  # all there is
    assert feed.wait(0) == frozenset()
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(feed.wait, 10 * SECONDS)  # longer than anybody waits for it
        writer.store.put([entity("ice")], Caller(tenant="other"))
        assert waiting.result(SECONDS) == {"other"}
        waiting = threads.submit(feed.wait, 10 * SECONDS)
        feed.interrupt()
        assert waiting.result(SECONDS) == frozenset()
    feed.close()


def test_a_listener_whose_connection_was_ended_loses_no_write(
    servers: Cluster, node: OpenNode
) -> None:
    writer, listener = node(), node()
    feed = listener.change_feed()
    feed.wait(0)
    servers.primary.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
    )
    writer.store.put([entity("fog")], OWNER)
    seen: list[str] = []

    def is_told() -> bool:
        seen.extend(feed.wait(0.01))
        return bool(seen)

    assert until(is_told)
    assert seen == ["local"]
    feed.close()


def test_a_server_that_says_nothing_is_given_up_and_found_again(
    servers: Cluster, name: str, node: OpenNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pg_database, "FIRST_REPLY_SECONDS", 0.3)
    with Cut(servers.primary.port) as proxy:
        backend = node(url=servers.primary.url(name, port=proxy.port))
        backend.audit.append([row(1)])
        proxy.is_cut = True
        with pytest.raises(StoreFailed, match="cannot be reached"):
            backend.audit.append([row(2)])
        with pytest.raises(StoreFailed, match="cannot be reached"):
            backend.store.watermark("local")
        proxy.is_cut = False
        backend.audit.append([row(3)])
        verdict = backend.audit.verify()
        assert isinstance(verdict, Intact)
        assert verdict.rows == 2


def test_a_socket_that_is_gone_in_a_pipeline_leaves_nothing_that_fails_later(
    servers: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fails where nobody can catch it, fails this test."""
    link, waits = connect(servers.primary.url(name)), waiting.wait

    def broken(gen: Any, *given: Any, **rest: Any) -> Any:
        if gen.__name__ != "_exit_gen":
            return waits(gen, *given, **rest)
        next(gen)
        raise psycopg.OperationalError("connection socket closed")

    with monkeypatch.context() as patch:
        patch.setattr(waiting, "wait", broken)
        with pytest.raises(psycopg.OperationalError), link.pipeline():
            link.execute("SELECT pg_sleep(0.2)")
    link.close()
    gc.collect()


def test_money_of_two_tenants_and_the_cache_are_booked_side_by_side(node: OpenNode) -> None:
    one, other = node(patience=2), node(patience=2)
    numbers = {
        tenant: one.ledger.reserve(Account(tenant, 1, "openai"), 700, lambda _: Allow())
        for tenant in ("a", "b")
    }
    with one.ledger._database.writing("a"):
        other.ledger.settle(int(str(numbers["b"])), 500)
        with one.answers._database.writing("somebody's key"):
            other.ledger.add(Account("b", 1, "openai"), 1)
    assert other.ledger.total("b", 1) == 501
    other.ledger.settle(int(str(numbers["a"])), 0)
    other.ledger.settle(int(str(numbers["a"])), 900)  # a second time changes nothing
    assert other.ledger.total("a", 1) == 0


def test_a_node_whose_clock_is_ahead_ends_no_reservation_of_others(node: OpenNode) -> None:
    ledger, today = node().ledger, time.time_ns() // (86_400 * 10**9)
    assert ledger.booking_day(today + 3) in (today, today + 1)  # the database's, at midnight too
    for day in (today, today + 3):
        ledger.reserve(Account("a", day, "openai"), 700, lambda _: Allow())
    assert ledger.total("a", today) == 700
    ledger.reserve(Account("b", today - 3, "openai"), 700, lambda _: Allow())
    ledger.reserve(Account("b", today, "openai"), 700, lambda _: Allow())
    assert ledger.total("b", today - 3) == 0  # whose day is over


def test_who_erases_waits_for_who_fills_the_cache(node: OpenNode) -> None:
    one, other = node(patience=0.2), node(patience=0.2)
    other.audit.append([row(1)])
    erased = {"user": "olga", "reason": "asked to"}
    with (
        one.answers._database.writing(EVERY_TENANT),
        pytest.raises(StoreFailed, match="not free in time"),
    ):
        other.audit.erase("local", 1, ["question"], **erased)
    assert other.audit.erase("local", 1, ["question"], **erased)


def test_what_a_killed_process_left_of_an_ingest_goes_after_a_week(
    servers: Cluster, name: str, node: OpenNode
) -> None:
    backend = node()
    backend.store.put([entity("fog")], OWNER)
    servers.primary.execute(
        "INSERT INTO redask.ingest_origins (tenant, path, root, unlinked) VALUES (1, 'a', 'a', 0)",
        "INSERT INTO redask.ingest_seen (origin, key, node, at)"
        " VALUES (1, 1, 'killed', now() - interval '8 days'), (1, 2, 'alive', now())",
        dbname=name,
    )
    with backend._data.writing("local") as connection:
        connection.keep_seen()
        assert connection.execute("SELECT count(*) FROM ingest_seen").fetchone() == (0,)
    left = servers.primary.execute("SELECT node FROM redask.ingest_seen", dbname=name)
    assert left == [("alive",)]


def test_a_node_on_a_standby_can_be_written_once_that_is_promoted(
    servers: Cluster, name: str, node: OpenNode
) -> None:
    """The last test of this cluster, which has a primary less afterwards."""
    standby, primary = servers.standbys[1], node()
    primary.audit.append([row(1)])
    primary.store.put([entity("fog")], OWNER)
    assert servers.replayed(standby)
    there, reader = node(url=standby.url(name)), node(standby.url(name))
    assert there.read_only
    with pytest.raises(StoreFailed, match="standby"):
        there.audit.append([row(2)])
    standby.promote()
    assert not there.read_only
    there.audit.append([row(2)])
    there.store.put([entity("ice", 2)], OWNER)
    verdict = there.audit.verify()
    assert isinstance(verdict, Intact)
    assert verdict.rows == 2
    assert reader.store.watermark("local") == 1, "a promoted server is no replica"
