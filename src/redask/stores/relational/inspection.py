"""What there is to know about a store without its content: for catalogues and `doctor`.

`statistics` reads counters and walks one small index, so it is quick at any size. `check`
reads everything: the database's own checks, every reference between tables, and every
counter against a count; it returns sentences, none when all is well.
"""

import json

from redask.core.model import Kind
from redask.stores import payloads
from redask.stores.canonical_urns import address
from redask.stores.catalogues import (
    CountedColumn,
    Holding,
    visible_collections,
    visible_columns,
)
from redask.stores.relational.sql_database import SqlConnection
from redask.stores.relational.visibility_queries import edge_parts
from redask.stores.statistics import Collection, Column, Statistics
from redask.stores.visibility import EVERYTHING, StoreVisibility, faults_of
from redask.stores.write_rules import CatalogueCounts

_PAGE = 2_000
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
}


def collections(
    connection: SqlConnection, tenant: str, visibility: StoreVisibility = EVERYTHING
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


def is_only_searched(connection: SqlConnection, tenant: str) -> bool:
    """Whether every collection holds documents, vectors or edges, and nothing else."""
    (other,) = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM tenants JOIN collections ON collections.tenant = tenants.id"
        " LEFT JOIN holdings ON holdings.collection = collections.id AND entities > 0"
        " WHERE tenants.name = ? AND coalesce(kind, '') NOT IN (?, ?, ?))",
        (tenant, Kind.DOCUMENT, Kind.VECTOR, Kind.EDGE),
    ).fetchone()
    return not other


def columns(
    connection: SqlConnection,
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
    connection: SqlConnection, collection_id: int, visibility: StoreVisibility
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
    connection: SqlConnection, collection_id: int, visibility: StoreVisibility
) -> list[tuple[int, str]]:
    """The policy class and payload of each edge of a collection whose ends are to be seen."""
    rows = connection.execute(
        "SELECT key, label, payload FROM entities JOIN edges USING (key) WHERE collection = ?",
        (collection_id,),
    ).fetchall()
    whole = visibility.whole_edges((key for key, *_ in rows), edge_parts(connection))
    return [(policy_class, payload) for key, policy_class, payload in rows if key in whole]


def statistics(connection: SqlConnection, identity: str, tenant: str) -> Statistics:
    """The store and one tenant in it."""
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
        schema=connection.schema_version(),
        watermark=watermark,
        collections=tuple(held),
        entities=live,
        tombstones=ever - live,
        edges=sum(one.entities.get(Kind.EDGE, 0) for one in held),
        vectors=vectors,
        model=model if vectors else None,
        dimensions=dimensions if vectors else None,
    )


def check(connection: SqlConnection) -> list[str]:
    """What is wrong, in sentences."""
    # Where the database itself complains, nothing that our own questions say could be believed.
    return connection.complaints() or _contradictions(connection)


def _contradictions(connection: SqlConnection) -> list[str]:
    found = []
    for sentence, query in _MUST_BE_EMPTY.items():
        if connection.execute(f"{query} LIMIT 1").fetchone():
            found.append(sentence)
    for sentence, (counter, count) in _MUST_BE_EQUAL.items():
        if connection.execute(counter).fetchall() != connection.execute(count).fetchall():
            found.append(sentence)
    counted = connection.execute(
        "SELECT collection, label, name, type, entities FROM columns"
    ).fetchall()
    if {tuple(place): count for *place, count in counted} != dict(_counts(connection).columns()):
        found.append("a collection's columns are not those of its entities")
    return found


def _counts(connection: SqlConnection, tenant: str | None = None) -> CatalogueCounts:
    """What the catalogues should say, of one tenant or (None) of all."""
    rows = connection.stream(
        "SELECT collection, label, urn, payload FROM entities JOIN tenants ON tenants.id = tenant"
        " WHERE payload IS NOT NULL AND tenants.name = coalesce(?, tenants.name)",
        (tenant,),
    )
    counts = CatalogueCounts()
    while page := rows.fetchmany(_PAGE):
        for collection, policy_class, urn, payload in page:
            kind, content = address(urn)[1], payloads.stored_content(payload)
            counts.count(collection, policy_class, kind, content, +1)
    return counts


def recount(connection: SqlConnection, tenant: str) -> None:
    """Make the counters of a tenant and its collections again, from what is there."""
    for table in ("holdings", "columns"):
        connection.execute(
            f"DELETE FROM {table} WHERE collection IN (SELECT collections.id FROM collections"
            " JOIN tenants ON tenants.id = tenant WHERE tenants.name = ?)",
            (tenant,),
        )
    connection.execute(
        "UPDATE tenants SET vectors = (SELECT count(*) FROM vectors JOIN entities USING (key)"
        " WHERE tenant = tenants.id) WHERE name = ?",
        (tenant,),
    )
    counts = _counts(connection, tenant)
    connection.executemany(
        "INSERT INTO holdings VALUES (?, ?, ?, ?)",
        [(*place, count) for place, count in counts.holdings().items()],
    )
    connection.executemany(
        "INSERT INTO columns VALUES (?, ?, ?, ?, ?)",
        [(*place, count) for place, count in counts.columns().items()],
    )


def policy_faults(connection: SqlConnection, tenant: str, *, keyed: bool) -> list[str]:
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


def column_types(connection: SqlConnection, tenant: str) -> dict[str, dict[str, str]]:
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
