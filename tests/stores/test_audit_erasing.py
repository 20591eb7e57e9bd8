"""Erased values are gone from the bytes of every file; an erasure without a record is found."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest
from tampered_logs import TamperedLog, then_forge

import redask
from redask.core.errors import BadAsk, Denied, StoreFailed
from redask.core.rules.audit_chain import Broken, Intact
from redask.core.settings import Settings
from redask.stores.sqlite.calls_migrations import CALLS_FILE
from redask.stores.sqlite.sqlite_backend import open_calls

SECRET = "Quasimodo"
QUESTION = f"When does the ferry of {SECRET} leave?"  # nothing mentions it, says the answer
SETTINGS = Settings(audit_include_answer=True)


def files_with(directory: Path, text: str) -> set[str]:
    """The files that hold a text, as UTF-8."""
    return {
        path.name
        for path in directory.rglob("*")
        if path.is_file() and text.encode() in path.read_bytes()
    }


def opened(directory: Path) -> redask.OpenDatabase:
    return redask.open(directory, settings=SETTINGS, embedder="none")


def asked(directory: Path, *questions: str, **options: object) -> None:
    with opened(directory) as db:
        if not db.audit(1):
            db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        for question in questions:
            db.ask(question, **options)


LONG = QUESTION + " ".join(f"and word {n} of {SECRET}" for n in range(900))  # over many pages


@pytest.mark.parametrize("question", [QUESTION, LONG])
def test_no_byte_of_it_is_left_in_any_file(tmp_path: Path, question: str) -> None:
    asked(tmp_path, *(f"What is {n}?" for n in range(40)), question, cache={"ttl": "1h"})
    asked(tmp_path, *(f"What is {n}?" for n in range(40, 80)))
    assert CALLS_FILE in files_with(tmp_path, SECRET)
    with opened(tmp_path) as db:
        assert db.audit(1, before=42)[0].row["question"] == question
        assert SECRET in str(db.audit(1, before=42)[0].row["answer"])
        calls = cast(Any, db._async._app.backend)._calls
        calls._writer.execute("PRAGMA secure_delete = OFF")  # as SQLite is built elsewhere
        erased = db.erase_audit(41, ["question", "answer"], reason="request 12")
        assert erased == (
            "answer",
            "provenance",
            "question",
        )  # a hash of the prompt tells who guesses
        assert db.replay(41).verdict == "not_replayable"
        assert files_with(tmp_path, SECRET) == set()
        assert isinstance(db.verify_audit(), Intact)
        db.export_audit(tmp_path / "log.jsonl")
    assert files_with(tmp_path, SECRET) == set()


def test_the_answer_cache_is_emptied_and_answers_come_anew(tmp_path: Path) -> None:
    asked(tmp_path, QUESTION, QUESTION, cache={"ttl": "1h"})
    with opened(tmp_path) as db:
        assert [each.row["cache_hit"] for each in db.audit(2)] == [True, False]
        db.erase_audit(1, ["question"], reason="r")
        db.ask(QUESTION, cache={"ttl": "1h"})
        assert db.audit(1)[0].row["cache_hit"] is False


def test_a_name_is_gone_from_the_counts_when_no_row_has_it(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        db.add_user("xanthippe", role="analyst")
        with db.signed_in(db.make_token("xanthippe")) as she:
            she.ask("Who?")
            she.ask("And who?")
        db.erase_audit(1, ["user"], reason="r")
        with closing(sqlite3.connect(tmp_path / CALLS_FILE)) as file:
            assert file.execute("SELECT user FROM audit_numbers").fetchall() != []
        db.erase_audit(2, ["user"], reason="r")
        with closing(sqlite3.connect(tmp_path / CALLS_FILE)) as file:
            held = file.execute(
                "SELECT count(*) FROM audit_numbers JOIN audit_chains ON id = chain"
                " WHERE log = 'ask' AND user = 'xanthippe'"
            ).fetchone()
        assert held == (0,)
        assert isinstance(db.verify_audit(), Intact)


def edited(directory: Path, statement: str) -> Broken:
    with closing(sqlite3.connect(directory / CALLS_FILE, isolation_level=None)) as file:
        file.execute(statement)
    with opened(directory) as db:
        verdict = db.verify_audit()
    assert isinstance(verdict, Broken)
    return verdict


def test_a_value_that_somebody_takes_out_without_a_record_is_named(tmp_path: Path) -> None:
    asked(tmp_path, "Who?", "What?", "When?")
    with opened(tmp_path) as db:
        db.erase_audit(2, ["question"], reason="r")
    verdict = edited(tmp_path, "DELETE FROM audit_records WHERE kind = 'erased'")
    assert verdict == Broken(4, "row 4 is missing", "local")


def test_a_chain_made_anew_without_the_record_of_an_erasure_is_named(tmp_path: Path) -> None:
    asked(tmp_path, "Who?", "What?", "When?")
    with opened(tmp_path) as db:
        db.erase_audit(2, ["question"], reason="r")
    log = TamperedLog(tmp_path)
    with log.sealed(then_forge("DELETE FROM audit_records WHERE kind = 'erased'")) as (verdict, _):
        why = "row 2 lacks provenance, and no record says it was erased"
        assert verdict == Broken(2, why, "local")


def test_an_erased_value_that_is_put_back_is_named(tmp_path: Path) -> None:
    asked(tmp_path, "Who?", "What?")
    with closing(sqlite3.connect(tmp_path / CALLS_FILE)) as file:
        found = "SELECT row, beside, opening FROM audit_records WHERE seq = 2"
        whole = file.execute(found).fetchone()
    with opened(tmp_path) as db:
        db.erase_audit(2, ["question"], reason="r")
    with closing(sqlite3.connect(tmp_path / CALLS_FILE, isolation_level=None)) as file:
        put_back = "UPDATE audit_records SET row = ?, beside = ?, opening = ? WHERE seq = 2"
        file.execute(put_back, whole)
    with opened(tmp_path) as db:
        why = "row 2 has provenance, which was erased"
        assert db.verify_audit() == Broken(2, why, "local")


def refused(work: Callable[[], object], error: type[Exception], what: str) -> None:
    with pytest.raises(error, match=what):
        work()


def test_an_auditor_may_not_erase_nor_seal_and_a_user_may_not_prove(tmp_path: Path) -> None:
    asked(tmp_path, "Who?")
    with opened(tmp_path) as db:
        for role in ("auditor", "analyst"):
            db.add_user(role, role=role)
            with db.signed_in(db.make_token(role)) as other:
                refused(lambda: other.erase_audit(1, ["question"], reason="r"), Denied, "owner")
                refused(other.seal_audit, Denied, "every tenant")
                if role == "analyst":
                    refused(lambda: other.prove_audit(1), Denied, "may not look")
                    refused(lambda: other.export_audit_lines(print), Denied, "may not look")
        assert db.audit(1)[0].erased == ()
        for fields, reason, what in (
            ([], "r", "name the fields"),
            ("question", "r", "name the fields"),
            (["question"], " ", "has a reason"),
            (["question"], "r" * 1001, "has a reason"),
        ):
            refused(lambda: db.erase_audit(1, fields, reason=reason), BadAsk, what)  # noqa: B023


def test_while_somebody_reads_the_log_an_erasure_says_that_bytes_may_be_left(
    tmp_path: Path,
) -> None:
    asked(tmp_path, QUESTION)
    with closing(open_calls(tmp_path, busy_timeout=0.1)) as database:
        with closing(sqlite3.connect(tmp_path / CALLS_FILE, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM audit_records").fetchone()
            with database.writing() as connection:
                connection.execute("DELETE FROM answers")
            refused(database.rewrite, StoreFailed, "may hold what was deleted")
        database.rewrite()


def test_a_row_of_the_first_edition_cannot_lose_a_value(tmp_path: Path) -> None:
    asked(tmp_path, "Who?")
    with closing(sqlite3.connect(tmp_path / CALLS_FILE, isolation_level=None)) as file:
        file.execute(
            "INSERT INTO red_ask_audit (seq, ts, tenant, user, row, hash)"
            " VALUES (77, 1, 'local', 'ada', '{}', '')"
        )
    with opened(tmp_path) as db:
        refused(
            lambda: db.erase_audit(77, ["question"], reason="r"), BadAsk, "of the first edition"
        )
