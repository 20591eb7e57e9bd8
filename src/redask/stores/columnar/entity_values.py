"""An entity as rows of the projection: `rows_of` a change, and what a row's columns hold.

There is one row for each column projection that some policy gives of an entity; nobody reads two
of them. `own_id` is what the column `id` has where the payload has none: the id of the URN.
"""

import json
from typing import NamedTuple

from redask.core import places
from redask.core.ports import Change
from redask.core.rules import urn as urns
from redask.core.sql.column_typing import value_classes
from redask.core.text import lower

SYSTEM_PREFIX = "red_"
Contents = dict[str, dict[str, object]]  # payloads that were read already
ValueCounts = dict[str, dict[str, int]]  # by column and class


class EntityRow(NamedTuple):
    """One projection of one entity; `source` and `target` are an edge's ends."""

    key: int
    urn: str
    collection: str
    class_key: str
    group: str
    own_id: str | None
    payload: str
    source: str | None
    target: str | None


def rows_of(change: Change, contents: Contents) -> list[EntityRow]:
    """The rows of an entity as it is after a change, each in the group of its projection."""
    entity = change.entity
    if entity is None or is_system(change.collection):
        return []
    rows = []
    for projection_key, payload in change.projections or ((change.class_key, entity.payload),):
        content = contents[payload] = json.loads(payload)
        own_id = urns.decode(change.urn).id if content.get("id") is None else None
        rows.append(
            EntityRow(
                change.key,
                change.urn,
                change.collection,
                change.class_key,
                projection_key,
                own_id,
                payload,
                entity.source,
                entity.target,
            )
        )
    return rows


def is_system(collection: str) -> bool:
    """Whether the name is kept for redask's own tables."""
    return lower(collection).startswith(SYSTEM_PREFIX)


def count_values(row: EntityRow, contents: Contents, into: ValueCounts, sign: int) -> None:
    """Count each column of a row under each class of its value; `sign` is 1, or -1 to take away."""
    content = contents.get(row.payload)
    if content is None:
        content = json.loads(row.payload)
    for column, value in places.columns(content).items():
        counts = into.get(column)
        if counts is None:
            counts = into[column] = {}
        for value_class in value_classes(value):
            counts[value_class] = counts.get(value_class, 0) + sign
    if row.own_id is not None:
        counts = into.setdefault("id", {})
        for value_class in value_classes(row.own_id):
            counts[value_class] = counts.get(value_class, 0) + sign
