"""Plain data between the parts of ingest: files found, what a reader gets and what it yields."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from redask.core.errors import BadAsk
from redask.core.model import Urn
from redask.core.ports import DeclaredKey, Entity

MakeEntity = Callable[[Urn, Mapping[str, object]], Entity]


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to read.

    `path` is absolute; `name` is the same relative to `root`, with `/`. `requested_collection` is
    the one the caller named; `named_directly` is true when the caller named the file itself, not
    its folder.
    """

    path: str
    root: str
    name: str
    requested_collection: str | None
    named_directly: bool
    reader: "ReaderRow"
    size: int


@dataclass(frozen=True, slots=True)
class ReadItem:
    """An entity to write: its address and its content."""

    address: Urn
    content: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ReadEdge:
    """An edge to write, between two items of the same file, both yielded before it."""

    source: Urn
    label: str
    target: Urn


@dataclass(frozen=True, slots=True)
class ReadLink:
    """A link from an item to (an anchor in) another file, given by its absolute path."""

    source: Urn
    path: str
    anchor: str


@dataclass(frozen=True, slots=True)
class ReadKey:
    """A key that the file declares of a collection in it."""

    key: DeclaredKey


@dataclass(frozen=True, slots=True)
class ReadSkipped:
    """A file inside the file that was left out, and why; without a reason no reader is for it."""

    name: str
    reason: str = ""


ReadRecord = ReadItem | ReadEdge | ReadLink | ReadKey | ReadSkipped


@dataclass(slots=True)
class OpenedFile:
    """What a reader gets. `data` is the content, for readers with `in_memory`.

    A reader that streams the file itself calls `advance` with the number of bytes read so far;
    one of several files in one calls `check`, which raises `BadAsk` if an item cannot be written.
    """

    found: FoundFile
    data: bytes = b""
    advance: Callable[[int], None] = field(default=lambda _: None)
    check: Callable[[ReadItem], None] = field(default=lambda _: None)


@dataclass(frozen=True, slots=True)
class ReaderRow:
    """One file type. `version` is raised whenever the same file would be read differently.

    `in_memory` readers get the content, of at most `max_bytes`; others stream the file
    themselves, and it is refused if it changed meanwhile, unless the reader works on a snapshot
    (`takes_snapshot`). `companions` are suffixes of files that belong to one, such as a WAL. A
    `plain` reader is our own code alone, linear in the file, with memory for some lines.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[OpenedFile], Iterator[ReadRecord]]
    version: int = 1
    in_memory: bool = True
    max_bytes: int = 64 * 1024 * 1024
    takes_snapshot: bool = False
    companions: tuple[str, ...] = ()
    plain: bool = False


def made_entity(make: MakeEntity, item: ReadItem) -> Entity:
    """The entity of an item; a refusal names it."""
    try:
        return make(item.address, item.content)
    except BadAsk as error:
        address = item.address
        name = address.id if address.fragment is None else address.fragment
        raise BadAsk(f"{address.collection}/{name}: {error.message}") from None


def revision(found: FoundFile, digest: str) -> str:
    """The digest of a file's content and one of how it is read: equal revisions, equal entities."""
    row = found.reader
    reading = (
        row.name,
        str(row.version),
        found.root,
        found.name,
        found.requested_collection or "",
        str(found.named_directly),
    )
    reading_digest = hashlib.sha256("\x1f".join(reading).encode()).hexdigest()
    return f"{digest} {reading_digest[:16]}"
