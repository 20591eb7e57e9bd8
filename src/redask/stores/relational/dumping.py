"""What a tenant's data is, record by record, in one state: for `redask dump`.

Users and their roles, fixed types, languages and policies come first, so that what is loaded is
never readable by more people than it was; then entities, then edges, those between edges last.
Vectors that somebody gave are data; those that an embedder made are made again.
"""

import json
from collections.abc import Iterator

from redask.stores import checksums, vector_encoding
from redask.stores.relational.sql_database import SqlConnection, SqlDatabase
from redask.stores.write_rules import GIVEN

_PAGE = 1_000
_MINE = "JOIN tenants ON tenants.id = tenant WHERE tenants.name = ?"
_ENTITIES = f"""SELECT urn, payload, vector, vectors.checksum, entities.checksum, key,
    entities.tenant, collection, label FROM entities LEFT JOIN vectors USING (key)
    LEFT JOIN edges USING (key) {_MINE} AND payload IS NOT NULL AND {{}} ORDER BY urn"""
_BETWEEN_EDGES = """(source IN (SELECT key FROM edges) OR target IN (SELECT key FROM edges))"""


def records(database: SqlDatabase, tenant: str) -> Iterator[dict[str, object]]:
    """The records of a tenant; close the iterator, or read it to its end."""
    with database.snapshot(tenant) as connection:
        yield from _settings(connection, tenant)
        given = connection.execute(
            "SELECT 1 FROM tenants WHERE name = ? AND model = ?", (tenant, GIVEN)
        ).fetchone()
        for which in (
            "edges.key IS NULL",
            f"edges.key IS NOT NULL AND NOT {_BETWEEN_EDGES}",
            f"edges.key IS NOT NULL AND {_BETWEEN_EDGES}",
        ):
            cursor = connection.stream(_ENTITIES.format(which), (tenant,))
            while page := cursor.fetchmany(_PAGE):
                for urn, payload, vector, of_vector, own, key, *place in page:
                    checksums.check_entity((key, *place), urn, payload, own)
                    checksums.check_vector(key, vector, of_vector)
                    record = {"kind": "entity", "urn": urn, "payload": json.loads(payload)}
                    if vector is not None and given:
                        record["vector"] = list(vector_encoding.unpack(vector))
                    yield record


def _settings(connection: SqlConnection, tenant: str) -> Iterator[dict[str, object]]:
    for name, role, attributes in connection.execute(
        f"SELECT users.name, role, attributes FROM users {_MINE} ORDER BY users.name", (tenant,)
    ).fetchall():
        yield {"kind": "user", "name": name, "role": role, "attributes": json.loads(attributes)}
    for collection, key, type_name in connection.execute(
        f"SELECT collection, key, type FROM column_types {_MINE} ORDER BY 1, 2", (tenant,)
    ).fetchall():
        yield {"kind": "column_type", "collection": collection, "key": key, "type": type_name}
    for name, language in connection.execute(
        f"SELECT collections.name, language FROM collections {_MINE}"
        " AND language IS NOT NULL ORDER BY 1",
        (tenant,),
    ).fetchall():
        yield {"kind": "language", "collection": name, "language": language}
    for collection, document in connection.execute(
        f"SELECT collection, document FROM policies {_MINE} ORDER BY 1", (tenant,)
    ).fetchall():
        yield {"kind": "policy", "collection": collection, "document": json.loads(document)}
