"""Which entities wait for a vector, and who is at work on it: SQL for `ports.VectorStore`.

`embedding.seq` says that everything up to this change has been looked at: it has a vector, or
nothing in it can be embedded. Every change gets a new sequence, so what waits (`write_rules`)
lies above it, and finding out that nothing waits costs no scan of the data.

The lease keeps two processes from doing the same work twice. It is no lock: a vector is only
ever set on an entity that still says what was embedded, so two at work do no harm. It has no time:
its holder writes another number with each sign of life, and who waits measures how long none came.
"""

from redask.core.ports import EmbeddingLease, Unembedded
from redask.stores.policy_classes import hidden_columns
from redask.stores.relational.relabelling.transitions import target_layouts
from redask.stores.relational.sql_database import SqlConnection

_WAITING = """FROM tenants
    CROSS JOIN entities ON entities.tenant = tenants.id
    LEFT JOIN vectors USING (key)
    WHERE tenants.name = :tenant AND vectors.key IS NULL AND payload IS NOT NULL
        AND substr(urn, 1, 15) <> 'urn:reddb:edge:'
        AND entities.seq > :after AND entities.seq > coalesce(
            (SELECT embedding.seq FROM embedding WHERE embedding.tenant = tenants.id), 0)"""
_TENANT = "(SELECT id FROM tenants WHERE name = :tenant)"


def following(connection: SqlConnection, tenant: str, after: int, limit: int) -> list[Unembedded]:
    """The first that wait, of those that changed after a sequence."""
    rows = connection.execute(
        "SELECT entities.seq, urn, payload,"
        " (SELECT name FROM collections WHERE id = entities.collection)"
        f" {_WAITING} ORDER BY entities.seq LIMIT :limit",
        {"tenant": tenant, "after": after, "limit": max(limit, 0)},
    ).fetchall()
    ruled = target_layouts(connection, tenant) if rows else {}
    return [
        Unembedded(seq, urn, payload, hidden_columns(ruled.get(collection), payload))
        for seq, urn, payload, collection in rows
    ]


def count(connection: SqlConnection, tenant: str) -> int:
    """How many wait."""
    found: int
    (found,) = connection.execute(
        f"SELECT count(*) {_WAITING}", {"tenant": tenant, "after": 0}
    ).fetchone()
    return found


def looked_through(connection: SqlConnection, tenant: str) -> int:
    """How far everything has been looked at."""
    found = connection.execute(
        f"SELECT seq FROM embedding WHERE tenant = {_TENANT}", {"tenant": tenant}
    ).fetchone()
    return found[0] if found else 0


def advance(connection: SqlConnection, tenant: str, through: int) -> None:
    """Note how far everything has been looked at; it never goes back."""
    _make(connection, tenant)
    connection.execute(
        f"UPDATE embedding SET seq = :through WHERE tenant = {_TENANT} AND seq < :through",
        {"tenant": tenant, "through": through},
    )


def restart(connection: SqlConnection, tenant: str) -> None:
    """Begin at the beginning: everything is to be looked at again."""
    connection.execute(f"UPDATE embedding SET seq = 0 WHERE tenant = {_TENANT}", {"tenant": tenant})


def claim(
    connection: SqlConnection,
    tenant: str,
    claimed: EmbeddingLease,
    over: EmbeddingLease | None,
) -> EmbeddingLease:
    """Take the lease when it is free, ours, or still the one that is over. → the lease"""
    _make(connection, tenant)
    connection.execute(
        f"UPDATE embedding SET holder = :holder, until = :beat WHERE tenant = {_TENANT}"
        " AND (holder IS NULL OR holder = :holder OR (holder = :late AND until = :last))",
        {
            "tenant": tenant,
            "holder": claimed.holder,
            "beat": claimed.beat,
            "late": over and over.holder,
            "last": over and over.beat,
        },
    )
    found = connection.execute(
        f"SELECT holder, until FROM embedding WHERE tenant = {_TENANT}", {"tenant": tenant}
    ).fetchone()
    return EmbeddingLease(*found)


def release(connection: SqlConnection, tenant: str, holder: str) -> None:
    """Free the lease, if it is this holder's."""
    connection.execute(
        "UPDATE embedding SET holder = NULL, until = 0"
        f" WHERE tenant = {_TENANT} AND holder = :holder",
        {"tenant": tenant, "holder": holder},
    )


def _make(connection: SqlConnection, tenant: str) -> None:
    connection.execute("INSERT INTO tenants (name) VALUES (?) ON CONFLICT DO NOTHING", (tenant,))
    connection.execute(
        f"INSERT INTO embedding (tenant) VALUES ({_TENANT}) ON CONFLICT DO NOTHING",
        {"tenant": tenant},
    )
