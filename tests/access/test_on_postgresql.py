"""The access suite on PostgreSQL, in short; and its row level security without redask's filter.

`make test-access-postgresql` runs all of tests/access there.
"""

import asyncio
import random
from dataclasses import fields
from typing import Any

import postgres_databases
import pytest

from redask.core.access.policy import WHOLE
from redask.core.model import Caller, Source
from redask.stores.backends import BACKENDS
from redask.stores.relational.sql_database import SqlConnection
from redask.stores.relational.visibility_queries import VisibilityCache
from redask.stores.visibility import EDGE_PREFIX, StoreVisibility
from tests.access.checking import check
from tests.access.watching import OWNER, Watched, watched
from tests.access.worlds import World, readable

ROUNDS, WORLDS = 3, 6


@pytest.fixture(autouse=True)
def _on_postgresql(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "", postgres_databases.row())


def test_nothing_depends_on_what_a_principal_may_not_read_there_either() -> None:
    for seed in range(ROUNDS):
        check(seed)


def test_without_redasks_own_filter_row_level_security_lets_nothing_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = total = 0
    for seed in range(WORLDS):
        world = World.random(random.Random(seed))
        with watched() as database:
            database.fill(world)
            store, who = database.app.backend.store, world.principal
            with monkeypatch.context() as patch:
                patch.setattr(StoreVisibility, "projection", lambda *_: WHOLE)
                patch.setattr(
                    StoreVisibility,
                    "show",
                    lambda _self, found, _parts: [Source(e.urn, e.payload) for e in found],
                )
                found = {each.urn for each in store.read(sorted(world.entities), who)}
                for collection in sorted({urn.split(":")[3].split("/")[0] for urn in found}):
                    found |= {each.urn for each in store.page(collection, who, limit=10_000)}
        assert found == set(readable(world)), seed
        kept += sum(urn.startswith(EDGE_PREFIX) for urn in found)
        total += sum(urn.startswith(EDGE_PREFIX) for urn in world.entities)
    assert 0 < kept < total  # edges, too, which hang on what may be hidden


def without_filter(self: VisibilityCache, connection: SqlConnection, caller: Caller) -> Any:
    """The owner's visibility for everybody; the database is told the caller's classes, as ever."""
    classes = VISIBILITY(self, connection, caller).classes()
    whole = VISIBILITY(self, connection, OWNER)
    unfiltered = type("Unfiltered", (StoreVisibility,), {"classes": lambda _: classes})
    return unfiltered(**{each.name: getattr(whole, each.name) for each in fields(whole)})


VISIBILITY = VisibilityCache.of


def told(database: Watched, world: World, who: Caller) -> str:
    """Envelope, frames and hits of a question that is searched for."""
    return " ".join(asyncio.run(database._asked(world.question, {"plan": "off"}, who)))


def test_without_redasks_own_filter_no_question_is_answered_from_a_hidden_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Though index, ranking and excerpts know of no policy then."""
    tempting = 0
    for seed in range(WORLDS):
        world = World.random(random.Random(seed))
        with watched() as database, monkeypatch.context() as patch:
            database.fill(world)
            hidden = set(world.entities) - set(readable(world))
            patch.setattr(VisibilityCache, "of", without_filter)
            answered = told(database, world, world.principal)
            assert [urn for urn in hidden if urn in answered] == [], seed
            tempting += sum(urn in told(database, world, OWNER) for urn in sorted(hidden)[:1])
    assert tempting  # who owns them is answered from them
