"""Money: reserved before, settled after, exact to the nano-dollar, whoever asks at once."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reserving import DAY, reserve

import redask
from redask.core.ports import Account, Spending
from redask.core.rules.cost import Allow, Reject, Spent
from redask.stores.relational.ledger import RelationalLedger
from redask.stores.sqlite.calls_migrations import CALLS_FILE, MIGRATIONS
from redask.stores.sqlite.connection import Database
from redask.stores.sqlite.sqlite_backend import open_calls

MINE = Account("t", DAY, "openai")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[RelationalLedger]:
    with closing(open_calls(tmp_path, busy_timeout=5)) as database:
        yield RelationalLedger(database)


def held(ledger: RelationalLedger, account: Account, nanos: int) -> int:
    number = ledger.reserve(account, nanos, lambda _: Allow())
    assert isinstance(number, int)
    return number


def test_a_reservation_counts_until_it_is_settled_by_what_was_used(
    ledger: RelationalLedger,
) -> None:
    number = held(ledger, MINE, 700)
    assert ledger.total("t", DAY) == 700
    ledger.settle(number, 300)
    assert ledger.total("t", DAY) == 300
    ledger.settle(number, 300)
    assert ledger.total("t", DAY) == 300


def test_more_than_was_reserved_is_booked_as_it_is(ledger: RelationalLedger) -> None:
    ledger.settle(held(ledger, MINE, 10), 25)
    assert ledger.total("t", DAY) == 25


def test_a_call_over_midnight_is_booked_on_the_day_it_began(ledger: RelationalLedger) -> None:
    number = held(ledger, MINE, 700)
    held(ledger, Account("t", DAY + 1, "openai"), 50)
    ledger.settle(number, 300)
    assert (ledger.total("t", DAY), ledger.total("t", DAY + 1)) == (300, 50)


def test_a_lost_reservation_counts_on_its_day_alone_and_is_swept_later(
    ledger: RelationalLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redask.stores.relational.ledger._KEPT", 3)
    lost = held(ledger, MINE, 700)
    assert ledger.total("t", DAY + 1) == 0
    for _ in range(4):
        held(ledger, Account("t", DAY + 2, "openai"), 1)
        assert ledger.total("t", DAY) == 0
        assert [each.account.day for each in ledger.report(0)] == [DAY + 2]
    held(ledger, Account("t", DAY + 2, "openai"), 1)
    ledger.settle(lost, 300)  # it is over
    assert ledger.total("t", DAY) == 0


def test_what_runs_while_the_clock_jumps_ahead_is_booked_nevertheless(
    ledger: RelationalLedger,
) -> None:
    running = held(ledger, MINE, 700)
    held(ledger, Account("t", DAY + 4000, "openai"), 1)
    ledger.settle(running, 300)
    assert ledger.total("t", DAY) == 300
    ledger.settle(running, 300)
    assert ledger.total("t", DAY) == 300


def test_the_rule_sees_spent_and_reserved_of_this_tenant_and_day(ledger: RelationalLedger) -> None:
    ledger.add(MINE, 10**9)
    held(ledger, Account("t", DAY, "groq"), 5 * 10**8)
    ledger.add(Account("other", DAY, "openai"), 1)
    ledger.add(Account("t", DAY - 1, "openai"), 1)
    seen: list[Spent] = []

    def check(spent: Spent) -> Reject:
        seen.append(spent)
        return Reject("daily_cost_cap_usd", 1.0, 0.5, "no")

    assert ledger.reserve(MINE, 5, check) == Reject("daily_cost_cap_usd", 1.0, 0.5, "no")
    assert seen == [Spent(DAY, 1.5)]
    assert ledger.total("t", DAY) == 15 * 10**8


def test_nothing_is_written_for_nothing(ledger: RelationalLedger) -> None:
    assert ledger.reserve(MINE, 0, lambda _: Allow()) == 0
    assert ledger.report(0) == []


def test_the_report_is_by_day_tenant_and_provider(ledger: RelationalLedger) -> None:
    ledger.add(Account("b", DAY, "groq"), 2 * 10**9)
    ledger.add(Account("a", DAY, "openai"), 10**9)
    ledger.add(Account("a", DAY - 1, "openai"), 3 * 10**9)
    held(ledger, Account("a", DAY, "groq"), 5)
    lines = [
        Spending(Account("a", DAY, "groq"), 0.0, 5e-9),
        Spending(Account("a", DAY, "openai"), 1.0, 0.0),
        Spending(Account("b", DAY, "groq"), 2.0, 0.0),
        Spending(Account("a", DAY - 1, "openai"), 3.0, 0.0),
    ]
    assert ledger.report(DAY - 1) == lines
    assert ledger.report(DAY) == lines[:3]
    assert ledger.report(0, "b") == [lines[2]]


def test_spending_of_an_older_redask_is_kept_without_a_provider(tmp_path: Path) -> None:
    old = Database(tmp_path / CALLS_FILE, busy_timeout=5, migrations=MIGRATIONS[:1])
    with old.writing() as connection:
        connection.execute("INSERT INTO spending VALUES ('t', ?, 0.3)", (DAY,))
    old.close()
    with closing(open_calls(tmp_path, busy_timeout=5)) as database:
        assert RelationalLedger(database).report(0) == [Spending(Account("t", DAY, ""), 0.3, 0.0)]


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(1, 400), st.integers(0, 100)), max_size=20))
def test_a_cap_is_never_passed_and_used_to_the_last_nano(calls: list[tuple[int, int]]) -> None:
    import tempfile

    with (
        tempfile.TemporaryDirectory() as directory,
        closing(open_calls(Path(directory), busy_timeout=5)) as database,
    ):
        ledger, total = RelationalLedger(database), 0
        for amount, percent in calls:
            number = reserve(ledger, amount, 1000)
            assert isinstance(number, Reject) == (total + amount > 1000)
            if isinstance(number, int):
                used = amount * percent // 100
                ledger.settle(number, used)
                total += used
            assert ledger.total("t", DAY) == total <= 1000


ASKING = """
import random, sys
import redask
from redask.core.errors import AskError, Failure
from redask.providers.scripted import Reply, Scripted
from redask.core.settings import load

directory, seed = sys.argv[1], int(sys.argv[2])
rng = random.Random(seed)
cited = Reply(pieces=("At ", "nine ", "[^1]."))
bad = [Reply(fail=each) for each in Failure] + [Reply("half a sen", fail=Failure.TRANSPORT)]
kinds = [cited, cited, Reply("[^9]"), Reply("x", usage=None), *bad]
replies = [rng.choice(kinds) for _ in range(40)]
provider = Scripted(replies, prices=(1e-6, 3e-6))
settings = load("[ask]\\ndaily_cost_cap_usd = 0.008\\nmax_completion_tokens = 300", {})
providers = {"scripted": provider}
with redask.open(directory, settings=settings, embedder="none", providers=providers) as db:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(12):
        try:
            if rng.random() < 0.5:
                db.ask("When does the ferry leave?", using="scripted")
            else:
                list(db.stream("When does the ferry leave?", using="scripted"))
        except AskError:
            pass
"""


def test_eight_processes_asking_at_once_never_pass_the_cap(tmp_path: Path) -> None:
    cap = 8_000_000
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
    children = [
        subprocess.Popen(
            [sys.executable, "-c", ASKING, str(tmp_path), str(seed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in range(8)
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    most = 0
    with closing(sqlite3.connect(tmp_path / CALLS_FILE, timeout=30)) as watching:
        while any(child.poll() is None for child in children):
            (total,) = watching.execute(
                "SELECT (SELECT coalesce(sum(nanos), 0) FROM spent)"
                " + (SELECT coalesce(sum(nanos), 0) FROM reserved)"
            ).fetchone()
            most = max(most, total)
            assert total <= cap
        for child in children:
            _, complaint = child.communicate()
            assert (child.returncode, complaint) == (0, "")
        found = watching.execute("SELECT row FROM audit_records").fetchall()
        assert watching.execute("SELECT count(*) FROM reserved").fetchone() == (0,)
        (booked,) = watching.execute("SELECT sum(nanos) FROM spent").fetchone()
    rows = [json.loads(row) for (row,) in found]
    assert len(rows) == 8 * 12
    refused = [row for row in rows if "daily_cost_cap_usd" in json.dumps(row["errors"])]
    assert refused, "the cap was never reached: the test shows nothing"
    assert most > cap // 2
    # each call is rounded up by less than a nano-dollar
    audited = sum(row["cost_usd"] for row in rows) * 1e9
    assert 0 <= booked - audited + 1e-3 <= 2 * len(rows)
