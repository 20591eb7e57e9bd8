"""The audit log: durable, chained, shared by processes; every kind of tampering is found."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from redask.core.errors import AuditUnavailable
from redask.core.model import Caller, Mode
from redask.core.rules import audit, audit_chain
from redask.core.rules.audit_chain import Broken, Intact
from redask.engine.audit_writer import AuditWriter
from redask.stores.sqlite.audit_log import SqliteAuditLog
from redask.stores.sqlite.calls_migrations import CALLS_FILE
from redask.stores.sqlite.sqlite_backend import open_calls

DAY_NS = 86_400 * 10**9
OWNER = Caller()
ROWS = 200


def row(number: int, *, user: str = "ada", tenant: str = "local", ts: int = 0) -> dict[str, object]:
    return audit.record(
        ts=ts or number,
        tenant=tenant,
        user=user,
        role="",
        question=f"question {number}?",
        sources_urns=[],
        provider="scripted",
        model="m",
        prompt_tokens=0,
        completion_tokens=0,
        cost_usd=0.0,
        answer="",
        citations=[],
        cache_hit=False,
        mode=Mode.STRICT,
        temperature=None,
        seed=None,
        validation_ok=True,
        retry_count=0,
        errors=[],
    )


@contextmanager
def opened(directory: Path) -> Iterator[SqliteAuditLog]:
    with closing(open_calls(directory, busy_timeout=5)) as database:
        yield SqliteAuditLog(database)


def append(log: SqliteAuditLog, *rows: dict[str, object], retention_days: int = 90) -> None:
    writer = AuditWriter(log, retention_days)

    async def all_of_them() -> None:
        await asyncio.gather(*(writer.append(each) for each in rows))

    try:
        asyncio.run(all_of_them())
    finally:
        writer.close()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a log of 200 rows."""
    directory = tmp_path_factory.mktemp("whole")
    with opened(directory) as log:
        append(log, *(row(number) for number in range(1, ROWS + 1)))
    with closing(sqlite3.connect(directory / CALLS_FILE)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (directory / CALLS_FILE).read_bytes()


def verdict_after(directory: Path, whole: bytes, *statements: str) -> Intact | Broken:
    """What `verify` says of the whole log after somebody edited the file."""
    (directory / CALLS_FILE).write_bytes(whole)
    with closing(sqlite3.connect(directory / CALLS_FILE, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = MEMORY")
        for statement in statements:
            connection.execute(statement)
    with opened(directory) as log:
        verdict = log.verify()
    for leftover in directory.iterdir():
        leftover.unlink()
    return verdict


def test_a_row_is_there_when_append_returns_and_survives_reopening(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        append(log, row(1))
    with opened(tmp_path) as log:
        [entry] = log.entries(OWNER, limit=10)
    assert (entry.seq, entry.row) == (1, row(1))


def test_rows_at_once_get_consecutive_numbers_and_one_chain(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        append(log, *(row(number) for number in range(100)))
        assert [entry.seq for entry in log.entries(OWNER, limit=100)] == list(range(100, 0, -1))
        assert isinstance(verdict := log.verify(), Intact)
        assert (verdict.rows, verdict.head.seq) == (100, 100)


def test_an_untouched_log_verifies(tmp_path: Path, whole: bytes) -> None:
    assert isinstance(verdict_after(tmp_path, whole), Intact)


EDITS: dict[str, Callable[[int], list[str]]] = {
    "flip a row": lambda n: [
        f"UPDATE red_ask_audit SET row = replace(row, 'question {n}?', 'question 0?')"
        f" WHERE seq = {n}"
    ],
    "flip a hash": lambda n: [
        f"UPDATE red_ask_audit SET hash = 'f' || substr(hash, 2) WHERE seq = {n}"
        f" AND substr(hash, 1, 1) <> 'f'",
        f"UPDATE red_ask_audit SET hash = hash || '0' WHERE seq = {n}",
    ],
    "drop": lambda n: [f"DELETE FROM red_ask_audit WHERE seq = {n}"],
    "insert": lambda n: [
        f"UPDATE red_ask_audit SET seq = -seq - 1 WHERE seq >= {n}",
        "UPDATE red_ask_audit SET seq = -seq WHERE seq < 0",
        f"INSERT INTO red_ask_audit SELECT {n}, ts, tenant, user, row, hash"
        f" FROM red_ask_audit WHERE seq = {1 if n > 1 else 3}",
    ],
    "file under another user": lambda n: [f"UPDATE red_ask_audit SET user = 'eve' WHERE seq = {n}"],
}


@pytest.mark.parametrize("edit", EDITS)
def test_every_edit_of_every_row_is_found_and_the_right_row_named(
    tmp_path: Path, whole: bytes, edit: str
) -> None:
    for number in range(1, ROWS + 1):
        verdict = verdict_after(tmp_path, whole, *EDITS[edit](number))
        assert isinstance(verdict, Broken), (edit, number)
        assert verdict.seq == number, (edit, number, verdict)


def test_every_swap_of_neighbours_is_found_at_the_first_of_them(
    tmp_path: Path, whole: bytes
) -> None:
    for number in range(1, ROWS):
        swap = [
            f"UPDATE red_ask_audit SET seq = -1 WHERE seq = {number}",
            f"UPDATE red_ask_audit SET seq = {number} WHERE seq = {number + 1}",
            f"UPDATE red_ask_audit SET seq = {number + 1} WHERE seq = -1",
        ]
        verdict = verdict_after(tmp_path, whole, *swap)
        assert isinstance(verdict, Broken)
        assert verdict.seq == number


def test_a_row_behind_the_end_and_a_changed_head_are_found(tmp_path: Path, whole: bytes) -> None:
    more = f"INSERT INTO red_ask_audit SELECT {ROWS + 1}, ts, tenant, user, row, hash"
    verdict = verdict_after(tmp_path, whole, f"{more} FROM red_ask_audit WHERE seq = {ROWS}")
    assert verdict == Broken(ROWS + 1, f"row {ROWS + 1} was added behind the end of the log")
    verdict = verdict_after(tmp_path, whole, "UPDATE audit_head SET gone_seq = 1")
    assert verdict == Broken(0, "the head of the log was changed")


def test_a_caller_sees_own_rows_an_auditor_the_tenants_nobody_anothers(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        append(log, row(1), row(2, user="bob"), row(3, tenant="other"))

        def seen(caller: Caller) -> list[int]:
            return [entry.seq for entry in log.entries(caller, limit=10)]

        assert seen(Caller("local", "zoe", "auditor")) == [2, 1]
        assert seen(Caller("local", "bob", "analyst")) == [2]
        assert seen(Caller("other", "bob", "auditor")) == [3]
        assert [each.seq for each in log.entries(OWNER, limit=1, before=2)] == [1]


def test_retention_takes_old_rows_and_leaves_a_log_that_verifies(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        append(log, *(row(number, ts=number * DAY_NS) for number in range(1, 31)))
    with opened(tmp_path) as log:
        append(log, row(31, ts=31 * DAY_NS), retention_days=10)
    with opened(tmp_path) as log:
        left = [entry.seq for entry in log.entries(OWNER, limit=100)]
        assert left == list(range(31, 20, -1))
        verdict = log.verify()
    assert isinstance(verdict, Intact)
    assert verdict.head.pruned_seq == 20


def test_when_the_row_cannot_be_written_append_says_so(tmp_path: Path) -> None:
    with closing(open_calls(tmp_path, busy_timeout=0.1)) as database:
        log = SqliteAuditLog(database)
        with closing(sqlite3.connect(tmp_path / CALLS_FILE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(AuditUnavailable):
                append(log, row(1))
        append(log, row(2))
        assert [entry.row["question"] for entry in log.entries(OWNER, limit=5)] == ["question 2?"]


WRITER = """
import asyncio, sys
from pathlib import Path
from contextlib import closing
from redask.engine.audit_writer import AuditWriter
from redask.stores.sqlite.audit_log import SqliteAuditLog
from redask.stores.sqlite.sqlite_backend import open_calls

async def main(writer, rows):
    for number in range(rows):
        await writer.append({"ts": number, "tenant": "local", "user": sys.argv[2], "n": number})

with closing(open_calls(Path(sys.argv[1]), busy_timeout=20)) as database:
    writer = AuditWriter(SqliteAuditLog(database), 90)
    asyncio.run(main(writer, 40))
    writer.close()
"""


def test_several_processes_extend_one_chain(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name])
        for name in ("ada", "bob", "zoe")
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    with opened(tmp_path) as log:
        verdict = log.verify()
        assert isinstance(verdict, Intact)
        assert verdict.rows == 120
        mine = [entry.row["n"] for entry in log.entries(Caller(user="bob", role=""), limit=100)]
    assert mine == list(range(39, -1, -1))


def test_the_chain_starts_from_nothing() -> None:
    assert audit_chain.verify(
        [], audit_chain.Head(), audit_chain.seal(audit_chain.Head())
    ) == Intact(0, audit_chain.Head())
