"""What a file brings, kept until it was read to its end: `Spool`, in memory or on the disk.

Nothing of a file is written before all of it was read: a file that turns out to be bad in its
last line leaves nothing behind. Up to SMALL entities (and BYTES of them) wait in memory; more go
to a temporary database without a name, which SQLite keeps on the disk and the system removes,
whatever happens. Two entities of one address are refused; the same edge twice is one edge.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from redask.core.errors import BadAsk
from redask.core.ports import Entity, FileLink

SMALL = 5000
BYTES = 16 * 1024 * 1024
_PUT = "INSERT INTO spool (urn, payload, source, target) VALUES (?, ?, ?, ?)"


class Spool:
    """The entities and links of one file, in their order."""

    def __init__(self) -> None:
        self.links: list[FileLink] = []
        self.count = 0
        self._waiting: dict[str, Entity] = {}
        self._bytes = 0
        self._disk: sqlite3.Connection | None = None

    @property
    def is_small(self) -> bool:
        """Whether all of it is one part."""
        return self._disk is None

    def add(self, entity: Entity) -> None:
        """Keep an entity; one address, one entity."""
        if entity.urn in self._waiting:
            self._refuse_twin(entity)
            return
        self._waiting[entity.urn] = entity
        self.count += 1
        self._bytes += len(entity.payload)
        if len(self._waiting) > SMALL or self._bytes > BYTES:
            self._spill()

    def parts(self) -> Iterator[list[Entity]]:
        """All entities, in parts that fit into memory; at least one part."""
        if self._disk is None:
            yield list(self._waiting.values())
            return
        self._spill()
        with _room():
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
        """Move what waits to the disk."""
        with _room():
            if self._disk is None:
                self._disk = sqlite3.connect("", isolation_level=None, check_same_thread=False)
                self._disk.execute("PRAGMA journal_mode = OFF")
                self._disk.execute(
                    "CREATE TABLE spool (place INTEGER PRIMARY KEY, urn TEXT UNIQUE,"
                    " payload TEXT, source TEXT, target TEXT)"
                )
            self._disk.execute("BEGIN")
            for entity in self._waiting.values():
                row = (entity.urn, entity.payload, entity.source, entity.target)
                try:
                    self._disk.execute(_PUT, row)
                except sqlite3.IntegrityError:
                    self._refuse_twin(entity)
                    self.count -= 1
            self._disk.execute("COMMIT")
        self._waiting, self._bytes = {}, 0

    def _refuse_twin(self, entity: Entity) -> None:
        if entity.source is None:
            raise BadAsk(f"has two rows of one id: {entity.urn}")


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise BadAsk(f"cannot be kept until it is read, in a temporary file: {error}") from None
