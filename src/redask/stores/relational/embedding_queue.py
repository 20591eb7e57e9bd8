"""Which entities wait for a vector, and who is at work on it: SQL for `ports.VectorStore`.

`embedding.seq` says that everything up to this change has been looked at: it has a vector, or
nothing in it can be embedded. Every change gets a new sequence, so what waits (`write_rules`)
lies above it, and finding out that nothing waits costs no scan of the data.

Leases (`embedding.holder`, see `embedding_leases`) keep two processes from doing the same work
twice. They are no locks: a vector is only ever set on an entity that still says what was embedded,
so two at work do no harm. They have no time: a holder writes another number with each sign of
life, and who waits measures how long none came.
"""

from collections.abc import Sequence
from dataclasses import replace

from redask.core.ports import EmbeddingLease, Unembedded
from redask.stores import embedding_leases
from redask.stores.embedding_leases import DONE, Leases
from redask.stores.policy_classes import hidden_columns
from redask.stores.relational.relabelling.transitions import target_layouts
from redask.stores.relational.sql_database import SqlConnection

_WAITING = """FROM tenants
    CROSS JOIN entities ON entities.tenant = tenants.id
    LEFT JOIN vectors USING (key)
    WHERE tenants.name = :tenant AND vectors.key IS NULL AND payload IS NOT NULL
        AND substr(urn, 1, 15) <> 'urn:reddb:edge:'
        AND entities.seq > :after AND entities.seq <= :end AND entities.seq > coalesce(
            (SELECT embedding.seq FROM embedding WHERE embedding.tenant = tenants.id), 0)"""
_END = 2**62
_TENANT = "(SELECT id FROM tenants WHERE name = :tenant)"


def following(
    connection: SqlConnection, tenant: str, after: int, limit: int, end: int = _END
) -> list[Unembedded]:
    """The first that wait, of those that changed after a sequence, up to another."""
    rows = connection.execute(
        "SELECT entities.seq, urn, payload,"
        " (SELECT name FROM collections WHERE id = entities.collection)"
        f" {_WAITING} ORDER BY entities.seq LIMIT :limit",
        {"tenant": tenant, "after": after, "end": end, "limit": max(limit, 0)},
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
        f"SELECT count(*) {_WAITING}", {"tenant": tenant, "after": 0, "end": _END}
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
    connection.execute(
        f"UPDATE embedding SET seq = 0, holder = NULL, until = 0 WHERE tenant = {_TENANT}",
        {"tenant": tenant},
    )


def claim(
    connection: SqlConnection,
    tenant: str,
    claimed: EmbeddingLease,
    most: int,
    over: Sequence[EmbeddingLease],
) -> Leases:
    """Renew the holder's lease, or take one of what nobody has. → those that somebody holds"""
    _make(connection, tenant)
    start, leases = _held(connection, tenant)
    leases = embedding_leases.renewed(leases, claimed, over)
    if embedding_leases.of(leases, claimed.holder) is None:
        for after, end in embedding_leases.free(leases, start):
            found = _waiting_between(connection, tenant, after, end, most)
            through = min(end, _last(connection, tenant))
            if found:
                through = found[-1] if len(found) == most else through
                lease = replace(claimed, after=after, through=through)
                leases = embedding_leases.added(leases, lease)
                break
            if through > after:  # who asks next need not look there again
                leases = embedding_leases.added(leases, EmbeddingLease(DONE, 0, after, through))
    _write(connection, tenant, start, leases, claimed.beat)
    return tuple(each for each in leases if each.holder != DONE)


def worked(connection: SqlConnection, tenant: str, lease: EmbeddingLease, through: int) -> None:
    """Note that a lease's changes were looked at up to one of them."""
    start, leases = _held(connection, tenant)
    leases = embedding_leases.worked(leases, lease, through)
    _write(connection, tenant, start, leases, lease.beat)


def release(connection: SqlConnection, tenant: str, holder: str) -> None:
    """Free the lease of a holder, if there is one."""
    start, leases = _held(connection, tenant)
    kept = tuple(each for each in leases if each.holder != holder)
    if kept != leases:
        _write(connection, tenant, start, kept, 0)


def _held(connection: SqlConnection, tenant: str) -> tuple[int, Leases]:
    """How far everything has been looked at, and who is at work above it."""
    found = connection.execute(
        f"SELECT seq, holder, until FROM embedding WHERE tenant = {_TENANT}", {"tenant": tenant}
    ).fetchone()
    return (found[0], embedding_leases.read(*found[1:])) if found else (0, ())


def _write(connection: SqlConnection, tenant: str, start: int, leases: Leases, beat: int) -> None:
    leases, start = embedding_leases.passed(leases, start)
    connection.execute(
        "UPDATE embedding SET seq = :start, holder = :holder, until = :beat"
        f" WHERE tenant = {_TENANT}",
        {
            "tenant": tenant,
            "start": start,
            "holder": embedding_leases.written(leases),
            "beat": beat if leases else 0,
        },
    )


def _waiting_between(
    connection: SqlConnection, tenant: str, after: int, end: int, most: int
) -> list[int]:
    rows = connection.execute(
        f"SELECT entities.seq {_WAITING} ORDER BY entities.seq LIMIT :limit",
        {"tenant": tenant, "after": after, "end": end, "limit": most},
    ).fetchall()
    return [seq for (seq,) in rows]


def _last(connection: SqlConnection, tenant: str) -> int:
    found = connection.execute("SELECT seq FROM tenants WHERE name = ?", (tenant,)).fetchone()
    return int(found[0]) if found else 0


def _make(connection: SqlConnection, tenant: str) -> None:
    connection.execute("INSERT INTO tenants (name) VALUES (?) ON CONFLICT DO NOTHING", (tenant,))
    connection.execute(
        f"INSERT INTO embedding (tenant) VALUES ({_TENANT}) ON CONFLICT DO NOTHING",
        {"tenant": tenant},
    )
