"""The manifest: which entities came from which file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from redask.core.model import Caller
from redask.core.ports.entities import Entity

LINK_LABEL = "links to"  # of an edge that is made of a link in the text at its source
_WORDS = re.compile(r"[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class FileLink:
    """A link in a document: from a chunk, to a place (`anchor`, may be empty) in another file."""

    source: str
    path: str
    anchor: str


@dataclass(frozen=True, slots=True)
class DeclaredKey:
    """A key that a file declares of a collection: primary, or (with a target) a foreign one.

    The columns are keys of the payloads, in the order of the declaration.
    """

    collection: str
    columns: tuple[str, ...]
    target: str | None = None
    target_columns: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The label of its edges: the columns as words, without a last "id"."""
        words = [word.lower() for column in self.columns for word in _WORDS.findall(column)]
        kept = words[:-1] if len(words) > 1 and words[-1] == "id" else words
        return " ".join(kept) or " ".join(self.columns)


@dataclass(frozen=True, slots=True)
class Origin:
    """A file that entities came from. `path` (absolute) names it, `root` is the folder asked for.

    `requested_collection` is what the caller named; `revision` says which content was read how, and
    is None while that is unfinished, or when something of it is missing; it is empty as long as
    the file has never been whole here.
    """

    path: str
    root: str
    requested_collection: str | None
    revision: str | None


@dataclass(frozen=True, slots=True)
class Load:
    """What one origin brings, in the order of the file; or a part of it, when it is much.

    With the `last` part goes whatever the origin brought earlier and no longer brings. `keys` are
    those of the whole, and count with its `first` part.
    """

    origin: Origin
    entities: Sequence[Entity]
    links: Sequence[FileLink] = ()
    first: bool = True
    last: bool = True
    keys: Sequence[DeclaredKey] = ()


@dataclass(frozen=True, slots=True)
class LoadOutcome:
    """What a write did; `refused` maps an origin's path to that of the origin it collides with."""

    written: int
    removed: int
    refused: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class OriginFacts:
    """A file that was read: how many entities it brought to which collection, and when.

    `read_at` is in epoch nanoseconds, of the last time it had changed; None if that is not known.
    """

    path: str
    entities: Mapping[str, int]
    read_at: int | None


class OriginManifest(Protocol):
    """Which entities came from which file. Every entity belongs to one origin at most."""

    def known(self, place: str, caller: Caller) -> dict[str, Origin]:
        """The origins at a path or below it, by path."""

    def listing(self, caller: Caller) -> list[OriginFacts]:
        """The origins of an owner's tenant, by path."""

    def load(self, loads: Sequence[Load], caller: Caller, now: int | None = None) -> LoadOutcome:
        """Write what these origins bring, in one transaction, but for those that collide.

        `now` is when they were read, in epoch nanoseconds.
        """

    def collisions(self, origin: Origin, urns: Sequence[str], caller: Caller) -> str | None:
        """The path of another origin that one of these belongs to, or None."""

    def remove(self, paths: Sequence[str], caller: Caller) -> int:
        """Remove these origins with everything they brought. → how many entities went."""

    def pending_links(self, limit: int, caller: Caller) -> dict[str, list[FileLink]]:
        """Origins whose links are to be settled (anew), by path; empty when all are."""

    def chunks(self, path: str, caller: Caller) -> list[str]:
        """The documents that an origin brought, in their order."""

    def declared_keys(self, tenant: str) -> list[DeclaredKey]:
        """The keys that the origins declare, by path and in their order; for SELECT."""

    def link(self, edges: Mapping[str, Sequence[Entity]], caller: Caller) -> LoadOutcome:
        """Settle the links of these origins: they have these edges and no others."""
