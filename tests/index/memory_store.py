"""A store in memory, for tests of the index: a log of latest states, as `ports.Store` says."""

from collections.abc import Sequence

from redask.core.model import Caller, Source
from redask.core.ports import Change, Entity, StoreView, Visibility
from redask.core.rules import urn as urns


class MemoryStore:
    """One tenant; every entity of a collection is in the language declared for it, if any."""

    def __init__(self, identity: str = "memory") -> None:
        self.identity = identity
        self.languages: dict[str, str] = {}
        self._keys: dict[str, int] = {}
        self._latest: dict[int, Change] = {}  # by key, ordered by sequence
        self._top = 0
        self._seq = 0

    def put(self, entities: Sequence[Entity], caller: Caller) -> int:
        for entity in entities:
            if entity.urn not in self._keys:
                self._top += 1
                self._keys[entity.urn] = self._top
            self._change(self._keys[entity.urn], entity.urn, entity)
        return self._seq

    def delete(self, urns: Sequence[str], caller: Caller) -> int:
        gone = [urn for urn in urns if urn in self._keys]
        for urn in gone:
            self._change(self._keys.pop(urn), urn, None)
        return len(gone)

    def read(self, urns: Sequence[str], caller: Caller) -> list[Source]:
        found = [self._latest[self._keys[urn]].entity for urn in urns if urn in self._keys]
        return [Source(entity.urn, entity.payload) for entity in found if entity]

    def view(self, caller: Caller) -> StoreView:
        return StoreView(self._seq, Visibility(), history=self.history(caller.tenant))

    def watermark(self, tenant: str) -> int:
        return self._seq

    def history(self, tenant: str) -> str:
        return str(self._seq or "")

    def follows(self, tenant: str, write: str) -> bool:
        return int(write or 0) <= self._seq

    def changes(self, tenant: str, after: int, limit: int) -> list[Change]:
        newest: list[Change] = []
        for change in reversed(self._latest.values()):
            if change.seq <= after:
                break
            newest.append(change)
        return newest[::-1][:limit]

    def skip(self, count: int) -> None:
        """Move the sequence on without a change to any entity."""
        self._seq += count

    def _change(self, key: int, urn: str, entity: Entity | None) -> None:
        self._seq += 1
        collection = urns.decode(urn).collection
        language = self.languages.get(collection)
        self._latest.pop(key, None)
        self._latest[key] = Change(self._seq, key, urn, collection, language, entity)
