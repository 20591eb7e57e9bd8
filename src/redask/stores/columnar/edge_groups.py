"""Groups: rows of one group are readable by the same callers.

    row                                 its group
    an entity                           its projection key
    an edge that hangs on entities      its projection key, then the class keys of all it hangs
    under policies                      on: its ends, and the ends of those that are edges

A caller reads a group when the caller sees its projection key and every class key. The parts of an
edge may change their class without the edge: then the edge moves to another group.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from redask.core.access.policy import OPEN
from redask.core.ports import Visibility

_JOINT = "+"  # no key has one


class Part(NamedTuple):
    """What an edge may hang on: its class, and its own ends if it is an edge."""

    class_key: str
    source: str | None
    target: str | None


Parts = Mapping[str, Part | None]  # by URN; None is an entity that is gone
Lookup = Callable[[Sequence[str]], Mapping[str, Part]]


def group_name(projection_key: str, required: Iterable[str]) -> str:
    """The name of a group."""
    return _JOINT.join([projection_key, *sorted(required)])


def projection_key(group: str) -> str:
    """The projection key of a group."""
    return group.partition(_JOINT)[0]


def is_readable(
    group: str, collection: str, visibility: Visibility, classes: frozenset[str]
) -> bool:
    """Whether a caller reads a group; `classes` are the class keys that the caller sees."""
    if visibility.projections is None:
        return True
    own, *required = group.split(_JOINT)
    if (own, collection) in visibility.withheld:
        return False
    return own in visibility.projections and classes.issuperset(required)


def required_classes(
    edges: Mapping[str, tuple[str, str]], known: Parts, lookup: Lookup
) -> dict[str, frozenset[str]]:
    """For each of these edges the class keys of everything under a policy that it hangs on."""
    parts: dict[str, Part | None] = dict(known)
    wanted = {end for ends in edges.values() for end in ends}
    seen: set[str] = set()
    while wanted:
        missing = sorted(wanted - parts.keys())
        if missing:
            parts.update(dict.fromkeys(missing))
            parts.update(lookup(missing))
        seen |= wanted
        wanted = {end for urn in wanted for end in _ends(parts[urn])} - seen
    return {urn: _classes(ends, parts) for urn, ends in edges.items()}


def _classes(ends: tuple[str, str], parts: Parts) -> frozenset[str]:
    found: set[str] = set()
    seen: set[str] = set()
    wanted = set(ends)
    while wanted:
        seen |= wanted
        present = [part for part in map(parts.get, wanted) if part is not None]
        found |= {part.class_key for part in present}
        wanted = {end for part in present for end in _ends(part)} - seen
    return frozenset(found - {OPEN})


def _ends(part: Part | None) -> list[str]:
    return [end for end in (part.source, part.target) if end is not None] if part else []
