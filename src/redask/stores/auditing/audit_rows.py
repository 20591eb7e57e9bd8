"""Records on their way into a log and out of it: what every backend's log does alike.

`ChainWriter` puts records behind the chains of a log; the backend reads the chains before, and
writes what `added`, `chains`, `numbers`, `clock` and `provenances` say afterwards, all in one
transaction.

Who may audit sees a chain's own numbers and hashes. Others see their rows numbered for themselves,
each with the hash of its content alone (`shown`): nothing tells how many rows others have, or
what is in them.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from redask.core.access.policy import AUDITORS
from redask.core.errors import BadAsk, StoreFailed
from redask.core.model import Caller
from redask.core.ports import AuditEntry, AuditRow, TracedEntry
from redask.core.rules import audit_chain
from redask.core.rules.audit_chain import (
    ERASED,
    PRUNED,
    ROW,
    UNREADABLE,
    Broken,
    Chain,
    ChainAnchor,
    ChainRecord,
    ChainReport,
    Head,
    Intact,
)
from redask.core.rules.auditing.commitments import Opening, leaf, read_opening, values_of, without
from redask.core.rules.auditing.lived_time import LivedTime, passed
from redask.core.rules.auditing.log_proofs import ProvableRecord
from redask.core.wire.json import text
from redask.stores.auditing import provenance_rows

SERVER = ""  # whose chain has what is of no tenant
ASKS, ACCESSES = "ask", "access"  # the logs
Nonces = Callable[[], bytes]  # 32 bytes that nobody can guess
# what reading a record raises that a disk or somebody has changed
_DAMAGE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
BESIDE = frozenset(each.name for each in fields(AuditRow)) - {"row"}
# what may say something of a person: of rows of asks, of accesses, and all that stands beside
ERASABLE = BESIDE | {
    *("question", "answer", "answer_hash", "user", "role", "sources_urns", "errors"),
    *("subject", "detail", "address"),
}


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """A record of a chain as it is stored; `own` is its number among those of its user.

    `leaf` is the hash of the content when it was written.
    """

    seq: int
    kind: str
    at: int
    user: str
    own: int
    row: str
    beside: str
    opening: str
    leaf: str
    hash: str

    def chained(self) -> ChainRecord:
        """The record as `audit_chain.verify` reads it, hashed anew."""
        try:
            facts = {} if self.kind == ROW else _read_object(self.row)
            values = {**values_of(self.row), **values_of(self.beside)}
            opening = read_opening(self.opening)
            made, erased = leaf(values, opening), frozenset(opening.erased)
        except _DAMAGE:
            return ChainRecord(self.seq, self.kind, self.at, UNREADABLE, self.hash)
        return ChainRecord(self.seq, self.kind, self.at, made, self.hash, facts, erased)

    def is_filed_under(self, tenant: str) -> bool:
        """Whether it is found where its row says that it belongs, if it says that."""
        if self.kind != ROW:
            return True
        try:
            row = json.loads(self.row)
        except ValueError:
            return False
        named = [row.get(name) for name in ("tenant", "user")]
        return all(
            said is None or said == found
            for said, found in zip(named, (tenant, self.user), strict=True)
        )

    def provable(self) -> ProvableRecord:
        """The record as it leaves the log."""
        return ProvableRecord(
            *(self.seq, self.kind, self.at, self.row, self.beside), opening=self.opening
        )

    def erased(self, names: Collection[str]) -> "StoredRecord":
        """The record without these values, whose commitments stay, and with them its leaf."""
        row, beside = values_of(self.row), values_of(self.beside)
        left, opening = without({**row, **beside}, read_opening(self.opening), names)
        kept = [
            _object({name: each[name] for name in each if name in left}) for each in (row, beside)
        ]
        whose = ("", 0) if "user" in names else (self.user, self.own)
        user, own = whose
        return replace(
            self, user=user, own=own, row=kept[0], beside=kept[1], opening=opening.stored()
        )

    def shown(self, *, audited: bool) -> AuditEntry:
        """The row for who may audit, or for the one whose row it is."""
        seq, digest = (self.seq, self.hash) if audited else (self.own, self.leaf)
        with self._readable(seq):
            erased = tuple(sorted(read_opening(self.opening).erased))
            row = {**_read_object(self.row)}
            row |= {name: None for name in erased if name not in BESIDE}
            beside = _read_object(self.beside)
            beside.pop(provenance_rows.NAME, None)
            return AuditEntry(seq, row, digest, **beside, erased=erased)

    def traced(self, provenance: str | None, *, audited: bool) -> TracedEntry:
        """The same, with the text that is kept of its provenance, if there is one."""
        entry = self.shown(audited=audited)
        committed = _read_object(self.beside).get(provenance_rows.NAME, "")
        kept = provenance_rows.opened(committed, provenance)
        return TracedEntry(entry, kept, bool(committed) and kept is None)

    @contextmanager
    def _readable(self, seq: int) -> Iterator[None]:
        try:
            yield
        except _DAMAGE:
            raise StoreFailed(f"row {seq} is damaged: see `redask audit verify`") from None


def _read_object(content: str) -> dict[str, Any]:
    found = json.loads(content)
    if not isinstance(found, dict):
        raise TypeError
    return found


def new_chain(identity: str, log: str, tenant: str, start: int = 0) -> Chain:
    """A chain without records."""
    first = audit_chain.genesis(identity, log, tenant, start)
    return Chain(log, tenant, start, first, Head(start, first, start, first))


class ChainWriter:
    """Puts records behind chains, which `find` gives by tenant; `number` says a user's last own."""

    def __init__(
        self,
        find: Callable[[str], Chain],
        number: Callable[[str, str], int],
        clock: LivedTime,
        nonces: Nonces,
    ) -> None:
        self._find = find
        self._number = number
        self._nonces = nonces
        self.clock = clock
        self.chains: dict[str, Chain] = {}
        self.numbers: dict[tuple[str, str], int] = {}
        self.added: list[tuple[str, StoredRecord]] = []
        self.provenances: list[tuple[str, int, str]] = []  # tenant, number, text

    def add(self, each: AuditRow) -> None:
        """Put a row behind the chain of its tenant."""
        tenant, user = str(each.row["tenant"]), str(each.row["user"])
        self.clock = passed(self.clock, int(str(each.row["ts"])))
        number = self.numbers.get((tenant, user), None)
        number = (self._number(tenant, user) if number is None else number) + 1
        beside = each.beside()
        if each.provenance is not None:
            written = provenance_rows.sealed(each.provenance, self._nonces().hex())
            beside[provenance_rows.NAME] = provenance_rows.digest(written)
            self.provenances.append((tenant, self.chain(tenant).head.seq + 1, written))
        self._record(tenant, ROW, each.row, beside, user=user, own=number)
        self.numbers[tenant, user] = number

    def note(self, tenant: str, kind: str, facts: Mapping[str, object]) -> None:
        """Put a record of another kind behind a chain."""
        self._record(tenant, kind, facts, {}, user="", own=0)

    def prune(self, tenant: str, to: int, last: str, rule: str, root: str = "") -> None:
        """Note that retention takes the records up to this one, which has the hash `last`.

        `root` is that of the tree up to there.
        """
        head = self.chain(tenant).head
        facts = {"from": head.pruned_seq + 1, "head": head.hash, "last": last, "root": root}
        self.note(tenant, PRUNED, {**facts, "rule": rule, "to": to})
        chain = self.chain(tenant)
        self.chains[tenant] = replace(
            chain, head=replace(chain.head, pruned_seq=to, pruned_hash=last)
        )

    def erase(
        self, tenant: str, record: StoredRecord, names: Collection[str], user: str, reason: str
    ) -> StoredRecord:
        """Note that values are taken out of a record of a chain. → the record without them"""
        facts = {"fields": sorted(names), "reason": reason, "seq": record.seq, "user": user}
        self.note(tenant, ERASED, facts)
        return record.erased(names)

    def chain(self, tenant: str) -> Chain:
        """The chain of a tenant, with what was added to it."""
        if tenant not in self.chains:
            self.chains[tenant] = self._find(tenant)
        return self.chains[tenant]

    def _record(
        self,
        tenant: str,
        kind: str,
        row: Mapping[str, object],
        beside: Mapping[str, object],
        *,
        user: str,
        own: int,
    ) -> None:
        chain, opening = self.chain(tenant), Opening(self._nonces().hex())
        values, others = _encoded(row), _encoded(beside)
        seq, at = chain.head.seq + 1, self.clock.lived
        made = leaf({**values, **others}, opening)
        digest = audit_chain.link(chain.head.hash, audit_chain.entry(seq, at, kind, made))
        self.chains[tenant] = replace(chain, head=replace(chain.head, seq=seq, hash=digest))
        written = (_object(values), _object(others), opening.stored(), made, digest)
        self.added.append((tenant, StoredRecord(seq, kind, at, user, own, *written)))


def erasable(record: StoredRecord, names: Collection[str]) -> tuple[str, ...]:
    """Those of these values that are there to be erased; `BadAsk` for what cannot be.

    With a question goes what made its answer: the hash of a prompt would tell who guesses it.
    """
    record.shown(audited=True)  # or it is damaged
    there = {*values_of(record.row), *values_of(record.beside)}
    gone = read_opening(record.opening).erased
    known = sorted((there | {*gone}) & ERASABLE)
    for name in names:
        if name not in known:
            raise BadAsk(
                f"{name!a} cannot be erased from row {record.seq}: {', '.join(known)} can",
                detail="fields",
            )
    told = {provenance_rows.NAME} & there if {*names} & {"question", "understood"} else set()
    return tuple(sorted(({*names} | told) - {*gone}))


def anchor_of(records: Iterable[StoredRecord]) -> ChainAnchor:
    """What the store is to remember of these records, of which there is one at least."""
    marks, numbers, last = [], [], ""
    for each in records:
        made = audit_chain.entry(each.seq, each.at, each.kind, each.leaf)
        marks.append(made[: audit_chain.MARK])
        numbers.append(each.seq)
        last = each.hash
    return ChainAnchor(numbers[0], numbers[-1], last, "".join(marks))


def only_user(caller: Caller) -> str | None:
    """The user whose rows alone the caller may see; None: all of the tenant's."""
    return None if caller.role in AUDITORS else caller.user


def verdict(found: Iterable[ChainReport | Broken], tenant: str | None) -> Intact | Broken:
    """The verdict on a log, of its chains; `tenant` is whose head is shown."""
    reports = []
    for each in found:
        if isinstance(each, Broken):
            return each
        reports.append(each)
    mine = [each for each in reports if each.tenant == (tenant or _only(reports))]
    head = mine[0].head if mine else Head()
    return Intact(sum(each.rows for each in reports), head, tuple(reports))


def _only(reports: list[ChainReport]) -> str:
    """The tenant that has rows, if there is one only."""
    tenants = [each.tenant for each in reports if each.tenant != SERVER]
    return tenants[0] if len(tenants) == 1 else SERVER


def _encoded(row: Mapping[str, object]) -> dict[str, str]:
    return {name: text(row[name]) for name in sorted(row)}


def _object(values: Mapping[str, Any]) -> str:
    """The canonical JSON of an object, of its values' own."""
    return "{" + ",".join([f"{_name(name)}:{value}" for name, value in values.items()]) + "}"


@cache
def _name(name: str) -> str:
    return text(name)
