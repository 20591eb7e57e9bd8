"""Refusals, failures and answers can be told apart in the audit log, on every way to read it."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

import redask
from redask.cli import main
from redask.core.errors import Denied
from redask.core.rules.audit import KEYS
from redask.core.rules.audit_chain import Broken, Intact
from redask.core.settings import Settings
from redask.stores.sqlite.calls_migrations import CALLS_FILE

ANSWERED, MISSING, NOTHING = "When does ferry 3 leave?", "When does Zaphod leave?", "xyzzy plugh?"


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """An answer, two refusals of which one comes from the cache once more, a failure."""
    with redask.open(tmp_path / "db", embedder="none") as db:
        db.put("notes", [{"id": n, "text": f"Ferry {n} leaves at {n} o'clock."} for n in range(5)])
        db.ask(ANSWERED)
        for _ in range(2):
            db.ask(MISSING, cache={"ttl": "1h"})
        db.ask(NOTHING)
        with pytest.raises(Denied):
            db.ask(ANSWERED, collection=["red_ask_audit"])
    return tmp_path / "db"


def listed(directory: Path, *words: str) -> str:
    result = CliRunner().invoke(main, ["--db", str(directory), "audit", "list", *words])
    assert result.exit_code == 0, result.output
    return result.output


def test_the_list_says_how_each_ask_ended_and_why(asked: Path) -> None:
    endings = [line.split("  ")[4] for line in map(str.lstrip, listed(asked).splitlines())]
    assert endings == [
        "failed:denied",
        "refused:no_sources",
        "refused:entity_missing",
        "refused:entity_missing",
        "answered",
    ]


def test_the_list_shows_one_outcome_alone(asked: Path) -> None:
    def of(outcome: str, *words: str) -> list[int]:
        found = json.loads(listed(asked, "--outcome", outcome, "--json", *words))
        return [each["seq"] for each in found]

    assert of("refused") == [4, 3, 2]
    assert of("refused", "--limit", "2") == [4, 3]
    assert of("answered") == [1]
    assert of("failed") == [5]
    assert of("cancelled") == []
    words = ["--db", str(asked), "audit", "list", "--log", "access", "--outcome", "refused"]
    assert CliRunner().invoke(main, words).exit_code == 2


def test_the_reason_stands_beside_the_row_and_changes_none_of_its_keys(asked: Path) -> None:
    with redask.open(asked, embedder="none") as db:
        rows = db.audit()
        assert all(set(each.row) == set(KEYS) for each in rows)
        assert [each.refused for each in rows][1:4] == ["no_sources", *["entity_missing"] * 2]
        assert [bool(each.row["cache_hit"]) for each in rows][2] is True
        found = db.select("SELECT seq, refused FROM red_ask_audit ORDER BY seq")
        assert [(each["seq"], each["refused"]) for each in found][:4] == [
            (1, None),
            (2, "entity_missing"),
            (3, "entity_missing"),
            (4, "no_sources"),
        ]
        assert isinstance(db.verify_audit(), Intact)


def test_the_reason_is_in_the_chain_and_can_be_erased(asked: Path) -> None:
    with redask.open(asked, embedder="none") as db:
        assert db.erase_audit(4, ["refused"], reason="a request") == ("refused",)
        assert db.audit()[1].refused == ""
        assert isinstance(db.verify_audit(), Intact)
    with closing(sqlite3.connect(asked / CALLS_FILE, isolation_level=None)) as calls:
        calls.execute(
            "UPDATE audit_records SET beside = replace(beside, 'entity_missing', 'ambiguous')"
            " WHERE seq = 2"
        )
    with redask.open(asked, embedder="none") as db:
        found = db.verify_audit()
        assert isinstance(found, Broken)
        assert found.seq == 2


def test_a_question_that_is_kept_as_a_hash_is_not_told_by_its_refusal(tmp_path: Path) -> None:
    settings = Settings(audit_hash_question=True)
    with redask.open(tmp_path / "db", embedder="none", settings=settings) as db:
        db.put("notes", [{"id": 1, "text": "A ferry leaves at nine."}])
        db.ask(MISSING)
        [row] = db.audit()
    assert row.refused == "entity_missing"
    assert "Zaphod" not in str(row)
