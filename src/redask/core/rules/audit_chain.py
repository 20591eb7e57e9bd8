"""The hash chain of a log, second edition: `genesis`, `entry`, `link`; `verify` checks a chain.

    leaf     the record's content, salted: see `auditing.commitments`
    entry    SHA-256( seq " " at " " kind " " leaf )           at: the log's own time, in ns
    hash(n)  SHA-256( hash(n-1) " " entry )                    hash of the start: the genesis
    genesis  SHA-256( "redask audit 2 " identity " " log " " start " " tenant )

Hashes are 64 lower-case hex digits. Each tenant has a chain of its own in each log, with numbers
that count up by one. Rows are of the kind `row`; what happens to a chain is a record of it, too:

    pruned        retention took rows `from` … `to`; `last` is the hash of the last of them, `head`
                  of the whole chain then, `rule` why; `root` that of the tree up to `to`
    erased        values were taken out of row `seq`: `fields`, for a `reason`, by a `user`
    migrated      the head of a log of the first edition, which `auditing.first_chain` verifies
    pruned_first  what retention took of that one
    accepted      somebody took the log as it is, with the fault that it had
    provenance_pruned  what was kept of how the answers of rows up to `to` were made is gone; `rule`

The store remembers of each chain the hash at some numbers and eight digits of every entry
(`ChainAnchor`), and how far retention may have gone. `verify` reads the records in order and names
the first that is not as written, re-made chains included, up to the last anchor; behind it,
whoever owns the file can re-make the chain. What sees that, too, is a checkpoint of the Merkle
tree over the entries (`auditing.merkle`, `auditing.checkpoints`).
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from redask.core.rules.auditing.checkpoints import CheckedSeals

MARK = 8  # digits of an entry that the store remembers
UNREADABLE = ""  # in place of the leaf of a record whose content cannot be read
ROW, PRUNED, MIGRATED, PRUNED_FIRST, ACCEPTED, ERASED, PROVENANCE_PRUNED = (
    *("row", "pruned", "migrated"),
    *("pruned_first", "accepted", "erased", "provenance_pruned"),
)


@dataclass(frozen=True, slots=True)
class Head:
    """The last record of a chain, and (`pruned`) the last one that retention removed."""

    seq: int = 0
    hash: str = ""
    pruned_seq: int = 0
    pruned_hash: str = ""


@dataclass(frozen=True, slots=True)
class Chain:
    """One chain: its log and tenant, the number before its first record, its genesis, its head."""

    log: str
    tenant: str
    start: int
    genesis: str
    head: Head


@dataclass(frozen=True, slots=True)
class ChainRecord:
    """One record as it is stored; `facts` is the content of what is no row.

    `erased` names the values that were taken out of it; the leaf may be `UNREADABLE`.
    """

    seq: int
    kind: str
    at: int
    leaf: str
    hash: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    erased: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ChainAnchor:
    """What the store remembers of records `first` … `seq`: the last one's hash, every mark."""

    first: int
    seq: int
    hash: str
    marks: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """What the store remembers of a chain; `prunable` None: there is no store to ask."""

    anchors: Sequence[ChainAnchor] = ()
    prunable: int | None = None


@dataclass(frozen=True, slots=True)
class ChainReport:
    """A chain that is as written: its rows, what was pruned and why, up to where it is anchored.

    `pruned_root` is the root of the tree over what was pruned, where its record has it.
    """

    log: str
    tenant: str
    rows: int
    head: Head
    rule: str = ""
    anchored: int = 0
    pruned_root: str = ""
    erased: int = 0


@dataclass(frozen=True, slots=True)
class Intact:
    """Every row is as written; `seals` are the checkpoints that it was compared with.

    `other_seals` is how many were given that are of other logs or tenants: nothing is said of them.
    """

    rows: int
    head: Head
    chains: tuple[ChainReport, ...] = ()
    seals: tuple[CheckedSeals, ...] = ()
    other_seals: int = 0


@dataclass(frozen=True, slots=True)
class Broken:
    """The first row that is not as written, and why; 0 for the log as a whole."""

    seq: int
    reason: str
    tenant: str = ""


def genesis(identity: str, log: str, tenant: str, start: int = 0) -> str:
    """What the first record of a chain follows."""
    return _sha256(f"redask audit 2 {identity} {log} {start} {tenant}")


def entry(seq: int, at: int, kind: str, leaf: str) -> str:
    """The hash of a record alone."""
    return _sha256(f"{seq} {at} {kind} {leaf}")


def link(previous: str, record: str) -> str:
    """The hash of a record, by its entry and the hash before."""
    return _sha256(f"{previous} {record}")


def verify(
    chain: Chain,
    records: Iterable[ChainRecord],
    remembered: Remembered,
    seen: Callable[[int, str], None] = lambda _seq, _entry: None,
) -> ChainReport | Broken:
    """Verify one chain, its records given in the order of their numbers.

    `seen` is told the number and entry of each that is as written.
    """
    head, rows, erasures = chain.head, 0, _Erasures()
    seq, last = head.pruned_seq, head.pruned_hash
    pruned: Mapping[str, Any] = {"to": chain.start, "last": chain.genesis, "rule": ""}
    anchors = _Anchors(remembered.anchors)
    if not anchors.agree_on(seq, last):
        return _broken(chain, seq, "is not what was written: the store remembers another")
    for each in records:
        unfit = _unfit(chain, each, seq + 1)
        if unfit is not None:
            return unfit
        made = entry(each.seq, each.at, each.kind, each.leaf)
        if each.hash != link(last, made):
            return _broken(chain, each.seq, "is not what was written")
        if not anchors.agree(each.seq, made, each.hash):
            return _broken(chain, each.seq, "is not what was written: the store remembers another")
        seq, last, rows = each.seq, each.hash, rows + (each.kind == ROW)
        seen(seq, made)
        erasures.add(each)
        pruned = each.facts if each.kind == PRUNED else pruned
    if seq < head.seq:
        return _missing(chain, seq + 1)
    if last != head.hash:
        return _broken(chain, seq, "is not what was written")
    if anchors.last > head.seq:
        return _missing(chain, head.seq + 1)
    if (pruned.get("to"), pruned.get("last")) != (head.pruned_seq, head.pruned_hash):
        return _broken(chain, head.pruned_seq, "is missing, and no record says it was pruned")
    if remembered.prunable is not None and head.pruned_seq > max(remembered.prunable, chain.start):
        return _missing(chain, max(remembered.prunable, chain.start) + 1)
    unnoted = erasures.fault(head.pruned_seq)
    if unnoted is not None:
        return _broken(chain, *unnoted)
    told = (str(pruned.get("rule")), anchors.last, str(pruned.get("root", "")), erasures.rows)
    return ChainReport(chain.log, chain.tenant, rows, head, *told)


def _unfit(chain: Chain, record: ChainRecord, seq: int) -> Broken | None:
    """Why a record cannot be the one with this number, whatever its hash is."""
    if record.seq != seq:
        return _missing(chain, seq)
    if seq > chain.head.seq:
        return _broken(chain, seq, "was added behind the end of the log")
    if record.leaf == UNREADABLE:
        return _broken(chain, seq, "cannot be read: it is not what was written")
    return None


class _Erasures:
    """What was erased of records, beside what the chain says of it."""

    def __init__(self) -> None:
        self._lacking: dict[int, frozenset[str]] = {}
        self._noted: dict[int, set[str]] = {}

    @property
    def rows(self) -> int:
        return len(self._lacking)

    def add(self, record: ChainRecord) -> None:
        if record.erased:
            self._lacking[record.seq] = record.erased
        if record.kind == ERASED:
            fields, seq = record.facts.get("fields"), record.facts.get("seq")
            if isinstance(fields, list) and isinstance(seq, int):
                self._noted.setdefault(seq, set()).update(map(str, fields))

    def fault(self, pruned: int) -> tuple[int, str] | None:
        """The first record that lacks more, or less, than the chain says."""
        for seq in sorted({*self._lacking, *(each for each in self._noted if each > pruned)}):
            lacking, noted = self._lacking.get(seq, frozenset()), self._noted.get(seq, set())
            if lacking - noted:
                return seq, f"lacks {min(lacking - noted)}, and no record says it was erased"
            if noted - lacking:
                return seq, f"has {min(noted - lacking)}, which was erased"
        return None


class _Anchors:
    """The anchors of a chain beside its records."""

    def __init__(self, anchors: Sequence[ChainAnchor]) -> None:
        self._left = sorted(anchors, key=lambda anchor: anchor.seq, reverse=True)
        self.last = self._left[0].seq if self._left else 0

    def agree_on(self, seq: int, digest: str) -> bool:
        return all(each.hash == digest for each in self._left if each.seq == seq)

    def agree(self, seq: int, made: str, digest: str) -> bool:
        while self._left and self._left[-1].seq < seq:
            self._left.pop()
        if not self._left or seq < self._left[-1].first:
            return True
        anchor = self._left[-1]
        place = (seq - anchor.first) * MARK
        if anchor.marks[place : place + MARK] != made[:MARK]:
            return False
        return seq < anchor.seq or anchor.hash == digest


def _missing(chain: Chain, seq: int) -> Broken:
    return _broken(chain, seq, "is missing")


def _broken(chain: Chain, seq: int, what: str) -> Broken:
    return Broken(seq, f"row {seq} {what}", chain.tenant)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
