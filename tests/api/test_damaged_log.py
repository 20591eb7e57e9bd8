"""A row of the audit log whose text is no UTF-8 any more, in a real database: `verify` names it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import redask
from redask.core.rules.audit_chain import Broken


def test_a_row_that_is_no_text_any_more_is_named_by_verify(tmp_path: Path) -> None:
    with redask.open(tmp_path / "db") as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        for _ in range(3):
            db.ask("When does the ferry leave?")
    with closing(sqlite3.connect(tmp_path / "db" / "calls.sqlite", isolation_level=None)) as calls:
        rotten = "UPDATE audit_records SET row = CAST(x'ff' || row AS TEXT) WHERE seq = 2"
        assert calls.execute(rotten).rowcount == 1
    with redask.open(tmp_path / "db") as db:
        verdict = db.verify_audit()
        assert isinstance(verdict, Broken)
        assert verdict.seq == 2
        assert len(db.search("ferry")) == 1  # readers that come after it read text as ever
