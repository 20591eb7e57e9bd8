"""What there is to know about a store without its content: for catalogues and `doctor`.

`statistics` reads counters and walks one small index, so it is quick at any size. `check`
reads everything: SQLite's own integrity check, every reference between tables, and every
counter against a count; it returns sentences, none when all is well.
"""

import json
import sqlite3

from redask.core import places
from redask.core.model import Kind
from redask.stores import payloads
from redask.stores.canonical_urns import address
from redask.stores.catalogues import (
    CountedColumn,
    Holding,
    visible_collections,
    visible_columns,
)
from redask.stores.sqlite.visibility_queries import edge_parts
from redask.stores.statistics import Collection, Column, Statistics
from redask.stores.visibility import EVERYTHING, StoreVisibility, faults_of
from redask.stores.write_rules import CatalogueCounts

_MUST_BE_EMPTY = {
    "an edge stands without one of its ends": """
        SELECT 1 FROM edges
        JOIN entities AS edge ON edge.key = edges.key
        JOIN entities AS source ON source.key = edges.source
        JOIN entities AS target ON target.key = edges.target
        WHERE edge.payload IS NULL OR source.payload IS NULL OR target.payload IS NULL""",
    "a vector stands without its entity": """
        SELECT 1 FROM vectors JOIN entities USING (key) WHERE payload IS NULL""",
    "a change is newer than its tenant's watermark": """
        SELECT 1 FROM entities JOIN tenants ON tenants.id = tenant
        WHERE entities.seq > tenants.seq""",
}
_MUST_BE_EQUAL = {
    "a collection counts other entities than it holds": (
        "SELECT collection, sum(entities) FROM holdings GROUP BY 1 ORDER BY 1",
        "SELECT collection, count(*) FROM entities WHERE payload IS NOT NULL GROUP BY 1 ORDER BY 1",
    ),
    "a tenant counts other vectors than it has": (
        "SELECT id, vectors FROM tenants WHERE vectors > 0 ORDER BY 1",
        "SELECT tenant, count(*) FROM vectors CROSS JOIN entities USING (key)"
        " GROUP BY 1 ORDER BY 1",
    ),
    "a collection's columns are not those of its entities": (
        "SELECT collection, name, sum(entities) FROM columns GROUP BY 1, 2 ORDER BY 1, 2",
        "SELECT collection, json_each.key, count(*) FROM entities, json_each(payload)"
        f" WHERE payload IS NOT NULL AND (json_each.key <> '{places.PLACE}'"
        " OR NOT is_place(json_each.value))"
        " GROUP BY 1, 2 ORDER BY 1, 2",
    ),
}


def collections(
    connection: sqlite3.Connection, tenant: str, visibility: StoreVisibility = EVERYTHING
) -> list[Collection]:
    """The collections that hold something to be seen or have a language, by name."""
    rows = connection.execute(
        "SELECT collections.id, collections.name, language, label, kind, entities FROM collections"
        " JOIN tenants ON tenants.id = tenant"
        " LEFT JOIN holdings ON holdings.collection = collections.id"
        " WHERE tenants.name = ? ORDER BY collections.name, kind",
        (tenant,),
    ).fetchall()
    holdings = [
        Holding(number, name, language, policy_class, kind and Kind(kind), count)
        for number, name, language, policy_class, kind, count in rows
    ]
    return visible_collections(
        holdings,
        visibility,
        lambda number: [own for own, _ in _edges(connection, number, visibility)],
    )


def is_only_searched(connection: sqlite3.Connection, tenant: str) -> bool:
    """Whether every collection holds documents, vectors or edges, and nothing else."""
    (other,) = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM tenants JOIN collections ON collections.tenant = tenants.id"
        " LEFT JOIN holdings ON holdings.collection = collections.id AND entities > 0"
        " WHERE tenants.name = ? AND coalesce(kind, '') NOT IN (?, ?, ?))",
        (tenant, Kind.DOCUMENT, Kind.VECTOR, Kind.EDGE),
    ).fetchone()
    return not other


def columns(
    connection: sqlite3.Connection,
    tenant: str,
    collection: str,
    visibility: StoreVisibility = EVERYTHING,
) -> list[Column]:
    """The columns of what is to be seen of a collection, by name, and what they are to SQL."""
    found = connection.execute(
        "SELECT collections.id FROM collections JOIN tenants ON tenants.id = tenant"
        " WHERE tenants.name = ? AND collections.name = ?",
        (tenant, collection),
    ).fetchone()
    number = found[0] if found else 0
    return visible_columns(_columns(connection, number, visibility), number, visibility)


def _columns(
    connection: sqlite3.Connection, collection_id: int, visibility: StoreVisibility
) -> list[CountedColumn]:
    """The columns of a collection without those of edges that lack an end to be seen.

    The counters do not tell kinds apart, so a collection with edges is read as a whole.
    """
    has_edges = connection.execute(
        "SELECT 1 FROM holdings WHERE collection = ? AND kind = ?", (collection_id, Kind.EDGE)
    ).fetchone()
    if visibility.sees_all or not has_edges:
        counted = connection.execute(
            "SELECT label, name, type FROM columns WHERE collection = ?", (collection_id,)
        )
        return [CountedColumn(*row) for row in counted.fetchall()]
    others = connection.execute(
        "SELECT label, payload FROM entities WHERE collection = ? AND payload IS NOT NULL"
        " AND key NOT IN (SELECT key FROM edges)",
        (collection_id,),
    ).fetchall()
    return [
        CountedColumn(policy_class, name, type_name)
        for policy_class, payload in [*others, *_edges(connection, collection_id, visibility)]
        for name, type_name in payloads.shape(json.loads(payload))
    ]


def _edges(
    connection: sqlite3.Connection, collection_id: int, visibility: StoreVisibility
) -> list[tuple[int, str]]:
    """The policy class and payload of each edge of a collection whose ends are to be seen."""
    rows = connection.execute(
        "SELECT key, label, payload FROM entities JOIN edges USING (key) WHERE collection = ?",
        (collection_id,),
    ).fetchall()
    whole = visibility.whole_edges((key for key, *_ in rows), edge_parts(connection))
    return [(policy_class, payload) for key, policy_class, payload in rows if key in whole]


def statistics(connection: sqlite3.Connection, identity: str, tenant: str) -> Statistics:
    """The store and one tenant in it."""
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    known = connection.execute(
        "SELECT id, seq, vectors, model, dimensions FROM tenants WHERE name = ?", (tenant,)
    ).fetchone()
    number, watermark, vectors, model, dimensions = known or (None, 0, 0, None, None)
    (ever,) = connection.execute(
        "SELECT count(*) FROM entities INDEXED BY entities_by_seq WHERE tenant = ?", (number,)
    ).fetchone()
    held = collections(connection, tenant)
    live = sum(sum(one.entities.values()) for one in held)
    return Statistics(
        identity=identity,
        schema=schema,
        watermark=watermark,
        collections=tuple(held),
        entities=live,
        tombstones=ever - live,
        edges=sum(one.entities.get(Kind.EDGE, 0) for one in held),
        vectors=vectors,
        model=model if vectors else None,
        dimensions=dimensions if vectors else None,
    )


def check(connection: sqlite3.Connection) -> list[str]:
    """What is wrong, in sentences."""
    try:
        # Where SQLite itself complains, nothing that our own questions say could be believed.
        return complaints(connection) or _contradictions(connection)
    except sqlite3.DatabaseError as error:
        return [f"SQLite says: {error}"]


def complaints(connection: sqlite3.Connection) -> list[str]:
    """What SQLite itself finds wrong with a file, in sentences."""
    try:
        rows = connection.execute("PRAGMA integrity_check").fetchall()
    except sqlite3.DatabaseError as error:
        return [f"SQLite says: {error}"]
    return [f"SQLite says: {row[0]}" for row in rows if row[0] != "ok"]


def _contradictions(connection: sqlite3.Connection) -> list[str]:
    found = [
        f"row {row} of {table} refers to something missing in {parent}"
        for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check").fetchall()
    ]
    for sentence, query in _MUST_BE_EMPTY.items():
        if connection.execute(f"{query} LIMIT 1").fetchone():
            found.append(sentence)
    connection.create_function("is_place", 1, _is_place, deterministic=True)
    for sentence, (counter, count) in _MUST_BE_EQUAL.items():
        if connection.execute(counter).fetchall() != connection.execute(count).fetchall():
            found.append(sentence)
    return found


def _is_place(value: object) -> bool:
    """Whether the JSON text of a field called so is the place of a row, which is no column."""
    content = f'{{"{places.PLACE}":{value}}}' if isinstance(value, str) else ""
    return bool(places.of_row(payloads.stored_content(content)))


def recount(connection: sqlite3.Connection) -> None:
    """Make the counters of collections and tenants again, from what is there."""
    for statement in (
        "DELETE FROM holdings",
        "DELETE FROM columns",
        "UPDATE tenants SET vectors = (SELECT count(*) FROM vectors JOIN entities USING (key)"
        " WHERE tenant = tenants.id)",
    ):
        connection.execute(statement)
    rows = connection.execute(
        "SELECT collection, label, urn, payload FROM entities WHERE payload IS NOT NULL"
    )
    counts = CatalogueCounts()
    for collection, policy_class, urn, payload in rows:
        counts.count(
            collection, policy_class, address(urn)[1], payloads.stored_content(payload), +1
        )
    connection.executemany(
        "INSERT INTO holdings VALUES (?, ?, ?, ?)",
        [(*place, count) for place, count in counts.holdings().items()],
    )
    connection.executemany(
        "INSERT INTO columns VALUES (?, ?, ?, ?, ?)",
        [(*place, count) for place, count in counts.columns().items()],
    )


def policy_faults(connection: sqlite3.Connection, tenant: str, *, keyed: bool) -> list[str]:
    """What is wrong with the policies in force, in sentences: see `faults_of`."""
    held = connection.execute(
        "SELECT collections.name, labels.value, sum(entities) FROM labels"
        " JOIN collections ON collections.id = labels.collection"
        " JOIN tenants ON tenants.id = tenant"
        " JOIN holdings ON holdings.collection = collections.id AND holdings.label = labels.id"
        " WHERE tenants.name = ? GROUP BY 1, 2 ORDER BY 1, 2",
        (tenant,),
    ).fetchall()
    documents = connection.execute(
        "SELECT collection, document FROM policies JOIN tenants ON id = tenant WHERE name = ?"
        " ORDER BY collection",
        (tenant,),
    ).fetchall()
    edges = connection.execute(
        "SELECT 1 FROM edges JOIN entities USING (key) JOIN tenants ON tenants.id = tenant"
        " WHERE name = ?",
        (tenant,),
    ).fetchone()
    return faults_of(documents, held, guessable=bool(edges and not keyed))


def column_types(connection: sqlite3.Connection, tenant: str) -> dict[str, dict[str, str]]:
    """The types that somebody fixed, by collection and key."""
    found = connection.execute(
        "SELECT collection, key, type FROM column_types JOIN tenants ON id = tenant"
        " WHERE name = ? ORDER BY collection, key",
        (tenant,),
    )
    types: dict[str, dict[str, str]] = {}
    for collection, key, type_name in found.fetchall():
        types.setdefault(collection, {})[key] = type_name
    return types
