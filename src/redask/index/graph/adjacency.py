"""The owners of names and the edges of entities, as far as one caller may see them.

Reads the tables `names` and `edges` of the forward index. An entity counts if its projection key
is allowed; an edge counts if its own projection key and those of both ends are. Limits are checked
against these alone, so hidden rows influence nothing. Where there is more than `limit`, the result
is None rather than a part, because which part it is would depend on history.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

_ALLOWED = "(SELECT value FROM json_each(:allowed))"
_PAIR = "json_array(label, collection)"
_WITHHELD = "(SELECT json(value) FROM json_each(:withheld))"


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An edge, seen from one end: `key` is the entity at the other end, the rest is the edge's."""

    key: int
    urn: str
    collection: str
    relation: str


class Adjacency:
    """The graph of one state of the forward index, of these projection keys (None: all)."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        projection_keys: frozenset[str] | None,
        withheld: frozenset[tuple[str, str]] = frozenset(),
    ) -> None:
        self._connection = connection
        self._has_edges: bool | None = None  # not asked yet
        self._keys = {
            "allowed": None if projection_keys is None else json.dumps(sorted(projection_keys)),
            "withheld": json.dumps(sorted(map(list, withheld))),
        }
        owner, end = "", ""
        if projection_keys is not None:
            owner = f"AND (SELECT label FROM entities WHERE key = names.key) IN {_ALLOWED}"
            end = f"AND edges.label IN {_ALLOWED} AND entities.label IN {_ALLOWED}"
        if withheld:
            owner += f" AND (SELECT {_PAIR} FROM entities WHERE key = names.key) NOT IN {_WITHHELD}"
            for table in ("edges", "entities"):
                end += f" AND json_array({table}.label, {table}.collection) NOT IN {_WITHHELD}"
        self._owners = f"SELECT key FROM names WHERE name = :name {owner} LIMIT :limit"
        self._neighbours = [
            "SELECT entities.key, edges.urn, edges.collection, relation FROM edges"
            f" JOIN entities ON entities.urn = {other} WHERE {this} = :urn {end} LIMIT :limit"
            for this, other in (("source", "target"), ("target", "source"))
        ]

    def owners(self, name_hash: int, limit: int) -> list[int] | None:
        """The keys of the entities with this name, ascending; None if more than `limit`."""
        signed = name_hash - (1 << 64) if name_hash >= 1 << 63 else name_hash
        parameters = {"name": signed, "limit": limit + 1, **self._keys}
        keys = [row[0] for row in self._connection.execute(self._owners, parameters)]
        return keys if len(keys) <= limit else None

    def shortest_names(self, keys: Iterable[int]) -> dict[int, int]:
        """The hash of the shortest name of each entity that has one; see `Rows.name_stems`."""
        found = self._connection.execute(
            "SELECT key, substr(names, 1, 8) FROM entities"
            " WHERE key IN (SELECT value FROM json_each(?)) AND length(names) > 0",
            (json.dumps(sorted(keys)),),
        )
        return {key: int(np.frombuffer(name, np.uint64)[0]) for key, name in found}

    def neighbours(self, urn: str, limit: int) -> list[Neighbour] | None:
        """The edges from and to an entity, each once, in any order; None if more than `limit`."""
        found: dict[str, Neighbour] = {}
        if self._has_edges is None:
            some = self._connection.execute("SELECT 1 FROM edges LIMIT 1").fetchone()
            self._has_edges = some is not None
        if not self._has_edges:
            return []
        for statement in self._neighbours:
            parameters = {"urn": urn, "limit": limit + 1, **self._keys}
            for row in self._connection.execute(statement, parameters):
                found[row[1]] = Neighbour(*row)
        return list(found.values()) if len(found) <= limit else None
