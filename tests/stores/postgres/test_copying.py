"""`redask copy` between a directory and PostgreSQL: whole, again, interrupted, refused."""

import json
from pathlib import Path

import postgres_databases
import psycopg
import pytest
from click.testing import CliRunner

import redask
from redask.api.keeping import copy
from redask.app import copies
from redask.cli import main
from redask.core.errors import AskError, BadAsk, StoreFailed
from redask.core.model import Caller
from redask.core.rules.audit_chain import Intact
from redask.core.settings import load
from redask.stores.relational import copying

SETTINGS = load('[embedder]\nname = "hashed"', {})
QUESTION = "Why was the pilot late?"


def filled(location: str | Path, tmp_path: Path) -> str:
    """A database with something in each part. → a token"""
    (tmp_path / "notes.md").write_text("# Pilots\n\nSee [rules](rules.md). The pilot was late.\n")
    (tmp_path / "rules.md").write_text("# Rules\n\nNobody is late.\n")
    with redask.open(location, settings=SETTINGS) as db:
        db.put("calls", [{"id": 1, "note": "The pilot came late because of fog."}])
        db.put("calls", [{"id": number, "note": f"call {number}"} for number in range(2, 30)])
        db.ingest(tmp_path / "notes.md", tmp_path / "rules.md")
        db.set_policy("calls", {"read": [{"roles": ["reader"], "rows": "id < 9"}]})
        db.add_user("ann", role="reader")
        assert db.ask(QUESTION).citations
        return db.make_token("ann")


def facts(location: str | Path, token: str) -> object:
    """What a database says of itself, and to a user."""
    with redask.open(location, token=token, settings=SETTINGS) as db:
        answer, hits = db.ask(QUESTION), db.search("pilot late")
        user = (
            answer.answer,
            [each.urn for each in answer.sources_flat],
            [each.urn for each in hits],
        )
    with redask.open(location, settings=SETTINGS) as db:
        assert db._async._app.backend.store.check() == []
        assert isinstance(db.verify_audit(), Intact)
        rows = [(each.seq, each.row["question"]) for each in db.audit(100)]
        return user, rows, db._async._app.backend.store.identity


def there_and_back(first: str | Path, second: str | Path, third: str | Path, at: Path) -> None:
    token = filled(first, at)
    report = copy(first, second)
    assert report.rows == report.written
    assert report.audit_rows >= 1
    again = copy(first, second)
    assert (again.rows, again.written, again.sha256) == (report.rows, 0, report.sha256)
    back = copy(second, third)
    assert back.rows == report.rows
    assert facts(first, token) == facts(second, token) == facts(third, token)
    with redask.open(second, settings=SETTINGS) as db:  # and it is a database like any other
        db.put("calls", [{"id": 99, "note": "The copy goes on."}])
        db.put("more", [{"id": 1, "note": "In a new collection."}])
        assert db.ask("What goes on?").citations
        assert db._async._app.backend.store.check() == []


def test_a_directory_goes_to_postgresql_and_back(tmp_path: Path) -> None:
    there = postgres_databases.location(tmp_path / "there")
    there_and_back(tmp_path / "one", there, tmp_path / "three", tmp_path)


def test_postgresql_goes_to_another_and_what_is_in_use_is_not_written_over(tmp_path: Path) -> None:
    first, second = (postgres_databases.location(tmp_path / name) for name in "ab")
    token = filled(first, tmp_path)
    copy(first, second)
    with redask.open(first, settings=SETTINGS) as db:  # the old one serves meanwhile
        db.put("calls", [{"id": 1, "note": "The pilot came late because of ice."}])
        db._async._app.backend.store.delete(["urn:reddb:row:calls/5"], Caller())
    later = copy(first, second)
    assert 0 < later.written < later.rows
    assert facts(first, token) == facts(second, token)
    with pytest.raises(BadAsk, match="in use"):
        copy(first, second)  # somebody has opened it
    with pytest.raises(BadAsk, match="same database"):
        copy(first, first)
    with pytest.raises(BadAsk, match="no database"):
        copy(tmp_path / "nothing", second)


def test_the_old_one_answers_and_is_written_to_while_it_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_PAGE", 7)
    token = filled(tmp_path / "one", tmp_path)
    there = postgres_databases.location(tmp_path / "there")
    with redask.open(tmp_path / "one", settings=SETTINGS) as db:
        numbers = iter(range(100, 1000))

        def meanwhile(table: str, done: int) -> None:
            number = next(numbers)
            db.put("calls", [{"id": number, "note": f"At {table}, {done} are done."}])
            assert db.ask(QUESTION).citations

        first = copy(tmp_path / "one", there, meanwhile)
        served = next(numbers) - 100
        assert served > 10
        again = copy(tmp_path / "one", there)  # nobody writes any more
        assert 0 < again.written < again.rows
        assert again.audit_rows >= first.audit_rows + served
    assert facts(tmp_path / "one", token) == facts(there, token)


def test_a_copy_that_was_interrupted_is_not_opened_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "_PAGE", 7)
    token = filled(tmp_path / "one", tmp_path)
    there = postgres_databases.location(tmp_path / "there")

    def stop(table: str, done: int) -> None:
        if table == "entities" and done > 14:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy(tmp_path / "one", there, stop)
    with pytest.raises(StoreFailed, match="not finished"):
        redask.open(there, settings=SETTINGS)
    report = copy(tmp_path / "one", there)
    assert 0 < report.written < report.rows
    assert facts(tmp_path / "one", token) == facts(there, token)


def test_what_somebody_changed_in_a_copy_is_found_or_mended(tmp_path: Path) -> None:
    filled(tmp_path / "one", tmp_path)
    there = postgres_databases.location(tmp_path / "there")
    report = copy(tmp_path / "one", there)
    with psycopg.connect(**postgres_databases.superuser(there), autocommit=True) as connection:
        connection.execute("UPDATE redask.audit_records SET hash = 'x' WHERE seq = 1")
        connection.execute("INSERT INTO redask.spent VALUES ('local', 1, 'x', '', '', 5, 0)")
    mended = copy(tmp_path / "one", there)
    assert mended.written >= 2
    assert mended.sha256 == report.sha256


def test_a_log_that_does_not_verify_is_not_passed_off_as_a_good_copy(tmp_path: Path) -> None:
    first, second = (postgres_databases.location(tmp_path / name) for name in "ab")
    filled(first, tmp_path)
    with psycopg.connect(**postgres_databases.superuser(first), autocommit=True) as connection:
        connection.execute("""UPDATE redask.audit_records SET "row" = replace("row", 'late', '')""")
    with pytest.raises(StoreFailed, match="does not verify"):
        copies.copy_database(first, second)
    with pytest.raises(AskError, match="not finished"):
        redask.open(second, settings=SETTINGS)


def test_the_command_says_what_was_copied(tmp_path: Path) -> None:
    filled(tmp_path / "one", tmp_path)
    words = ["copy", str(tmp_path / "one"), str(tmp_path / "two")]
    said = CliRunner().invoke(main, [*words, "--json"])
    assert said.exit_code == 0, said.output
    told = json.loads(said.output)
    assert told["rows"] == told["written"] > 0
    again = CliRunner().invoke(main, words)
    assert "0 of them written now" in again.output
    assert f"sha256 {told['sha256']}" in again.output
