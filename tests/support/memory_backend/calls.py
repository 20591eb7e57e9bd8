"""What calls leave, in memory: the audit log, the ledger and the answer cache."""

import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from memory_backend.state import Access
from redask.core.errors import BadAsk
from redask.core.model import Caller
from redask.core.ports import (
    Account,
    AuditEntry,
    AuditRow,
    CachedAnswer,
    SinkFault,
    Spending,
    TracedEntry,
)
from redask.core.rules import audit_chain
from redask.core.rules.audit_chain import (
    PROVENANCE_PRUNED,
    ROW,
    Broken,
    Chain,
    ChainAnchor,
    ChainReport,
    Intact,
    Remembered,
)
from redask.core.rules.auditing.checkpoints import Checkpoint
from redask.core.rules.auditing.exported_chain import chain_line, leaves_line, record_line
from redask.core.rules.auditing.lived_time import LivedTime, expires
from redask.core.rules.auditing.merkle import nodes_of, root
from redask.core.rules.cost import Allow, Reject, Spent, dollars
from redask.core.rules.spending.budgets import Purse
from redask.stores.auditing import audit_rows, provenance_rows
from redask.stores.auditing.audit_rows import ChainWriter, StoredRecord, new_chain
from redask.stores.auditing.provenance_rows import KeptProvenance


@dataclass(slots=True)
class Calls:
    """The data, beside `Shared`; and what a store would remember of the logs."""

    chains: dict[tuple[str, str], Chain] = field(default_factory=dict)
    records: dict[tuple[str, str], list[StoredRecord]] = field(default_factory=dict)
    numbers: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    provenances: dict[tuple[str, str, int], str] = field(default_factory=dict)
    clock: LivedTime = field(default_factory=LivedTime)
    anchors: dict[tuple[str, str], list[ChainAnchor]] = field(default_factory=dict)
    prunable: Counter[tuple[str, str]] = field(default_factory=Counter)
    leaves: dict[tuple[str, str], list[bytes]] = field(default_factory=dict)
    checkpoints: dict[tuple[str, str, str, int], Checkpoint] = field(default_factory=dict)
    delivered: Counter[tuple[str, tuple[str, str, str, int]]] = field(default_factory=Counter)
    sink_faults: dict[str, SinkFault] = field(default_factory=dict)
    spent: Counter[Account] = field(default_factory=Counter)
    unpriced: Counter[Account] = field(default_factory=Counter)
    reserved: dict[int, tuple[Account, int]] = field(default_factory=dict)
    answers: dict[str, CachedAnswer] = field(default_factory=dict)

    def anchor(self) -> None:
        """Remember every chain as it is."""
        for key, records in self.records.items():
            known = self.anchors.setdefault(key, [])
            after = known[-1].seq if known else 0
            if new := [each for each in records if each.seq > after]:
                known.append(audit_rows.anchor_of(new))


class MemoryAuditLog:
    """A log; see `ports.AuditLog`."""

    def __init__(self, access: Access, calls: Calls, log: str) -> None:
        self._access = access
        self._calls = calls
        self._log = log

    def append(self, rows: Sequence[AuditRow]) -> None:
        self._access.check()
        with self._access.shared.lock:
            writer = self._writer()
            for each in rows:
                writer.add(each)
            self._save(writer)

    def entries(self, caller: Caller, *, limit: int, before: int | None = None) -> list[AuditEntry]:
        return [each.entry for each in self.traced(caller, limit=limit, before=before)]

    def traced(self, caller: Caller, *, limit: int, before: int | None = None) -> list[TracedEntry]:
        self._access.check()
        user = audit_rows.only_user(caller)
        records = self._calls.records.get((self._log, caller.tenant), [])
        found = [
            each.traced(self._kept(caller.tenant, each.seq), audited=user is None)
            for each in reversed(records)
            if each.kind == ROW and user in (None, each.user)
        ]
        return [each for each in found if before is None or each.entry.seq < before][:limit]

    def _kept(self, tenant: str, seq: int) -> str | None:
        return self._calls.provenances.get((self._log, tenant, seq))

    def verify(self, tenant: str | None = None) -> Intact | Broken:
        self._access.check()
        calls = self._calls
        with self._access.shared.lock:
            wanted = [
                (chain, list(calls.records[key]), calls.anchors.get(key, []), calls.prunable[key])
                for key, chain in sorted(calls.chains.items())
                if key[0] == self._log and tenant in (None, key[1])
            ]
        found: list[ChainReport | Broken] = []
        for chain, records, anchors, prunable in wanted:
            verdict = audit_chain.verify(
                chain, (each.chained() for each in records), Remembered(anchors, prunable)
            )
            before = verdict.seq if isinstance(verdict, Broken) else chain.head.seq + 1
            kept = (
                KeptProvenance(
                    *(each.seq, each.kind, each.row, each.beside),
                    self._kept(chain.tenant, each.seq),
                )
                for each in records
                if each.seq < before
            )
            fault = provenance_rows.fault(kept)
            found.append(verdict if fault is None else Broken(*fault, chain.tenant))
        return audit_rows.verdict(found, tenant)

    def prune_provenance(self, keep_ns: int, rule: str) -> None:
        self._access.check()
        calls = self._calls
        with self._access.shared.lock:
            for key in [key for key in calls.chains if key[0] == self._log]:
                records, texts = calls.records[key], calls.provenances
                kept = [each for each in records if (*key, each.seq) in texts]
                if not kept or not provenance_rows.due(kept[0].at, calls.clock.lived, keep_ns):
                    continue
                gone = [each.seq for each in kept if expires(each.at, calls.clock.lived, keep_ns)]
                writer = self._writer()
                writer.note(key[1], PROVENANCE_PRUNED, {"rule": rule, "to": gone[-1]})
                self._save(writer)
                for seq in gone:
                    del texts[*key, seq]

    def prune(self, keep_ns: int, rule: str) -> None:
        self._access.check()
        calls = self._calls
        with self._access.shared.lock:
            for log, tenant in [key for key in calls.chains if key[0] == self._log]:
                key, gone = (log, tenant), None
                anchored = calls.anchors[key][-1].seq if calls.anchors.get(key) else 0
                for each in calls.records[key]:
                    if each.seq > anchored or not expires(each.at, calls.clock.lived, keep_ns):
                        break
                    gone = each
                if gone is not None:
                    calls.prunable[key] = gone.seq
                    writer = self._writer()
                    taken = calls.leaves[key][: gone.seq]
                    whole = root(len(taken), nodes_of(taken)).hex()
                    writer.prune(tenant, gone.seq, gone.hash, rule, whole)
                    self._save(writer)
                    left = [each for each in calls.records[key] if each.seq > gone.seq]
                    calls.records[key] = left
                    for kept in [key for key in calls.provenances if key[:2] == (log, tenant)]:
                        if kept[2] <= gone.seq:
                            del calls.provenances[kept]

    def holds(self, digest: str, tenant: str | None = None) -> bool:
        calls = self._calls
        return any(
            digest in (chain.head.pruned_hash, *(each.hash for each in calls.records[key]))
            for key, chain in calls.chains.items()
            if key[0] == self._log and tenant in (None, key[1])
        )

    def erase(
        self, tenant: str, seq: int, fields: Collection[str], user: str, reason: str
    ) -> tuple[str, ...]:
        self._access.check()
        with self._access.shared.lock:
            records = self._calls.records.get((self._log, tenant), [])
            for place, each in enumerate(records):
                if (each.seq, each.kind) == (seq, ROW):
                    if names := audit_rows.erasable(each, fields):
                        writer = self._writer()
                        records[place] = writer.erase(tenant, each, names, user, reason)
                        self._save(writer)
                        self._calls.answers.clear()
                        if provenance_rows.NAME in names:
                            self._calls.provenances.pop((self._log, tenant, seq), None)
                    return names
        raise BadAsk(f"there is no audit row {seq}")

    def exported(self, tenant: str | None = None) -> Iterator[str]:
        calls = self._calls
        for key, chain in sorted(calls.chains.items()):
            if key[0] == self._log and tenant in (None, key[1]):
                yield chain_line(chain, "memory", 0)
                yield leaves_line(calls.leaves[key][: chain.head.pruned_seq])
                yield from (record_line(each.provable(), each.hash) for each in calls.records[key])

    def _writer(self) -> ChainWriter:
        calls, log = self._calls, self._log
        return ChainWriter(
            lambda tenant: calls.chains.get((log, tenant)) or new_chain("memory", log, tenant),
            lambda tenant, user: calls.numbers[log, tenant, user],
            calls.clock,
            lambda: secrets.token_bytes(32),
        )

    def _save(self, writer: ChainWriter) -> None:
        calls = self._calls
        calls.clock = writer.clock
        for tenant, chain in writer.chains.items():
            calls.chains[self._log, tenant] = chain
        for (tenant, user), number in writer.numbers.items():
            calls.numbers[self._log, tenant, user] = number
        for tenant, seq, text in writer.provenances:
            calls.provenances[self._log, tenant, seq] = text
        for tenant, record in writer.added:
            calls.records.setdefault((self._log, tenant), []).append(record)
            leaves = calls.leaves.setdefault((self._log, tenant), [])
            leaves.append(record.provable().leaf_hash())


class MemoryLedger:
    """What was spent; see `ports.Ledger`."""

    def __init__(self, access: Access, calls: Calls) -> None:
        self._access = access
        self._calls = calls

    def booking_day(self, day: int) -> int:
        return day

    def reserve(
        self,
        account: Account,
        nanos: int,
        check: Callable[[Spent], Allow | Reject],
        purses: Sequence[Purse] = (),
    ) -> int | Reject:
        with self._access.shared.lock:
            sum_so_far = self.total(account.tenant, account.day)
            held = tuple(dollars(self._held(account, purse)) for purse in purses)
            verdict = check(Spent(account.day, dollars(sum_so_far), held))
            if isinstance(verdict, Reject) or not nanos:
                return verdict if isinstance(verdict, Reject) else 0
            kept = self._calls.reserved.items()
            late = account.day - 1
            self._calls.reserved = {n: (at, 0 if at.day < late else of) for n, (at, of) in kept}
            number = self._access.shared.next_number()
            self._calls.reserved[number] = (account, nanos)
            return number

    def settle(self, reservation: int, nanos: int) -> None:
        self._access.check()
        with self._access.shared.lock:
            found = self._calls.reserved.pop(reservation, None)
            if found is not None:
                self._calls.spent[found[0]] += nanos

    def add(self, account: Account, nanos: int, *, unpriced: int = 0) -> None:
        self._access.check()
        with self._access.shared.lock:
            self._calls.spent[account] += nanos
            self._calls.unpriced[account] += unpriced

    def _held(self, account: Account, purse: Purse) -> int:
        every = [*self._calls.spent.items(), *self._calls.reserved.values()]
        return sum(
            nanos
            for at, nanos in every
            if at.tenant == account.tenant and purse.since <= at.day <= account.day
            if (at.user if purse.by == "user" else at.role) == purse.name
        )

    def total(self, tenant: str, day: int) -> int:
        self._access.check()
        every = [*self._calls.spent.items(), *self._calls.reserved.values()]
        return sum(nanos for at, nanos in every if (at.tenant, at.day) == (tenant, day))

    def report(self, since: int, tenant: str | None = None) -> list[Spending]:
        self._access.check()
        calls = self._calls
        sums: dict[Account, list[int]] = {}
        booked = (
            *((account, amount, 0) for account, amount in calls.spent.items()),
            *((account, amount, 1) for account, amount in calls.reserved.values() if amount),
            *((account, amount, 2) for account, amount in calls.unpriced.items()),
        )
        for account, amount, place in booked:
            if account.day >= since and tenant in (None, account.tenant):
                line = Account(account.tenant, account.day, account.provider)
                sums.setdefault(line, [0, 0, 0])[place] += amount
        ordered = sorted(sums, key=lambda each: (-each.day, each.tenant, each.provider))
        return [
            Spending(each, dollars(sums[each][0]), dollars(sums[each][1]), sums[each][2])
            for each in ordered
        ]


class MemoryAnswerCache:
    """Accepted answers by their key; see `ports.AnswerCache`."""

    def __init__(self, access: Access, calls: Calls) -> None:
        self._access = access
        self._calls = calls

    def get(self, key: str) -> CachedAnswer | None:
        self._access.check()
        return self._calls.answers.get(key)

    def put(self, key: str, entry: CachedAnswer, most: int) -> None:
        self._access.check()
        with self._access.shared.lock:
            self._calls.answers.pop(key, None)
            self._calls.answers[key] = entry
            for oldest in list(self._calls.answers)[: max(0, len(self._calls.answers) - most)]:
                del self._calls.answers[oldest]
