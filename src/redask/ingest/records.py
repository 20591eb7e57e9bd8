"""Plain data between the parts of ingest: what is found, what a reader gets, what it gives."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from redask.core.model import Urn


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to read.

    `path` is absolute; `name` is the same relative to `root`, with `/`. `choice` is the
    collection that was asked for, `alone` says that the file itself was named, not its folder.
    """

    path: str
    root: str
    name: str
    choice: str | None
    alone: bool
    reader: "ReaderRow"
    size: int


@dataclass(frozen=True, slots=True)
class ReadItem:
    """One entity to be: where it is addressed, and its content."""

    address: Urn
    content: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ReadEdge:
    """One edge to be, between two items of the same file, given before it."""

    source: Urn
    label: str
    target: Urn


@dataclass(frozen=True, slots=True)
class ReadLink:
    """A link from an item to (a place in) another file, an absolute path."""

    source: Urn
    path: str
    anchor: str


ReadRecord = ReadItem | ReadEdge | ReadLink


@dataclass(slots=True)
class OpenedFile:
    """What a reader gets. `data` is the content, for readers that want it whole.

    A reader that goes through a file itself calls `advance` with how many bytes it is at.
    """

    found: FoundFile
    data: bytes = b""
    advance: Callable[[int], None] = field(default=lambda _: None)


@dataclass(frozen=True, slots=True)
class ReaderRow:
    """One kind of file. `version` is raised whenever the same file would be read differently.

    `whole` readers get the content, of at most `most` bytes; others go through the file
    themselves, and must find it unchanged in the end, unless they take a snapshot (`steady`).
    `beside` are endings of files that belong to one, such as a database's log.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[OpenedFile], Iterator[ReadRecord]]
    version: int = 1
    whole: bool = True
    most: int = 64 * 1024 * 1024
    steady: bool = False
    beside: tuple[str, ...] = ()


def stamp(found: FoundFile, digest: str) -> str:
    """Which content (by its digest) is read how: equal stamps give equal entities."""
    row = found.reader
    way = (row.name, str(row.version), found.root, found.name, found.choice or "")
    mark = hashlib.sha256("\x1f".join((*way, str(found.alone))).encode()).hexdigest()
    return f"{digest} {mark[:16]}"
