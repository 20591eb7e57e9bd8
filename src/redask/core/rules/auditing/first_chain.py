"""The hash chain of logs of the first edition: `link`, `seal`, `first_fault`.

    hash(n) = SHA-256( hash(n-1) ‖ n, 8 bytes big-endian ‖ canonical row ),  hash(0) = 64 zeros
    seal    = SHA-256( last row removed by retention ‖ last row: both as number and hash )

One chain for all tenants, whose numbers count up by one without a gap. Nothing is added to it any
more: the record `migrated` of the new chain holds its head, and those `pruned_first` what retention
has taken of it since. `first_fault` reads rows in order and names the first that is not as written.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class FirstHead:
    """The last row of the old chain, and (`pruned`) the last one that retention removed."""

    seq: int = 0
    hash: str = GENESIS
    pruned_seq: int = 0
    pruned_hash: str = GENESIS


@dataclass(frozen=True, slots=True)
class FirstRow:
    """One row of the old chain: its number, its canonical JSON and its hash."""

    seq: int
    row: str
    hash: str


def link(previous: str, seq: int, row: str) -> str:
    """The hash of row number `seq`, which follows the row with the hash `previous`."""
    return hashlib.sha256(previous.encode() + seq.to_bytes(8, "big") + row.encode()).hexdigest()


def seal(head: FirstHead) -> str:
    """The hash over all of a head."""
    parts = f"{head.pruned_seq} {head.pruned_hash} {head.seq} {head.hash}"
    return hashlib.sha256(parts.encode()).hexdigest()


def first_fault(links: Iterable[FirstRow], head: FirstHead, sealed: str) -> tuple[int, str] | None:
    """The first row that is not as written, and why; 0 for the head itself. None: all are."""
    if seal(head) != sealed:
        return 0, "the head of the old log was changed"
    seq, last = head.pruned_seq, head.pruned_hash
    for each in links:
        if each.seq != seq + 1:
            return seq + 1, f"row {seq + 1} is missing"
        if each.seq > head.seq:
            return each.seq, f"row {each.seq} was added behind the end of the old log"
        if each.hash != link(last, each.seq, each.row):
            return each.seq, f"row {each.seq} is not what was written"
        seq, last = each.seq, each.hash
    if seq < head.seq:
        return seq + 1, f"row {seq + 1} is missing"
    if last != head.hash:
        return seq, f"row {seq} is not what was written"
    return None
