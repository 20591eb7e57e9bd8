"""URNs on the hot path: `address(urn)` gives its one spelling, its kind and its collection.

The same rules as `rules.urn`, which does the work; this file only remembers what it said of
`urn:reddb:<kind>:<collection>`, because a million URNs share a handful of those, and lets an
id (and a label) of plain characters pass without decoding it. An escape may be spelled in two
ways (`%c3`, `%C3`); the store knows the upper-case one only.
"""

import re
from functools import lru_cache

from redask.core.errors import BadAsk, BadUrn, UrnFault
from redask.core.model import Kind
from redask.core.ports import Entity
from redask.core.rules import urn as urns

# printable ASCII but % / # and :, and those escaped as they must be, with the space
_PLAIN = r"(?:[!\"$&-.0-9;-~]|%(?:25|2F|23|3A|20))+"
_PLAIN_ID = re.compile(_PLAIN)
_PLAIN_CHUNK = re.compile(f"{_PLAIN}#{_PLAIN}")
_PLAIN_URN = re.compile(
    f"urn:reddb:(?:(?:{'|'.join(Kind)}):{_PLAIN}/{_PLAIN}|document:{_PLAIN}/{_PLAIN}#{_PLAIN})"
)


def address(urn: str) -> tuple[str, Kind, str]:
    """The canonical URN, its kind and its collection's name; `BadUrn` when it is none."""
    if not isinstance(urn, str):
        raise BadUrn(UrnFault.SCHEME, f"a URN is text, not {type(urn).__name__}")
    head, _, entity = urn.partition("/")
    if not _PLAIN_ID.fullmatch(entity) and not (
        head.startswith("urn:reddb:document:") and _PLAIN_CHUNK.fullmatch(entity)
    ):
        parts = urns.decode(urn)
        return urns.encode(parts), parts.kind, parts.collection
    canonical, kind, collection = _collection(head)
    return (urn if canonical == head else f"{canonical}/{entity}"), kind, collection


def canonical(urn: str) -> str:
    """The URN as the store spells it; `BadUrn` when it is none."""
    if isinstance(urn, str) and _PLAIN_URN.fullmatch(urn):
        return urn
    return address(urn)[0]


@lru_cache(maxsize=4096)
def _collection(head: str) -> tuple[str, Kind, str]:
    parts = urns.decode(f"{head}/x")
    return urns.encode(parts).removesuffix("/x"), parts.kind, parts.collection


def ends_of(urn: str, entity: Entity, content: dict[str, object]) -> tuple[str, str]:
    """The ends of an edge, which its payload must tell as well."""
    if entity.source is None or entity.target is None:
        raise BadAsk(f"the edge {urn} needs a source and a target", detail=urn)
    if (content.get("from"), content.get("to")) != (entity.source, entity.target):
        raise BadAsk(f"the payload of {urn} names other ends than the edge has", detail=urn)
    ends = canonical(entity.source), canonical(entity.target)
    if ends != (entity.source, entity.target):
        raise BadAsk(f"the ends of {urn} must be written as canonical URNs", detail=urn)
    return ends
