"""The index of a server that shares copies of it with other nodes: `index_of`, `keeping_of`."""

from contextlib import ExitStack
from pathlib import Path

from redask.app.background.snapshot_thread import SnapshotThread
from redask.core import settings as choices
from redask.index import SearchIndex
from redask.index.snapshots.index_snapshots import IndexSnapshots
from redask.index.snapshots.snapshot_places import place_of
from redask.stores.backend import Backend


def index_of(
    directory: Path, backend: Backend, chosen: choices.Settings, *, serving: bool
) -> SearchIndex:
    """The search index; in a server it begins with snapshots, where there are any."""
    index = SearchIndex(directory / "index", backend.store, chosen.limits.timeout_ms)
    if serving and (snapshots := snapshots_of(backend, index, chosen)):
        for tenant in filter(chosen.serving.serves, backend.store.tenants()):
            snapshots.start_from(tenant)
    return index


def snapshots_of(
    backend: Backend, index: SearchIndex, chosen: choices.Settings
) -> IndexSnapshots | None:
    """Copies of the index that nodes share; None where the settings name no place."""
    if chosen.serving.snapshots is None:
        return None
    place = place_of(chosen.serving.snapshots)
    return IndexSnapshots(index, backend.store, backend.store.edge_key, place)


def keeping_of(
    backend: Backend, index: SearchIndex, opened: ExitStack, chosen: choices.Settings | None
) -> SnapshotThread | None:
    """Who keeps them up to date in a server with these settings; None: nobody."""
    snapshots = None if chosen is None else snapshots_of(backend, index, chosen)
    if chosen is None or snapshots is None:
        return None
    serves, tenants = chosen.serving.serves, backend.store.tenants
    made = SnapshotThread(lambda: list(filter(serves, tenants())), snapshots.keep)
    opened.callback(made.close, 0.0)
    return made
