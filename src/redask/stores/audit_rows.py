"""Audit rows on their way into a log and out of it: what every backend's log does alike."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from redask.core.access.policy import AUDITORS
from redask.core.model import Caller
from redask.core.ports import AuditRow
from redask.core.rules.audit_chain import Broken, Head, Intact, link
from redask.core.wire.json import text


@dataclass(frozen=True, slots=True)
class ChainedRow:
    """A row with its place in the chain, and what it is filed under."""

    seq: int
    ts: object
    tenant: object
    user: object
    row: str
    hash: str
    build: str
    understood: str
    today: str


def extend(head: Head, rows: Iterable[AuditRow]) -> tuple[Head, list[ChainedRow]]:
    """The rows behind a head, and the head then."""
    seq, last = head.seq, head.hash
    chained = []
    for each in rows:
        seq, row = seq + 1, text(dict(each.row))
        last = link(last, seq, row)
        filed = each.row["ts"], each.row["tenant"], each.row["user"]
        beside = each.build, each.understood, each.today
        chained.append(ChainedRow(seq, *filed, row, last, *beside))
    return Head(seq, last, head.pruned_seq, head.pruned_hash), chained


def expired(
    oldest: Sequence[tuple[int, int, str]], newest: int | None, keep_ns: int
) -> tuple[int, str] | None:
    """The last of these (number, time, hash; in order) that retention takes, with all before it.

    Rows go from the old end only, up to the first that is young enough beside the newest.
    """
    gone = None
    for seq, ts, digest in oldest:
        if newest is None or ts >= newest - keep_ns:
            break
        gone = seq, digest
    return gone


def without(head: Head, gone: tuple[int, str]) -> Head:
    """The head of a log from which rows up to this one were taken."""
    return Head(head.seq, head.hash, *gone)


def only_user(caller: Caller) -> str | None:
    """The user whose rows alone the caller may see; None: all of the tenant's."""
    return None if caller.role in AUDITORS else caller.user


def verdict(chain: Intact | Broken, misfiled: int | None) -> Intact | Broken:
    """The verdict on the whole log, given the first row that is filed under something else."""
    if misfiled is None or (isinstance(chain, Broken) and chain.seq <= misfiled):
        return chain
    return Broken(misfiled, f"row {misfiled} is filed under another caller or time")
