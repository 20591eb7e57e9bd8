"""A log of the first edition: its rows stay readable, verifiable and subject to retention."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tampered_logs import TamperedLog, statements

from redask.core.model import Caller
from redask.core.ports import AuditRow
from redask.core.rules.audit_chain import Broken, Intact
from redask.core.rules.auditing import first_chain
from redask.core.rules.auditing.lived_time import DAY_NS
from redask.core.wire.json import text
from redask.stores.sqlite.calls_migrations import CALLS_FILE, MIGRATIONS
from redask.stores.sqlite.connection import Database
from redask.stores.sqlite.sqlite_backend import SqliteBackend

OWNER = Caller()
NOON = 20_000 * DAY_NS
OLD = 20
GONE = 3  # of them, before
WHOSE = [("local", "ada"), ("local", "bob"), ("other", "ada")]


def row(number: int, ts: int = 0) -> dict[str, object]:
    tenant, user = WHOSE[number % 3]
    return {"ts": ts or number, "tenant": tenant, "user": user, "n": number}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A directory whose log was written by redask before: the same tables, the same hashes."""
    path = tmp_path / CALLS_FILE
    Database(path, busy_timeout=5, migrations=MIGRATIONS[:4]).close()
    last, hashes = first_chain.GENESIS, [first_chain.GENESIS]
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for seq in range(1, OLD + 1):
            whole = row(seq)
            last = first_chain.link(last, seq, text(whole))
            hashes.append(last)
            filed = (whole["ts"], whole["tenant"], whole["user"])
            connection.execute(
                "INSERT INTO red_ask_audit VALUES (?, ?, ?, ?, ?, ?)",
                (seq, *filed, text(whole), last),
            )
            connection.execute("INSERT INTO audit_builds VALUES (?, ?)", (seq, f"build {seq}"))
        connection.execute("DELETE FROM red_ask_audit WHERE seq <= ?", (GONE,))
        head = first_chain.FirstHead(OLD, last, GONE, hashes[GONE])
        connection.execute(
            "INSERT INTO audit_head VALUES (?, ?, ?, ?, ?)",
            (OLD, last, GONE, hashes[GONE], first_chain.seal(head)),
        )
    return tmp_path


def numbers(backend: SqliteBackend, caller: Caller, **page: int) -> list[tuple[int, object]]:
    found = backend.audit.entries(caller, **{"limit": 100, **page})
    return [(each.seq, each.row["n"]) for each in found]


def test_old_rows_and_new_ones_are_read_as_one_log(old: Path) -> None:
    with SqliteBackend(old) as backend:
        before = numbers(backend, OWNER)
        assert [seq for seq, _ in before] == [19, 18, 16, 15, 13, 12, 10, 9, 7, 6, 4]
        assert backend.audit.entries(OWNER, limit=1)[0].build == "build 19"
        backend.audit.append([AuditRow(row(n)) for n in (21, 22, 23)])
        assert numbers(backend, OWNER) == [(22, 22), (21, 21), *before]
        assert numbers(backend, OWNER, limit=3, before=22) == [(21, 21), *before[:2]]
        assert numbers(backend, Caller("other", "x", "auditor"))[0] == (21, 23)
        bob = numbers(backend, Caller("local", "bob", "analyst"))
        assert bob == [(n, each) for n, each in zip(range(7, 0, -1), range(22, 3, -3), strict=True)]
        assert numbers(backend, Caller("local", "bob", "x"), before=6)[0] == (5, 16)


def test_a_user_does_not_see_the_hashes_of_the_old_chain(old: Path) -> None:
    with SqliteBackend(old) as backend:
        chain = {each.hash for each in backend.audit.entries(OWNER, limit=100)}
        own = {each.hash for each in backend.audit.entries(Caller("local", "bob", "x"), limit=100)}
    assert own
    assert not own & chain


def test_both_chains_verify_and_the_new_one_holds_the_head_of_the_old(old: Path) -> None:
    for _ in range(2):
        with SqliteBackend(old) as backend:
            verdict = backend.audit.verify()
            assert isinstance(verdict, Intact)
            assert verdict.rows == OLD - GONE
    with SqliteBackend(old) as backend:
        backend.audit.append([AuditRow(row(n)) for n in (21, 22, 23)])
        backend.anchor()
        assert isinstance(verdict := backend.audit.verify(), Intact)
        assert verdict.rows == OLD - GONE + 3
        assert isinstance(own := backend.audit.verify("other"), Intact)
        assert own.rows == 6 + 1


EDITS = {
    "flip": "UPDATE red_ask_audit SET row = replace(row, '\"n\":{n}', '\"n\":0') WHERE seq = {n}",
    "drop": "DELETE FROM red_ask_audit WHERE seq = {n}",
    "hash": "UPDATE red_ask_audit SET hash = hash || '0' WHERE seq = {n}",
    "file": "UPDATE red_ask_audit SET user = 'eve' WHERE seq = {n}",
}


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_of_an_old_row_is_found_and_named(old: Path, edit: str) -> None:
    with SqliteBackend(old) as backend:
        backend.anchor()
    log = TamperedLog(old)
    for number in range(GONE + 1, OLD + 1):
        verdict = log.verdict(statements(EDITS[edit].format(n=number)))
        assert isinstance(verdict, Broken)
        assert verdict.seq == number


def test_an_old_log_that_is_gone_whole_is_missed(old: Path) -> None:
    with SqliteBackend(old) as backend:
        backend.anchor()
    log = TamperedLog(old)
    emptied = ("DELETE FROM red_ask_audit", "DELETE FROM audit_head")
    assert log.verdict(statements(*emptied)) == Broken(4, "row 4 is missing")
    forgotten = (*emptied, "DELETE FROM audit_records", "DELETE FROM audit_chains")
    assert log.verdict(statements(*forgotten)) == Broken(1, "row 1 is missing")
    added = "INSERT INTO red_ask_audit VALUES (1, 1, 'local', 'ada', '{}', '', 1)"
    verdict = log.verdict(statements(*forgotten[2:], *emptied, added))
    assert isinstance(verdict, Broken)


def test_a_head_that_was_changed_before_is_named(old: Path) -> None:
    with closing(sqlite3.connect(old / CALLS_FILE, isolation_level=None)) as connection:
        connection.execute("UPDATE audit_head SET seq = 19")
    with SqliteBackend(old) as backend:
        assert backend.audit.verify() == Broken(0, "the head of the old log was changed")


def test_old_rows_go_when_the_log_has_lived_for_long_enough_and_that_is_on_record(
    old: Path,
) -> None:
    with SqliteBackend(old) as backend:
        for day in range(17):
            backend.audit.append([AuditRow(row(30 + day, NOON + day * DAY_NS))])
        backend.anchor()
        backend.audit.prune(10 * DAY_NS, "why")
        assert len(numbers(backend, OWNER)) == 11 + 12
        for day in range(17, 25):
            backend.audit.append([AuditRow(row(30 + day, NOON + day * DAY_NS))])
        backend.anchor()
        backend.audit.prune(10 * DAY_NS, "why")
        backend.anchor()
        assert numbers(backend, OWNER)[-1][0] > OLD
        assert isinstance(backend.audit.verify(), Intact)
    restored = "INSERT INTO red_ask_audit VALUES (20, 1, 'local', 'ada', '{}', '', 1)"
    assert isinstance(TamperedLog(old).verdict(statements(restored)), Broken)
