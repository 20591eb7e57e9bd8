"""Taking values out of a row of a log: `erase`, inside a transaction; the file is rewritten after.

The commitments of the values stay, so the chain, the tree and old proofs hold; a record of the
chain says what was erased, by whom and why. With the values go the answers of the cache, which
may hold the same; what made the answer, with its question; and a user's name in the counts, when
no row has it any more.
"""

from collections.abc import Collection

from redask.core.errors import BadAsk
from redask.core.rules.audit_chain import ROW
from redask.stores.auditing import provenance_rows
from redask.stores.auditing.audit_rows import ChainWriter, StoredRecord, erasable
from redask.stores.relational.auditing.chain_tables import RECORD, save
from redask.stores.relational.sql_database import SqlConnection


def erase(
    connection: SqlConnection,
    writer: ChainWriter,
    tenant: str,
    seq: int,
    fields: Collection[str],
    *,
    user: str,
    reason: str,
) -> tuple[str, ...]:
    """Take values out of a row of a tenant's chain. → those that were still there."""
    chain, record = _row(connection, writer.chain(tenant).log, tenant, seq)
    names = erasable(record, fields)
    if not names:
        return ()
    left = writer.erase(tenant, record, names, user, reason)
    save(connection, writer)
    connection.execute(
        'UPDATE audit_records SET "user" = ?, own = ?, row = ?, beside = ?, opening = ?'
        " WHERE chain = ? AND seq = ?",
        (left.user, left.own, left.row, left.beside, left.opening, chain, seq),
    )
    connection.execute(
        'DELETE FROM audit_numbers WHERE chain = ?1 AND "user" = ?2 AND NOT EXISTS'
        ' (SELECT 1 FROM audit_records WHERE chain = ?1 AND "user" = ?2)',
        (chain, record.user),
    )
    if provenance_rows.NAME in names:
        connection.execute("DELETE FROM audit_provenance WHERE chain = ? AND seq = ?", (chain, seq))
    connection.keep_answers()
    connection.execute("DELETE FROM answers")
    return names


def _row(connection: SqlConnection, log: str, tenant: str, seq: int) -> tuple[int, StoredRecord]:
    records = ", ".join(f"audit_records.{name}" for name in RECORD.split(", "))
    found = connection.execute(
        f"SELECT chain, {records} FROM audit_records JOIN audit_chains ON id = chain"
        " WHERE log = ? AND tenant = ? AND audit_records.seq = ? AND kind = ?",
        (log, tenant, seq, ROW),
    ).fetchone()
    if found is not None:
        return int(found[0]), StoredRecord(*found[1:])
    old = connection.execute(
        "SELECT 1 FROM red_ask_audit WHERE tenant = ? AND seq = ?", (tenant, seq)
    ).fetchone()
    if old is not None:
        raise BadAsk(
            f"row {seq} is of the first edition of the log, whose hashes need every value: "
            "nothing can be erased from it, retention takes it"
        )
    raise BadAsk(f"there is no audit row {seq}")
