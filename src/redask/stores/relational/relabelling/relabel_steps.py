"""Classifying a collection anew, step by step: `begin` with another policy, `advance` until done.

Each step is a transaction of its own, short enough that writers beside it hardly wait. How far it
is stands in the database, so that it goes on after a kill, by whichever process comes next; two at
once share the work. What is written meanwhile is classified by the layout to come at once.

Edges of other collections that tell a column of this one are classified by `begin`, all at once:
only if keys that files declare, or links in texts, tell a column that is hidden, or shown, anew.
"""

import json

from redask.core.access.policy import ClassLayout, Policy
from redask.core.wire.json import text
from redask.stores.canonical_urns import address
from redask.stores.policy_classes import AddressedEntity, KeyColumns, LayoutChange
from redask.stores.relational.relabelling import transitions
from redask.stores.relational.relabelling.transitions import Transition, layout_number, layout_of
from redask.stores.relational.sql_database import SqlConnection
from redask.stores.relational.writer import EntityWriter, LabelledEntity
from redask.stores.visibility import stored_policy

STEP = 500  # rows that are looked at in one transaction
_ALL = 1 << 62

_EDGES = """
    SELECT edge.key, edge.label, edge.urn, collections.name, edge.payload FROM edges
    JOIN entities AS source ON source.key = edges.source
    JOIN entities AS target ON target.key = edges.target
    JOIN entities AS edge ON edge.key = edges.key
    JOIN collections ON collections.id = edge.collection
    WHERE edge.collection <> ?1 AND (source.collection = ?1 OR target.collection = ?1)
    ORDER BY edge.seq"""


def begin(
    connection: SqlConnection,
    writer: EntityWriter,
    name: str,
    policy: Policy | None,
    document: str,
) -> None:
    """Set a collection's policy, or (None) none; `advance` does what that leaves to do."""
    tenant = writer.name
    known = transitions.transitions(connection, tenant).get(name)
    place = (writer.tenant, name)
    found = connection.execute(
        "SELECT document FROM policies WHERE tenant = ? AND collection = ?", place
    ).fetchone()
    before = found[0] if found else None
    old = known.layout() if known else _layout(name, before)
    connection.execute("DELETE FROM policies WHERE tenant = ? AND collection = ?", place)
    if policy is not None:
        connection.execute("INSERT INTO policies VALUES (?, ?, ?)", (*place, document))
    writer.classes.changes += 1
    new = None if policy is None else policy.layout
    if known is None and not LayoutChange(old, new).reclassifies:
        return  # only who sees what is worked out anew
    collection_id = writer.collection(name)
    earlier = (*known.earlier, before) if known and known.is_joint else (before,)
    now = None if policy is None else document
    transition = Transition(name, earlier, True, 0, 0, 0, now)
    (held,) = connection.execute(
        "SELECT coalesce(sum(entities), 0) FROM holdings WHERE collection = ?", (collection_id,)
    ).fetchone()
    between = transition.layout()
    if known is None and between == old:
        transition = transition._replace(is_joint=False)
    elif between != new:
        held *= 2
    connection.execute(
        "INSERT INTO relabelling VALUES (?, ?, ?, ?, 0, 0, ?) ON CONFLICT (tenant, collection)"
        " DO UPDATE SET earlier = excluded.earlier, joint = excluded.joint, after = 0, done = 0,"
        " total = excluded.total",
        (*place, text(list(earlier)), int(transition.is_joint), held),
    )
    writer.classes.forget_layouts()
    if _tells_others(writer.classes.keys, LayoutChange(old, between), name):
        _reclassify_edges(connection, writer, collection_id)


def advance(connection: SqlConnection, writer: EntityWriter, name: str, rows: int) -> int:
    """Look at the next rows of a collection that is on its way. → how many of them are left over"""
    while rows > 0:
        found = transitions.transitions(connection, writer.name).get(name)
        if found is None:
            break
        rows -= _advance(connection, writer, found, rows)
    return rows


def classify_all(connection: SqlConnection, writer: EntityWriter) -> None:
    """Classify whatever a policy may speak of, as after a change of the rules; in one go."""
    for name in sorted(writer.classes.layouts):
        collection_id = writer.collection(name)
        _reclassify(connection, writer, collection_id, (0, _ALL))
        _forget_classes(connection, writer, name)
        _reclassify_edges(connection, writer, collection_id)


def _advance(connection: SqlConnection, writer: EntityWriter, found: Transition, rows: int) -> int:
    """→ how many rows were looked at, the end of a phase counting as one"""
    name, place = found.collection, (writer.tenant, found.collection)
    collection_id = writer.collection(name)
    looked, last = _reclassify(connection, writer, collection_id, (found.after, rows))
    if looked == rows:
        connection.execute(
            "UPDATE relabelling SET after = ?, done = done + ? WHERE tenant = ? AND collection = ?",
            (last, looked, *place),
        )
        return looked
    if found.is_joint and found.layout() != _layout(name, found.document):
        connection.execute(
            "UPDATE relabelling SET joint = 0, after = 0, done = done + ?"
            " WHERE tenant = ? AND collection = ?",
            (looked, *place),
        )
    else:
        connection.execute("DELETE FROM relabelling WHERE tenant = ? AND collection = ?", place)
    writer.classes.forget_layouts()
    if name not in transitions.transitions(connection, writer.name):
        _forget_classes(connection, writer, name)
    return looked + 1


def _reclassify(
    connection: SqlConnection, writer: EntityWriter, collection_id: int, span: tuple[int, int]
) -> tuple[int, int]:
    """Reclassify the rows after a key, so many at most. → how many were looked at, and the last

    With no limit (`_ALL`) also those that are of the layout to come: the rules changed.
    """
    after, most = span
    (name,) = connection.execute(
        "SELECT name FROM collections WHERE id = ?", (collection_id,)
    ).fetchone()
    layout = writer.classes.layouts.get(name)
    number = layout_number(connection, collection_id, layout)
    rows = connection.execute(
        "SELECT entities.key, label, urn, payload, layout, facts FROM entities"
        " LEFT JOIN labels ON labels.id = label"
        " LEFT JOIN class_layouts ON class_layouts.id = layout"
        " WHERE entities.collection = ? AND payload IS NOT NULL AND entities.key > ?"
        " ORDER BY entities.key LIMIT ?",
        (collection_id, after, most),
    ).fetchall()
    moving = []
    for key, policy_class, urn, payload, own, facts in rows:
        if own != number or most == _ALL:
            change = LayoutChange(layout_of(name, facts), layout)
            entity = _addressed(urn, name, payload)
            drops = change.drops_vectors(writer.space)
            moving.append(LabelledEntity(key, policy_class, entity, drops))
    writer.reclassify(moving)
    return len(rows), rows[-1][0] if rows else after


def _reclassify_edges(connection: SqlConnection, writer: EntityWriter, collection_id: int) -> None:
    found = connection.execute(_EDGES, (collection_id,)).fetchall()
    writer.reclassify(
        LabelledEntity(key, policy_class, _addressed(urn, name, payload))
        for key, policy_class, urn, name, payload in found
    )


def _tells_others(keys: KeyColumns, change: LayoutChange, name: str) -> bool:
    """Whether edges tell a column of a collection that is hidden, or shown, by the change."""
    told = [{"text"}, *(each.get(name) or () for each in keys.relations.values())]
    columns = {column for each in told for column in each}
    return any(
        (change.before is not None and change.before.hides(column))
        != (change.after is not None and change.after.hides(column))
        for column in columns
    )


def _forget_classes(connection: SqlConnection, writer: EntityWriter, name: str) -> None:
    """Forget the classes of layouts that a collection has left."""
    collection_id = writer.collection(name)
    number = layout_number(connection, collection_id, writer.classes.layouts.get(name))
    place = (collection_id, number)
    connection.execute("DELETE FROM labels WHERE collection = ? AND layout <> ?", place)
    connection.execute("DELETE FROM class_layouts WHERE collection = ? AND id <> ?", place)


def _addressed(urn: str, collection: str, payload: str) -> AddressedEntity:
    return AddressedEntity(urn, address(urn)[1], collection, json.loads(payload), payload)


def _layout(name: str, document: str | None) -> ClassLayout | None:
    return None if document is None else stored_policy(name, document).layout
