"""The access log of an open database: administration, switches, hashes, and a log that fails."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import redask
from redask.core.errors import AuditUnavailable, Denied, Unauthenticated
from redask.core.settings import Settings
from redask.stores.sqlite.calls_migrations import CALLS_FILE


def rows(db: redask.OpenDatabase, most: int = 100) -> list[tuple[object, ...]]:
    keys = ("action", "subject", "outcome")
    found = db.audit(most, log="access")
    return [tuple(each.row[key] for key in keys) for each in reversed(found)]


def test_every_change_has_a_row_before_it_and_one_after(tmp_path: Path) -> None:
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": 1, "text": "x"}])
        db.add_user("mia", role="support", attributes={"region": "north"})
        db.set_user("mia", role="analyst")
        token = db.make_token("mia", expires="30d")
        db.set_policy("notes", {"read": [{"roles": ["analyst"]}]})
        db.fix_type("notes.text", "text")
        with db.signed_in(token) as mia, pytest.raises(Denied):
            mia.set_policy("notes", None)
        db.revoke_token(db.tokens()[0].id)
        db.remove_user("mia")
        found = rows(db)
        said = [each.row["detail"] for each in db.audit(100, log="access")]
        ident = db.tokens()[0].id
    assert found == [
        (action, subject, outcome)
        for action, subject, last in [
            ("user_add", "mia", "ok"),
            ("user_set", "mia", "ok"),
            ("token_make", "mia", "ok"),
            ("policy_set", "notes", "ok"),
            ("type_fix", "notes.text", "ok"),
            ("policy_set", "notes", "denied"),
            ("token_revoke", ident, "ok"),
            ("user_remove", "mia", "ok"),
        ]
        for outcome in ("begun", last)
    ]
    assert not any(token in str(each) for each in said)
    assert '{"role": "support", "attributes": {"region": "north"}}' in said


def test_select_and_search_can_be_switched_off_and_changes_cannot(tmp_path: Path) -> None:
    chosen = Settings(access_log_select=False, access_log_search=False)
    with redask.open(tmp_path, settings=chosen) as db:
        db.put("notes", [{"id": 1, "text": "ferry"}])
        db.select("SELECT * FROM notes")
        db.search("ferry")
        db.add_user("mia", role="support")
        with pytest.raises(Unauthenticated):
            db.signed_in("nonsense")
        db.select("SELECT 1")
        db.remove_user("mia")
        assert [each[0] for each in rows(db)] == [
            *("user_add", "user_add", "sign_in", "user_remove", "user_remove")
        ]


def test_statements_and_questions_are_hashed_where_the_settings_say_so(tmp_path: Path) -> None:
    with redask.open(tmp_path, settings=Settings(audit_hash_tenants=("local",))) as db:
        db.put("notes", [{"id": 1, "text": "ferry"}])
        db.select("SELECT * FROM notes WHERE text = 'secret'")
        db.search("secret ferry")
        assert all(str(subject).startswith("sha256:") for _, subject, _ in rows(db))
    whole = b"".join(file.read_bytes() for file in tmp_path.glob("calls.sqlite*"))
    assert b"secret" not in whole


def test_repeated_refusals_are_one_row_with_their_number_when_it_is_closed(tmp_path: Path) -> None:
    with redask.open(tmp_path, clock=lambda: 10**18) as db:
        for _ in range(40):
            with pytest.raises(Unauthenticated):
                db.signed_in("nonsense")
    with redask.open(tmp_path) as db:
        assert [each.row["count"] for each in db.audit(log="access")] == [39, 1]


def test_without_a_row_there_is_no_result_and_no_change(tmp_path: Path) -> None:
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": 1, "text": "ferry"}])
        db.select("SELECT * FROM notes")
        with closing(sqlite3.connect(tmp_path / CALLS_FILE, isolation_level=None)) as other:
            other.execute("DROP TABLE audit_records")
        for work in (
            lambda: db.select("SELECT * FROM notes"),
            lambda: db.search("ferry"),
            lambda: db.add_user("mia", role="support"),
        ):
            with pytest.raises(AuditUnavailable):
                work()
        assert db.users() == []
