"""Whoever changes, drops or adds what made an answer is found; retention and migration are not."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import redask
from redask.core.errors import StoreFailed
from redask.core.ports import AuditRow
from redask.core.rules.audit_chain import Broken, Intact
from redask.core.settings import Settings
from redask.stores.sqlite.calls_migrations import CALLS_FILE

DAY_NS = 86_400 * 10**9
QUESTION = "When does the ferry leave?"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with redask.open(tmp_path / "db", embedder="none") as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        for _ in range(4):
            db.ask(QUESTION)
    return tmp_path / "db"


def change(home: Path, statement: str) -> None:
    with closing(sqlite3.connect(home / CALLS_FILE)) as connection, connection:
        assert connection.execute(statement).rowcount


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE audit_provenance SET provenance = replace(provenance, '\"found\"', '\"fount\"')"
         " WHERE seq = 3", "is not what was written"),
        ("DELETE FROM audit_provenance WHERE seq = 3", "is missing"),
        ("DELETE FROM audit_provenance WHERE seq >= 3", "is missing"),
        ("UPDATE audit_provenance SET provenance = (SELECT provenance FROM audit_provenance"
         " WHERE seq = 2) WHERE seq = 3", "is not what was written"),
    ],
)  # fmt: skip
def test_verify_names_the_row(home: Path, statement: str, what: str) -> None:
    change(home, statement)
    with redask.open(home, embedder="none") as db:
        verdict = db.verify_audit()
        assert verdict == Broken(3, f"what made the answer of row 3 {what}", "local")
        assert db.doctor()["problems"] == [f"audit log: what made the answer of row 3 {what}"]
        if what == "is missing":
            assert db.replay(3).verdict == "not_replayable"
        else:
            with pytest.raises(StoreFailed, match="audit verify"):
                db.replay(3)
        assert db.replay(2).verdict == "equal"


def test_the_first_fault_is_named_whichever_it_is(home: Path) -> None:
    change(home, "DELETE FROM audit_provenance WHERE seq = 2")
    change(home, "UPDATE audit_records SET row = replace(row, 'ferry', 'fairy') WHERE seq = 3")
    with redask.open(home, embedder="none") as db:
        assert db.verify_audit() == Broken(2, "what made the answer of row 2 is missing", "local")
    change(home, "UPDATE audit_records SET row = replace(row, 'ferry', 'fairy') WHERE seq = 1")
    with redask.open(home, embedder="none") as db:
        verdict = db.verify_audit()
        assert isinstance(verdict, Broken)
        assert verdict.seq == 1


def test_a_row_from_before_says_so(home: Path) -> None:
    with closing(sqlite3.connect(home / CALLS_FILE)) as connection, connection:
        connection.execute("DROP TABLE audit_provenance")
        connection.execute("DELETE FROM audit_records")
        connection.execute("DELETE FROM audit_chains")
        connection.execute("DELETE FROM audit_numbers")
        connection.execute("PRAGMA user_version = 6")
    (home / "redask.sqlite").rename(home / "old.sqlite")
    with closing(sqlite3.connect(home / "old.sqlite")) as store, store:
        for table in ("log_file", "log_anchors", "log_pruning"):
            store.execute(f"DELETE FROM {table}")
    (home / "old.sqlite").rename(home / "redask.sqlite")
    with redask.open(home, embedder="none") as db:  # the schema of before, and rows as of before
        backend = db._async._app.backend
        row = {"ts": 1, "tenant": "local", "user": "local", "citations": [1], "question": "x"}
        backend.audit.append([AuditRow(row)])
        report = db.replay(1)
        assert report.verdict == "not_replayable"
        assert report.reasons == ("it was made before redask kept what made an answer",)
        assert db.stale_answers().unknown == 1
        db.ask(QUESTION)
        assert db.replay(2).verdict == "equal"


@pytest.mark.parametrize("name", ["question", "user"])
def test_a_row_that_was_erased_in_part_cannot_be_replayed(home: Path, name: str) -> None:
    with redask.open(home, embedder="none") as db:
        db.erase_audit(2, [name], reason="request 12")
        assert isinstance(db.verify_audit(), Intact)
        report = db.replay(2)
        assert (report.verdict, report.reasons) == (
            "not_replayable",
            ("a part of the row was erased",),
        )
        db.put("notes", [{"id": 1, "text": "The ferry leaves at ten."}])
        stale = db.stale_answers()
        known = [4, 3, 1] if name == "question" else [4, 3, 2, 1]  # what made it went with it
        assert [each.seq for each in stale.answers] == known
        assert stale.unknown == 4 - len(known)


def test_its_retention_follows_its_own_setting(tmp_path: Path) -> None:
    now = [0]
    clock: Callable[[], int] = lambda: now[0]  # noqa: E731
    kept = Settings(audit_provenance_days=10)
    for days in (range(30), range(30, 31)):
        with redask.open(tmp_path, settings=kept, embedder="none", clock=clock) as db:
            for day in days:
                now[0] = (20_000 + day) * DAY_NS
                db.ask(f"What is on day {day}?")
    with redask.open(tmp_path, settings=kept, embedder="none", clock=clock) as db:
        verdict = db.verify_audit()
        assert isinstance(verdict, Intact)
        assert verdict.rows == 31
        assert db.replay(1).reasons == (
            "what made it is not kept any more: ask.audit.provenance_days have passed",
        )
        assert db.replay(db.audit(1)[0].seq).verdict == "equal"
