"""What is in a database and where it came from: `sources`, `page`, `remove`, `whoami`.

    sources()          files that were ingested (for owners), and the collections the caller reads
    page(collection)   its entities, so many at a time
    remove(target)     a URN, a file or folder that was ingested, or a collection; for owners

A name may be a path and a collection: then `remove` wants `./name` for the path, or
`collection=True`. What comes of files comes back with the next ingest of them.
"""

import os
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

from redask.app import App
from redask.core.access.policy import OWNER, must_own
from redask.core.errors import BadAsk
from redask.core.model import Caller, Source
from redask.core.ports import OriginFacts

_T = TypeVar("_T")
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class CollectionFacts:
    """A collection, and how many entities of which kind the caller reads of it."""

    name: str
    entities: dict[str, int]


@dataclass(frozen=True, slots=True)
class DatabaseContents:
    """The files that were read, by path (for owners), and the collections, by name."""

    files: tuple[OriginFacts, ...]
    collections: tuple[CollectionFacts, ...]


@dataclass(frozen=True, slots=True)
class Removal:
    """What was removed: `what` it was (urn, path or collection), files and entities."""

    what: str
    files: tuple[str, ...]
    entities: int


class AsyncContents:
    """What is in a database, for asyncio; see the module."""

    _app: App

    async def _as_caller(self, work: Callable[[Caller], _T]) -> _T:
        raise NotImplementedError

    async def whoami(self) -> Caller:
        """Who asks: tenant, user and role."""
        return await self._as_caller(lambda caller: caller)

    async def sources(self) -> DatabaseContents:
        """The files that were ingested, for owners, and the collections that the caller reads."""
        return await self._as_caller(lambda caller: _contents(self._app, caller))

    async def page(self, collection: str, *, after: str = "", limit: int = 100) -> list[Source]:
        """Entities of a collection that the caller reads, by URN, after a given one."""
        store = self._app.backend.store
        return await self._as_caller(
            lambda caller: store.page(collection, caller, after=after, limit=limit)
        )

    async def remove(self, target: str, *, collection: bool | None = None) -> Removal:
        """Remove an entity, what a file or folder brought, or a collection. → what went.

        `collection` says that the target is one, or that it is none.
        """
        return await self._as_caller(
            lambda caller: _remove(self._app, caller, _what(self._app, caller, target, collection))
        )

    async def removable(self, target: str, *, collection: bool | None = None) -> str:
        """What `remove` would take the target for: urn, path or collection."""
        return await self._as_caller(lambda caller: _what(self._app, caller, target, collection)[0])


class SyncContents:
    """What is in a database, for everybody else."""

    _async: AsyncContents

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        raise NotImplementedError

    def whoami(self) -> Caller:
        """Who asks: tenant, user and role."""
        return self._run(self._async.whoami())

    def sources(self) -> DatabaseContents:
        """The files that were ingested, for owners, and the collections that the caller reads."""
        return self._run(self._async.sources())

    def page(self, collection: str, *, after: str = "", limit: int = 100) -> list[Source]:
        """Entities of a collection that the caller reads, by URN, after a given one."""
        return self._run(self._async.page(collection, after=after, limit=limit))

    def remove(self, target: str, *, collection: bool | None = None) -> Removal:
        """Remove an entity, what a file or folder brought, or a collection. → what went.

        `collection` says that the target is one, or that it is none.
        """
        return self._run(self._async.remove(target, collection=collection))

    def removable(self, target: str, *, collection: bool | None = None) -> str:
        """What `remove` would take the target for: urn, path or collection."""
        return self._run(self._async.removable(target, collection=collection))


def _contents(app: App, caller: Caller) -> DatabaseContents:
    files = app.backend.manifest.listing(caller) if caller.role == OWNER else []
    held = app.backend.store.collections(caller)
    return DatabaseContents(
        tuple(files),
        tuple(
            CollectionFacts(each.name, {kind.value: n for kind, n in each.entities.items() if n})
            for each in held
            if any(each.entities.values())
        ),
    )


def _what(
    app: App, caller: Caller, target: str, collection: bool | None
) -> tuple[str, str, tuple[str, ...]]:
    """What a target is, its name, and the files it stands for."""
    must_own(caller)
    if target.startswith("urn:"):
        return "urn", target, ()
    held = {each.name for each in app.backend.store.collections(caller)}
    is_collection = target in held and collection is not False
    path = os.path.abspath(target)
    files = () if collection else tuple(app.backend.manifest.known(path, caller))
    if is_collection and files and collection is None and os.sep not in target:
        raise BadAsk(
            f"{target!a} is a collection and a path: write ./{target} for the path, or "
            "--collection",
            detail="target",
        )
    if files:
        return "path", path, files
    if is_collection:
        return "collection", target, ()
    raise BadAsk(
        f"there is no file, URN or collection {target[:200]!a} here: `redask sources` lists them",
        detail="target",
    )


def _remove(app: App, caller: Caller, found: tuple[str, str, tuple[str, ...]]) -> Removal:
    what, name, files = found
    if what == "urn":
        gone = app.backend.store.delete([name], caller)
        if not gone:
            raise BadAsk(f"there is no entity {name[:200]!a}", detail="target")
        return Removal(what, (), gone)
    if what == "path":
        return Removal(what, files, app.backend.manifest.remove(files, caller))
    listed = app.backend.manifest.listing(caller)
    files = tuple(each.path for each in listed if set(each.entities) == {name})
    gone = app.backend.manifest.remove(files, caller) if files else 0
    while page := app.backend.store.page(name, caller, limit=_PAGE):
        gone += app.backend.store.delete([source.urn for source in page], caller)
    return Removal(what, files, gone)
