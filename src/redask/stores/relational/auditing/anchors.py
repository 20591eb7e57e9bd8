"""What the store remembers of the logs, and the other way round.

`anchor` lets the store remember the records that came since the last time, for every chain. The
store is locked first, then the log, for one small transaction; the log is marked and committed
before the store is (`rules.auditing.pairing`), so that a process that is killed in between leaves
two files that belong together. What does not agree is left as it is, for `verify` to find: nothing
is anchored any more until somebody accepts it.

The store is behind the log by what was written since `anchor` was called last: it is called by
`engine.auditing.audit_upkeep`, and not for each row, for which an answer would have to wait.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from redask.core.rules.audit_chain import ACCEPTED, ChainAnchor
from redask.core.rules.auditing.pairing import LogSide, StoreSide, pairing_fault, unpaired
from redask.stores.auditing.audit_rows import ASKS, SERVER, Nonces, anchor_of
from redask.stores.relational.auditing.chain_tables import records_of, save, writer_of
from redask.stores.relational.sql_database import EVERY_TENANT, SqlConnection, SqlDatabase

_LOOKS = 3
_ANCHOR = "first, seq, hash, marks"


class RelationalAnchors:
    """The two files of one directory."""

    def __init__(self, store: SqlDatabase, calls: SqlDatabase, nonces: Nonces) -> None:
        self._store = store
        self._calls = calls
        self._nonces = nonces

    def pair(self) -> None:
        """Let the two know each other, if both are new, and can be written."""
        if self._store.read_only or self._calls.read_only:
            return
        with self._reading() as (store, calls):
            if not unpaired(_store_side(store), _log_side(calls)):
                return
        with self._store.writing(EVERY_TENANT) as store:
            if unpaired(_store_side(store), self._log_side()):
                self._mark(store)

    def fault(self) -> str | None:
        """What is wrong with the two; see `rules.auditing.pairing`."""
        fault = None
        for _ in range(_LOOKS):  # the two are not read at one moment: others may anchor meanwhile
            with self._reading() as (store, calls):
                fault = pairing_fault(_store_side(store), _log_side(calls))
            if fault is None:
                break
        return fault

    def anchor(self) -> None:
        """Let the store remember every chain as it is now."""
        with self._reading() as (store, calls):
            made = [
                (log, tenant, after, anchor_of(records_of(calls, *new)))
                for log, tenant, *new in _behind(store, calls)
                for after in new[1:]
            ]
        if not made:
            return
        with self._store.writing(EVERY_TENANT) as store:
            if pairing_fault(_store_side(store), self._log_side()):
                return
            known = _known(store)
            new = [
                (log, tenant, each.seq, each.first, each.hash, each.marks)
                for log, tenant, after, each in made
                if known.get((log, tenant), after) == after  # else another process was faster
            ]
            if new:
                self._mark(store)
                store.executemany("INSERT INTO log_anchors VALUES (?, ?, ?, ?, ?, ?)", new)

    def remembered(self, log: str) -> dict[str, list[ChainAnchor]]:
        """The anchors of a log's chains, by tenant."""
        with self._store.reading(EVERY_TENANT) as store:
            found = store.execute(
                f"SELECT tenant, {_ANCHOR} FROM log_anchors WHERE log = ? ORDER BY tenant, seq",
                (log,),
            ).fetchall()
        anchors: dict[str, list[ChainAnchor]] = {}
        for tenant, *rest in found:
            anchors.setdefault(tenant, []).append(ChainAnchor(*rest))
        return anchors

    def prunable(self, log: str) -> dict[str, int]:
        """How far retention may have gone in each chain, by tenant."""
        with self._store.reading(EVERY_TENANT) as store:
            found = store.execute("SELECT tenant, seq FROM log_pruning WHERE log = ?", (log,))
            return dict(found.fetchall())

    def last(self, log: str, tenant: str) -> int:
        """The number up to which a chain is anchored."""
        with self._store.reading(EVERY_TENANT) as store:
            found = store.execute(
                "SELECT max(seq) FROM log_anchors WHERE log = ? AND tenant = ?", (log, tenant)
            ).fetchone()
        return int(found[0] or 0)

    def allow(self, log: str, tenant: str, to: int) -> None:
        """Let retention go up to a number, which is anchored; older anchors go."""
        with self._store.writing(EVERY_TENANT) as store:
            store.execute(
                "INSERT INTO log_pruning VALUES (?, ?, ?)"
                " ON CONFLICT (log, tenant) DO UPDATE SET seq = excluded.seq"
                " WHERE log_pruning.seq < excluded.seq",
                (log, tenant, to),
            )
            store.execute(
                "DELETE FROM log_anchors WHERE log = ? AND tenant = ? AND seq < ?",
                (log, tenant, to),
            )

    def accept(self, fault: str, user: str, reason: str) -> None:
        """Take the log as it is now, and note it there; what the store remembered is forgotten."""
        facts = {"fault": fault, "reason": reason, "user": user}
        with self._store.writing(EVERY_TENANT) as store:
            with self._calls.writing(EVERY_TENANT) as calls:
                writer = writer_of(calls, ASKS, self._nonces)
                writer.note(SERVER, ACCEPTED, facts)
                save(calls, writer)
                calls.execute("UPDATE audit_file SET store = '', marker = '', before = ''")
                pruned = calls.execute(
                    "SELECT log, tenant, pruned_seq FROM audit_chains"
                ).fetchall()
            for table in ("log_file", "log_anchors", "log_pruning"):
                store.execute(f"DELETE FROM {table}")
            store.executemany("INSERT INTO log_pruning VALUES (?, ?, ?)", pruned)
            self._mark(store)
        self.anchor()

    @contextmanager
    def _reading(self) -> Iterator[tuple[SqlConnection, SqlConnection]]:
        """Both; the log in one state, for much of it may be new."""
        read, log = self._store.reading(EVERY_TENANT), self._calls.snapshot(EVERY_TENANT)
        with read as store, log as calls:
            yield store, calls

    def _mark(self, store: SqlConnection) -> None:
        """Give both a new marker; the store's is written with the rest of its transaction."""
        side, marker = _store_side(store), secrets.token_hex(16)
        with self._calls.writing(EVERY_TENANT) as calls:
            calls.execute(
                "UPDATE audit_file SET store = ?, marker = ?, before = ?",
                (side.identity, marker, side.marker),
            )
            identity = _log_side(calls).identity
        store.execute("DELETE FROM log_file")
        store.execute("INSERT INTO log_file VALUES (?, ?)", (identity, marker))

    def _log_side(self) -> LogSide:
        with self._calls.reading(EVERY_TENANT) as calls:
            return _log_side(calls)


def _behind(store: SqlConnection, calls: SqlConnection) -> list[tuple[str, str, int, int]]:
    """Chains that have records the store does not remember: log, tenant, id, last remembered."""
    known = _known(store)
    found = calls.execute("SELECT log, tenant, id, seq, start FROM audit_chains").fetchall()
    return [
        (log, tenant, number, known.get((log, tenant), start))
        for log, tenant, number, seq, start in found
        if seq > known.get((log, tenant), start)
    ]


def _known(store: SqlConnection) -> dict[tuple[str, str], int]:
    """Up to which number each chain is remembered."""
    found = store.execute("SELECT log, tenant, max(seq) FROM log_anchors GROUP BY log, tenant")
    return {(log, tenant): seq for log, tenant, seq in found.fetchall()}


def _store_side(store: SqlConnection) -> StoreSide:
    [(identity,)] = store.execute("SELECT identity FROM store").fetchall()
    found = store.execute("SELECT identity, marker FROM log_file").fetchone()
    return StoreSide(identity, *(found or ("", "")))


def _log_side(calls: SqlConnection) -> LogSide:
    return LogSide(
        *calls.execute("SELECT identity, store, marker, before FROM audit_file").fetchone()
    )
