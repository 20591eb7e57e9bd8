"""The trees and checkpoints of both logs: `RelationalSealedLogs`."""

import json
from collections.abc import Sequence
from contextlib import suppress

from redask.core.ports import SinkFault
from redask.core.rules.auditing.checkpoints import (
    Checkpoint,
    TreeState,
    UnreadableCheckpoint,
    checkpoint_of,
)
from redask.core.rules.auditing.log_proofs import ProvableRecord
from redask.core.rules.auditing.merkle import Nodes
from redask.core.rules.auditing.tree_tiles import nodes_in
from redask.stores.relational.auditing import tree_tables
from redask.stores.relational.auditing.chain_tables import identity_of
from redask.stores.relational.sql_database import EVERY_TENANT, SqlDatabase


class RelationalSealedLogs:
    """See `ports.SealedLogs`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def grow(self) -> None:
        """Bring the trees up to date with the chains."""
        tree_tables.grow(self._database)

    def trees(self) -> list[TreeState]:
        """The trees as far as they have grown."""
        with self._database.reading(EVERY_TENANT) as connection:
            identity = identity_of(connection)
            found = connection.execute(
                "SELECT log, tenant, first, size FROM audit_trees JOIN audit_chains ON chain = id"
                " WHERE size > 0 ORDER BY log, tenant"
            ).fetchall()
        return [TreeState(identity, *each) for each in found]

    def nodes(self, log: str, tenant: str) -> Nodes:
        """The nodes of a tree."""
        chain = self._chain(log, tenant)

        def tile(level: int, number: int) -> bytes:
            with self._database.reading(tenant) as connection:
                return tree_tables.tiles_of(connection, chain)(level, number)

        return nodes_in(tile)

    def record(self, log: str, tenant: str, seq: int) -> ProvableRecord | None:
        """A record of a chain, if it is there."""
        with self._database.reading(tenant) as connection:
            found = connection.execute(
                "SELECT audit_records.seq, kind, at, row, beside, opening FROM audit_records"
                " JOIN audit_chains ON id = chain"
                " WHERE log = ? AND tenant = ? AND audit_records.seq = ?",
                (log, tenant, seq),
            ).fetchone()
        return ProvableRecord(*found) if found else None

    def keep(self, checkpoints: Sequence[Checkpoint]) -> None:
        """Keep checkpoints, each in place of its chain's last."""
        with self._database.writing(EVERY_TENANT) as connection:
            connection.executemany(
                "INSERT INTO audit_checkpoints SELECT id, ?, ? FROM audit_chains"
                " WHERE log = ? AND tenant = ? ON CONFLICT (chain) DO UPDATE"
                " SET size = excluded.size, checkpoint = excluded.checkpoint"
                " WHERE excluded.size >= audit_checkpoints.size",  # another process was faster
                [(each.size, each.text(), each.log, each.tenant) for each in checkpoints],
            )

    def checkpoints(self) -> list[Checkpoint]:
        """The newest checkpoint of each chain."""
        return self._read(
            "SELECT checkpoint FROM audit_checkpoints JOIN audit_chains ON chain = id"
            " ORDER BY log, tenant"
        )

    def undelivered(self, sink: str) -> list[Checkpoint]:
        """The checkpoints that a sink has not got."""
        return self._read(
            "SELECT checkpoint FROM audit_checkpoints AS kept JOIN audit_chains ON chain = id"
            " WHERE NOT EXISTS (SELECT 1 FROM audit_deliveries AS done WHERE sink = ?"
            " AND done.chain = kept.chain AND done.size >= kept.size) ORDER BY log, tenant",
            sink,
        )

    def delivered(self, sink: str, checkpoints: Sequence[Checkpoint]) -> None:
        """A sink has got these."""
        with self._database.writing(EVERY_TENANT) as connection:
            connection.executemany(
                "INSERT INTO audit_deliveries SELECT ?, id, ? FROM audit_chains"
                " WHERE log = ? AND tenant = ?"
                " ON CONFLICT (sink, chain) DO UPDATE SET size = excluded.size",
                [(sink, each.size, each.log, each.tenant) for each in checkpoints],
            )
            connection.execute("DELETE FROM audit_sinks WHERE sink = ?", (sink,))

    def failed(self, sink: str, now: int, fault: str) -> None:
        """A sink did not take what it was given; `since` stays that of the first time."""
        with self._database.writing(EVERY_TENANT) as connection:
            connection.execute(
                "INSERT INTO audit_sinks VALUES (?, ?, ?)"
                " ON CONFLICT (sink) DO UPDATE SET fault = excluded.fault",
                (sink, now, fault),
            )

    def faults(self) -> list[SinkFault]:
        """The sinks that failed and have taken nothing since."""
        with self._database.reading(EVERY_TENANT) as connection:
            found = connection.execute("SELECT sink, since, fault FROM audit_sinks ORDER BY sink")
            return [SinkFault(*each) for each in found.fetchall()]

    def _chain(self, log: str, tenant: str) -> int:
        with self._database.reading(tenant) as connection:
            found = connection.execute(
                "SELECT id FROM audit_chains WHERE log = ? AND tenant = ?", (log, tenant)
            ).fetchone()
        return int(found[0]) if found else 0

    def _read(self, statement: str, *given: object) -> list[Checkpoint]:
        with self._database.reading(EVERY_TENANT) as connection:
            found = connection.execute(statement, given).fetchall()
        checkpoints = []
        for (line,) in found:
            with suppress(ValueError, RecursionError, UnreadableCheckpoint):  # made anew then
                checkpoints.append(checkpoint_of(json.loads(line)))
        return checkpoints
