"""One round of the test of non-interference: `check(seed)`."""

import json
import random

from redask.core.errors import BadAsk
from redask.core.ports import Entity
from redask.core.wire.json import text
from tests.access.watching import NEIGHBOUR, OWNER, Watched, visible, watched
from tests.access.worlds import COLLECTIONS, World, edges, entity, readable


def check(seed: int) -> None:
    """One database, its twin, and changes that may not matter."""
    chance = random.Random(seed)
    world = World.random(chance)
    with watched() as database:
        database.fill(world)
        found = visible(database, world)
        assert {each.urn: json.loads(each.payload) for each in found} == readable(world)
        database.put(found, NEIGHBOUR)  # another tenant has just what the principal can read here
        database.others_ask(world)
        closed = sorted(database.app.backend.store.view(world.principal).visibility.denied)
        seen = database.observe(world, closed)
        with watched() as twin:
            twin.declare_keys()
            twin.put(found)
            twin.leave_unembedded()
            twin.add_users(world)
            same(seen, twin.observe(world, closed))
        disturb(database, world, {each.urn for each in found}, chance)
        database.app.embed(OWNER)
        database.forget_answers()
        same(seen, database.observe(world, closed))


def same(one: list[str], other: list[str]) -> None:
    assert len(one) == len(other)
    for mine, theirs in zip(one, other, strict=True):
        assert mine == theirs


def disturb(database: Watched, world: World, shown: set[str], chance: random.Random) -> None:
    """Add, change and remove what the principal may not read, here and in the other tenant."""
    hidden = sorted(set(world.entities) - shown)
    doomed = {urn for urn in hidden if chance.random() < 0.3}
    gone = [urn for urn in sorted(doomed) if not shown.intersection(database.edges_of(urn))]
    database.app.backend.store.delete(gone, OWNER)
    for number in range(20, 24):
        add(database, world, entity(chance, chance.choice(COLLECTIONS), number))
    for made in edges(chance, sorted({*hidden} - doomed) or sorted(world.entities), 3):
        add(database, world, made)
    for urn in sorted(shown):
        change_hidden_columns(database, world, urn, chance)
    database.app.backend.store.delete(sorted(shown)[::2], NEIGHBOUR)
    database.put([entity(chance, "tickets", number) for number in range(5)], NEIGHBOUR)


def add(database: Watched, world: World, made: Entity) -> None:
    """Add an entity; take it away again if the principal can read it."""
    if made.urn in world.entities:
        return
    try:
        database.put([made])
    except BadAsk:  # an edge whose end is gone
        return
    if database.app.backend.store.read([made.urn], world.principal):
        database.app.backend.store.delete([made.urn], OWNER)


def change_hidden_columns(database: Watched, world: World, urn: str, chance: random.Random) -> None:
    """Give a readable row other values in columns the principal does not see."""
    whole = world.entities[urn]
    if whole.source is not None:
        return
    store = database.app.backend.store
    (before,) = store.read([urn], world.principal)
    content, shown = json.loads(whole.payload), json.loads(before.payload)
    vector = database.vectors()[urn] if whole.vector else None  # others are embedded again
    for column in sorted({*content, "salary", "email", "secret"}):
        if column not in shown or shown[column] == "***":
            changed = {**content, column: chance.choice(["amber falcon", 7, None, "EU"])}
            database.put([Entity(urn, text(changed), vector=vector)])
            if store.read([urn], world.principal) == [before]:
                content = changed
            else:  # a condition looks at this column
                database.put([Entity(urn, text(content), vector=vector)])
