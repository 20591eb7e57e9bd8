"""The tables of the chains, inside somebody's transaction: rows in, rows out."""

from collections.abc import Iterator

from redask.core.rules.audit_chain import Chain, Head
from redask.core.rules.auditing.lived_time import LivedTime
from redask.stores.auditing.audit_rows import ChainWriter, Nonces, StoredRecord, new_chain
from redask.stores.relational.sql_database import SqlConnection

PAGE = 1000
RECORD = 'seq, kind, at, "user", own, row, beside, opening, leaf, hash'
_CLOCK = "lived, highest, jumped, owed"
_CHAIN = "log, tenant, start, seq, hash, pruned_seq, pruned_hash"


def identity_of(connection: SqlConnection) -> str:
    """Who this file is."""
    [(identity,)] = connection.execute("SELECT identity FROM audit_file").fetchall()
    return str(identity)


def clock_of(connection: SqlConnection) -> LivedTime:
    """The logs' own time."""
    return LivedTime(*connection.execute(f"SELECT {_CLOCK} FROM audit_clock").fetchone())


def chains_of(connection: SqlConnection, log: str) -> list[tuple[int, Chain]]:
    """The chains of a log with their ids, by tenant."""
    found = connection.execute(
        f"SELECT id, {_CHAIN} FROM audit_chains WHERE log = ? ORDER BY tenant", (log,)
    ).fetchall()
    identity = identity_of(connection)
    return [(number, _chain(identity, *rest)) for number, *rest in found]


def chain_of(connection: SqlConnection, log: str, tenant: str) -> Chain:
    """The chain of a tenant; one without records if there is none."""
    found = connection.execute(
        f"SELECT {_CHAIN} FROM audit_chains WHERE log = ? AND tenant = ?", (log, tenant)
    ).fetchone()
    identity = identity_of(connection)
    return new_chain(identity, log, tenant) if found is None else _chain(identity, *found)


def records_of(connection: SqlConnection, chain: int, after: int = 0) -> Iterator[StoredRecord]:
    """The records of a chain behind a number, in their order."""
    cursor = connection.stream(
        f"SELECT {RECORD} FROM audit_records WHERE chain = ? AND seq > ? ORDER BY seq",
        (chain, after),
    )
    while page := cursor.fetchmany(PAGE):
        yield from (StoredRecord(*each) for each in page)


def writer_of(connection: SqlConnection, log: str, nonces: Nonces) -> ChainWriter:
    """Who puts records behind the chains of a log; `save` writes them."""

    def number(tenant: str, user: str) -> int:
        found = connection.execute(
            "SELECT own FROM audit_numbers JOIN audit_chains ON id = chain"
            ' WHERE log = ? AND tenant = ? AND "user" = ?',
            (log, tenant, user),
        ).fetchone()
        return int(found[0]) if found else 0

    return ChainWriter(
        lambda tenant: chain_of(connection, log, tenant), number, clock_of(connection), nonces
    )


def save(connection: SqlConnection, writer: ChainWriter) -> None:
    """Write what the writer has: chains, records, numbers, time."""
    ids = {tenant: _save_chain(connection, chain) for tenant, chain in writer.chains.items()}
    connection.executemany(
        f"INSERT INTO audit_records (chain, {RECORD}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(ids[tenant], each.seq, each.kind, each.at, each.user, each.own),
                *(each.row, each.beside, each.opening, each.leaf, each.hash),
            )
            for tenant, each in writer.added
        ],
    )
    connection.executemany(
        "INSERT INTO audit_numbers VALUES (?, ?, ?)"
        ' ON CONFLICT (chain, "user") DO UPDATE SET own = excluded.own',
        [(ids[tenant], user, own) for (tenant, user), own in writer.numbers.items()],
    )
    connection.executemany(
        "INSERT INTO audit_provenance VALUES (?, ?, ?)",
        [(ids[tenant], seq, written) for tenant, seq, written in writer.provenances],
    )
    clock = writer.clock
    connection.execute(
        "UPDATE audit_clock SET lived = ?, highest = ?, jumped = ?, owed = ?",
        (clock.lived, clock.highest, clock.jumped, clock.owed),
    )


def _save_chain(connection: SqlConnection, chain: Chain) -> int:
    head = chain.head
    [(number,)] = connection.execute(
        f"INSERT INTO audit_chains ({_CHAIN}) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (log, tenant) DO UPDATE SET seq = excluded.seq, hash = excluded.hash,"
        " pruned_seq = excluded.pruned_seq, pruned_hash = excluded.pruned_hash RETURNING id",
        (
            *(chain.log, chain.tenant, chain.start),
            *(head.seq, head.hash, head.pruned_seq, head.pruned_hash),
        ),
    ).fetchall()
    return int(number)


def _chain(identity: str, log: str, tenant: str, start: int, *head: object) -> Chain:
    seq, digest, pruned_seq, pruned_digest = head
    new = new_chain(identity, log, tenant, start)
    found = Head(int(str(seq)), str(digest), int(str(pruned_seq)), str(pruned_digest))
    return Chain(log, tenant, start, new.genesis, found)
