"""Buffers the entities of one file until all of it is read: `Spool`, in memory or on disk.

Nothing of a file is written to the store before all of it is read: a file that is invalid in its
last line leaves nothing behind. Up to SMALL entities (and BYTES of payload) stay in memory; more
spill to an unnamed temporary SQLite database, which the system removes even after a crash. A
duplicate URN is refused, but for edges: a repeated edge is one edge.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from redask.core.errors import BadAsk
from redask.core.ports import DeclaredKey, Entity, FileLink
from redask.ingest.records import ReadSkipped

SMALL = 5000
BYTES = 16 * 1024 * 1024
_INSERT = "INSERT INTO spool (urn, payload, source, target) VALUES (?, ?, ?, ?)"


class Spool:
    """The entities, links and keys of one file, in file order, and what of it was left out."""

    def __init__(self) -> None:
        self.links: list[FileLink] = []
        self.keys: list[DeclaredKey] = []
        self.skipped: list[ReadSkipped] = []
        self.count = 0
        self._buffer: dict[str, Entity] = {}
        self._bytes = 0
        self._disk: sqlite3.Connection | None = None

    @property
    def is_small(self) -> bool:
        """Whether nothing was spilled: all entities are one part."""
        return self._disk is None

    def add(self, entity: Entity) -> None:
        """Add an entity; a duplicate URN is refused, a duplicate edge ignored."""
        if entity.urn in self._buffer:
            self._refuse_duplicate(entity)
            return
        self._buffer[entity.urn] = entity
        self.count += 1
        self._bytes += len(entity.payload)
        if len(self._buffer) > SMALL or self._bytes > BYTES:
            self._spill()

    def parts(self) -> Iterator[list[Entity]]:
        """All entities, in parts that fit into memory; at least one part, possibly empty."""
        if self._disk is None:
            yield list(self._buffer.values())
            return
        self._spill()
        with _disk_errors():
            rows = self._disk.execute(
                "SELECT urn, payload, source, target FROM spool ORDER BY place"
            )
            part: list[Entity] = []
            size = 0
            for urn, payload, source, target in rows:
                if part and (len(part) >= SMALL or size > BYTES):
                    yield part
                    part, size = [], 0
                part.append(Entity(urn, payload, source=source, target=target))
                size += len(payload)
            yield part

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._disk is not None:
            self._disk.close()

    def _spill(self) -> None:
        """Move the buffer to disk."""
        with _disk_errors():
            if self._disk is None:
                self._disk = sqlite3.connect("", isolation_level=None, check_same_thread=False)
                self._disk.execute("PRAGMA journal_mode = OFF")
                self._disk.execute(
                    "CREATE TABLE spool (place INTEGER PRIMARY KEY, urn TEXT UNIQUE,"
                    " payload TEXT, source TEXT, target TEXT)"
                )
            self._disk.execute("BEGIN")
            for entity in self._buffer.values():
                row = (entity.urn, entity.payload, entity.source, entity.target)
                try:
                    self._disk.execute(_INSERT, row)
                except sqlite3.IntegrityError:
                    self._refuse_duplicate(entity)
                    self.count -= 1
            self._disk.execute("COMMIT")
        self._buffer, self._bytes = {}, 0

    def _refuse_duplicate(self, entity: Entity) -> None:
        if entity.source is None:
            raise BadAsk(f"has a duplicate URN: {entity.urn}")


@contextmanager
def _disk_errors() -> Iterator[None]:
    """Turn SQLite's errors, such as a full disk, into `BadAsk`."""
    try:
        yield
    except sqlite3.Error as error:
        raise BadAsk(f"cannot be spooled to a temporary file: {error}") from None
