"""Retention of the audit log: what a provider said about its build goes with its row."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from redask.core.model import Caller
from redask.engine.audit_writer import AuditWriter
from redask.stores.sqlite.audit_log import SqliteAuditLog
from redask.stores.sqlite.calls_migrations import CALLS_FILE
from redask.stores.sqlite.sqlite_backend import open_calls

DAY_NS = 86_400 * 10**9
KEPT_DAYS = 10


def append(directory: Path, *days: int) -> None:
    """Open the log, add a row for each of these days, and close it."""
    with closing(open_calls(directory, busy_timeout=5)) as database:
        log = AuditWriter(SqliteAuditLog(database), KEPT_DAYS)

        async def all_of_them() -> None:
            for day in days:
                row: dict[str, object] = {"ts": day * DAY_NS, "tenant": "local", "user": "ada"}
                await log.append(row, f"build of day {day}")

        asyncio.run(all_of_them())
        log.close()


def column(directory: Path, query: str) -> list[object]:
    with closing(sqlite3.connect(directory / CALLS_FILE)) as connection:
        return [value for (value,) in connection.execute(query)]


def test_the_build_records_of_rows_that_are_taken_go_with_them(tmp_path: Path) -> None:
    append(tmp_path, *range(1, 31))
    assert column(tmp_path, "SELECT count(*) FROM audit_builds") == [30]
    append(tmp_path, 31)  # the first commit after opening prunes
    left = list(range(21, 32))
    assert column(tmp_path, "SELECT seq FROM red_ask_audit ORDER BY seq") == left
    assert column(tmp_path, "SELECT seq FROM audit_builds ORDER BY seq") == left
    assert column(tmp_path, "SELECT build FROM audit_builds ORDER BY seq") == [
        f"build of day {day}" for day in left
    ]


def test_what_is_left_after_retention_still_says_its_build(tmp_path: Path) -> None:
    append(tmp_path, *range(1, 31))
    append(tmp_path, 31)
    with closing(open_calls(tmp_path, busy_timeout=5)) as database:
        entries = SqliteAuditLog(database).entries(Caller(), limit=100)
    assert [(each.seq, each.build) for each in entries] == [
        (day, f"build of day {day}") for day in range(31, 20, -1)
    ]
