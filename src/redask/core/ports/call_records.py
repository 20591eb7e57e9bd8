"""What is kept of calls: the audit log, the answer cache and the ledger."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from redask.core.model import Answer, Caller
from redask.core.rules.audit_chain import Broken, Intact
from redask.core.rules.cost import Allow, Reject, Spent
from redask.core.rules.spending.budgets import Purse


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One row of the audit log with its number and its hash.

    For who may audit they are those of the tenant's chain; for others the number among their own
    rows, and the hash of the row alone.

    `build` is what the provider said about its system, such as a system fingerprint; `understood`
    the question as it was meant, of a follow-up; `today` the date that the prompt told; `refused`
    why the answer says no (`rules.auditing.ask_outcomes`). `erased` names what was taken out: null
    in the row, empty beside it.
    """

    seq: int
    row: dict[str, object]
    hash: str
    build: str = ""
    understood: str = ""
    today: str = ""
    refused: str = ""
    erased: tuple[str, ...] = ()

    def readings(self) -> dict[str, object]:
        """How the question was read, why it was refused, what was erased: what there is to say."""
        told: dict[str, object] = {"today": self.today, "understood": self.understood}
        told["refused"] = self.refused
        told["erased"] = list(self.erased)
        return {name: value for name, value in told.items() if value}


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A row to be written, and what stands beside it: see `AuditEntry`.

    `provenance` (`rules.auditing.provenance`) is kept apart, under a retention of its own.
    """

    row: Mapping[str, object]
    build: str = ""
    understood: str = ""
    today: str = ""
    refused: str = ""
    provenance: Mapping[str, object] | None = None

    def beside(self) -> dict[str, object]:
        """What stands beside the row, where there is something to say."""
        told = {"build": self.build, "understood": self.understood, "today": self.today}
        told["refused"] = self.refused
        return {name: value for name, value in told.items() if value}


@dataclass(frozen=True, slots=True)
class TracedEntry:
    """A row, and what is kept of how its answer was made: None for nothing.

    `is_pruned`: there was something, and it is not kept any more.
    """

    entry: AuditEntry
    provenance: Mapping[str, Any] | None
    is_pruned: bool = False


class AuditLog(Protocol):
    """An append-only log, a chain of hashes for each tenant (`rules.audit_chain`)."""

    def append(self, rows: Sequence[AuditRow]) -> None:
        """Add rows in their order, in one transaction: durable when this returns."""

    def entries(self, caller: Caller, *, limit: int, before: int | None = None) -> list[AuditEntry]:
        """The newest rows the caller may see: an auditor the tenant's, others their own."""

    def traced(self, caller: Caller, *, limit: int, before: int | None = None) -> list[TracedEntry]:
        """The same rows, with what is kept of how each answer was made.

        `StoreFailed` if that is not what was written.
        """

    def verify(self, tenant: str | None = None) -> Intact | Broken:
        """Whether every row is what was written; names the first that is not.

        Of one tenant's chain, or (None) of all.
        """

    def holds(self, digest: str, tenant: str | None = None) -> bool:
        """Whether a record, or the last that was pruned, has this hash."""

    def prune(self, keep_ns: int, rule: str) -> None:
        """Take away rows that were kept for so long, from the old end, and note it (`rule`).

        Time is the log's own: see `rules.auditing.lived_time`.
        """

    def erase(
        self, tenant: str, seq: int, fields: Collection[str], user: str, reason: str
    ) -> tuple[str, ...]:
        """Take values out of a row for ever, and note who did and why. → what was erased now.

        The hashes stay: see `rules.auditing.commitments`. Once more, it changes nothing.
        """

    def exported(self, tenant: str | None = None) -> Iterator[str]:
        """The chains, of a tenant or all, as lines that `rules.auditing.exported_chain` verifies.

        All are of one moment.
        """

    def prune_provenance(self, keep_ns: int, rule: str) -> None:
        """Take away what was kept for so long of how answers were made; the rows stay."""


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """An accepted answer, what its prompt hashed to, and when it was stored (epoch ns)."""

    answer: Answer
    prompt_hash: str
    stored_at: int
    ttl: int


class AnswerCache(Protocol):
    """Accepted answers by their key."""

    def get(self, key: str) -> CachedAnswer | None:
        """What is stored under a key, however old."""

    def put(self, key: str, entry: CachedAnswer, most: int) -> None:
        """Store an answer; of more than `most` entries, those stored first go."""


@dataclass(frozen=True, slots=True)
class Account:
    """Where a call's money is booked: the tenant, the UTC day it began on, the provider.

    And who asked; a report adds up all of them.
    """

    tenant: str
    day: int
    provider: str
    user: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True)
class Spending:
    """One line of the report: US dollars spent, and set aside for calls that never ended.

    `unpriced` counts calls whose price nobody knows: they are in neither.
    """

    account: Account
    spent: float
    reserved: float
    unpriced: int = 0


class Ledger(Protocol):
    """What each tenant has spent on each UTC day, in nano-dollars, across processes."""

    def booking_day(self, day: int) -> int:
        """The UTC day that a call is booked on, which begins on a `day` of the caller's clock.

        Where nodes have clocks of their own, the one of the database that they share decides."""

    def reserve(
        self,
        account: Account,
        nanos: int,
        check: Callable[[Spent], Allow | Reject],
        purses: Sequence[Purse] = (),
    ) -> int | Reject:
        """Ask `check` about the tenant's day so far, and what these purses spent up to that day;
        if it allows, set the amount aside, all atomically. → the reservation's number (0 for an
        amount of 0), or the refusal."""

    def settle(self, reservation: int, nanos: int) -> None:
        """Replace a reservation by what the call really cost; a second time changes nothing."""

    def add(self, account: Account, nanos: int, *, unpriced: int = 0) -> None:
        """Book what a call without a reservation cost, or that nobody knows it."""

    def total(self, tenant: str, day: int) -> int:
        """What a tenant has spent or set aside on a day, in nano-dollars."""

    def report(self, since: int, tenant: str | None = None) -> list[Spending]:
        """The spending since a day, newest first; of one tenant, or of all."""
