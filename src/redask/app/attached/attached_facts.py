"""What is told of attached tables: `AttachmentFacts`, and what a sync did."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redask.stores.attached.attachments import AttachedState


@dataclass(frozen=True, slots=True)
class AttachedColumn:
    """A column of an attached table: its type and its comment are those of the source."""

    name: str
    type: str
    comment: str


@dataclass(frozen=True, slots=True)
class AttachedTableFacts:
    """An attached table, and the collection that it is here; `references` are other tables."""

    name: str
    collection: str
    comment: str
    key: tuple[str, ...]
    columns: tuple[AttachedColumn, ...]
    references: tuple[tuple[tuple[str, ...], str], ...]


@dataclass(frozen=True, slots=True)
class AttachmentFacts:
    """An attachment; `is_read` says that it was read to its end once."""

    name: str
    url: str
    role: str | None
    readers: tuple[str, ...]
    changes: str
    tables: tuple[AttachedTableFacts, ...]
    is_read: bool


@dataclass(frozen=True, slots=True)
class SyncFacts:
    """What a sync wrote and removed, rows and edges; `busy`: another process is at it."""

    written: int
    removed: int
    busy: bool = False


def name_of(url: str) -> str:
    """The name of an attachment that was given none: that of the database."""
    from redask.stores.attached.source_connection import database_name

    return database_name(url)


def facts_of(state: "AttachedState") -> AttachmentFacts:
    """What is told of an attachment."""
    made = state.attachment
    tables = tuple(
        AttachedTableFacts(
            *(each.full_name, each.collection, each.comment, each.key),
            columns=tuple(AttachedColumn(one.name, one.type, one.comment) for one in each.columns),
            references=tuple((one.columns, one.target) for one in each.references),
        )
        for each in made.tables
    )
    is_read = state.position is not None
    return AttachmentFacts(
        *(made.name, made.url, made.role, made.readers, made.changes, tables, is_read)
    )
