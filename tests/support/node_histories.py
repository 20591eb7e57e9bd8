"""What several clients did on several nodes, and whether it can be true: `violations(history)`.

A history is every operation with the times at which a client began it and was told its end. A
write, a read or an ask that failed may have been done all the same, at any time after it began.

    lost, stale    a read shows a write though another, begun after that had ended, was
                   acknowledged, or seen by somebody, before the read began. The reads at the end,
                   when all is mended, find what was lost
    phantom        a read shows what nobody wrote
    unfound        a search on one node does not find what was acknowledged by another
    unaudited      an answer without a row
    twice          an ask with two rows, whether it was answered or not
    broken         the chain of rows does not verify
    overspent      more was booked or set aside than the cap
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

NOTHING = 0  # what a key holds before its first write


@dataclass(frozen=True)
class Operation:
    """A write or a read of a key; `value` is what was written, or seen."""

    kind: str  # "write" or "read"
    key: int
    value: int
    begun: float
    ended: float
    is_told: bool = True  # that it was done


@dataclass(frozen=True)
class Asked:
    """A question that no other client asks."""

    question: str
    is_answered: bool


@dataclass(frozen=True)
class Searched:
    """A search for a row after its only write was acknowledged."""

    urn: str
    is_found: bool


@dataclass
class History:
    """All of it, and what was found when all was mended."""

    operations: list[Operation] = field(default_factory=list)
    asks: list[Asked] = field(default_factory=list)
    rows: Counter[str] = field(default_factory=Counter)  # audit rows by question
    is_chain_intact: bool = True
    spent: int = 0
    cap: int = 0
    searches: list[Searched] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.operations) + len(self.searches) + len(self.asks)


def violations(history: History) -> list[str]:
    """What cannot be, in sentences; empty if all can."""
    found: list[str] = []
    by_key: dict[int, list[Operation]] = defaultdict(list)
    for each in history.operations:
        by_key[each.key].append(each)
    for key, operations in sorted(by_key.items()):
        found += _of_key(key, operations)
    found += [f"unfound: {each.urn}" for each in history.searches if not each.is_found]
    answered = {each.question for each in history.asks if each.is_answered}
    found += [f"unaudited: {each}" for each in sorted(answered) if not history.rows[each]]
    found += [f"twice: {each}" for each, count in sorted(history.rows.items()) if count > 1]
    found += [] if history.is_chain_intact else ["broken: the chain does not verify"]
    if history.spent > history.cap:
        found.append(f"overspent: {history.spent} of {history.cap}")
    return found


@dataclass
class _Write:
    """A write of a key: it was done after `begun`, before `by`; if told, not after `ended`."""

    begun: float
    ended: float
    by: float


def _of_key(key: int, operations: Sequence[Operation]) -> Iterable[str]:
    writes = {NOTHING: _Write(-math.inf, -math.inf, -math.inf)}
    for each in operations:
        if each.kind == "write":
            ended = each.ended if each.is_told else math.inf
            writes[each.value] = _Write(each.begun, ended, ended)
    reads = [each for each in operations if each.kind == "read" and each.is_told]
    for read in reads:
        if read.value in writes:
            seen = writes[read.value]
            seen.by = min(seen.by, read.ended)
    for read in reads:
        if read.value not in writes:
            yield f"phantom: key {key} holds {read.value}, which nobody wrote"
            continue
        shown = writes[read.value]
        newer = [
            value
            for value, other in writes.items()
            if other.by < read.begun and shown.ended < other.begun
        ]
        if newer:
            yield f"stale: key {key} shows {read.value} after {max(newer)} was written"
