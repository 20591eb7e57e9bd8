"""What every backend promises of what made an answer: it goes before its row, and is on record."""

from redask.core.model import Caller
from redask.core.ports import AuditRow
from redask.core.rules.audit_chain import Intact
from redask.core.rules.auditing.lived_time import DAY_NS, MARGIN
from redask.stores.backend import Backend

OWNER = Caller()
NOON = 20_000 * DAY_NS
RULE = "ask.audit.provenance_days = 10"
KEEP = 10 * DAY_NS
KEPT = 10 + MARGIN // DAY_NS  # days


def append(backend: Backend, day: int, *, user: str = "ada", tenant: str = "local") -> None:
    row = {"ts": NOON + day * DAY_NS, "tenant": tenant, "user": user, "n": day}
    backend.audit.append([AuditRow(row, provenance={"day": day})])


def days(backend: Backend, caller: Caller = OWNER) -> dict[int, int | None]:
    """What is kept of the rows that a caller may see, by number."""
    traced = backend.audit.traced(caller, limit=1000)
    return {
        each.entry.seq: None if each.provenance is None else each.provenance["day"]
        for each in traced
    }


def rows(backend: Backend) -> int:
    verdict = backend.audit.verify()
    assert isinstance(verdict, Intact), verdict
    return verdict.rows


def test_it_comes_with_the_rows_that_a_caller_may_see(backend: Backend) -> None:
    for day, user in enumerate(("ada", "bob", "ada")):
        append(backend, day, user=user)
    append(backend, 9, tenant="acme")
    backend.audit.append([AuditRow({"ts": NOON, "tenant": "local", "user": "ada"})])
    assert days(backend) == {4: None, 3: 2, 2: 1, 1: 0}
    assert days(backend, Caller("local", "ada", "sales")) == {3: None, 2: 2, 1: 0}
    assert days(backend, Caller("acme", "eve", "auditor")) == {1: 9}
    [newest] = backend.audit.traced(OWNER, limit=1, before=4)
    assert (newest.entry.seq, newest.entry.hash) == (
        3,
        backend.audit.entries(OWNER, limit=2)[1].hash,
    )
    assert rows(backend) == 5


def test_each_has_a_salt_of_its_own(backend: Backend) -> None:
    append(backend, 1)
    append(backend, 1)
    one, other = (each.provenance or {} for each in backend.audit.traced(OWNER, limit=2))
    assert {**one, "salt": ""} == {**other, "salt": ""}
    assert one["salt"] != other["salt"]
    assert len(one["salt"]) == 64


def test_retention_takes_it_and_leaves_the_rows(backend: Backend) -> None:
    for day in range(30):
        append(backend, day)
    backend.audit.prune_provenance(KEEP, RULE)
    gone = [seq for seq, day in days(backend).items() if day is None]
    assert len(days(backend)) == 30
    traced = backend.audit.traced(OWNER, limit=1000)
    assert [each.entry.seq for each in traced if each.is_pruned] == gone
    assert gone == [*range(29 - KEPT, 0, -1)]
    assert rows(backend) == 30
    backend.audit.prune_provenance(KEEP, RULE)  # again: nothing is due, so there is no record
    append(backend, 30)
    assert backend.audit.entries(OWNER, limit=1)[0].seq == 32
    assert rows(backend) == 31


def test_it_goes_with_its_row_at_the_latest(backend: Backend) -> None:
    for day in range(30):
        append(backend, day)
    backend.anchor()
    backend.audit.prune(KEEP, "ask.audit.retention_days = 10")
    assert None not in days(backend).values()
    assert rows(backend) == len(days(backend)) < 30
    backend.audit.prune_provenance(1000 * DAY_NS, RULE)
    assert None not in days(backend).values()
