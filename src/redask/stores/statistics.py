"""Plain data that only stores hand out: what is in a collection, a column, a whole store."""

from collections.abc import Mapping
from dataclasses import dataclass

from redask.core.model import Kind


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection that holds something, or whose language was declared.

    `language` is None when it is to be detected for each entity.
    """

    name: str
    language: str | None
    entities: Mapping[Kind, int]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a collection seen as a table: `integer real text boolean json`."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Statistics:
    """The store as `doctor` shows it, and the caller's tenant in it.

    `model` and `dimensions` are those of the tenant's vectors, None when it has none.
    """

    identity: str
    schema: int
    watermark: int
    collections: tuple[Collection, ...]
    entities: int
    tombstones: int
    edges: int
    vectors: int
    model: str | None
    dimensions: int | None
