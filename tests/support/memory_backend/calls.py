"""What calls leave, in memory: the audit log, the ledger and the answer cache."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from memory_backend.state import Access
from redask.core.model import Caller
from redask.core.ports import Account, AuditEntry, AuditRow, CachedAnswer, Spending
from redask.core.rules import audit_chain
from redask.core.rules.audit_chain import Broken, Head, Intact
from redask.core.rules.cost import Allow, Reject, Spent, dollars
from redask.core.rules.spending.budgets import Purse
from redask.stores import audit_rows
from redask.stores.audit_rows import ChainedRow


@dataclass(slots=True)
class Calls:
    """The data, beside `Shared`."""

    rows: list[ChainedRow] = field(default_factory=list)
    head: Head = field(default_factory=Head)
    spent: Counter[Account] = field(default_factory=Counter)
    unpriced: Counter[Account] = field(default_factory=Counter)
    reserved: dict[int, tuple[Account, int]] = field(default_factory=dict)
    answers: dict[str, CachedAnswer] = field(default_factory=dict)


class MemoryAuditLog:
    """The log of calls; see `ports.AuditLog`."""

    def __init__(self, access: Access, calls: Calls) -> None:
        self._access = access
        self._calls = calls

    def append(self, rows: Sequence[AuditRow]) -> None:
        self._access.check()
        with self._access.shared.lock:
            self._calls.head, chained = audit_rows.extend(self._calls.head, rows)
            self._calls.rows += chained

    def entries(self, caller: Caller, *, limit: int, before: int | None = None) -> list[AuditEntry]:
        self._access.check()
        user = audit_rows.only_user(caller)
        found = [
            AuditEntry(
                each.seq, json.loads(each.row), each.hash, each.build, each.understood, each.today
            )
            for each in reversed(self._calls.rows)
            if each.tenant == caller.tenant and user in (None, each.user)
            if before is None or each.seq < before
        ]
        return found[:limit]

    def verify(self) -> Intact | Broken:
        self._access.check()
        with self._access.shared.lock:
            rows, head = list(self._calls.rows), self._calls.head
        links = (audit_chain.Chained(each.seq, each.row, each.hash) for each in rows)
        return audit_rows.verdict(audit_chain.verify(links, head, audit_chain.seal(head)), None)

    def prune(self, keep_ns: int) -> None:
        self._access.check()
        with self._access.shared.lock:
            rows = [(each.seq, int(str(each.ts)), each.hash) for each in self._calls.rows]
            gone = audit_rows.expired(rows, rows[-1][1] if rows else None, keep_ns)
            if gone is not None:
                self._calls.rows = [each for each in self._calls.rows if each.seq > gone[0]]
                self._calls.head = audit_rows.without(self._calls.head, gone)


class MemoryLedger:
    """What was spent; see `ports.Ledger`."""

    def __init__(self, access: Access, calls: Calls) -> None:
        self._access = access
        self._calls = calls

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
            self._calls.reserved = {n: each for n, each in kept if each[0].day >= account.day - 1}
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
            *((account, amount, 1) for account, amount in calls.reserved.values()),
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
