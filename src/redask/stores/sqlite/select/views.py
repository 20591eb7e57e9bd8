"""A collection as a table for one caller: `CollectionViews.view(…)`, which holds the policy.

    column      what
    id          the payload's own `id`; of an entity without one, the id of its URN, as text
    urn         its URN
    the rest    the top-level keys that the caller can see, by code points

    type        its values
    integer     as they are, 64 bits            real      as floating point, integers too
    boolean     1 and 0                         json      JSON text
    text        as it is; in a mixed column, and beyond 64 bits, what is no text is JSON text

A key that is `urn`, `true`, `false`, or another column in other letter case is called `key_2` (or
the next number that is free), because SQL does not tell `Name` from `name`. A masked column is
`***` in every row, a hidden one is not there.

Rows come in the order of their URNs, whatever the history and whatever else is in the store: `LIMIT
-1` keeps SQLite from dropping that order inside a join or an aggregate. They are found by their
URNs alone. Who sees what is asked of `StoreVisibility`: the labels of a collection, and for an edge
those of everything it hangs on.

A collection is **unknown** when the caller sees nothing in it, no policy names it and nobody
declared its language: so what is invisible does not make it known.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from redask.core.errors import Denied
from redask.core.model import Caller, Kind, Urn
from redask.core.rules import urn as urns
from redask.core.text import lower
from redask.core.wire.json import text
from redask.stores.sqlite import inspection
from redask.stores.sqlite.select.table_names import unguessable
from redask.stores.sqlite.visibility_queries import policies
from redask.stores.statistics import Column
from redask.stores.visibility import StoreVisibility

_Value = str | int | float | None
_INLINE = 200  # more labels than this go to a temporary table
TAKEN = ("id", "urn", "true", "false")  # SQLite has no column of the last two names
_ODD = frozenset(map(chr, [*range(32), 34, 92, 127]))  # no JSON path can carry these


@dataclass(slots=True)
class CollectionViews:
    """The views of one statement, made on its connection. The names are for the guard.

    `copied` views read a temporary copy: SQLite takes what an index finds for a few rows, and
    would join two large collections row by row. `shapes` are names and types of the columns
    that a collection has to this caller, mentioned or not.
    """

    connection: sqlite3.Connection
    caller: Caller
    visibility: StoreVisibility
    copied: bool = False
    trusted: set[str] = field(default_factory=set)
    rowids: set[str] = field(default_factory=set)
    copies: set[str] = field(default_factory=set)
    shapes: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    _functions: dict[str, str] = field(default_factory=dict)

    def view(self, collection: str, mentions: frozenset[str] | None) -> str | None:
        """The name of a new view of the collection; None when the caller knows of none.

        Columns that are not among the mentions may be left out.
        """
        if collection in self.visibility.denied:
            raise Denied(f"your role may not read the collection {collection!a}", detail=collection)
        collection_id, language = self._collection_id(collection)
        arms = [] if collection_id is None else self._arms(collection_id, collection)
        if not (arms or language is not None or self._is_ruled(collection)):
            return None
        columns = (
            inspection.columns(self.connection, self.caller.tenant, collection, self.visibility)
            if collection_id is not None and arms
            else []
        )
        masked = self._masked(collection_id) if collection_id is not None and arms else frozenset()
        known = self._values(collection_id, columns, masked)
        self.shapes[collection] = [(name, kind) for name, kind, _ in known]
        wanted = [
            (name, value)
            for name, _, value in known
            if mentions is None or name == "urn" or lower(name) in mentions
        ]
        place = [name for name, _ in wanted].index("urn") + 1
        values = ", ".join(f"{value} AS {_name(name)}" for name, value in wanted)
        selects = [f"SELECT {values} {arm}" for arm in arms]
        if not selects:
            nothing = ", ".join(f"NULL AS {_name(name)}" for name, _ in wanted)
            selects = [f"SELECT {nothing} WHERE 0"]
        view = self._create(f"{' UNION ALL '.join(selects)} ORDER BY {place} LIMIT -1")
        if any(lower(name) == "rowid" for name, _ in wanted):
            self.rowids.add(view)
        return view

    def audit_view(self, table: str | None, keys: Sequence[str], everybody: bool) -> str:
        """The name of a new view of the audit log; `table` is None when there is no log yet."""
        values = [f"json_extract(a.row, {_text(f'$.{key}')}) AS {_name(key)}" for key in keys]
        if table is None:
            empty = ", ".join(f"NULL AS {_name(key)}" for key in ("seq", "hash", *keys))
            return self._create(f"SELECT {empty} WHERE 0")
        mine = "" if everybody else f" AND a.user = {_text(self.caller.user)}"
        return self._create(
            f"SELECT a.seq AS seq, a.hash AS hash, {', '.join(values)} FROM {table} AS a"
            f" WHERE a.tenant = {_text(self.caller.tenant)}{mine} ORDER BY 1 LIMIT -1"
        )

    def _create(self, body: str) -> str:
        name = unguessable()
        if self.copied:
            copy = unguessable()
            self.copies.add(copy)
            self.connection.execute(f"CREATE TEMP TABLE {copy} AS {body}")
            body = f"SELECT * FROM {copy} LIMIT -1"  # a bare scan keeps the order of writing
        self.connection.execute(f"CREATE TEMP VIEW {name} AS {body}")
        self.trusted.add(name)
        return name

    def _collection_id(self, collection: str) -> tuple[int | None, str | None]:
        found = self.connection.execute(
            "SELECT collections.id, language FROM collections JOIN tenants ON tenants.id = tenant"
            " WHERE tenants.name = ? AND collections.name = ?",
            (self.caller.tenant, collection),
        ).fetchone()
        return found or (None, None)

    def _is_ruled(self, collection: str) -> bool:
        return collection in policies(self.connection, self.caller.tenant)

    # --- rows ------------------------------------------------------------------------------

    def _arms(self, collection_id: int, collection: str) -> list[str]:
        """For each kind of entity that the caller can see there: FROM … WHERE …"""
        held = self.connection.execute(
            "SELECT kind, label FROM holdings WHERE collection = ? AND entities > 0",
            (collection_id,),
        ).fetchall()
        kinds = {
            kind
            for kind, label in held
            if self.visibility.projection(collection_id, label) is not None
        }
        arms = []
        for kind in sorted(kinds):
            prefix = urns.encode(Urn(Kind(kind), collection, "x")).removesuffix("x")
            arm = (
                "FROM main.entities AS e INDEXED BY entities_by_urn"
                " WHERE e.tenant ="
                f" (SELECT id FROM main.tenants WHERE name = {_text(self.caller.tenant)})"
                f" AND e.urn > {_text(prefix)} AND e.urn < {_text(f'{prefix[:-1]}0')}"
                f" AND e.collection = {collection_id} AND e.payload IS NOT NULL"
                f"{self._labels(collection_id)}"
            )
            if kind == Kind.EDGE and self._restricted():
                arm += f" AND NOT EXISTS ({self._broken()})"
                if not self.connection.execute(f"SELECT 1 {arm} LIMIT 1").fetchone():
                    continue  # that there are edges to what is hidden must not show
            arms.append(arm)
        return arms

    def _labels(self, collection_id: int) -> str:
        return (
            f" AND e.label IN {self._set(self._seen(collection_id))}"
            if collection_id in self.visibility.collections
            else ""
        )

    def _seen(self, collection_id: int) -> frozenset[int]:
        collection = self.visibility.collections[collection_id]
        return frozenset() if collection is None else collection.policy_classes

    def _restricted(self) -> list[int]:
        """The collections that hold something the caller may not see."""
        held = "SELECT DISTINCT label FROM holdings WHERE collection = ? AND entities > 0"
        return [
            collection_id
            for collection_id in sorted(self.visibility.collections)
            if not {label for (label,) in self.connection.execute(held, (collection_id,))}
            <= self._seen(collection_id)
        ]

    def _set(self, numbers: Iterable[int]) -> str:
        ordered = sorted(numbers)
        if len(ordered) <= _INLINE:
            return f"({', '.join(map(str, ordered))})"
        name = unguessable()
        self.connection.execute(f"CREATE TEMP TABLE {name} (number INTEGER PRIMARY KEY)")
        self.connection.executemany(
            f"INSERT INTO {name} VALUES (?)", ((number,) for number in ordered)
        )
        return f"(SELECT number FROM {name})"

    def _broken(self) -> str:
        """What the edge `e` hangs on and the caller may not see."""
        parts = unguessable()
        self.trusted.add(parts)
        hidden = [
            f"(p.collection = {collection_id} AND p.label NOT IN"
            f" {self._set(self._seen(collection_id))})"
            for collection_id in self._restricted()
        ]
        return (
            f"WITH RECURSIVE {parts}(key) AS ("
            " SELECT source FROM main.edges WHERE edges.key = e.key"
            " UNION SELECT target FROM main.edges WHERE edges.key = e.key"
            f" UNION SELECT d.source FROM {parts} AS s JOIN main.edges AS d ON d.key = s.key"
            f" UNION SELECT d.target FROM {parts} AS s JOIN main.edges AS d ON d.key = s.key)"
            f" SELECT 1 FROM {parts} AS s JOIN main.entities AS p ON p.key = s.key"
            f" WHERE {' OR '.join(hidden)}"
        )

    # --- columns ---------------------------------------------------------------------------

    def _masked(self, collection_id: int) -> frozenset[str]:
        collection = self.visibility.collections.get(collection_id)
        return frozenset() if collection is None else collection.projection.mask

    def _values(
        self, collection_id: int | None, columns: Sequence[Column], masked: frozenset[str]
    ) -> list[tuple[str, str, str]]:
        """Each column of the table with its type and the expression that gives it."""
        by_key = {column.name: column for column in columns}
        own, kind = f"{self._function('id', _id_of, 1)}(e.urn)", "text"
        if "id" in by_key:
            own = f"coalesce({self._value(by_key['id'])}, {own})"
            kind = by_key["id"].type if self._all_have_ids(collection_id) else "text"
        values = [("id", kind, own), ("urn", "text", "e.urn")]
        keys = [name for name in sorted({*by_key, *masked}) if name != "id"]
        for key, name in zip(keys, named_apart(keys, TAKEN), strict=True):
            if key in masked:
                values.append((name, "text", "'***'"))
            else:
                values.append((name, by_key[key].type, self._value(by_key[key])))
        return values

    def _all_have_ids(self, collection_id: int | None) -> bool:
        """Whether every row that can be seen has an `id` of its own, and none is an edge."""
        held = self.connection.execute(
            "SELECT label, kind, entities FROM holdings WHERE collection = ? AND entities > 0",
            (collection_id,),
        ).fetchall()
        named = self.connection.execute(
            "SELECT label, entities FROM columns"
            " WHERE collection = ? AND name = 'id' AND type <> 'null'",
            (collection_id,),
        ).fetchall()
        seen = [
            each
            for each in held
            if self.visibility.projection(collection_id or 0, each[0]) is not None
        ]
        ids = sum(
            count
            for label, count in named
            if self.visibility.projection(collection_id or 0, label) is not None
        )
        return ids == sum(each[2] for each in seen) and all(each[1] != Kind.EDGE for each in seen)

    def _value(self, column: Column) -> str:
        if not column.name or not _ODD.isdisjoint(column.name):
            member = self._function("member", _member, 3)
            return f"{member}(e.payload, {_text(column.name)}, {_text(column.type)})"
        path = _text(f'$."{column.name}"')
        plain = f"json_extract(e.payload, {path})"
        if column.type == "real":
            return f"CAST({plain} AS REAL)"
        if column.type != "text":
            return plain
        return (
            f"CASE json_type(e.payload, {path}) WHEN 'text' THEN {plain} WHEN 'null' THEN NULL"
            f" ELSE e.payload -> {path} END"
        )

    def _function(self, what: str, function: Callable[..., _Value], arguments: int) -> str:
        if what not in self._functions:
            name = self._functions[what] = unguessable()
            self.connection.create_function(name, arguments, function, deterministic=True)
        return self._functions[what]


def named_apart(names: Sequence[str], taken: Sequence[str] = ()) -> list[str]:
    """The names, told apart where SQL would not: a later `Name` is `Name_2`."""
    used = {lower(name) for name in taken}
    first: dict[str, int] = {}  # who keeps the name
    for place, name in enumerate(names):
        if lower(name) not in used:
            first.setdefault(lower(name), place)
    used |= first.keys()
    apart = []
    for place, name in enumerate(names):
        number, other = 2, name
        while first.get(lower(name)) != place and lower(other) in used:
            other, number = f"{name}_{number}", number + 1
        used.add(lower(other))
        apart.append(other)
    return apart


def _id_of(urn: str) -> str:
    return urns.decode(urn).id


def _member(payload: str, key: str, kind: str) -> _Value:
    """A value whose key no JSON path can carry, as the expressions above would give it."""
    value: _Value | list[object] | dict[str, object] = json.loads(payload).get(key)
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | dict) or kind == "text":
        return text(value)
    return float(value) if kind == "real" else value


def _name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
