"""Rows of the first edition of the audit log, in the table `red_ask_audit`.

`migrate` notes the head of the old chain in a record `migrated` of the server's own chain, and
starts the chains of the tenants behind the old numbers, so that numbers go on. Retention takes the
old rows when the log has lived for long enough since; each page is a record `pruned_first` there.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from redask.core.ports import AuditEntry
from redask.core.rules.audit import answer_hash
from redask.core.rules.audit_chain import MIGRATED, PRUNED_FIRST, Broken
from redask.core.rules.auditing.first_chain import FirstHead, FirstRow, first_fault, seal
from redask.core.rules.auditing.lived_time import expires
from redask.stores.auditing.audit_rows import ASKS, SERVER, ChainWriter, Nonces, new_chain
from redask.stores.relational.auditing.chain_tables import (
    PAGE,
    chain_of,
    clock_of,
    identity_of,
    save,
    writer_of,
)
from redask.stores.relational.sql_database import EVERY_TENANT, SqlConnection, SqlDatabase

_SHOWN = """SELECT seq, own, row, hash, coalesce(build, ''), coalesce(understood, ''),
    coalesce(today, '') FROM red_ask_audit LEFT JOIN audit_builds USING (seq)
    LEFT JOIN audit_readings USING (seq) WHERE tenant = ?"""


def migrate(database: SqlDatabase, nonces: Nonces) -> None:
    """Note the head of a log of the first edition, once."""
    with database.reading(EVERY_TENANT) as connection:
        if _is_noted(connection):
            return
    with database.writing(EVERY_TENANT) as connection:
        if _is_noted(connection):
            return
        seq, *rest = connection.execute(
            "SELECT seq, hash, gone_seq, gone_hash, seal FROM audit_head"
        ).fetchone()
        names = ("hash", "pruned_seq", "pruned_hash", "seal")
        writer = writer_of(connection, ASKS, nonces)
        writer.note(SERVER, MIGRATED, {"seq": seq, **dict(zip(names, rest, strict=True))})
        _start_chains(connection, writer, seq)
        save(connection, writer)


def first_entries(
    connection: SqlConnection, tenant: str, user: str | None, limit: int, before: int
) -> list[AuditEntry]:
    """The newest of the old rows before a number: the tenant's, or one user's as they see them."""
    if user is None:
        found = connection.execute(
            f"{_SHOWN} AND seq < ? ORDER BY seq DESC LIMIT ?", (tenant, before, limit)
        )
        return [
            AuditEntry(seq, json.loads(row), digest, *beside)
            for seq, _, row, digest, *beside in found
        ]
    found = connection.execute(
        f'{_SHOWN} AND "user" = ? AND own < ? ORDER BY seq DESC LIMIT ?',
        (tenant, user, before, limit),
    )
    return [
        AuditEntry(own, json.loads(row), answer_hash(row), *beside)
        for _, own, row, _, *beside in found
    ]


def verify_first(connection: SqlConnection, tenant: str | None) -> int | Broken:
    """How many old rows there are (of a tenant), or the first that is not as written."""
    noted = _noted(connection)
    if not noted:
        left = connection.execute("SELECT min(seq) FROM red_ask_audit").fetchone()[0]
        return 0 if left is None else Broken(left, f"row {left} was added to the old log")
    head = _head(noted[0])
    if seal(head) != noted[0]["seal"]:
        return Broken(0, "the head of the old log was changed")
    for each in noted[1:]:
        head = replace(head, pruned_seq=each["to"], pruned_hash=each["last"])
    misfiled = connection.execute(
        """SELECT min(seq) FROM red_ask_audit
           WHERE NOT json_valid(row) OR ts IS NOT json_extract(row, '$.ts')
              OR tenant IS NOT json_extract(row, '$.tenant')
              OR "user" IS NOT json_extract(row, '$.user')"""
    ).fetchone()[0]
    fault = first_fault(_rows(connection), head, seal(head))
    if fault is not None and (misfiled is None or fault[0] <= misfiled):
        return Broken(*fault)
    if misfiled is not None:
        return Broken(misfiled, f"row {misfiled} is filed under another caller or time")
    counted = "SELECT count(*) FROM red_ask_audit WHERE tenant = coalesce(?, tenant)"
    return int(connection.execute(counted, (tenant,)).fetchone()[0])


def prune_first(database: SqlDatabase, keep_ns: int, rule: str, nonces: Nonces) -> None:
    """Take the old rows, once the log has lived for so long since they were left."""
    while _prune_page(database, keep_ns, rule, nonces):
        pass


def _prune_page(database: SqlDatabase, keep_ns: int, rule: str, nonces: Nonces) -> bool:
    with database.reading(EVERY_TENANT) as connection:
        if not connection.execute("SELECT 1 FROM red_ask_audit LIMIT 1").fetchone():
            return False
        if not expires(0, clock_of(connection).lived, keep_ns):
            return False
    with database.writing(EVERY_TENANT) as connection:
        rows = connection.execute(
            "SELECT seq, hash FROM red_ask_audit ORDER BY seq LIMIT ?", (PAGE,)
        ).fetchall()
        if not rows:
            return False
        to, last = rows[-1]
        writer = writer_of(connection, ASKS, nonces)
        facts = {"from": rows[0][0], "last": last, "rule": rule, "to": to}
        writer.note(SERVER, PRUNED_FIRST, facts)
        save(connection, writer)
        for table in ("red_ask_audit", "audit_builds", "audit_readings"):
            connection.execute(f"DELETE FROM {table} WHERE seq <= ?", (to,))
    return True


def _start_chains(connection: SqlConnection, writer: ChainWriter, start: int) -> None:
    """Chains for the tenants of old rows, behind the old numbers; users go on counting."""
    identity = identity_of(connection)
    counted = connection.execute(
        'SELECT tenant, "user", max(own) FROM red_ask_audit GROUP BY tenant, "user"'
    ).fetchall()
    for tenant, user, own in counted:
        writer.chains[tenant] = new_chain(identity, ASKS, tenant, start)
        writer.numbers[tenant, user] = own


def _is_noted(connection: SqlConnection) -> bool:
    """Whether there is nothing to note, or it is noted."""
    if not connection.execute("SELECT 1 FROM audit_head").fetchone():
        return True
    return chain_of(connection, ASKS, SERVER).head.seq > 0


def _noted(connection: SqlConnection) -> list[dict[str, Any]]:
    """What the server's chain says of the old log: its head, then what was taken of it."""
    found = connection.execute(
        "SELECT row FROM audit_records JOIN audit_chains ON id = chain WHERE log = ?"
        " AND tenant = ? AND kind IN (?, ?) ORDER BY audit_records.seq",
        (ASKS, SERVER, MIGRATED, PRUNED_FIRST),
    ).fetchall()
    return [json.loads(row) for (row,) in found]


def _head(noted: dict[str, Any]) -> FirstHead:
    return FirstHead(noted["seq"], noted["hash"], noted["pruned_seq"], noted["pruned_hash"])


def _rows(connection: SqlConnection) -> Iterator[FirstRow]:
    cursor = connection.stream("SELECT seq, row, hash FROM red_ask_audit ORDER BY seq")
    while page := cursor.fetchmany(PAGE):
        yield from (FirstRow(*each) for each in page)
