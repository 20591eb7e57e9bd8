"""Writing snapshots of partitions, and starting from one: `IndexSnapshots`.

    <store>/<layout>/<tenant>/manifest             names the snapshot that counts; written last
    <store>/<layout>/<tenant>/<16 digits>/…        the files of one

Store and tenant are hashes. A snapshot is a copy of a generation, taken under the partition's lock:
a partition that starts from it catches up from the change log, as one does that was closed for a
while. What is not wholly what a node of this database wrote is left alone, with a reason in the
log, and the index is made from the change log. A snapshot that nobody finished is none: no manifest
names it. Others than the present and the one before are removed once they are a day old.
"""

import logging
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest, sha256
from pathlib import Path

from redask.core.errors import AskError, StoreFailed
from redask.core.model import Caller
from redask.core.ports import Store
from redask.index import SearchIndex
from redask.index.file_lock import FileLock
from redask.index.private_files import make_directory
from redask.index.snapshots import signed_manifest as manifests
from redask.index.snapshots.signed_manifest import (
    Refused,
    SnapshotFile,
    SnapshotManifest,
    SnapshotSubject,
)
from redask.index.snapshots.snapshot_places import SnapshotPlace

_DAY = 86_400.0
_LOCK, _LOCK_SECONDS = "snapshot.lock", 600.0
_WORKING = "snapshot-"  # folders of the partition that a snapshot is copied into
_SPARE_BYTES = 64 * 2**20  # left free on the disk
_log = logging.getLogger("redask.snapshots")


class IndexSnapshots:
    """Snapshots of an index at a place; `key` is known to the nodes of the database alone."""

    def __init__(self, index: SearchIndex, store: Store, key: bytes, place: SnapshotPlace) -> None:
        self._index = index
        self._store = store
        self._key = key
        self._place = place
        self._looked: dict[str, int] = {}  # tenants whose snapshot was good at this watermark

    def start_from(self, tenant: str) -> bool:
        """Let a tenant's partition begin with the snapshot, if it has no files yet. → whether"""
        if self._index.has_files(tenant):
            return False
        try:
            with self._working(tenant) as folder:
                return not self._index.has_files(tenant) and self._fetched(tenant, folder)
        except Refused as reason:
            _log.warning("a snapshot is not used, the index is made from the log: %s", reason)
        except AskError as error:
            _log.warning(
                "a snapshot is not used, the index is made from the log: %s", error.message
            )
        return False

    def keep(self, tenant: str) -> bool:
        """Write a snapshot if there is none, or much has changed since. → whether"""
        watermark = self._index.health(tenant).watermark
        if self._looked.get(tenant) == watermark:
            return False
        before = self._usable(tenant)
        due = manifests.is_due(watermark, before.watermark if before else None)
        if due:
            self.write(tenant)
        self._looked[tenant] = watermark
        return due

    def write(self, tenant: str) -> None:
        """Write a snapshot of a tenant's partition as it is now."""
        before = self._usable(tenant)
        subject = self._subject(tenant)
        with self._working(tenant) as folder:
            position = self._index.copy_to(tenant, folder)
            if position is None:
                return
            made = SnapshotManifest(
                subject, position.watermark, position.history, folder.name, _files(folder)
            )
            for file in made.files:
                self._place.send(
                    folder / file.path, f"{self._name(tenant)}/{folder.name}/{file.path}"
                )
        self._place.replace(f"{self._name(tenant)}/manifest", made.signed(self._key))
        _log.info("a snapshot of %d bytes is written, at change %d", made.size, made.watermark)
        self._remove_old(tenant, {made.folder} | ({before.folder} if before else set()))

    def _fetched(self, tenant: str, folder: Path) -> bool:
        found = self._found(tenant)
        if found is None:
            return False
        if shutil.disk_usage(folder.parent).free < found.size + _SPARE_BYTES:
            raise Refused("there is no room for it on this disk")
        for file in found.files:
            path = folder / file.path
            self._place.fetch(f"{self._name(tenant)}/{found.folder}/{file.path}", path)
            if path.stat().st_size != file.size or _digest(path) != file.sha256:
                raise Refused("a file of it is not what was written")
        self._index.begin_with(tenant, folder)
        _log.info("the index begins with a snapshot, at change %d", found.watermark)
        return True

    def _found(self, tenant: str) -> SnapshotManifest | None:
        """The snapshot at the place, if any; `Refused` if nothing may start from it."""
        content = self._place.read(f"{self._name(tenant)}/manifest", manifests.MAX_BYTES)
        if content is None:
            return None
        found = manifests.read(content, self._key)
        watermark, store = self._store.watermark(tenant), self._store
        manifests.check(
            *(found, self._subject(tenant), watermark),
            follows=lambda history: store.follows(tenant, history),
        )
        return found

    def _usable(self, tenant: str) -> SnapshotManifest | None:
        try:
            return self._found(tenant)
        except Refused:
            return None

    def _subject(self, tenant: str) -> SnapshotSubject:
        space = self._store.view(Caller(tenant=tenant)).space
        return SnapshotSubject(self._store.identity, tenant, self._index.layout, space)

    def _name(self, tenant: str) -> str:
        store, whose = (
            sha256(each.encode()).hexdigest()[:16] for each in (self._store.identity, tenant)
        )
        return f"{store}/{self._index.layout}/{whose}"

    def _remove_old(self, tenant: str, kept: set[str]) -> None:
        """Remove what no manifest names; what is young may be another node's that is at work."""
        folders = self._place.folders(self._name(tenant))
        last = max(folders.values(), default=0.0)
        for name, written in folders.items():
            if name not in kept and written < last - _DAY:
                self._place.remove(f"{self._name(tenant)}/{name}")

    @contextmanager
    def _working(self, tenant: str) -> Iterator[Path]:
        """A folder in the partition's directory, gone afterwards; one user of it at a time."""
        directory = self._index.directory_of(tenant)
        try:
            make_directory(directory)
            lock = FileLock(directory / _LOCK, _LOCK_SECONDS)
        except OSError as error:
            raise StoreFailed("the index cannot be written", detail=str(error)) from error
        with lock:
            for left in directory.glob(f"{_WORKING}*/"):
                shutil.rmtree(left, ignore_errors=True)
            folder = directory / f"{_WORKING}{secrets.token_hex(8)}"
            try:
                make_directory(folder)
                yield folder
            except OSError as error:
                raise StoreFailed("a snapshot cannot be written here", detail=str(error)) from error
            finally:
                shutil.rmtree(folder, ignore_errors=True)


def _files(folder: Path) -> tuple[SnapshotFile, ...]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return tuple(
        SnapshotFile(path.relative_to(folder).as_posix(), path.stat().st_size, _digest(path))
        for path in paths
    )


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return file_digest(file, "sha256").hexdigest()
