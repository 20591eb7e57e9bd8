"""Who is called what and who is linked to whom, of what one caller may see.

Reads the tables `names` and `edges` of the forward index. An entity counts if its label is
among the caller's; an edge counts if its own label and those of both ends are. Numbers of
owners and of edges are taken over these alone, so what a caller may not see changes nothing.
Every question is bounded: where there is more than `limit`, the answer is None, not a part of
it, because which part it is would depend on history.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

_LABELS = "(SELECT value FROM json_each(:labels))"


@dataclass(frozen=True, slots=True)
class Way:
    """An edge, seen from one end: `key` is the entity at the other."""

    key: int
    urn: str
    collection: str
    relation: str


class Adjacency:
    """The graph of one state of the forward index, for callers with these labels (None: all)."""

    def __init__(self, connection: sqlite3.Connection, labels: frozenset[str] | None) -> None:
        self._connection = connection
        self._labels = None if labels is None else json.dumps(sorted(labels))
        owner, end = "", ""
        if labels is not None:
            owner = f"AND (SELECT label FROM entities WHERE key = names.key) IN {_LABELS}"
            end = f"AND edges.label IN {_LABELS} AND entities.label IN {_LABELS}"
        self._owners = f"SELECT key FROM names WHERE name = :name {owner} LIMIT :limit"
        self._ways = [
            "SELECT entities.key, edges.urn, edges.collection, relation FROM edges"
            f" JOIN entities ON entities.urn = {other} WHERE {this} = :urn {end} LIMIT :limit"
            for this, other in (("source", "target"), ("target", "source"))
        ]

    def owners(self, number: int, limit: int) -> list[int] | None:
        """The keys of the entities with this name, ascending."""
        signed = number - (1 << 64) if number >= 1 << 63 else number
        asked = {"name": signed, "limit": limit + 1, "labels": self._labels}
        keys = [row[0] for row in self._connection.execute(self._owners, asked)]
        return keys if len(keys) <= limit else None

    def names(self, keys: Iterable[int]) -> dict[int, int]:
        """The shortest name of each entity that has one: the one `Rows.called` spells out."""
        found = self._connection.execute(
            "SELECT key, substr(names, 1, 8) FROM entities"
            " WHERE key IN (SELECT value FROM json_each(?)) AND length(names) > 0",
            (json.dumps(sorted(keys)),),
        )
        return {key: int(np.frombuffer(name, np.uint64)[0]) for key, name in found}

    def ways(self, urn: str, limit: int) -> list[Way] | None:
        """The edges from and to an entity, each once, in any order."""
        found: dict[str, Way] = {}
        for statement in self._ways:
            asked = {"urn": urn, "limit": limit + 1, "labels": self._labels}
            for row in self._connection.execute(statement, asked):
                found[row[1]] = Way(*row)
        return list(found.values()) if len(found) <= limit else None
