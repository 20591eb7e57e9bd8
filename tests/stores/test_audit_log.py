"""The audit log in its file: durable, chained, shared by processes; every attack is found."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

import pytest
from tampered_logs import Edit, TamperedLog, remembered_hashes, statements, then_forge

from redask.core.errors import AuditUnavailable, StoreFailed
from redask.core.model import Caller, Mode
from redask.core.ports import AuditLog
from redask.core.rules import audit
from redask.core.rules.audit_chain import Broken, Head, Intact
from redask.engine.auditing.audit_writer import AuditWriter
from redask.stores.relational.auditing.audit_log import RelationalAuditLog
from redask.stores.relational.auditing.chain_tables import save, writer_of
from redask.stores.relational.sql_database import SqlConnection
from redask.stores.sqlite.calls_migrations import CALLS_FILE
from redask.stores.sqlite.sqlite_backend import SqliteBackend, open_calls

OWNER = Caller()


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
def opened(directory: Path) -> Iterator[RelationalAuditLog]:
    with closing(open_calls(directory, busy_timeout=5)) as database:
        yield RelationalAuditLog(database)


def append(log: AuditLog, *rows: dict[str, object]) -> None:
    writer = AuditWriter(log)

    async def all_of_them() -> None:
        await asyncio.gather(*(writer.append(each) for each in rows))

    try:
        asyncio.run(all_of_them())
    finally:
        writer.close()


@pytest.fixture(scope="module")
def rows(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--audit-rows"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, rows: int) -> Iterator[TamperedLog]:
    """A log of many rows that the store remembers in four parts, and another tenant's."""
    made = written(tmp_path_factory.mktemp("whole"), rows)
    with remembered_hashes():
        yield made


def written(directory: Path, rows: int) -> TamperedLog:
    with SqliteBackend(directory) as backend:
        for part in range(4):
            numbers = range(part * rows // 4 + 1, (part + 1) * rows // 4 + 1)
            append(backend.audit, *(row(number) for number in numbers))
            append(backend.audit, *(row(number, tenant="other") for number in range(3)))
            backend.anchor()
    return TamperedLog(directory)


def test_there_is_nothing_without_a_row(tmp_path: Path) -> None:
    with opened(tmp_path) as log:
        assert log.entries(OWNER, limit=10) == []
        assert log.verify() == Intact(0, Head())


def test_a_row_is_there_after_reopening(tmp_path: Path) -> None:
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


def test_an_untouched_log_verifies(whole: TamperedLog, rows: int) -> None:
    verdict = whole.verdict(lambda _: None)
    assert isinstance(verdict, Intact)
    assert verdict.rows == rows + 12
    assert [(each.tenant, each.anchored) for each in verdict.chains] == [
        ("local", rows),
        ("other", 12),
    ]


MINE = "chain = (SELECT id FROM audit_chains WHERE tenant = 'local')"


def shifted(n: int) -> list[str]:
    """Room for a record before number `n`."""
    return [
        f"UPDATE audit_records SET seq = -seq - 1 WHERE {MINE} AND seq >= {n}",
        f"UPDATE audit_records SET seq = -seq WHERE {MINE} AND seq < 0",
    ]


def swapped(n: int) -> list[str]:
    return [
        f"UPDATE audit_records SET seq = -1 WHERE {MINE} AND seq = {n}",
        f"UPDATE audit_records SET seq = {n} WHERE {MINE} AND seq = {n + 1}",
        f"UPDATE audit_records SET seq = {n + 1} WHERE {MINE} AND seq = -1",
    ]


def inserted(n: int) -> list[str]:
    copied = "chain, kind, at, user, own, row, beside, opening, leaf, hash"
    other = 1 if n > 1 else 3
    return [
        *shifted(n),
        f"INSERT INTO audit_records (seq, {copied}) SELECT {n}, {copied} FROM audit_records"
        f" WHERE {MINE} AND seq = {other}",
    ]


def cut(n: int) -> list[str]:
    """Everything from number `n` on, the head included."""
    last = f"SELECT hash FROM audit_records WHERE {MINE} AND seq = {n - 1}"
    return [
        f"DELETE FROM audit_records WHERE {MINE} AND seq >= {n}",
        f"UPDATE audit_chains SET seq = {n - 1}, hash = coalesce(({last}), pruned_hash)"
        " WHERE tenant = 'local'",
    ]


def taken(n: int) -> list[str]:
    """Everything up to number `n`, as if retention had taken it."""
    last = f"SELECT hash FROM audit_records WHERE {MINE} AND seq = {n}"
    return [
        f"UPDATE audit_chains SET pruned_seq = {n}, pruned_hash = ({last}) WHERE tenant = 'local'",
        f"DELETE FROM audit_records WHERE {MINE} AND seq <= {n}",
    ]


def changed(n: int, what: str) -> str:
    return f"UPDATE audit_records SET {what} WHERE {MINE} AND seq = {n}"


ATTACKS: dict[str, Callable[[int], Edit]] = {
    "flip a row": lambda n: statements(changed(n, "row = replace(row, '?\"', '!\"')")),
    "leave no JSON": lambda n: statements(changed(n, "row = substr(row, 2)")),
    "leave no UTF-8": lambda n: statements(changed(n, "row = CAST(x'ff' || row AS TEXT)")),
    "leave bytes": lambda n: statements(changed(n, "row = x'00ff'")),
    "leave no nonce": lambda n: statements(changed(n, "opening = '{}'")),
    "flip what stands beside": lambda n: statements(changed(n, 'beside = \'{"build":"x"}\'')),
    "flip a nonce": lambda n: statements(changed(n, "opening = reverse_of(opening)")),
    "flip its time": lambda n: statements(changed(n, "at = at + 1")),
    "flip its kind": lambda n: statements(changed(n, "kind = 'erased'")),
    "flip a hash": lambda n: statements(changed(n, "hash = reverse_of(hash)")),
    "drop": lambda n: statements(f"DELETE FROM audit_records WHERE {MINE} AND seq = {n}"),
    "insert": lambda n: statements(*inserted(n)),
    "file under another user": lambda n: statements(changed(n, "user = 'eve'")),
    "truncate": lambda n: statements(*cut(n)),
    "flip and make the chain anew": lambda n: then_forge(changed(n, "row = replace(row, '?', '')")),
    "flip the time and make the chain anew": lambda n: then_forge(changed(n, "at = at + 1")),
    "drop and make the chain anew": lambda n: then_forge(
        f"DELETE FROM audit_records WHERE {MINE} AND seq = {n}"
    ),
    "insert and make the chain anew": lambda n: then_forge(*inserted(n)),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_every_attack_on_every_row_is_found_and_the_right_row_named(
    whole: TamperedLog, attack: str, rows: int
) -> None:
    for number in range(1, rows + 1):
        verdict = whole.verdict(with_reverse(ATTACKS[attack](number)))
        assert isinstance(verdict, Broken), (attack, number)
        assert (verdict.seq, verdict.tenant) == (number, "local"), (attack, number, verdict)


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_found_alike_where_every_hash_is_computed_each_time(
    tmp_path: Path, attack: str
) -> None:
    rows = 12
    log = written(tmp_path, rows)
    for number in range(1, rows + 1):
        edit = with_reverse(ATTACKS[attack](number))
        verdict = log.verdict(edit)
        assert isinstance(verdict, Broken), (attack, number)
        assert (verdict.seq, verdict.tenant) == (number, "local"), (attack, number, verdict)
        with remembered_hashes():
            assert log.verdict(edit) == verdict
            assert log.verdict(edit) == verdict  # now that all are known


def with_reverse(edit: Edit) -> Edit:
    def edited(copy: sqlite3.Connection) -> None:
        copy.create_function("reverse_of", 1, lambda text: "f" + text[:0:-1] + "0")
        edit(copy)

    return edited


@pytest.mark.parametrize("forged", [False, True])
def test_every_swap_of_neighbours_is_found_at_the_first_of_them(
    whole: TamperedLog, forged: bool, rows: int
) -> None:
    for number in range(1, rows):
        edit = then_forge(*swapped(number)) if forged else statements(*swapped(number))
        verdict = whole.verdict(edit)
        assert isinstance(verdict, Broken)
        assert verdict.seq == number


@pytest.mark.parametrize("damage", ["row = '['", "beside = '[]'", "opening = '{'"])
def test_a_damaged_row_is_named_by_verify_and_by_whoever_reads_or_erases_it(
    tmp_path: Path, damage: str
) -> None:
    with SqliteBackend(tmp_path) as backend:
        append(backend.audit, *(row(number) for number in range(3)))
        with backend._calls.writing() as calls:
            calls.execute(changed(2, damage))
        assert backend.audit.verify() == Broken(
            2, "row 2 cannot be read: it is not what was written", "local"
        )
        for read in (backend.audit.entries, backend.audit.traced):
            with pytest.raises(StoreFailed, match="row 2 is damaged: see `redask audit verify`"):
                read(OWNER, limit=10)
            assert len(read(OWNER, limit=1)) == 1  # others can be read
        with pytest.raises(StoreFailed, match="row 2 is damaged"):
            backend.audit.erase("local", 2, ["question"], "ada", "a request")


def test_rows_that_retention_did_not_take_are_missed(whole: TamperedLog, rows: int) -> None:
    for number in range(1, rows):
        verdict = whole.verdict(statements(*taken(number)))
        assert isinstance(verdict, Broken)
        assert verdict.seq == number
        verdict = whole.verdict(with_forged_pruning(number))
        assert isinstance(verdict, Broken)
        assert verdict.seq == 1  # the store allowed none


def with_forged_pruning(number: int) -> Edit:
    """A record in the chain says that retention took the rows; the store knows of nothing."""

    def edit(copy: sqlite3.Connection) -> None:
        connection = cast(SqlConnection, copy)
        writer = writer_of(connection, "ask", lambda: b"n" * 32)
        [(last,)] = copy.execute(
            f"SELECT hash FROM audit_records WHERE {MINE} AND seq = {number}"
        ).fetchall()
        writer.prune("local", number, last, "ask.audit.retention_days = 90")
        save(connection, writer)
        copy.execute(f"DELETE FROM audit_records WHERE {MINE} AND seq <= {number}")

    return edit


def test_a_tenant_that_is_gone_and_a_row_behind_the_end_are_found(
    whole: TamperedLog, rows: int
) -> None:
    gone = statements(
        f"DELETE FROM audit_records WHERE {MINE}", "DELETE FROM audit_chains WHERE tenant = 'local'"
    )
    assert whole.verdict(gone) == Broken(1, "row 1 is missing", "local")
    assert isinstance(whole.verdict(gone, tenant="other"), Intact)
    more = statements(*inserted(rows + 1))
    assert whole.verdict(more) == Broken(
        rows + 1, f"row {rows + 1} was added behind the end of the log", "local"
    )


def test_a_row_moved_to_another_tenants_chain_is_found(whole: TamperedLog) -> None:
    moved = "UPDATE audit_chains SET tenant = CASE tenant WHEN 'local' THEN 'x' ELSE 'local' END"
    verdict = whole.verdict(statements(moved))
    assert isinstance(verdict, Broken)
    assert verdict.seq == 1


def test_when_the_row_cannot_be_written_append_says_so(tmp_path: Path) -> None:
    with closing(open_calls(tmp_path, busy_timeout=0.1)) as database:
        log = RelationalAuditLog(database)
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
from redask.engine.auditing.audit_writer import AuditWriter
from redask.stores.relational.auditing.audit_log import RelationalAuditLog
from redask.stores.sqlite.sqlite_backend import open_calls

async def main(writer, rows):
    for number in range(rows):
        row = {"ts": number, "tenant": f"t{number % 2}", "user": sys.argv[2], "n": number}
        await writer.append(row)

with closing(open_calls(Path(sys.argv[1]), busy_timeout=20)) as database:
    writer = AuditWriter(RelationalAuditLog(database))
    asyncio.run(main(writer, 40))
    writer.close()
"""


def test_several_processes_extend_the_chains_of_several_tenants(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name])
        for name in ("ada", "bob", "zoe")
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    with opened(tmp_path) as log:
        verdict = log.verify()
        assert isinstance(verdict, Intact)
        assert [(each.tenant, each.rows) for each in verdict.chains] == [("t0", 60), ("t1", 60)]
        bob = log.entries(Caller("t1", "bob", ""), limit=100)
    assert [entry.row["n"] for entry in bob] == list(range(39, -1, -2))
    assert [entry.seq for entry in bob] == list(range(20, 0, -1))
