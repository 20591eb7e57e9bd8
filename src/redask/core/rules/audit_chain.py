"""The hash chain of the audit log: `link` computes a hash, `verify` checks the whole chain.

    hash(n) = SHA-256( hash(n-1) ‖ n, 8 bytes big-endian ‖ canonical row ),  hash(0) = 64 zeros
    seal    = SHA-256( last row removed by retention ‖ last row: both as number and hash )

Numbers count up by one without a gap. The head holds the last row, and the last one that
retention removed (0 if none), so that neither end can be truncated; its seal covers all four
values. `verify` reads rows in order and reports the first one that is not as written:

    changed or reordered   its hash does not follow       dropped    its number is missing
    inserted               the hash of it or of the next does not follow, or it is past the head

A process that can write the file can rewrite the chain from a changed row on; to detect that, keep
a head elsewhere (`redask audit verify` prints it).
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class Head:
    """The last row of the chain, and (`pruned`) the last one that retention removed."""

    seq: int = 0
    hash: str = GENESIS
    pruned_seq: int = 0
    pruned_hash: str = GENESIS


@dataclass(frozen=True, slots=True)
class Chained:
    """One stored row: its number, its canonical JSON and its hash."""

    seq: int
    row: str
    hash: str


@dataclass(frozen=True, slots=True)
class Intact:
    """Every row is as written."""

    rows: int
    head: Head


@dataclass(frozen=True, slots=True)
class Broken:
    """The first row that is not as written, and why; 0 for the head itself."""

    seq: int
    reason: str


def link(previous: str, seq: int, row: str) -> str:
    """The hash of row number `seq`, which follows the row with the hash `previous`."""
    return hashlib.sha256(previous.encode() + seq.to_bytes(8, "big") + row.encode()).hexdigest()


def seal(head: Head) -> str:
    """The hash over all of a head."""
    parts = f"{head.pruned_seq} {head.pruned_hash} {head.seq} {head.hash}"
    return hashlib.sha256(parts.encode()).hexdigest()


def verify(links: Iterable[Chained], head: Head, sealed: str) -> Intact | Broken:
    """Verify a chain, given in the order of its numbers."""
    if seal(head) != sealed:
        return Broken(0, "the head of the log was changed")
    seq, last = head.pruned_seq, head.pruned_hash
    for each in links:
        if each.seq != seq + 1:
            return Broken(seq + 1, f"row {seq + 1} is missing")
        if each.seq > head.seq:
            return Broken(each.seq, f"row {each.seq} was added behind the end of the log")
        if each.hash != link(last, each.seq, each.row):
            return Broken(each.seq, f"row {each.seq} is not what was written")
        seq, last = each.seq, each.hash
    if seq < head.seq:
        return Broken(seq + 1, f"row {seq + 1} is missing")
    if last != head.hash:
        return Broken(seq, f"row {seq} is not what was written")
    return Intact(seq - head.pruned_seq, head)
