"""Which changes of a tenant are embedded by whom: pure rules on a list of `EmbeddingLease`.

Everything up to `start` was looked at. Above it, spans of changes (`after` < sequence ≤ `through`)
have a holder each, or none (`DONE`): those were looked at, too, while one below is still at work.

    taken      a span that is free, the lowest first; who has one renews it
    over       a holder that gave no sign of life: its span is free again
    worked     a holder's span begins later; what lies behind it is done
    start      moves through done spans
"""

import json
from collections.abc import Collection, Iterator
from dataclasses import astuple, replace

from redask.core.ports import EmbeddingLease

DONE = ""
_ALL = 2**62

Leases = tuple[EmbeddingLease, ...]


def of(leases: Leases, holder: str) -> EmbeddingLease | None:
    """A holder's own."""
    return next((each for each in leases if each.holder == holder), None)


def renewed(leases: Leases, claimed: EmbeddingLease, over: Collection[EmbeddingLease]) -> Leases:
    """With a sign of life of one holder, and without those that are over."""
    return tuple(
        replace(each, beat=claimed.beat) if each.holder == claimed.holder else each
        for each in leases
        if each not in over
    )


def free(leases: Leases, start: int) -> Iterator[tuple[int, int]]:
    """The spans that nobody has, the lowest first; the last has no end."""
    for each in leases:
        if each.after > start:
            yield start, each.after
        start = max(start, each.through)
    yield start, _ALL


def added(leases: Leases, lease: EmbeddingLease) -> Leases:
    """With one more, in order; done spans that touch are one."""
    made: list[EmbeddingLease] = []
    for each in sorted((*leases, lease), key=lambda found: (found.after, found.through)):
        if made and made[-1].holder == each.holder == DONE and made[-1].through >= each.after:
            made[-1] = replace(made[-1], through=max(made[-1].through, each.through))
        else:
            made.append(each)
    return tuple(made)


def worked(leases: Leases, lease: EmbeddingLease, through: int) -> Leases:
    """After a holder's span was looked at up to a change; one that is not the holder's any more
    stays as it is: another does it again."""
    own = of(leases, lease.holder)
    if own is None or not own.after <= through <= own.through:
        return leases
    rest = tuple(each for each in leases if each is not own)
    if through < own.through:
        rest = added(rest, replace(own, after=through, beat=lease.beat))
    return added(rest, EmbeddingLease(DONE, 0, own.after, through))


def passed(leases: Leases, start: int) -> tuple[Leases, int]:
    """Without what lies below the start, which moves through done spans. → both"""
    for each in leases:
        if each.holder == DONE and each.after <= start:
            start = max(start, each.through)
    return tuple(each for each in leases if each.through > start), start


def written(leases: Leases) -> str | None:
    """As a text to store; None for none."""
    return json.dumps([astuple(each) for each in leases]) if leases else None


def read(stored: str | None, beat: int) -> Leases:
    """What was stored; an older redask wrote one holder of everything, with its beat beside it."""
    if not stored:
        return ()
    if not stored.startswith("["):
        return (EmbeddingLease(stored, beat, 0, _ALL),)
    return tuple(EmbeddingLease(*each) for each in json.loads(stored))
