"""What every backend promises of what calls leave: audit log, ledger, answer cache."""

from dataclasses import replace

import pytest

from redask.core.model import Answer, Caller, Footnote, Mode, Notice, Source, Validation
from redask.core.ports import Account, AuditRow, CachedAnswer, Spending
from redask.core.rules.audit_chain import Intact
from redask.core.rules.cost import Allow, Reject, Spent
from redask.core.rules.spending.budgets import Purse
from redask.stores.backend import Backend
from redask.stores.backends import BackendRow

OWNER = Caller()
DAY = 20_000
DAY_NS = 86_400 * 10**9
ACCOUNT = Account("local", DAY, "scripted")
ANSWER = Answer(
    answer="At nine [^1].",
    citations=(Footnote(1, "urn:reddb:row:t/1"),),
    sources_flat=(Source("urn:reddb:row:t/1", '{"id":1,"é":"\\u0001"}'),),
    validation=Validation(True, (), (Notice("mode_fallback", "why"),)),
    provider="scripted",
    model="m",
    mode=Mode.LENIENT,
)


def rows(*numbers: int, user: str = "ada", tenant: str = "local", day: int = 1) -> list[AuditRow]:
    return [
        AuditRow({"ts": day * DAY_NS + n, "tenant": tenant, "user": user, "n": n}, f"b{n}")
        for n in numbers
    ]


def seen(backend: Backend, caller: Caller = OWNER) -> list[tuple[int, object]]:
    found = backend.audit.entries(caller, limit=100)
    return [(entry.seq, entry.row["n"]) for entry in found]


def test_rows_are_numbered_chained_and_there_after_reopening(
    row: BackendRow, location: str
) -> None:
    first = row.open(location)
    first.audit.append(rows(1, 2))
    first.audit.append(rows(3))
    assert seen(first) == [(3, 3), (2, 2), (1, 1)]
    hashes = [entry.hash for entry in first.audit.entries(OWNER, limit=9)]
    first.close()
    again = row.open(location)
    found = again.audit.entries(OWNER, limit=9)
    assert [entry.hash for entry in found] == hashes
    assert [entry.build for entry in found] == ["b3", "b2", "b1"]
    verdict = again.audit.verify()
    assert isinstance(verdict, Intact)
    assert (verdict.rows, verdict.head.seq, verdict.head.hash) == (3, 3, hashes[0])
    again.close()


def test_a_batch_is_written_whole_or_not_at_all(backend: Backend) -> None:
    backend.audit.append(rows(1))
    bad = AuditRow({"ts": 1, "tenant": "local", "user": "ada", "n": float("nan")})
    with pytest.raises(Exception, match=r"."):
        backend.audit.append([*rows(2), bad])
    backend.audit.append(rows(3))
    assert seen(backend) == [(2, 3), (1, 1)]
    assert isinstance(backend.audit.verify(), Intact)


def test_a_caller_sees_own_rows_an_auditor_the_tenants_nobody_anothers(backend: Backend) -> None:
    backend.audit.append([*rows(1), *rows(2, user="bob"), *rows(3, tenant="other")])
    assert seen(backend, Caller("local", "zoe", "auditor")) == [(2, 2), (1, 1)]
    assert seen(backend, Caller("local", "bob", "analyst")) == [(1, 2)]
    assert seen(backend, Caller("other", "bob", "auditor")) == [(1, 3)]
    assert seen(backend, Caller("other", "bob", "analyst")) == []
    assert [each.seq for each in backend.audit.entries(OWNER, limit=1, before=2)] == [1]


def allow(spent: Spent) -> Allow | Reject:
    return Allow()


def test_money_is_set_aside_and_settled_once(backend: Backend) -> None:
    ledger = backend.ledger
    number = ledger.reserve(ACCOUNT, 500, allow)
    assert isinstance(number, int)
    assert ledger.total("local", DAY) == 500
    ledger.settle(number, 300)
    ledger.settle(number, 300)
    ledger.add(replace(ACCOUNT, provider="other"), 7)
    assert ledger.total("local", DAY) == 307
    assert ledger.total("other", DAY) == ledger.total("local", DAY + 1) == 0
    assert ledger.reserve(ACCOUNT, 0, allow) == 0


def test_the_rule_sees_the_day_so_far_and_its_refusal_sets_nothing_aside(backend: Backend) -> None:
    told: list[Spent] = []
    refusal = Reject("daily_cost_usd", 2.0, 1.0, "no more")

    def refuse(spent: Spent) -> Allow | Reject:
        told.append(spent)
        return refusal

    backend.ledger.add(ACCOUNT, 2_000_000_000)
    assert backend.ledger.reserve(ACCOUNT, 500, refuse) == refusal
    assert told == [Spent(DAY, 2.0)]
    assert backend.ledger.total("local", DAY) == 2_000_000_000


def test_the_report_is_by_day_tenant_and_provider_the_newest_first(backend: Backend) -> None:
    ledger, other = backend.ledger, replace(ACCOUNT, tenant="other", day=DAY + 1)
    ledger.add(ACCOUNT, 1_000_000_000)
    ledger.add(other, 500_000_000)
    ledger.reserve(ACCOUNT, 250_000_000, allow)
    assert ledger.report(DAY) == [Spending(other, 0.5, 0.0), Spending(ACCOUNT, 1.0, 0.25)]
    assert ledger.report(DAY, "local") == [Spending(ACCOUNT, 1.0, 0.25)]
    assert ledger.report(DAY + 1, "local") == []


def test_what_was_never_settled_is_swept_a_day_late(backend: Backend) -> None:
    ledger = backend.ledger
    for day in (DAY, DAY + 1, DAY + 2):
        assert ledger.reserve(replace(ACCOUNT, day=day), 5, allow)
    assert [ledger.total("local", day) for day in (DAY, DAY + 1, DAY + 2)] == [0, 5, 5]


def test_an_answer_is_kept_as_it_was(row: BackendRow, location: str) -> None:
    entry = CachedAnswer(ANSWER, "hash", stored_at=5, ttl=1 << 62)
    first = row.open(location)
    assert first.answers.get("k") is None
    first.answers.put("k", entry, 10)
    first.close()
    again = row.open(location)
    assert again.answers.get("k") == entry
    again.close()


def test_of_too_many_answers_those_stored_first_go(backend: Backend) -> None:
    def entry(number: int) -> CachedAnswer:
        return CachedAnswer(ANSWER, "hash", stored_at=number, ttl=1)

    for number in range(4):
        backend.answers.put(str(number), entry(number), 3)
    backend.answers.put("1", entry(9), 3)  # stored again, it is the newest
    backend.answers.put("4", entry(4), 3)
    kept = [key for key in "01234" if backend.answers.get(key)]
    assert kept == ["1", "3", "4"]
    found = backend.answers.get("1")
    assert found is not None
    assert found.stored_at == 9


def test_the_files_of_a_backend_have_names_and_sizes(backend: Backend) -> None:
    assert all(name and size >= 0 for name, size in backend.files().items())


def test_purses_are_summed_by_user_or_role_up_to_the_day(backend: Backend) -> None:
    ledger = backend.ledger

    def account(user: str, role: str, day: int = DAY, tenant: str = "local") -> Account:
        return Account(tenant, day, "openai", user, role)

    ledger.add(account("mia", "intern"), 10**9)
    ledger.add(account("mia", "lead", DAY - 2), 2 * 10**9)
    ledger.add(account("bo", "intern", DAY - 1), 4 * 10**9)
    ledger.add(account("mia", "intern", DAY + 1), 8 * 10**9)
    ledger.add(account("mia", "intern", tenant="other"), 16 * 10**9)
    assert ledger.reserve(account("mia", "intern"), 32 * 10**9, allow)
    seen: list[tuple[float, ...]] = []

    def look(spent: Spent) -> Allow | Reject:
        seen.append(spent.purses)
        return Allow()

    purses = [
        Purse("user", "mia", DAY),
        Purse("user", "mia", DAY - 2),
        Purse("role", "intern", DAY - 1),
        Purse("role", "mia", 0),
    ]
    assert ledger.reserve(account("mia", "intern"), 0, look, purses) == 0
    assert seen == [(33.0, 35.0, 37.0, 0.0)]
    ledger.add(account("mia", "intern"), 0, unpriced=1)
    ledger.add(account("bo", "intern"), 0, unpriced=1)
    [today] = [each for each in ledger.report(DAY, "local") if each.account.day == DAY]
    assert (today.spent, today.reserved, today.unpriced) == (1.0, 32.0, 2)
