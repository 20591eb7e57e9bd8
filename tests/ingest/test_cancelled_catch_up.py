"""Ingesting is no success if it is cancelled while the tables of SELECT are made."""

import asyncio
from pathlib import Path

import pytest

import redask
from redask.api.results import IngestSummary
from redask.core.errors import AskError, Cancelled, LimitExceeded


async def _ingested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: AskError
) -> IngestSummary:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "crew.csv").write_text("id,name\n1,Ada\n")
    async with await redask.aopen(tmp_path / "db", embedder="none") as db:

        def failing(_: object) -> None:
            raise error

        monkeypatch.setattr(db._app.selector, "catch_up", failing)
        return await db.ingest(tmp_path / "docs", wait=True)


def test_cancelled_while_the_tables_are_made_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Cancelled, match="stopped"):
        asyncio.run(_ingested(tmp_path, monkeypatch, Cancelled("stopped")))
    with redask.open(tmp_path / "db", embedder="none") as db:  # what was written is whole
        assert [dict(row) for row in db.select("SELECT name FROM crew")] == [{"name": "Ada"}]


def test_tables_that_cannot_be_made_are_left_to_the_first_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = asyncio.run(_ingested(tmp_path, monkeypatch, LimitExceeded("result_cells", "too many")))
    assert found.written == 1
