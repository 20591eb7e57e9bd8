"""Which files bring what: the rules of the manifest, for every backend.

an entity         belongs to one origin at most. A file that brings what another one brought
                  is refused as a whole, or two files would overwrite each other with every
                  run. What was put by hand belongs to nobody until a file brings it.
a place           of an entity in its file counts from 0; an edge that was settled from a
                  link has `LINK_PLACE`, and is not part of the file
swept             with the last part of a file: what it brought earlier at a place from 0 on
                  and has not brought since its first part. With `link`: edges at LINK_PLACE
                  that are not among the new ones.
a revision        is kept with the last part only; until then it is None, or `NEVER_WHOLE` for
                  a file that was not whole before. It counts for nothing (None) while
                  something that the file brought is deleted.
to be linked      an origin that was loaded; and every origin that links to a path that was
                  loaded or forgotten, for what its links mean may have changed
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from redask.core.ports import Load, Origin

LINK_PLACE = -1
NEVER_WHOLE = ""


def accept(loads: Sequence[Load], owners: Mapping[str, str]) -> tuple[list[Load], dict[str, str]]:
    """The loads that bring nothing of another origin, and whom the others collide with.

    `owners` has the path of the origin that each URN belongs to, of those that belong to one.
    """
    owned = dict(owners)
    accepted, refused = [], {}
    for load in loads:
        path = load.origin.path
        others = (owned.get(entity.urn, path) for entity in load.entities)
        other = next((owner for owner in others if owner != path), None)
        if other is None:
            owned.update((entity.urn, path) for entity in load.entities)
            accepted.append(load)
        else:
            refused[path] = other
    return accepted, refused


def collision(origin: Origin, owners: Mapping[str, str]) -> str | None:
    """The path of another origin among these, or None."""
    return next((path for path in owners.values() if path != origin.path), None)


def recorded(load: Load, before: Origin | None) -> Origin:
    """The origin as it is to be kept once a part of it is written; `before` is what was kept."""
    if load.last:
        return load.origin
    was_whole = before is not None and before.revision != NEVER_WHOLE
    return replace(load.origin, revision=None if was_whole else NEVER_WHOLE)


def known(origin: Origin, has_gaps: bool) -> Origin:
    """The origin as it is told; with gaps, something that it brought is deleted."""
    return replace(origin, revision=None) if has_gaps and origin.revision != NEVER_WHOLE else origin
