"""Everything a principal can get out of redask, as bytes; and the twin that knows no more.

`Watched` is a database with a world in it. `observe` asks, explains, searches, streams, looks up
and lists as the principal, the answer cache included, and returns all of it. `twin` is another
database that holds only what the principal can read one by one, under no policy at all: whatever
the principal gets from the one must come from the other too, byte for byte.
"""

import asyncio
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import postgres_databases

from redask.app import App, build
from redask.core import clauses
from redask.core.errors import AskError
from redask.core.model import Caller, Event
from redask.core.ports import Entity, Load, Origin
from redask.core.settings import load
from redask.core.wire import envelope, frames
from redask.core.wire.json import text
from redask.embedding.models.hashed import Hashed
from redask.stores.relational.sql_database import EVERY_TENANT, SqlDatabase
from tests.access.worlds import KEYS, NAMES, REGIONS, WORDS, World, readable

OWNER = Caller("acme", "root", "owner")
NEIGHBOUR = Caller("other", "pia", "owner")
CACHED = {"cache": {"ttl": "1h"}}
VALUES = (*WORDS, *NAMES, *REGIONS, *(f"{word}@example.org" for word in WORDS), "***", "2", "pia")
NOW = 1_800_000_000 * 10**9


class Watched:
    """One open database."""

    def __init__(self, directory: Path) -> None:
        self.app: App = build(
            directory, settings=load("", {}), embedder="hashed", clock=lambda: NOW
        )
        store: Any = self.app.backend.store
        self._file: SqlDatabase = store._database

    def declare_keys(self) -> None:
        """Keys, as if a file had declared them."""
        origin = Origin("/keys", "/keys", None, "1")
        self.app.backend.manifest.load([Load(origin, [], keys=KEYS)], OWNER)

    def fill(self, world: World) -> None:
        """The world as it is."""
        self.declare_keys()
        self.put(world.entities.values())
        self.app.backend.store.read(
            sorted(world.entities), world.principal
        )  # before there are policies
        for collection, document in sorted(world.policies.items()):
            self.app.backend.store.set_policy(collection, document, OWNER)
        self.add_users(world)
        self.app.embed(OWNER)

    def add_users(self, world: World) -> None:
        for name, (role, attributes) in world.users.items():
            self.app.backend.users.add_user(name, role, attributes, OWNER)

    def vectors(self) -> dict[str, tuple[float, ...] | None]:
        """The vectors of the world's entities."""
        changes = self.app.backend.store.changes(OWNER.tenant, 0, 100_000)
        return {each.urn: each.entity.vector for each in changes if each.entity}

    def leave_unembedded(self) -> None:
        """Let what has no vector have none, and wait for none."""
        store, tenant = self.app.backend.store, OWNER.tenant
        store.set_vectors([], tenant, model=Hashed().model, through=store.watermark(tenant))

    def edges_of(self, urn: str) -> list[str]:
        """The edges that begin or end at an entity of the world."""
        with self._file.reading(OWNER.tenant) as connection:
            found = connection.execute(
                "SELECT edge.urn FROM edges JOIN entities AS edge USING (key)"
                " JOIN entities AS own ON own.key IN (source, target) WHERE own.urn = ?",
                (urn,),
            ).fetchall()
        return [edge for (edge,) in found]

    def forget_answers(self) -> None:
        """Empty the answer cache."""
        answers: Any = self.app.backend.answers
        with answers._database.writing(EVERY_TENANT) as connection:
            connection.execute("DELETE FROM answers")

    def put(self, entities: Sequence[Entity] | Any, caller: Caller = OWNER) -> None:
        self.app.backend.store.put(list(entities), caller, model=Hashed().model)

    def observe(self, world: World, closed: Sequence[str]) -> list[str]:
        """All that the principal gets, one text for each thing done."""
        universe = sorted(world.entities)
        who = world.principal
        seen = []
        some = sorted(set(_collections(universe)) - set(closed))[:2]
        narrow: dict[str, Any] = {"depth": 0, "limit": 3, "min_score": 0.05}
        for options in ({}, narrow | ({"collection": some} if some else {}), CACHED, CACHED):
            seen += asyncio.run(self._asked(world.question, options, who))
        seen.append(
            _safely(lambda: [_plain(s) for s in self.app.backend.store.read(universe, who)])
        )
        seen.append(_safely(lambda: str(self.app.backend.store.collections(who))))
        for collection in _collections(universe):
            if collection not in closed:
                seen.append(
                    _safely(lambda c=collection: str(self.app.backend.store.columns(c, who)))
                )
                seen.append(
                    _safely(
                        lambda c=collection: [
                            _plain(s) for s in self.app.backend.store.page(c, who)
                        ]
                    )
                )
        return seen + self._selected(who, _collections(sorted(readable(world))))

    def _selected(self, who: Caller, shown: Sequence[str]) -> list[str]:
        """What SELECT gives of the collections that hold something for the principal."""
        statements = [f'SELECT * FROM "{each}"' for each in shown]
        statements += [
            f"SELECT count(*), max(urn), string_agg(id::text, ',') FROM \"{each}\""
            for each in shown
        ]
        statements += [
            f'SELECT a.urn, b.urn FROM "{one}" AS a JOIN "{other}" AS b ON a.id::text = b.id::text'
            for one, other in pairwise(shown)
        ]
        given = [
            _safely(lambda s=each: self.app.selector.select(s, (), who)) for each in statements
        ]
        return [*given, _safely(lambda: self._planned(who, shown))]

    def _planned(self, who: Caller, shown: Sequence[str]) -> str:
        """What a question is planned with, and every value that any world has."""
        schema, values = self.app.plan_sources.schema(who), self.app.plan_sources.values(who)
        tables = [each for each in schema.tables if each.name in shown]
        return f"{tables!r} {schema.keys!r} {sorted(values.find(VALUES).items())!r}"

    async def _asked(self, question: str, options: dict[str, Any], who: Caller) -> list[str]:
        ask = clauses.from_options(question, options, "")
        engine = self.app.engine
        events: list[Event] = []

        async def note(event: Event) -> None:
            events.append(event)

        seen = [await _awaited(lambda: _envelope(engine.ask(ask, who, note)))]
        seen.append(str([frames.of(event) for event in events]))
        if "cache" not in options:
            seen.append(_safely(lambda: str(self.app.retriever.find(ask, who))))
        if not options:
            seen.append(await _awaited(lambda: engine.explain(ask, who)))
        return seen

    def others_ask(self, world: World) -> None:
        """Another user and another tenant ask the same, and leave their answers in the cache."""
        for who in (Caller("acme", "quin", world.users["quin"][0]), NEIGHBOUR):
            asyncio.run(self._asked(world.question, CACHED, who))

    def close(self) -> None:
        self.app.close()


@contextmanager
def watched() -> Iterator[Watched]:
    shared = Path("/dev/shm")  # memory, where there is one: nothing here is about disks
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
        opened = Watched(Path(folder))
        try:
            yield opened
        finally:
            opened.close()
            postgres_databases.drop(Path(folder))  # if it is there


def visible(database: Watched, world: World) -> list[Entity]:
    """What the principal can read one by one, as entities of its own."""
    found = []
    vectors = database.vectors()
    for source in database.app.backend.store.read(sorted(world.entities), world.principal):
        ends = world.entities[source.urn].source, world.entities[source.urn].target
        found.append(Entity(source.urn, source.payload, *ends, vectors[source.urn]))
    return found


def _collections(universe: Sequence[str]) -> list[str]:
    return sorted({urn.split(":")[3].split("/")[0] for urn in universe})


def _plain(source: Any) -> list[str]:
    return [source.urn, source.payload]


async def _envelope(answering: Any) -> object:
    return envelope.build(await answering)


async def _awaited(work: Any) -> str:
    try:
        return text(await work())
    except AskError as error:
        return f"{error.kind}: {error.message}: {error.detail}"


def _safely(work: Any) -> str:
    try:
        return str(work())
    except AskError as error:
        return f"{error.kind}: {error.message}: {error.detail}"
