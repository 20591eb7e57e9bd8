"""On the way from one policy of a collection to another: what is in force, and by which layout.

    phase    in force                        what is written, or moved, gets the layout of
    joint    the earlier policies and the    both that and the new policy: `transitional_layout`
             new one: `joint_policies`
    last     the new policy alone            the new policy
    (none)   the same                        the same

`relabelling` has a row for each collection on its way: the documents of the earlier policies (null
is no policy), the phase, the last key that was looked at, and how far that is. A policy that is set
meanwhile makes all before it earlier ones.
"""

import json
from functools import lru_cache
from typing import NamedTuple

from redask.core.access.joint_policies import joint, transitional_layout
from redask.core.access.policy import ClassLayout, Policy, Projection
from redask.core.wire.json import text
from redask.stores.relational.sql_database import SqlConnection
from redask.stores.visibility import stored_policy


class Transition(NamedTuple):
    """One row of `relabelling`, with the document of the new policy (None: no policy)."""

    collection: str
    earlier: tuple[str | None, ...]
    is_joint: bool
    after: int
    done: int
    total: int
    document: str | None

    def in_force(self, *, closed: bool = False) -> Policy | None:
        """The policy in force; `closed` is what had none."""
        every = (*self.earlier, self.document) if self.is_joint else (self.document,)
        shut = [Policy(self.collection, ())] if closed and None in every[:-1] else []
        ruled = [stored_policy(self.collection, each) for each in every if each is not None]
        return joint([*shut, *ruled]) if shut or ruled else None

    def layout(self) -> ClassLayout | None:
        """The layout that the collection is on the way to; None is that of no policy."""
        new = None if self.document is None else stored_policy(self.collection, self.document)
        if self.is_joint:
            return transitional_layout(self.in_force(), new)
        return None if new is None else new.layout


def transitions(connection: SqlConnection, tenant: str) -> dict[str, Transition]:
    """A tenant's collections that are on their way, by name."""
    found = connection.execute(
        "SELECT relabelling.collection, earlier, joint, after, done, total, document"
        " FROM relabelling JOIN tenants ON tenants.id = relabelling.tenant"
        " LEFT JOIN policies ON policies.tenant = relabelling.tenant"
        " AND policies.collection = relabelling.collection"
        " WHERE name = ? ORDER BY relabelling.collection",
        (tenant,),
    ).fetchall()
    return {
        name: Transition(name, tuple(json.loads(earlier)), bool(is_joint), *rest)
        for name, earlier, is_joint, *rest in found
    }


def in_force(connection: SqlConnection, tenant: str, *, closed: bool = False) -> dict[str, Policy]:
    """The policies of a tenant that are in force, by collection."""
    found = _settled(connection, tenant)
    for name, transition in transitions(connection, tenant).items():
        found.pop(name, None)
        policy = transition.in_force(closed=closed)
        if policy is not None:
            found[name] = policy
    return found


def target_layouts(connection: SqlConnection, tenant: str) -> dict[str, ClassLayout]:
    """The layouts by which a tenant's entities are classified now, by collection."""
    found = {name: policy.layout for name, policy in _settled(connection, tenant).items()}
    for name, transition in transitions(connection, tenant).items():
        found.pop(name, None)
        layout = transition.layout()
        if layout is not None:
            found[name] = layout
    return found


def _settled(connection: SqlConnection, tenant: str) -> dict[str, Policy]:
    found = connection.execute(
        "SELECT collection, document FROM policies JOIN tenants ON id = tenant WHERE name = ?",
        (tenant,),
    )
    return {name: stored_policy(name, document) for name, document in found.fetchall()}


def layout_number(connection: SqlConnection, collection_id: int, layout: ClassLayout | None) -> int:
    """The number of a layout of a collection, made when there is none; 0 is that of no policy."""
    if layout is None:
        return 0
    projections = [each.order() for each in layout.projections]
    place = (collection_id, text({"columns": layout.columns, "projections": projections}))
    connection.execute(
        "INSERT INTO class_layouts (collection, facts) SELECT ?1, ?2 WHERE NOT EXISTS"
        " (SELECT 1 FROM class_layouts WHERE collection = ?1 AND facts = ?2)",
        place,
    )
    number: int
    (number,) = connection.execute(
        "SELECT id FROM class_layouts WHERE collection = ? AND facts = ?", place
    ).fetchone()
    return number


@lru_cache(1000)
def layout_of(collection: str, facts: str | None) -> ClassLayout | None:
    """A layout as it is stored; None is that of no policy."""
    if facts is None:
        return None
    plain = json.loads(facts)
    projections = [
        Projection(frozenset(hide), frozenset(mask), None if only is None else frozenset(only))
        for hide, mask, only in plain["projections"]
    ]
    return ClassLayout(collection, tuple(plain["columns"]), tuple(projections))
