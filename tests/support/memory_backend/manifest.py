"""Which entities came from which file, in memory: see `ports.OriginManifest`."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain

from memory_backend.state import Access, Item, KnownOrigin, Tenant
from memory_backend.writer import Writer
from redask.core.access.policy import must_own
from redask.core.model import Caller
from redask.core.ports import DeclaredKey, Entity, FileLink, Load, LoadOutcome, Origin, OriginFacts
from redask.core.rules.urn import decode
from redask.stores import manifest_rules
from redask.stores.manifest_rules import LINK_PLACE
from redask.stores.write_rules import GIVEN


class MemoryManifest:
    """The manifest of one database."""

    def __init__(self, access: Access) -> None:
        self._access = access

    def known(self, place: str, caller: Caller) -> dict[str, Origin]:
        tenant = self._access.reading(caller.tenant)
        gaps = {
            item.path
            for urn, item in tenant.items.items()
            if item.place >= 0 and tenant.rows[urn].payload is None
        }
        below = f"{place.rstrip('/')}/"
        return {
            path: manifest_rules.known(known.origin, path in gaps)
            for path, known in sorted(tenant.origins.items())
            if path == place or path.startswith(below)
        }

    def listing(self, caller: Caller) -> list[OriginFacts]:
        must_own(caller)
        tenant = self._access.reading(caller.tenant)
        brought: dict[str, Counter[str]] = {path: Counter() for path in tenant.origins}
        for urn, item in tenant.items.items():
            if item.place >= 0 and tenant.rows[urn].payload is not None:
                brought[item.path][decode(urn).collection] += 1
        return [
            OriginFacts(path, dict(sorted(brought[path].items())), known.read_at)
            for path, known in sorted(tenant.origins.items())
        ]

    def load(self, loads: Sequence[Load], caller: Caller, now: int | None = None) -> LoadOutcome:
        must_own(caller)
        with self._access.writing(caller.tenant) as tenant:
            writer = Writer(self._access.shared, tenant)
            accepted, refused = manifest_rules.accept(loads, _owners(tenant))
            for load in accepted:
                if load.first:
                    _declare(tenant, load)
            written = writer.put([each for load in accepted for each in load.entities], GIVEN)
            removed = sum(_keep(tenant, writer, load, now) for load in accepted)
            _unsettle(tenant, {load.origin.path for load in accepted})
            writer.finish()
            return LoadOutcome(written, removed, refused)

    def collisions(self, origin: Origin, urns: Sequence[str], caller: Caller) -> str | None:
        owners = _owners(self._access.reading(caller.tenant))
        own = {urn: owners[urn] for urn in urns if urn in owners}
        return manifest_rules.collision(origin, own)

    def remove(self, paths: Sequence[str], caller: Caller) -> int:
        must_own(caller)
        with self._access.writing(caller.tenant) as tenant:
            writer = Writer(self._access.shared, tenant)
            removed = 0
            for path in paths:
                if tenant.origins.pop(path, None):
                    items = tenant.items.items()
                    brought = [urn for urn, item in items if item.path == path]
                    removed += _sweep(tenant, writer, brought)
            _unsettle(tenant, set(paths))
            writer.finish()
            return removed

    def pending_links(self, limit: int, caller: Caller) -> dict[str, list[FileLink]]:
        origins = self._access.reading(caller.tenant).origins
        waiting = [(path, known) for path, known in sorted(origins.items()) if known.unlinked]
        return {
            path: sorted(known.links, key=lambda link: (link.source, link.path, link.anchor))
            for path, known in waiting[: max(limit, 0)]
        }

    def chunks(self, path: str, caller: Caller) -> list[str]:
        tenant = self._access.reading(caller.tenant)
        brought = [
            (item.place, urn)
            for urn, item in tenant.items.items()
            if item.path == path and item.place >= 0 and tenant.rows[urn].payload is not None
        ]
        return [urn for _, urn in sorted(brought) if urn.startswith("urn:reddb:document:")]

    def declared_keys(self, tenant: str) -> list[DeclaredKey]:
        origins = self._access.reading(tenant).origins
        return [key for _, known in sorted(origins.items()) for key in known.keys]

    def link(self, edges: Mapping[str, Sequence[Entity]], caller: Caller) -> LoadOutcome:
        must_own(caller)
        with self._access.writing(caller.tenant) as tenant:
            writer = Writer(self._access.shared, tenant)
            written = writer.put(list(chain(*edges.values())), GIVEN)
            removed = 0
            for path, own in edges.items():
                tenant.origins[path] = tenant.origins[path]._replace(unlinked=False)
                kept = {edge.urn for edge in own}
                tenant.items.update((urn, Item(path, LINK_PLACE)) for urn in kept)
                stale = [
                    urn
                    for urn, item in tenant.items.items()
                    if item.path == path and item.place < 0 and urn not in kept
                ]
                removed += _sweep(tenant, writer, stale)
            writer.finish()
            return LoadOutcome(written, removed, {})


def _declare(tenant: Tenant, load: Load) -> None:
    """Keep the keys of an origin: who may read what it brings depends on them."""
    before = tenant.origins.get(load.origin.path)
    known = before or KnownOrigin(manifest_rules.recorded(load, None), frozenset(), True)
    tenant.origins[load.origin.path] = known._replace(keys=tuple(load.keys))


def _keep(tenant: Tenant, writer: Writer, load: Load, now: int | None) -> int:
    """Note what an origin brought; with its last part, sweep. → how many entities went"""
    path = load.origin.path
    before = tenant.origins.get(path)
    origin = manifest_rules.recorded(load, before.origin if before else None)
    seen = () if load.first or before is None else before.seen
    links = frozenset[FileLink]() if load.first or before is None else before.links
    keys = tuple(load.keys) if load.first or before is None else before.keys
    brought = [entity.urn for entity in load.entities]
    tenant.items.update((urn, Item(path, n)) for n, urn in enumerate(brought, start=len(seen)))
    seen = (*seen, *brought)
    linked = links | frozenset(load.links)
    tenant.origins[path] = KnownOrigin(origin, linked, True, keys, now, seen)
    if not load.last:
        return 0
    tenant.origins[path] = tenant.origins[path]._replace(seen=())
    current = frozenset(seen)
    stale = [
        urn
        for urn, item in tenant.items.items()
        if item.path == path and item.place >= 0 and urn not in current
    ]
    return _sweep(tenant, writer, stale)


def _sweep(tenant: Tenant, writer: Writer, urns: Sequence[str]) -> int:
    for urn in urns:
        del tenant.items[urn]
    return writer.delete(urns)


def _unsettle(tenant: Tenant, paths: Collection[str]) -> None:
    """Let every origin that links to one of these be linked again."""
    for path, known in tenant.origins.items():
        if any(link.path in paths for link in known.links):
            tenant.origins[path] = known._replace(unlinked=True)


def _owners(tenant: Tenant) -> dict[str, str]:
    items = tenant.items.items()
    return {urn: item.path for urn, item in items if tenant.rows[urn].payload is not None}
