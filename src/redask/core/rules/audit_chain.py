"""How audit rows hold on to each other: `link` hashes, and `verify` the whole chain.

    hash(n) = SHA-256( hash(n-1) ‖ n, 8 bytes big-endian ‖ canonical row ),  hash(0) = 64 zeros
    seal    = SHA-256( first gone ‖ last: both as number and hash )

Numbers count up by one without a gap. The head names the last row, and the last one that
retention took away (0 if none), so that neither end can be cut off; its seal covers all four
values. `verify` reads rows in order and names the first one that is not what was written:

    changed or reordered   its hash does not follow       dropped    its number is missing
    inserted               the hash of it or of the next does not follow, or it is past the head

Who can write the file can write a new chain from the changed row on; to notice that, too, keep
a head elsewhere (`redask audit verify` prints it).
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class Head:
    """Where the chain ends, and where what is left of it begins."""

    seq: int = 0
    hash: str = GENESIS
    gone_seq: int = 0
    gone_hash: str = GENESIS


@dataclass(frozen=True, slots=True)
class Chained:
    """One stored row: its number, its canonical JSON and the hash beside it."""

    seq: int
    row: str
    hash: str


@dataclass(frozen=True, slots=True)
class Intact:
    """Every row is what was written."""

    rows: int
    head: Head


@dataclass(frozen=True, slots=True)
class Broken:
    """The first row that is not, and why; 0 when it is the head itself."""

    seq: int
    reason: str


def link(previous: str, seq: int, row: str) -> str:
    """The hash of row number `seq`, which follows the row with the hash `previous`."""
    return hashlib.sha256(previous.encode() + seq.to_bytes(8, "big") + row.encode()).hexdigest()


def seal(head: Head) -> str:
    """The hash over all of a head."""
    parts = f"{head.gone_seq} {head.gone_hash} {head.seq} {head.hash}"
    return hashlib.sha256(parts.encode()).hexdigest()


def verify(links: Iterable[Chained], head: Head, sealed: str) -> Intact | Broken:
    """The verdict on a chain, given in the order of its numbers."""
    if seal(head) != sealed:
        return Broken(0, "the head of the log was changed")
    seq, last = head.gone_seq, head.gone_hash
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
    return Intact(seq - head.gone_seq, head)
