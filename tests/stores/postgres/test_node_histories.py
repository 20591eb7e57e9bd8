"""Histories of several clients on several nodes while servers fail; see `node_runs`."""

import random
import time
from collections import Counter

import node_runs
import pytest
from node_histories import Asked, History, Operation, Searched, violations
from postgres_cluster import Cluster

from redask.stores.postgres import pg_database, pg_replica
from redask.stores.postgres.pg_database import PostgresDatabase


def write(value: int, begun: float, ended: float, told: bool = True) -> Operation:
    return Operation("write", 1, value, begun, ended, told)


def read(value: int, begun: float, ended: float, told: bool = True) -> Operation:
    return Operation("read", 1, value, begun, ended, told)


@pytest.mark.parametrize(
    ("operations", "found"),
    [
        ([write(1, 0, 1), read(1, 2, 3)], []),
        ([write(1, 0, 1), read(0, 2, 3)], ["stale: key 1 shows 0 after 1 was written"]),
        ([write(1, 0, 2), read(0, 1, 3)], []),  # they overlap
        ([write(1, 0, 1, told=False), read(0, 2, 3)], []),  # nobody was told
        ([write(1, 0, 1, told=False), read(1, 2, 3)], []),  # it was done all the same
        (
            [write(1, 0, 1, told=False), read(1, 2, 3), read(0, 4, 5)],
            ["stale: key 1 shows 0 after 1 was written"],  # who saw it, proves it
        ),
        ([write(1, 0, 1, told=False), write(2, 2, 3), read(1, 4, 5)], []),  # it came late
        (
            [write(1, 0, 1), write(2, 2, 3), read(1, 4, 5)],
            ["stale: key 1 shows 1 after 2 was written"],
        ),
        ([write(1, 0, 1), write(2, 0.5, 3), read(1, 4, 5)], []),  # which was last, nobody knows
        ([read(7, 0, 1)], ["phantom: key 1 holds 7, which nobody wrote"]),
        ([read(7, 0, 1, told=False)], []),
    ],
)
def test_only_what_cannot_be_is_a_violation(operations: list[Operation], found: list[str]) -> None:
    assert violations(History(operations)) == found


def test_rows_chain_and_money_are_looked_at() -> None:
    asks = [Asked("a", True), Asked("b", False), Asked("c", True), Asked("d", False)]
    rows = Counter({"a": 1, "b": 1})
    assert violations(History([], asks, rows)) == ["unaudited: c"]
    assert violations(History([], asks[:2], Counter(a=2, b=2))) == ["twice: a", "twice: b"]
    assert violations(History(is_chain_intact=False)) == ["broken: the chain does not verify"]
    searches = [Searched("urn:a", True), Searched("urn:b", False)]
    assert violations(History(searches=searches)) == ["unfound: urn:b"]
    assert violations(History(spent=3, cap=2)) == ["overspent: 3 of 2"]


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who says nothing is given up soon."""
    monkeypatch.setattr(pg_database, "FIRST_REPLY_SECONDS", 1.5)
    monkeypatch.setattr(pg_database, "SILENCE_SECONDS", 0.5)
    monkeypatch.setattr(pg_replica, "SILENCE_SECONDS", 0.5)


def test_through_every_fault_nothing_is_lost_stale_unaudited_or_overspent(
    servers: Cluster, name: str, request: pytest.FixtureRequest
) -> None:
    operations = int(request.config.getoption("--node-operations"))
    began, spent = time.monotonic(), time.process_time()
    history = node_runs.run(servers, name, operations=operations)
    told = sum(each.is_told for each in history.operations)
    answered = sum(each.is_answered for each in history.asks)
    print(  # noqa: T201 - for `make node-histories`
        f"\n{len(history)} operations, {told} of {len(history.operations)} told,"
        f" {len(history.searches)} searches on another node, {answered} of"
        f" {len(history.asks)} answered, {history.spent} of {history.cap} spent,"
        f" {time.monotonic() - began:.0f} s, {time.process_time() - spent:.0f} s of processor"
    )
    assert violations(history) == []
    assert told > operations / 3
    assert answered
    assert history.searches
    assert history.spent > 0


def test_a_node_that_trusts_its_replica_is_found_out(
    servers: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    position = PostgresDatabase._position
    monkeypatch.setattr(
        PostgresDatabase, "_position", lambda *given: position(*given)._replace(writes=0)
    )
    kinds = ("write", "read", "search")
    monkeypatch.setattr(random.Random, "choices", lambda self, *_: [self.choice(kinds)])
    history = node_runs.run(servers, name, operations=120, faults=(node_runs.standby_lagging,))
    assert {each.partition(":")[0] for each in violations(history)} >= {"stale", "unfound"}
