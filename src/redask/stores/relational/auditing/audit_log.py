"""An append-only log, a chain of hashes for each tenant: `RelationalAuditLog`.

`append` returns when its rows are on disk, all in one commit. Each transaction reads the heads, so
several processes extend the chains together. The price of an append does not depend on how many
rows there are. How records are made, and who sees which, is told by `audit_rows`.

Retention takes records from the old end, a page a transaction, and writes a record of it. The
store is told before (`anchors`), and only what it remembers is taken, so that a log from
which more is missing is found. Rows of the first edition stand in a table of their own
(`first_edition`).
"""

import secrets
from collections.abc import Collection, Iterator, Sequence

from redask.core.model import Caller
from redask.core.ports import AuditEntry, AuditRow, TracedEntry
from redask.core.rules import audit_chain
from redask.core.rules.audit_chain import Broken, Chain, ChainReport, Intact, Remembered
from redask.core.rules.auditing.lived_time import expires
from redask.core.rules.auditing.tree_check import TreeCheck
from redask.stores.auditing import audit_rows
from redask.stores.auditing.audit_rows import ASKS, SERVER, Nonces, StoredRecord
from redask.stores.relational.auditing import erasing, exporting, first_edition, tree_tables
from redask.stores.relational.auditing.anchors import RelationalAnchors
from redask.stores.relational.auditing.chain_tables import (
    PAGE,
    RECORD,
    chains_of,
    clock_of,
    records_of,
    save,
    writer_of,
)
from redask.stores.relational.auditing.provenance_table import (
    ProvenanceRetention,
    forget,
    provenance_fault,
    provenances_of,
    prune_provenances,
)
from redask.stores.relational.sql_database import (
    EVERY_TENANT,
    SqlConnection,
    SqlDatabase,
    rows_of,
)

_LAST = (1 << 63) - 1


def draw_nonce() -> bytes:
    """What the salts of a record are made of."""
    return secrets.token_bytes(32)


class RelationalAuditLog:
    """One log of a database directory; without `anchors` there is no store to compare it with."""

    def __init__(
        self,
        database: SqlDatabase,
        log: str = ASKS,
        anchors: RelationalAnchors | None = None,
        nonces: Nonces = draw_nonce,
    ) -> None:
        self._database = database
        self._log = log
        self._anchors = anchors
        self._nonces = nonces
        if log == ASKS:
            first_edition.migrate(database, nonces)

    def append(self, rows: Sequence[AuditRow]) -> None:
        """Add rows in their order, in one transaction: durable when this returns.

        Without rows it says whether there could be any: it fails, or nothing is written.
        """
        with self._database.writing(EVERY_TENANT) as connection:
            if not rows:
                return
            writer = writer_of(connection, self._log, self._nonces)
            for each in rows:
                writer.add(each)
            save(connection, writer)

    def entries(self, caller: Caller, *, limit: int, before: int | None = None) -> list[AuditEntry]:
        """The newest rows the caller may see: an auditor the tenant's, others their own."""
        with self._database.reading(caller.tenant) as connection:
            found = [each for _, each in self._found(connection, caller, limit, before)]
            audited = audit_rows.only_user(caller) is None
            shown = [each.shown(audited=audited) for each in found]
            return shown + self._first_entries(connection, caller, limit - len(shown), before)

    def traced(self, caller: Caller, *, limit: int, before: int | None = None) -> list[TracedEntry]:
        """The same rows, with what is kept of how each answer was made."""
        audited = audit_rows.only_user(caller) is None
        with self._database.reading(caller.tenant) as connection:
            found = self._found(connection, caller, limit, before)
            numbers = [each.seq for _, each in found]
            kept = provenances_of(connection, found[0][0], numbers) if found else {}
            first = self._first_entries(connection, caller, limit - len(found), before)
        traced = [each.traced(kept.get(each.seq), audited=audited) for _, each in found]
        return traced + [TracedEntry(each, None) for each in first]

    def _found(
        self, connection: SqlConnection, caller: Caller, limit: int, before: int | None
    ) -> list[tuple[int, StoredRecord]]:
        """The records of these rows, each with its chain, which is the same for all."""
        user = audit_rows.only_user(caller)
        if user is None:
            mine, by, whose = "", "seq", []
        else:
            mine, by, whose = 'AND "user" = ?', "own", [user]
        records = ", ".join(f"audit_records.{name}" for name in RECORD.split(", "))
        found = connection.execute(
            f"SELECT chain, {records} FROM audit_records JOIN audit_chains ON id = chain"
            f" WHERE log = ? AND tenant = ? {mine} AND kind = ?"
            f" AND audit_records.{by} < ? ORDER BY audit_records.{by} DESC LIMIT ?",
            [self._log, caller.tenant, *whose, audit_chain.ROW, _last(before), limit],
        ).fetchall()
        return [(chain, StoredRecord(*each)) for chain, *each in found]

    def _first_entries(
        self, connection: SqlConnection, caller: Caller, limit: int, before: int | None
    ) -> list[AuditEntry]:
        """Rows of the first edition, where there is room for them."""
        if limit <= 0 or self._log != ASKS:
            return []
        user = audit_rows.only_user(caller)
        return first_edition.first_entries(connection, caller.tenant, user, limit, _last(before))

    def verify(self, tenant: str | None = None) -> Intact | Broken:
        """Whether every row of the log is what was written; names the first that is not."""
        fault = self._anchors.fault() if self._anchors else None
        if fault:
            return Broken(0, fault)
        anchors = self._anchors.remembered(self._log) if self._anchors else {}
        with self._database.snapshot(rows_of(tenant), damaged=True) as connection:
            chains = chains_of(connection, self._log)
            # what the store allows is read after the log: retention is allowed first
            prunable = self._anchors.prunable(self._log) if self._anchors else None
            wanted = [each for each in chains if tenant in (None, each[1].tenant)]
            found = [
                _verified(connection, number, chain, _memory(anchors, prunable, chain.tenant))
                for number, chain in wanted
            ]
            old = first_edition.verify_first(connection, tenant) if self._log == ASKS else 0
        known = {chain.tenant for _, chain in chains}
        lost = [each for each in anchors if each not in known and tenant in (None, each)]
        for each in sorted(lost):
            return Broken(1, "row 1 is missing", each)
        verdict = audit_rows.verdict(found, tenant)
        if isinstance(old, Broken) or isinstance(verdict, Broken):
            return old if isinstance(old, Broken) else verdict
        return Intact(verdict.rows + old, verdict.head, verdict.chains)

    def holds(self, digest: str, tenant: str | None = None) -> bool:
        """Whether a record, or the last that was pruned, has this hash."""
        with self._database.reading(rows_of(tenant)) as connection:
            found = connection.execute(
                "SELECT 1 FROM audit_chains WHERE log = ?1 AND tenant = coalesce(?2, tenant)"
                " AND (pruned_hash = ?3 OR EXISTS (SELECT 1 FROM audit_records"
                " WHERE chain = id AND audit_records.hash = ?3))",
                (self._log, tenant, digest),
            ).fetchone()
        return found is not None

    def prune(self, keep_ns: int, rule: str) -> None:
        """Take away records that the log has kept for so long, from the old end."""
        with self._database.reading(EVERY_TENANT) as connection:
            chains = chains_of(connection, self._log)
            tenants = [chain.tenant for _, chain in chains if chain.tenant != SERVER]
        for tenant in tenants:
            while self._prune_page(tenant, keep_ns, rule):
                pass
        if self._log == ASKS:
            first_edition.prune_first(self._database, keep_ns, rule, self._nonces)

    def erase(
        self, tenant: str, seq: int, fields: Collection[str], user: str, reason: str
    ) -> tuple[str, ...]:
        """Take values out of a row for ever, and note it: see `erasing`."""
        with self._database.writing(EVERY_TENANT) as connection:
            writer = writer_of(connection, self._log, self._nonces)
            erased = erasing.erase(
                *(connection, writer, tenant, seq, fields), user=user, reason=reason
            )
        self._database.rewrite()
        return erased

    def exported(self, tenant: str | None = None) -> Iterator[str]:
        """The chains as lines: see `exporting`."""
        return exporting.exported(self._database, self._log, tenant)

    def prune_provenance(self, keep_ns: int, rule: str) -> None:
        """Take away what was kept for so long of how answers were made; the rows stay."""
        kept = ProvenanceRetention(self._log, keep_ns, rule, self._nonces)
        prune_provenances(self._database, kept)

    def _prune_page(self, tenant: str, keep_ns: int, rule: str) -> bool:
        with self._database.reading(tenant) as connection:
            to = _expired(connection, self._log, tenant, keep_ns)
        if self._anchors:
            to = min(to, self._anchors.last(self._log, tenant))
        with self._database.reading(tenant) as connection:
            first = _oldest(connection, self._log, tenant)
        if first is None or to < first:
            return False
        if self._anchors:
            self._anchors.allow(self._log, tenant, to)
        tree_tables.grow(self._database)
        with self._database.writing(EVERY_TENANT) as connection:
            writer = writer_of(connection, self._log, self._nonces)
            if writer.chain(tenant).head.pruned_seq != first - 1:
                return False  # another process was faster
            chain, last = connection.execute(
                "SELECT chain, audit_records.hash FROM audit_records JOIN audit_chains"
                " ON id = chain WHERE log = ? AND tenant = ? AND audit_records.seq = ?",
                (self._log, tenant, to),
            ).fetchone()
            root = tree_tables.root_up_to(connection, chain, to)
            if root is None:
                return False  # its tree does not grow: the chain is not whole
            writer.prune(tenant, to, last, rule, root)
            save(connection, writer)
            connection.execute(
                "DELETE FROM audit_records WHERE chain = ? AND seq <= ?", (chain, to)
            )
            forget(connection, chain, to)
        return True


def _expired(connection: SqlConnection, log: str, tenant: str, keep_ns: int) -> int:
    """The last record of the next page that retention takes; 0 for none."""
    now = clock_of(connection).lived
    oldest = connection.execute(
        "SELECT audit_records.seq, at FROM audit_records JOIN audit_chains ON id = chain"
        " WHERE log = ? AND tenant = ? ORDER BY audit_records.seq LIMIT ?",
        (log, tenant, PAGE),
    ).fetchall()
    gone = 0
    for seq, at in oldest:
        if not expires(at, now, keep_ns):
            break
        gone = seq
    return gone


def _last(before: int | None) -> int:
    return _LAST if before is None else before


def _oldest(connection: SqlConnection, log: str, tenant: str) -> int | None:
    found = connection.execute(
        "SELECT min(audit_records.seq) FROM audit_records JOIN audit_chains ON id = chain"
        " WHERE log = ? AND tenant = ?",
        (log, tenant),
    ).fetchone()
    return found[0] if found else None


def _memory(
    anchors: dict[str, list[audit_chain.ChainAnchor]], prunable: dict[str, int] | None, tenant: str
) -> Remembered:
    if prunable is None:
        return Remembered()
    return Remembered(anchors.get(tenant, ()), prunable.get(tenant, 0))


def _verified(
    connection: SqlConnection, number: int, chain: Chain, remembered: Remembered
) -> ChainReport | Broken:
    """The verdict on one chain; a row that is filed under somebody else is named, too.

    And one whose provenance is not what was written.
    """
    tree = TreeCheck(
        *tree_tables.tree_of(connection, number), tree_tables.tiles_of(connection, number)
    )
    misfiled: list[int] = []
    records = _chained(connection, number, chain.tenant, misfiled)
    verdict = audit_chain.verify(chain, records, remembered, tree.add)
    if isinstance(verdict, ChainReport):
        fault = tree.fault(chain.head.seq, chain.head.pruned_seq, verdict.pruned_root)
        if fault is not None:
            verdict = Broken(fault[0], f"row {fault[0]} {fault[1]}", chain.tenant)
    before = verdict.seq if isinstance(verdict, Broken) else _LAST
    unlike = provenance_fault(connection, number, before)
    if unlike is not None:
        verdict = Broken(*unlike, chain.tenant)
    if not misfiled or (isinstance(verdict, Broken) and verdict.seq <= misfiled[0]):
        return verdict
    return Broken(misfiled[0], f"row {misfiled[0]} is filed under another caller", chain.tenant)


def _chained(
    connection: SqlConnection, number: int, tenant: str, misfiled: list[int]
) -> Iterator[audit_chain.ChainRecord]:
    """The records of a chain; the numbers of those that are another caller's go to `misfiled`."""
    for each in records_of(connection, number):
        if not each.is_filed_under(tenant):
            misfiled.append(each.seq)
        yield each.chained()
