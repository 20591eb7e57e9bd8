"""What a tenant's rows hold, counted: by collection, by group, by column, by class of value.

A **group** is what rows have in common when it comes to who may read them: see `edge_groups`. The
types of a caller's table come from the groups that this caller may read, and from nothing else.

A `State` never changes; `State.after` makes the next one. `changed` is the step in which a group
last changed, so that a table is known to be current by its groups alone.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from redask.core.access.policy import OPEN


@dataclass(frozen=True, slots=True)
class GroupCounts:
    """One group of one collection: how many rows, and how many values of which class."""

    rows: int = 0
    columns: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    changed: int = 0

    def after(self, delta: "GroupDelta", step: int) -> "GroupCounts":
        """With what came and without what went."""
        columns = dict(self.columns)
        for column, counts in delta.values.items():
            known = columns.get(column, {})
            left = {each: known.get(each, 0) + counts.get(each, 0) for each in {**known, **counts}}
            columns[column] = {each: count for each, count in left.items() if count}
            if not columns[column]:
                del columns[column]
        return GroupCounts(self.rows + delta.rows, columns, step)


@dataclass(slots=True)
class GroupDelta:
    """What a step adds to a group and takes from it."""

    rows: int = 0
    values: dict[str, dict[str, int]] = field(default_factory=dict)  # by column and class


Collections = Mapping[str, Mapping[str, GroupCounts]]
Deltas = dict[tuple[str, str], GroupDelta]  # by collection and group


@dataclass(frozen=True, slots=True)
class ProjectionState:
    """One state of a tenant's rows: the step that made it, and how far in the change log it is.

    `restricted` is whether any row is, or was since the generation, under a policy. `history` is
    the last write that the store had when it was last read (`Store.history`).
    """

    step: int = 0
    watermark: int = 0
    collections: Collections = field(default_factory=dict)
    restricted: bool = False
    history: str = ""

    def after(self, deltas: Deltas, watermark: int, restricted: bool) -> "ProjectionState":
        """The next state."""
        step = self.step + 1
        collections = dict(self.collections)
        copied: dict[str, dict[str, GroupCounts]] = {}
        for (collection, group), delta in deltas.items():
            groups = copied.get(collection)
            if groups is None:
                groups = copied[collection] = dict(collections.get(collection, {}))
            groups[group] = groups.get(group, GroupCounts()).after(delta, step)
            if not groups[group].rows:
                del groups[group]
        for collection, groups in copied.items():
            if groups:
                collections[collection] = groups
            else:
                collections.pop(collection, None)
        return ProjectionState(step, watermark, collections, restricted)

    def dump(self) -> str:
        """As text, for the generation file."""
        return json.dumps(
            {
                name: {group: [each.rows, each.columns] for group, each in groups.items()}
                for name, groups in self.collections.items()
            },
            sort_keys=True,
        )

    @staticmethod
    def load(text: str, watermark: int, history: str) -> "ProjectionState":
        """What was dumped, as the first state of a process."""
        collections = {
            name: {group: GroupCounts(rows, columns) for group, (rows, columns) in groups.items()}
            for name, groups in json.loads(text).items()
        }
        restricted = any(group != OPEN for groups in collections.values() for group in groups)
        return ProjectionState(0, watermark, collections, restricted, history)
