"""Ingesting is no success if it is cancelled while the tables of SELECT are made."""

import asyncio
from pathlib import Path

import pytest

import redask
from redask.core.errors import AskError, Cancelled, LimitExceeded


class _Failing:
    """A selector whose tables cannot be made."""

    def __init__(self, selector: object, error: AskError) -> None:
        self._selector = selector
        self._error = error

    def __getattr__(self, name: str) -> object:
        return getattr(self._selector, name)

    def catch_up(self, caller: object) -> None:
        del caller
        raise self._error


async def _ingested(tmp_path: Path, error: AskError) -> object:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "crew.csv").write_text("id,name\n1,Ada\n")
    async with await redask.aopen(tmp_path / "db", embedder="none") as db:
        db._app.selector = _Failing(db._app.selector, error)
        return await db.ingest(tmp_path / "docs", wait=True)


def test_cancelled_while_the_tables_are_made_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(Cancelled, match="stopped"):
        asyncio.run(_ingested(tmp_path, Cancelled("stopped")))
    with redask.open(tmp_path / "db", embedder="none") as db:  # what was written is whole
        assert [dict(row) for row in db.select("SELECT name FROM crew")] == [{"name": "Ada"}]


def test_tables_that_cannot_be_made_are_left_to_the_first_question(tmp_path: Path) -> None:
    found = asyncio.run(_ingested(tmp_path, LimitExceeded("result_cells", "too many")))
    assert found.written == 1  # type: ignore[attr-defined]
