"""The append-only log of calls: table `red_ask_audit` in `calls.sqlite`, chained by hash.

`append` returns when its rows are on disk, all in one commit. Each transaction reads the head, so
several processes extend one chain. The price of an append does not depend on how many rows there
are. Which rows go, and who sees which, is told by `audit_rows`.

Retention takes rows from the old end, a page a transaction. The head remembers the last row
taken, so that what is left still verifies (`rules.audit_chain`). What a provider said about its
build stands beside the row (`audit_builds`), and so does how a question was read
(`audit_readings`); both go with it, and are no part of the chain.
"""

import json
from collections.abc import Iterator, Sequence
from sqlite3 import Connection

from redask.core.model import Caller
from redask.core.ports import AuditEntry, AuditRow
from redask.core.rules import audit_chain
from redask.stores import audit_rows
from redask.stores.sqlite.connection import Database

_PAGE = 1000


class SqliteAuditLog:
    """The log in one database directory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, rows: Sequence[AuditRow]) -> None:
        """Add rows in their order, in one transaction: durable when this returns."""
        with self._database.writing() as connection:
            head, chained = audit_rows.extend(_head(connection)[0], rows)
            connection.executemany(
                "INSERT INTO red_ask_audit VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (each.seq, each.ts, each.tenant, each.user, each.row, each.hash)
                    for each in chained
                ],
            )
            connection.executemany(
                "INSERT INTO audit_builds VALUES (?, ?)",
                [(each.seq, each.build) for each in chained if each.build],
            )
            connection.executemany(
                "INSERT INTO audit_readings VALUES (?, ?, ?)",
                [
                    (each.seq, each.understood, each.today)
                    for each in chained
                    if each.understood or each.today
                ],
            )
            _set_head(connection, head)

    def entries(self, caller: Caller, *, limit: int, before: int | None = None) -> list[AuditEntry]:
        """The newest rows the caller may see: an auditor the tenant's, others their own."""
        last = (1 << 63) - 1 if before is None else before
        user = audit_rows.only_user(caller)
        mine, whose = ("", []) if user is None else ("AND user = ?", [user])
        with self._database.reading() as connection:
            found = connection.execute(
                "SELECT seq, row, hash, coalesce(build, ''), coalesce(understood, ''),"
                " coalesce(today, '') FROM red_ask_audit LEFT JOIN audit_builds USING (seq)"
                f" LEFT JOIN audit_readings USING (seq) WHERE tenant = ? {mine}"
                " AND seq < ? ORDER BY seq DESC LIMIT ?",
                [caller.tenant, *whose, last, limit],
            ).fetchall()
        return [AuditEntry(seq, json.loads(row), *rest) for seq, row, *rest in found]

    def verify(self) -> audit_chain.Intact | audit_chain.Broken:
        """Whether every row of the log is what was written; names the first that is not."""
        with self._database.reading() as connection:
            connection.execute("BEGIN")  # one snapshot, however long it takes
            try:
                head, sealed = _head(connection)
                misfiled = _misfiled(connection)
                chain = audit_chain.verify(_links(connection), head, sealed)
            finally:
                connection.execute("ROLLBACK")
        return audit_rows.verdict(chain, misfiled)

    def prune(self, keep_ns: int) -> None:
        """Take away rows that are older than the newest by more than this, from the old end."""
        while self._prune_page(keep_ns):
            pass

    def _prune_page(self, keep_ns: int) -> bool:
        with self._database.writing() as connection:
            head, _ = _head(connection)
            newest = connection.execute(
                "SELECT ts FROM red_ask_audit WHERE seq = ?", (head.seq,)
            ).fetchone()
            oldest = connection.execute(
                "SELECT seq, ts, hash FROM red_ask_audit ORDER BY seq LIMIT ?", (_PAGE,)
            ).fetchall()
            gone = audit_rows.expired(oldest, newest[0] if newest else None, keep_ns)
            if gone is None:
                return False
            for table in ("red_ask_audit", "audit_builds", "audit_readings"):
                connection.execute(f"DELETE FROM {table} WHERE seq <= ?", (gone[0],))
            _set_head(connection, audit_rows.without(head, gone))
        return True


def _head(connection: Connection) -> tuple[audit_chain.Head, str]:
    found = connection.execute(
        "SELECT seq, hash, gone_seq, gone_hash, seal FROM audit_head"
    ).fetchone()
    if found is None:
        return audit_chain.Head(), audit_chain.seal(audit_chain.Head())
    return audit_chain.Head(*found[:4]), found[4]


def _set_head(connection: Connection, head: audit_chain.Head) -> None:
    values = (head.seq, head.hash, head.pruned_seq, head.pruned_hash, audit_chain.seal(head))
    changed = connection.execute(
        "UPDATE audit_head SET seq = ?, hash = ?, gone_seq = ?, gone_hash = ?, seal = ?", values
    )
    if not changed.rowcount:
        connection.execute("INSERT INTO audit_head VALUES (?, ?, ?, ?, ?)", values)


def _links(connection: Connection) -> Iterator[audit_chain.Chained]:
    cursor = connection.execute("SELECT seq, row, hash FROM red_ask_audit ORDER BY seq")
    while page := cursor.fetchmany(_PAGE):
        yield from (audit_chain.Chained(*each) for each in page)


def _misfiled(connection: Connection) -> int | None:
    """The first row whose columns say another thing than the row they were taken from."""
    found = connection.execute(
        """SELECT min(seq) FROM red_ask_audit
           WHERE NOT json_valid(row) OR ts IS NOT json_extract(row, '$.ts')
              OR tenant IS NOT json_extract(row, '$.tenant')
              OR user IS NOT json_extract(row, '$.user')"""
    ).fetchone()
    return None if found is None else found[0]
