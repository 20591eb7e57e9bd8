"""Policies of collections in a store: `RuledStore`, a part of `RelationalStore`.

`set_policy` holds at once, whatever the collection's size: see `transitions`. A collection of up to
`STEP` rows is classified in the same transaction; a larger one step by step, by whoever waits for
it or by `relabel`.
"""

import json
import secrets
from collections.abc import Callable

from redask.core.access.policy import must_own, read_policy
from redask.core.model import Caller, Source
from redask.core.wire.json import text
from redask.stores.backend import Relabelling
from redask.stores.policy_classes import KeyColumns, check_policy
from redask.stores.relational import inspection
from redask.stores.relational.relabelling import relabel_steps, transitions
from redask.stores.relational.sql_database import EVERY_TENANT, SqlDatabase
from redask.stores.relational.visibility_queries import declared_keys
from redask.stores.relational.writer import EntityWriter

_EDGE_KEY_BYTES = 32
CLASS_RULES = 2  # which rules of `policy_classes` hold; a change of them is the next number

_TENANT = "(SELECT id FROM tenants WHERE name = ?)"


class RuledStore:
    """Who may read which collections."""

    _database: SqlDatabase
    edge_key: bytes
    page: Callable[..., list[Source]]

    def policies(self, caller: Caller) -> dict[str, object]:
        """The policies of the caller's tenant, by collection."""
        must_own(caller)
        with self._database.reading(caller.tenant) as connection:
            found = connection.execute(
                f"SELECT collection, document FROM policies WHERE tenant = {_TENANT}"
                " ORDER BY collection",
                (caller.tenant,),
            ).fetchall()
        return {name: json.loads(document) for name, document in found}

    def check_policy(self, collection: str, document: object, caller: Caller) -> None:
        """Raise `BadAsk` if `set_policy` would refuse it; nothing is written."""
        must_own(caller)
        policy = read_policy(collection, document)
        if len(policy.layout.projections) == 1:
            return  # it hides no column
        with self._database.reading(caller.tenant) as connection:
            number = connection.execute(f"SELECT {_TENANT}", (caller.tenant,)).fetchone()[0]
            keys = KeyColumns.of(declared_keys(connection, number))
        check_policy(policy, keys, lambda after: self.page(collection, caller, after=after))

    def set_policy(
        self, collection: str, document: object | None, caller: Caller, *, finish: bool = True
    ) -> int:
        """Put a collection under a policy, or (None) under none. → last sequence."""
        must_own(caller)
        policy = None if document is None else read_policy(collection, document)
        if policy is not None:
            self.check_policy(collection, document, caller)
        with self._database.writing(caller.tenant) as connection:
            writer = EntityWriter(connection, caller.tenant)
            relabel_steps.begin(connection, writer, collection, policy, text(document))
            relabel_steps.advance(connection, writer, collection, relabel_steps.STEP)
            last = writer.finish()
        while finish and self._advance(caller.tenant, collection):
            pass
        return last

    def tenants(self) -> list[str]:
        """The names of all tenants that were ever written to."""
        with self._database.reading(EVERY_TENANT) as connection:
            found = connection.execute("SELECT name FROM tenants ORDER BY name").fetchall()
        return [name for (name,) in found]

    def relabelling(self) -> list[Relabelling]:
        """The collections of all tenants that are being classified anew."""
        with self._database.reading(EVERY_TENANT) as connection:
            found = connection.execute(
                "SELECT name, collection, done, total FROM relabelling"
                " JOIN tenants ON id = tenant ORDER BY name, collection"
            ).fetchall()
        return [Relabelling(*row) for row in found]

    def relabel(self, tenant: str) -> None:
        """Take the next step with one of them, if any."""
        with self._database.reading(tenant) as connection:
            found = sorted(transitions.transitions(connection, tenant))
        if found:
            self._advance(tenant, found[0])

    def policy_faults(self, caller: Caller) -> list[str]:
        """What the policies in force hide as a whole, though they name columns only."""
        must_own(caller)
        with self._database.reading(caller.tenant) as connection:
            return inspection.policy_faults(connection, caller.tenant, keyed=bool(self.edge_key))

    def _advance(self, tenant: str, collection: str) -> bool:
        """Take a step with a collection. → whether there may be more to do"""
        with self._database.writing(tenant) as connection:
            if collection not in transitions.transitions(connection, tenant):
                return False
            writer = EntityWriter(connection, tenant)
            relabel_steps.advance(connection, writer, collection, relabel_steps.STEP)
            writer.finish()
        return True

    def _classify(self, keyed: bool) -> bytes:
        """Classify everything under policies, which another redask did by other rules.

        Edges that are there keep their ids, and those to come are made in the same way. → what with
        """
        with self._database.writing(EVERY_TENANT) as connection:
            ruled = connection.execute(
                "SELECT DISTINCT name FROM tenants JOIN policies ON tenant = tenants.id"
            ).fetchall()
            for (tenant,) in ruled:
                writer = EntityWriter(connection, tenant)
                relabel_steps.classify_all(connection, writer)
                writer.finish()
            new = keyed and connection.execute("SELECT 1 FROM edges LIMIT 1").fetchone() is None
            (edge_key,) = connection.execute(
                "UPDATE store SET classes = ?, edge_key = coalesce(edge_key, ?) RETURNING edge_key",
                (CLASS_RULES, secrets.token_bytes(_EDGE_KEY_BYTES) if new else b""),
            ).fetchone()
        return bytes(edge_key)
