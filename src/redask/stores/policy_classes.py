"""Policy classes: what decides who may read an entity, and nothing else.

It is what the conditions of its collection's policy look at, and what the entity **tells** besides
its payload, where that is a column which a policy hides or masks from anybody:

    entity                                     tells, by its address or by being there
    edge                                       `from`, `label` and `to` of its own
    edge of a foreign key that a file          the columns of the key at the one end, those that
    declares                                   it references at the other
    edge of a link in a text                   the `text` at its source
    row of a table with a declared key         the columns of the primary key
    chunk of a document                        `heading`, `path` and `title`
    row that its content names                 every column: see `entity_rows`

Who cannot see a column sees no entity that tells it. A policy that hides what tells the address of
an entity that is there is refused (`check_addresses`): it would hide the entities as a whole.

a policy changes in                    then
the columns its conditions look at,    all that the collection holds is classified anew, and
or its column projections              counts as changed; so do edges that tell other columns now
the columns it hides from anybody      besides, vectors that an embedder made of the
                                       collection are dropped: they told of other columns
anything else (roles, conditions)      nothing moves: only who sees what is worked out anew
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from types import MappingProxyType
from typing import NamedTuple

from redask.core import places
from redask.core.access.policy import WHOLE, ClassLayout, Policy, Projection
from redask.core.errors import BadAsk
from redask.core.model import Kind, Source
from redask.core.ports import LINK_LABEL, DeclaredKey
from redask.core.text import lower
from redask.core.wire.json import text
from redask.stores.canonical_urns import address
from redask.stores.entity_rows import CONTENT_ID_DIGITS
from redask.stores.write_rules import GIVEN, VectorSpace

_CHUNK = ("heading", "path", "title")
_EDGE = ("from", "label", "to")

Told = Mapping[str, frozenset[str] | None]  # columns by collection; None is every column
ReadPage = Callable[[str], Sequence[Source]]
EdgeRelation = tuple[str, str, str]  # collection, label, collection


class AddressedEntity(NamedTuple):
    """An entity as far as its class goes: `digest` is where its id may be one of its payload."""

    urn: str
    kind: Kind
    collection: str
    content: Mapping[str, object]
    payload: str


@dataclass(frozen=True, slots=True)
class KeyColumns:
    """What the keys that files declare make of columns: addresses of rows, and edges."""

    addresses: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))
    relations: Mapping[EdgeRelation, Told] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def of(cls, keys: Iterable[DeclaredKey]) -> "KeyColumns":
        """The same by collection, and by relation."""
        addresses: dict[str, frozenset[str]] = {}
        relations: dict[EdgeRelation, Told] = {}
        for key in keys:
            if key.target is None:
                known = addresses.get(key.collection, frozenset())
                addresses[key.collection] = known | frozenset(key.columns)
            else:
                relation = (key.collection, key.label, key.target)
                ends = ((key.collection, key.columns), (key.target, key.target_columns))
                relations[relation] = _joined(relations.get(relation, {}), ends)
        return cls(addresses, relations)


def told_by(entity: AddressedEntity, keys: KeyColumns) -> Told:
    """The columns that an entity tells besides its payload."""
    own = entity.collection
    if entity.kind is Kind.EDGE:
        ends = [address(str(entity.content.get(name)))[2] for name in ("from", "to")]
        label = str(entity.content.get("label"))
        told = keys.relations.get((ends[0], label, ends[1]), {})
        made = [(ends[0], ("text",))] if label == LINK_LABEL else []
        return _joined(told, [*made, (own, _EDGE)])
    if entity.kind is Kind.DOCUMENT and places.worded(entity.content) is not entity.content:
        return {own: frozenset(_CHUNK)}
    if _is_named_by_content(entity):
        return {own: None}
    columns = keys.addresses.get(own)
    return {own: columns} if columns and entity.kind is Kind.ROW else {}


def class_of(
    layouts: Mapping[str, ClassLayout], entity: AddressedEntity, keys: KeyColumns
) -> str | None:
    """The policy class of an entity; None when nothing decides who reads it (`UNCLASSIFIED`)."""
    if not layouts:
        return None
    layout = layouts.get(entity.collection)
    seen = None if layout is None else layout.policy_class(entity.content)
    hidden = _hidden(layouts, told_by(entity, keys))
    return text([seen or "", hidden]) if hidden else seen


def split_class(policy_class: str) -> tuple[str, Mapping[str, list[str] | None]]:
    """What the conditions see of a class, and the columns that it tells, by collection."""
    if not policy_class.startswith("["):
        return policy_class, {}
    seen, hidden = json.loads(policy_class)
    return seen, hidden


def shows(projection: Projection, columns: Iterable[str] | None) -> bool:
    """Whether all of these columns (None: of all there are) can be seen."""
    if columns is None:
        return projection == WHOLE
    return not any(map(projection.hides, columns))


def check_addresses(policy: Policy, entity: AddressedEntity, keys: KeyColumns) -> None:
    """Refuse a policy that hides what the address of an entity of its collection tells."""
    own = told_by(entity, keys).get(policy.collection, frozenset())
    if own is not None and not any(map(policy.layout.hides, own)):
        return
    for number, rule in enumerate(policy.rules):
        if not shows(rule.projection, own):
            why = _reason(policy, rule.projection, own)
            raise BadAsk(
                f"the policy is not valid at read[{number}]: {why} (as in {entity.urn[:200]})",
                detail=f"read[{number}]",
            )


def check_policy(policy: Policy, keys: KeyColumns, read: ReadPage) -> None:
    """`check_addresses` of all that its collection holds; `read` gives what comes after a URN."""
    after = ""
    while page := read(after):
        for urn, payload in ((each.urn, each.payload) for each in page):
            kind, content = address(urn)[1], json.loads(payload)
            check_addresses(
                policy, AddressedEntity(urn, kind, policy.collection, content, payload), keys
            )
        after = page[-1].urn


def _reason(policy: Policy, projection: Projection, own: Iterable[str] | None) -> str:
    name = policy.collection
    if own is None:
        return (
            f"rows of {name!a} that came without an id are named by all their columns, which can be"
            " guessed from that name: put them with an id, or choose rows instead of columns"
        )
    gone = ", ".join(sorted(filter(projection.hides, own)))
    stays = "show must name it" if projection.only is not None else "it stays"
    return (
        f"{gone} is part of the address of what {name!a} holds: {stays}; choose rows instead of"
        " columns, or put the data under addresses that may be seen"
    )


@dataclass(frozen=True, slots=True)
class LayoutChange:
    """A collection's layout before and after; None is that of no policy."""

    before: ClassLayout | None
    after: ClassLayout | None

    @property
    def reclassifies(self) -> bool:
        """Whether what the collection holds is to be classified and indexed anew."""
        return self.before != self.after

    @property
    def hides_others(self) -> bool:
        """Whether other columns are hidden from anybody: edges may tell them."""
        return _concealed(self.before) != _concealed(self.after)

    def drops_vectors(self, space: VectorSpace | None) -> bool:
        """Whether the collection's vectors, which are of this space, tell too much or too little.

        Those that came with the data are the owner's own, and stay.
        """
        return self.hides_others and space is not None and space[0] != GIVEN


def _concealed(layout: ClassLayout | None) -> tuple[list[str], list[str] | None]:
    return ([], None) if layout is None else layout.hidden


def _hidden(layouts: Mapping[str, ClassLayout], told: Told) -> dict[str, list[str] | None]:
    """Those of the columns that some rule hides from somebody."""
    found: dict[str, list[str] | None] = {}
    for name in sorted(layouts.keys() & told.keys()):
        layout, columns = layouts[name], told[name]
        if columns is None:
            if len(layout.projections) > 1:
                found[name] = None
        elif any(map(layout.hides, columns)):
            found[name] = sorted(filter(layout.hides, columns))
    return found


def _joined(told: Told, more: Iterable[tuple[str, Iterable[str]]]) -> Told:
    joined = dict(told)
    for name, columns in more:
        joined[name] = (joined.get(name) or frozenset()) | frozenset(columns)
    return joined


def _is_named_by_content(entity: AddressedEntity) -> bool:
    """Whether the id in a URN is the digest of the payload: see `entity_rows.entities`."""
    if any(lower(name) == "id" for name in entity.content):
        return False
    name = entity.urn.rpartition("/")[2]
    if len(name) != CONTENT_ID_DIGITS:
        return False
    return sha256(entity.payload.encode()).hexdigest().startswith(name)


def hidden_columns(layout: ClassLayout | None, payload: str) -> frozenset[str]:
    """The columns of a payload that are hidden from anybody."""
    if layout is None or len(layout.projections) == 1:
        return frozenset()
    return frozenset(filter(layout.hides, json.loads(payload)))
