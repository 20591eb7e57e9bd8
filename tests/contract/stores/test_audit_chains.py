"""What every backend promises of its logs: a chain for each tenant, retention on record."""

import hashlib
import random
from collections.abc import Sequence
from typing import Any

import pytest

from redask.core.model import Caller
from redask.core.ports import AuditRow
from redask.core.rules.audit_chain import Intact
from redask.core.rules.auditing.lived_time import DAY_NS, MARGIN
from redask.core.wire.json import text
from redask.stores.backend import Backend
from redask.stores.backends import BackendRow

OWNER = Caller()
RULE = "ask.audit.retention_days = 10"
KEEP = 10 * DAY_NS
HOUR_NS = DAY_NS // 24
YEAR = 365 * DAY_NS
NOON = 20_000 * DAY_NS


def row(ts: int, *, user: str = "ada", tenant: str = "local", **more: object) -> AuditRow:
    return AuditRow({"ts": ts, "tenant": tenant, "user": user, **more})


def append(backend: Backend, *times: int, **more: Any) -> None:
    for ts in times:
        backend.audit.append([row(ts, **more)])


def days(*numbers: int) -> list[int]:
    return [NOON + number * DAY_NS for number in numbers]


def upkeep(backend: Backend) -> None:
    backend.anchor()
    backend.audit.prune(KEEP, RULE)


def seen(backend: Backend, caller: Caller = OWNER) -> list[int]:
    return [each.seq for each in backend.audit.entries(caller, limit=1000)]


def intact(backend: Backend, tenant: str | None = None) -> Intact:
    verdict = backend.audit.verify(tenant)
    assert isinstance(verdict, Intact), verdict
    return verdict


def test_each_tenant_has_numbers_and_a_chain_of_its_own(backend: Backend) -> None:
    for number in range(10):
        backend.audit.append([row(NOON, tenant="a" if number % 3 else "b", n=number)])
    assert seen(backend, Caller("a", "x", "auditor")) == [6, 5, 4, 3, 2, 1]
    assert seen(backend, Caller("b", "x", "owner")) == [4, 3, 2, 1]
    whole = intact(backend)
    assert [(each.tenant, each.rows) for each in whole.chains] == [("a", 6), ("b", 4)]
    own = intact(backend, "b")
    assert (own.rows, [each.tenant for each in own.chains]) == (4, ["b"])
    assert own.head.hash == backend.audit.entries(Caller("b", "x", "owner"), limit=1)[0].hash


def test_the_two_logs_do_not_share_a_chain(backend: Backend) -> None:
    append(backend, NOON, NOON)
    backend.access.append([row(NOON, action="select")])
    assert intact(backend).rows == 2
    verdict = backend.access.verify()
    assert isinstance(verdict, Intact)
    assert (verdict.rows, [each.log for each in verdict.chains]) == (1, ["access"])


def test_a_user_counts_nothing_but_own_rows_and_pages_through_them(backend: Backend) -> None:
    for number in range(9):
        backend.audit.append([row(NOON + number, user=("ada", "bob", "zoe")[number % 3], n=number)])
    bob = Caller("local", "bob", "analyst")
    entries = backend.audit.entries(bob, limit=10)
    assert [(each.seq, each.row["n"]) for each in entries] == [(3, 7), (2, 4), (1, 1)]
    [older] = backend.audit.entries(bob, limit=1, before=3)
    assert (older.seq, older.row["n"]) == (2, 4)


def test_nothing_that_a_user_sees_tells_a_neighbours_question(backend: Backend) -> None:
    """The attack on the first edition: try likely questions until the next own hash follows."""
    questions = ["Who is ill?", "Who is leaving?", "Who earns most?"]
    for user, question in (("bob", "mine"), ("ada", questions[1]), ("bob", "mine again")):
        backend.audit.append([row(NOON, user=user, question=question)])
    bob = backend.audit.entries(Caller("local", "bob", "analyst"), limit=10)
    ada = backend.audit.entries(Caller("local", "ada", "analyst"), limit=10)
    shown = text([[each.seq, each.hash, each.row] for each in bob])
    guesses = set()
    for question in questions:
        likely = {"ts": NOON, "tenant": "local", "user": "ada", "question": question}
        for before in (bob[1].hash, "0" * 64):
            for seq in (1, 2):
                raw = before.encode() + seq.to_bytes(8, "big") + text(likely).encode()
                guesses.add(hashlib.sha256(raw).hexdigest())
    assert not any(guess in shown for guess in guesses)
    assert ada[0].hash not in shown
    chain = backend.audit.entries(OWNER, limit=10)
    assert not {each.hash for each in chain} & {each.hash for each in (*bob, *ada)}


def test_equal_rows_have_hashes_that_are_not(backend: Backend) -> None:
    append(backend, NOON, NOON)
    hashes = {each.hash for each in backend.audit.entries(Caller("local", "ada", "x"), limit=9)}
    assert len(hashes) == 2


def test_retention_takes_the_old_end_and_its_record_is_in_the_chain(backend: Backend) -> None:
    append(backend, *days(*range(30)))
    upkeep(backend)
    upkeep(backend)
    assert seen(backend) == list(range(30, 12, -1))
    [chain] = intact(backend).chains
    assert (chain.rows, chain.head.pruned_seq, chain.rule) == (18, 12, RULE)
    assert chain.head.seq == 31  # the record of it
    append(backend, *days(30))
    upkeep(backend)
    assert seen(backend)[0] == 32
    assert intact(backend).rows == 18


def test_only_what_the_store_remembers_is_taken(backend: Backend) -> None:
    append(backend, *days(*range(30)))
    backend.audit.prune(KEEP, RULE)
    assert len(seen(backend)) == 30
    backend.anchor()
    backend.audit.prune(KEEP, RULE)
    assert len(seen(backend)) == 18


def test_numbers_of_a_user_go_on_after_retention_took_all(row: BackendRow, location: str) -> None:
    backend = row.open(location)
    append(backend, *days(0), user="bob")
    append(backend, *days(*range(1, 30)))
    upkeep(backend)
    bob = Caller("local", "bob", "analyst")
    assert seen(backend, bob) == []
    append(backend, *days(30), user="bob")
    assert seen(backend, bob) == [2]
    backend.close()


@pytest.mark.parametrize("jump", [-DAY_NS, 91 * DAY_NS, 12 * YEAR, -50 * YEAR])
@pytest.mark.parametrize("after", [0, 1, 20])
def test_a_clock_that_jumps_takes_nothing(backend: Backend, jump: int, after: int) -> None:
    """One that comes back, and one that stays: nobody can tell which time is right."""
    calm = [NOON + number * HOUR_NS for number in range(9 * 24)]
    append(backend, *calm[::8])
    last = calm[::8][-1]
    append(backend, last + jump)
    upkeep(backend)
    assert len(seen(backend)) == 28
    append(backend, *(last + number * HOUR_NS for number in range(1, after)))
    upkeep(backend)
    assert len(seen(backend)) == 28 + max(0, after - 1)
    intact(backend)


def test_in_no_history_of_jumps_is_a_row_taken_too_early(backend: Backend) -> None:
    rng = random.Random(7)
    now, offset, written = NOON, 0, []
    for number in range(600):
        now += rng.randrange(HOUR_NS, 12 * HOUR_NS)
        if rng.random() < 0.1:
            offset = rng.choice((0, 0, -DAY_NS, 91 * DAY_NS, 12 * YEAR, -3 * YEAR))
        backend.audit.append([row(now + offset, n=number)])
        written.append(now)
        if number % 10 == 9:
            upkeep(backend)
            left = {int(str(each.row["n"])) for each in backend.audit.entries(OWNER, limit=1000)}
            young = {each for each, at in enumerate(written) if now - at <= KEEP}
            assert young <= left
            intact(backend)
    assert len(backend.audit.entries(OWNER, limit=1000)) < 600  # and some were


def test_a_calm_log_is_pruned_whatever_happened_before(backend: Backend) -> None:
    append(backend, NOON, NOON + 12 * YEAR, NOON + HOUR_NS)
    calm = [NOON + number * DAY_NS // 2 for number in range(1, 60)]
    append(backend, *calm)
    upkeep(backend)
    oldest = backend.audit.entries(OWNER, limit=1000)[-1]
    age = calm[-1] - int(str(oldest.row["ts"]))
    assert KEEP < age <= KEEP + 2 * MARGIN


def test_rows_of_a_batch_that_cannot_be_written_leave_no_number(backend: Backend) -> None:
    append(backend, NOON)
    bad: Sequence[AuditRow] = [row(NOON), row(NOON, n=float("nan"))]
    with pytest.raises(Exception, match=r"."):
        backend.audit.append(bad)
    append(backend, NOON)
    assert seen(backend) == seen(backend, Caller("local", "ada", "x")) == [2, 1]
    intact(backend)
