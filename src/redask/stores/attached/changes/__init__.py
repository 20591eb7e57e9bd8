"""How changes of a source are noticed: a row of `FEEDS` and a file for each way.

    reading            everything is read anew; needs nothing of the source
    polling[:COLUMN]   rows by their transaction's number, or by a column that only grows
    triggers           triggers on the tables note keys in a table of redask's own
    logical            the server's own log of changes, by logical decoding
    auto               logical where the source allows it, else triggers, else polling

`Changed` names keys, never values: rows are read by the attachment's role, under its row level
security, whoever changed them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from redask.core.errors import AskError, BadAsk
from redask.stores.attached.attachment import Attachment
from redask.stores.attached.source_connection import AttachedDatabase, Connection
from redask.stores.attached.source_rows import SourceKey

_AUTO = ("logical", "triggers", "polling")
# insufficient privilege; wal_level is not logical; no slot is left; read only
_NOT_ALLOWED = ("42501", "55000", "53400", "25006")


@dataclass(frozen=True, slots=True)
class Changed:
    """What changed since a position: keys by table; tables to read whole; the new position.

    `untold` says that rows may be gone that no key tells of.
    """

    position: str
    keys: Mapping[str, list[SourceKey]] = field(default_factory=dict)
    whole: frozenset[str] = frozenset()
    untold: bool = False


class SourceFeed(Protocol):
    """One way to notice changes, for one attachment. `reader` is in a transaction as its role."""

    def install(self) -> None:
        """Make what it needs in the source, before the tables are read the first time."""

    def position(self, reader: Connection) -> str:
        """Where the changes begin that the reader does not see."""

    def changed(self, reader: Connection, after: str) -> Changed:
        """What changed after a position, as far as the reader sees it."""

    def forget(self, position: str) -> None:
        """All up to a position is kept here: nobody needs to be told again."""

    def uninstall(self) -> None:
        """Remove what it made in the source; twice is fine."""


def ways_of(changes: str) -> tuple[str, ...]:
    """The ways to try for a choice, one after the other."""
    return _AUTO if changes == "auto" else (changes,)


def is_not_allowed(error: AskError) -> bool:
    """Whether it is the source's rights or settings that refuse a way, so that another may do."""
    return isinstance(error, BadAsk) or error.detail in _NOT_ALLOWED


def feed_for(attachment: Attachment, source: AttachedDatabase) -> SourceFeed:
    """The way that an attachment chose; `BadAsk` if there is none of this name."""
    word, _, column = attachment.changes.partition(":")
    if word not in FEEDS or (column and word != "polling"):
        raise BadAsk(
            f"--changes is auto, {', '.join(FEEDS)} or polling:COLUMN, not"
            f" {attachment.changes[:100]!a}",
            detail="changes",
        )
    return FEEDS[word]()(attachment, source)


def _reading() -> Callable[[Attachment, AttachedDatabase], SourceFeed]:
    from redask.stores.attached.changes.whole_reading import WholeReading

    return WholeReading


def _polling() -> Callable[[Attachment, AttachedDatabase], SourceFeed]:
    from redask.stores.attached.changes.polling import Polling

    return Polling


def _triggers() -> Callable[[Attachment, AttachedDatabase], SourceFeed]:
    from redask.stores.attached.changes.trigger_notes import TriggerNotes

    return TriggerNotes


def _logical() -> Callable[[Attachment, AttachedDatabase], SourceFeed]:
    from redask.stores.attached.changes.logical_decoding import LogicalDecoding

    return LogicalDecoding


FEEDS: dict[str, Callable[[], Callable[[Attachment, AttachedDatabase], SourceFeed]]] = {
    "polling": _polling,
    "triggers": _triggers,
    "logical": _logical,
    "reading": _reading,
}
