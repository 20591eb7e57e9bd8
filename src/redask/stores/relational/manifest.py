"""Which entities came from which file: `RelationalManifest`, beside the entities themselves.

    load      the entities of some files, who brought them, and in which order; one transaction
    sweep     with the last part of a file: what it brought earlier and no longer brings goes
    forget    a file that is gone, with everything it brought
    link      edges for the links between files, settled when all files are loaded

The rules are those of `manifest_rules`; here is the SQL. What is to be linked is `unlinked` until
`link` was there, both in the transaction that makes it true: killed at any moment, the next run
knows what is left to do. What a part of a file has seen is kept in a temporary table of the
writing connection, so that a file of any size takes no memory, and an equal one leaves no write.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from redask.core.access.policy import must_own
from redask.core.model import Caller
from redask.core.ports import DeclaredKey, Entity, FileLink, Load, LoadOutcome, Origin, OriginFacts
from redask.stores import manifest_rules
from redask.stores.manifest_rules import LINK_PLACE
from redask.stores.relational.sql_database import SqlConnection, SqlDatabase
from redask.stores.relational.visibility_queries import declared_keys
from redask.stores.relational.writer import EntityWriter
from redask.stores.write_rules import GIVEN

_SWEEP = 2000
_TENANT = "(SELECT id FROM tenants WHERE name = ?)"
_OWNERS = """SELECT entities.urn, ingest_origins.path FROM json_each(?) AS wanted
    CROSS JOIN entities ON entities.tenant = ? AND urn = wanted.value AND payload IS NOT NULL
    CROSS JOIN ingest_items ON ingest_items.key = entities.key
    CROSS JOIN ingest_origins ON ingest_origins.id = origin"""
_KEYS = """SELECT entities.key FROM json_each(?) AS wanted
    CROSS JOIN entities ON tenant = ? AND urn = wanted.value ORDER BY wanted.key"""
_KEEP_ITEM = """INSERT INTO ingest_items VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE
    SET origin = excluded.origin, place = excluded.place
    WHERE ingest_items.origin <> excluded.origin OR ingest_items.place <> excluded.place"""
_KEEP_ORIGIN = """INSERT INTO ingest_origins (tenant, path, root, choice, stamp, unlinked, read_at)
    VALUES (?, ?, ?, ?, ?, 1, ?) ON CONFLICT (tenant, path) DO UPDATE
    SET root = excluded.root, choice = excluded.choice, stamp = excluded.stamp, unlinked = 1,
    read_at = excluded.read_at RETURNING id"""
_LISTING = """SELECT path, read_at, collections.name, count(entities.key) FROM ingest_origins
    LEFT JOIN ingest_items ON origin = ingest_origins.id AND place >= 0
    LEFT JOIN entities ON entities.key = ingest_items.key AND payload IS NOT NULL
    LEFT JOIN collections ON collections.id = entities.collection
    WHERE ingest_origins.tenant = {} GROUP BY path, read_at, collections.name ORDER BY path, 3"""
_REFERRERS = """UPDATE ingest_origins SET unlinked = 1 WHERE tenant = ? AND id IN
    (SELECT origin FROM json_each(?) AS gone
    CROSS JOIN ingest_links ON ingest_links.path = gone.value)"""


class RelationalManifest:
    """The manifest of one database; see `ports.OriginManifest`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def known(self, place: str, caller: Caller) -> dict[str, Origin]:
        """The origins at a path or below it, by path."""
        below = place.rstrip("/")
        with self._database.reading(caller.tenant) as connection:
            rows = connection.execute(
                "SELECT path, root, choice, stamp, EXISTS"
                " (SELECT 1 FROM ingest_items CROSS JOIN entities USING (key)"
                "  WHERE origin = ingest_origins.id AND place >= 0 AND payload IS NULL)"
                " FROM ingest_origins"
                f" WHERE tenant = {_TENANT} AND (path = ? OR path > ? AND path < ?) ORDER BY path",
                (caller.tenant, place, f"{below}/", f"{below}0"),
            ).fetchall()
        return {row[0]: manifest_rules.known(Origin(*row[:4]), row[4]) for row in rows}

    def listing(self, caller: Caller) -> list[OriginFacts]:
        """The origins of an owner's tenant, by path."""
        must_own(caller)
        with self._database.reading(caller.tenant) as connection:
            rows = connection.execute(_LISTING.format(_TENANT), (caller.tenant,)).fetchall()
        files: dict[str, OriginFacts] = {}
        for path, read_at, collection, count in rows:
            known = files.get(path, OriginFacts(path, {}, read_at))
            brought = {**known.entities, collection: count} if collection else known.entities
            files[path] = OriginFacts(path, brought, read_at)
        return list(files.values())

    def load(self, loads: Sequence[Load], caller: Caller, now: int | None = None) -> LoadOutcome:
        """Write what these origins bring, in one transaction, but for those that collide."""
        must_own(caller)
        with self._database.writing(caller.tenant) as connection:
            writer = EntityWriter(connection, caller.tenant)
            brought = [entity.urn for load in loads for entity in load.entities]
            owners = _owners(connection, writer.tenant, brought)
            accepted, refused = manifest_rules.accept(loads, owners)
            entities = [entity for load in accepted for entity in load.entities]
            numbers = [_begin(connection, writer, load, now) for load in accepted]
            writer.classes.forget_keys()  # who may read these depends on them
            written = writer.put(entities, GIVEN)
            keys = iter(_keys(connection, writer.tenant, [entity.urn for entity in entities]))
            connection.keep_seen()
            removed = 0
            for number, load in zip(numbers, accepted, strict=True):
                own = [next(keys) for _ in load.entities]
                removed += _keep(connection, writer, load, own, number)
            paths = [load.origin.path for load in accepted]
            connection.execute(_REFERRERS, (writer.tenant, json.dumps(paths)))
            writer.finish()
            return LoadOutcome(written, removed, refused)

    def collisions(self, origin: Origin, urns: Sequence[str], caller: Caller) -> str | None:
        """The path of another origin that one of these belongs to, or None."""
        with self._database.reading(caller.tenant) as connection:
            (tenant,) = connection.execute(f"SELECT {_TENANT}", (caller.tenant,)).fetchone()
            owners = _owners(connection, tenant, urns)
        return manifest_rules.collision(origin, owners)

    def remove(self, paths: Sequence[str], caller: Caller) -> int:
        """Remove these origins with everything they brought. → how many entities went."""
        must_own(caller)
        with self._database.writing(caller.tenant) as connection:
            writer = EntityWriter(connection, caller.tenant)
            removed = 0
            for path in paths:
                found = connection.execute(
                    "SELECT id FROM ingest_origins WHERE tenant = ? AND path = ?",
                    (writer.tenant, path),
                ).fetchone()
                if found:
                    removed += _sweep(connection, writer, "origin = ?", found)
                    connection.execute("DELETE FROM ingest_links WHERE origin = ?", found)
                    connection.execute("DELETE FROM declared_keys WHERE origin = ?", found)
                    connection.execute("DELETE FROM ingest_origins WHERE id = ?", found)
            connection.execute(_REFERRERS, (writer.tenant, json.dumps(list(paths))))
            writer.finish()
            return removed

    def pending_links(self, limit: int, caller: Caller) -> dict[str, list[FileLink]]:
        """Origins whose links are to be settled (anew), by path; empty when all are."""
        with self._database.reading(caller.tenant) as connection:
            origins = connection.execute(
                f"SELECT id, path FROM ingest_origins WHERE tenant = {_TENANT} AND unlinked = 1"
                " ORDER BY path LIMIT ?",
                (caller.tenant, limit),
            ).fetchall()
            wanted = "SELECT source, path, anchor FROM ingest_links WHERE origin = ? ORDER BY 1, 2"
            return {
                path: [FileLink(*row) for row in connection.execute(f"{wanted}, 3", (number,))]
                for number, path in origins
            }

    def chunks(self, path: str, caller: Caller) -> list[str]:
        """The documents that an origin brought, in their order."""
        with self._database.reading(caller.tenant) as connection:
            rows = connection.execute(
                "SELECT urn FROM ingest_origins"
                " CROSS JOIN ingest_items ON origin = ingest_origins.id AND place >= 0"
                " CROSS JOIN entities USING (key)"
                f" WHERE ingest_origins.tenant = {_TENANT} AND path = ? AND payload IS NOT NULL"
                " AND urn LIKE 'urn:reddb:document:%' ORDER BY place",
                (caller.tenant, path),
            ).fetchall()
        return [urn for (urn,) in rows]

    def declared_keys(self, tenant: str) -> list[DeclaredKey]:
        """The keys that the origins declare, by path and in their order; for SELECT."""
        with self._database.reading(tenant) as connection:
            (number,) = connection.execute(f"SELECT {_TENANT}", (tenant,)).fetchone()
            return declared_keys(connection, number)

    def link(self, edges: Mapping[str, Sequence[Entity]], caller: Caller) -> LoadOutcome:
        """Settle the links of these origins: they have these edges and no others."""
        must_own(caller)
        with self._database.writing(caller.tenant) as connection:
            writer = EntityWriter(connection, caller.tenant)
            every = list(chain(*edges.values()))
            written = writer.put(every, GIVEN)
            keys = iter(_keys(connection, writer.tenant, [edge.urn for edge in every]))
            removed = 0
            for path, own in edges.items():
                (number,) = connection.execute(
                    "UPDATE ingest_origins SET unlinked = 0 WHERE tenant = ? AND path = ?"
                    " RETURNING id",
                    (writer.tenant, path),
                ).fetchone()
                kept = [next(keys) for _ in own]
                connection.executemany(_KEEP_ITEM, [(key, number, LINK_PLACE) for key in kept])
                removed += _sweep(
                    connection,
                    writer,
                    "origin = ? AND place < 0 AND key NOT IN"
                    " (SELECT CAST(value AS BIGINT) FROM json_each(?))",
                    (number, json.dumps(kept)),
                )
            writer.finish()
            return LoadOutcome(written, removed, {})


def _begin(connection: SqlConnection, writer: EntityWriter, load: Load, now: int | None) -> int:
    """Note an origin, and with its first part the keys that it declares. → its number"""
    before = connection.execute(
        "SELECT path, root, choice, stamp FROM ingest_origins WHERE tenant = ? AND path = ?",
        (writer.tenant, load.origin.path),
    ).fetchone()
    origin = manifest_rules.recorded(load, Origin(*before) if before else None)
    named = (writer.tenant, origin.path, origin.root, origin.requested_collection)
    number: int
    (number,) = connection.execute(_KEEP_ORIGIN, (*named, origin.revision, now)).fetchone()
    if load.first:
        _declare(connection, number, load.keys)
    return number


def _keep(
    connection: SqlConnection,
    writer: EntityWriter,
    load: Load,
    keys: Sequence[int],
    number: int,
) -> int:
    """Note what an origin brought; with its last part, sweep. → how many entities went."""
    if load.first:
        connection.execute("DELETE FROM ingest_seen WHERE origin = ?", (number,))
        connection.execute("DELETE FROM ingest_links WHERE origin = ?", (number,))
    (place,) = connection.execute(
        "SELECT count(*) FROM ingest_seen WHERE origin = ?", (number,)
    ).fetchone()
    connection.executemany(
        "INSERT INTO ingest_seen (origin, key) VALUES (?, ?)", [(number, k) for k in keys]
    )
    connection.executemany(
        _KEEP_ITEM, [(key, number, at) for at, key in enumerate(keys, start=place)]
    )
    connection.executemany(
        "INSERT INTO ingest_links VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(number, each.source, each.path, each.anchor) for each in dict.fromkeys(load.links)],
    )
    if not load.last:
        return 0
    stale = (
        "origin = ?1 AND place >= 0 AND key NOT IN (SELECT key FROM ingest_seen WHERE origin = ?1)"
    )
    removed = _sweep(connection, writer, stale, (number,))
    connection.execute("DELETE FROM ingest_seen WHERE origin = ?", (number,))
    return removed


def _declare(connection: SqlConnection, origin: int, keys: Sequence[DeclaredKey]) -> None:
    """Keep the keys of an origin in place of those it had."""
    connection.execute("DELETE FROM declared_keys WHERE origin = ?", (origin,))
    for place, each in enumerate(keys):
        columns, referenced = json.dumps(each.columns), json.dumps(each.target_columns)
        row = (origin, place, each.collection, columns, each.target, referenced)
        connection.execute("INSERT INTO declared_keys VALUES (?, ?, ?, ?, ?, ?)", row)


def _sweep(
    connection: SqlConnection, writer: EntityWriter, which: str, values: tuple[object, ...]
) -> int:
    """Delete these items and their entities, some at a time. → how many entities went."""
    removed = 0
    while rows := connection.execute(
        "SELECT key, urn FROM ingest_items CROSS JOIN entities USING (key)"
        f" WHERE {which} LIMIT {_SWEEP}",
        values,
    ).fetchall():
        connection.executemany("DELETE FROM ingest_items WHERE key = ?", [row[:1] for row in rows])
        removed += writer.delete([urn for _, urn in rows])
    return removed


def _owners(connection: SqlConnection, tenant: int | None, urns: Sequence[str]) -> dict[str, str]:
    return dict(connection.execute(_OWNERS, (json.dumps(urns), tenant)).fetchall())


def _keys(connection: SqlConnection, tenant: int, urns: Sequence[str]) -> Iterable[int]:
    return [key for (key,) in connection.execute(_KEYS, (json.dumps(urns), tenant))]
