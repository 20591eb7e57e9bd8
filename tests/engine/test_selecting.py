"""SELECT as applications call it: `db.select`, `execute`, the settings, and the audit log."""

import asyncio
from pathlib import Path

import pytest

import redask
from redask.core.errors import BadAsk, BadStatement, LimitExceeded
from redask.core.settings import load


def test_select_and_execute_give_the_same_rows(tmp_path: Path) -> None:
    with redask.open(tmp_path) as db:
        db.put("tickets", [{"id": n, "title": f"t{n}"} for n in range(3)])
        sql = "SELECT title FROM tickets WHERE id >= $1"
        assert db.select(sql, [1]) == [{"title": "t1"}, {"title": "t2"}]
        assert db.execute(sql, [1]) == db.select(sql, (1,))
        assert db.execute("/* x */ -- y\n with c as (select 1 as a) select * from c") == [{"a": 1}]


def test_execute_still_asks_and_says_what_it_takes(tmp_path: Path) -> None:
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        assert db.execute("ASK 'When does the ferry leave?'")[0]["answer"]
        for statement in ("DELETE FROM notes", "SELECTED", "PRAGMA x", "/* SELECT 1", ""):
            with pytest.raises(BadStatement, match="expected ASK or EXPLAIN ASK"):
                db.execute(statement)


def test_what_was_asked_can_be_selected(tmp_path: Path) -> None:
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        db.ask("When does the ferry leave?")
        rows = db.select("SELECT a.question, n.text FROM red_ask_audit a JOIN notes n ON"
                         " a.sources_urns ? n.urn")  # fmt: skip
        assert rows == [
            {"question": "When does the ferry leave?", "text": "The ferry leaves at nine."}
        ]
        assert list(db.select("SELECT * FROM red_ask_audit")[0])[:3] == ["seq", "hash", "ts"]


def test_the_limits_are_settings(tmp_path: Path) -> None:
    chosen = load("[select]\nmax_rows = 2\ntimeout_ms = 300\n")
    with redask.open(tmp_path, settings=chosen) as db:
        db.put("t", [{"id": n} for n in range(3)])
        with pytest.raises(LimitExceeded, match="more than 2 rows"):
            db.select("SELECT id FROM t")
        with pytest.raises(LimitExceeded, match="300 ms"):
            db.select("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n FROM c) SELECT 1 FROM c"
                      " WHERE n > 1")  # fmt: skip


def test_asyncio_selects_too_and_many_at_once(tmp_path: Path) -> None:
    async def run() -> None:
        async with await redask.aopen(tmp_path) as db:
            await db.put("t", [{"id": n} for n in range(50)])
            sql = "SELECT count(*) AS n FROM t WHERE id < $1"
            found = await asyncio.gather(*(db.select(sql, [n]) for n in range(40)))
            assert [rows[0]["n"] for rows in found] == list(range(40))

    asyncio.run(run())


def test_a_closed_database_says_so(tmp_path: Path) -> None:
    db = redask.open(tmp_path)
    db.close()
    with pytest.raises(BadAsk, match="closed"):
        db.select("SELECT 1")
