"""Transactions of the backend on PostgreSQL: order, locks, money, and a server that goes away."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import postgres_databases
import psycopg
import pytest
from real_postgres import private_postgres
from waiting import until

from redask.api.sync import open_database
from redask.core.errors import AuditUnavailable, Misconfigured, StoreFailed
from redask.core.model import Caller
from redask.core.ports import Account, AuditRow, Entity
from redask.core.rules.audit_chain import Intact
from redask.stores.backends import backend_for
from redask.stores.postgres.pg_database import PostgresDatabase
from redask.stores.postgres.postgres_backend import PostgresBackend
from redask.stores.relational.writer import EntityWriter

OWNER = Caller()
CAP, AMOUNT, PROCESSES = 5_000, 700, 8

RESERVING = f"""
import sys, time
from redask.core.ports import Account
from redask.core.rules.cost import Allow, Reject, dollars
from redask.stores.postgres.postgres_backend import PostgresBackend

def check(spent):
    time.sleep(0.05)  # for others to come between the sum and what is set aside
    fits = spent.usd + dollars({AMOUNT}) <= dollars({CAP})
    return Allow() if fits else Reject("cap", 0, 0, "")

ledger = PostgresBackend(sys.argv[1], patience=120).ledger
print("ready", flush=True)
sys.stdin.readline()
account = Account("t", 1, "openai")
print(sum(isinstance(ledger.reserve(account, {AMOUNT}, check), int) for _ in range(3)))
"""


def entity(number: int) -> Entity:
    return Entity(f"urn:reddb:row:calls/{number}", f'{{"id":{number}}}')


def row(number: int) -> AuditRow:
    return AuditRow({"tenant": "local", "user": "ann", "ts": number, "question": "why?"})


@pytest.fixture
def location(tmp_path: Path) -> str:
    return postgres_databases.location(tmp_path)


@pytest.fixture
def backend(location: str) -> Iterator[PostgresBackend]:
    opened = PostgresBackend(location, patience=2)
    yield opened
    opened.close()


def test_no_late_commit_slips_under_a_sequence_that_was_seen(
    backend: PostgresBackend, location: str
) -> None:
    backend.store.put([entity(0)], OWNER)  # so that making the tenant is nothing to wait for
    with closing(PostgresBackend(location)) as other, ThreadPoolExecutor() as threads:
        with backend.store._database.writing(OWNER.tenant) as connection:
            slow = EntityWriter(connection, OWNER.tenant)
            slow.put([entity(1)], "given")
            fast = threads.submit(other.store.put, [entity(2)], OWNER)
            assert until(lambda: waits(location)), "the second writer did not wait"
            assert other.store.watermark(OWNER.tenant) == 1  # who reads sees neither
            assert slow.finish() == 2
        assert fast.result(60) == 3
        assert [(each.seq, each.urn[-1]) for each in other.store.changes("local", 1, 9)] == [
            (2, "1"),
            (3, "2"),
        ]


def test_writers_to_two_tenants_do_not_wait_for_each_other(
    backend: PostgresBackend, location: str
) -> None:
    with (
        closing(PostgresBackend(location, patience=2)) as other,
        backend.store._database.writing("one") as connection,
    ):
        writer = EntityWriter(connection, "one")
        writer.put([entity(1)], "given")
        assert other.store.put([entity(1)], Caller(tenant="two")) == 1
        writer.finish()


def test_who_cannot_write_in_time_is_told_so(backend: PostgresBackend, location: str) -> None:
    with (
        closing(PostgresBackend(location, patience=0.2)) as other,
        backend.store._database.writing(OWNER.tenant),
        pytest.raises(StoreFailed, match="not free in time"),
    ):
        other.store.put([entity(1)], OWNER)


def test_a_pool_that_is_exhausted_is_named(location: str) -> None:
    with closing(PostgresBackend(location, patience=0.2)) as backend:
        pool = backend._pools[0]
        for _ in range(pool._most):
            pool._free.acquire()
        with pytest.raises(StoreFailed, match=r"pool of connections .* is exhausted"):
            backend.store.watermark("local")


def test_an_audit_row_and_a_reservation_wait_for_nobody_who_reads(location: str) -> None:
    with closing(PostgresBackend(location, patience=0.2)) as backend, ExitStack() as opened:
        backend.audit.append([row(1)])
        read: list[Iterator[str]] = []
        with suppress(StoreFailed):  # as many exports that nobody reads on as there can be
            while len(read) < 100:
                read.append(backend.audit.exported("local"))
                next(read[-1])
        with suppress(StoreFailed):
            for number in range(100):
                opened.enter_context(backend.store._database.reading(f"tenant {number}"))
        backend.audit.append([row(2)])
        backend.ledger.add(Account("local", 1, "openai"), 700)
        assert backend.store.put([entity(1)], OWNER) == 1
        assert 0 < len(read) < 100
        read.clear()


def test_tables_that_somebody_reads_are_not_waited_for_without_end(location: str) -> None:
    with closing(PostgresBackend(location, patience=0.2)) as backend, ThreadPoolExecutor() as one:
        backend.audit.append([row(1)])
        with backend._logs.reading("local") as connection:
            connection.execute("SELECT count(*) FROM audit_records")
            rewriting = one.submit(backend._logs.rewrite)
            with pytest.raises(StoreFailed, match="not free in time"):
                rewriting.result(60)
        backend._logs.rewrite()
        backend.audit.append([row(2)])


def test_tables_are_rewritten_though_the_server_ended_the_connections(
    backend: PostgresBackend, location: str
) -> None:
    backend.audit.append([row(1)])
    end_connections(location)
    backend._logs.rewrite()


def end_connections(location: str) -> None:
    with psycopg.connect(**postgres_databases.superuser(location), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def waits(location: str) -> bool:
    """Whether a connection waits for a lock."""
    with psycopg.connect(**postgres_databases.superuser(location)) as connection:
        found = connection.execute(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
            " AND wait_event_type = 'Lock'"
        ).fetchone()
    return found is not None


def test_several_processes_never_reserve_more_than_the_cap(location: str) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", RESERVING, location],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]
    for each in started:
        assert each.stdout
        assert each.stdout.readline() == "ready\n"
    for each in started:
        assert each.stdin
        each.stdin.write("go\n")
        each.stdin.flush()
    reserved = sum(int(each.communicate(timeout=300)[0]) for each in started)
    assert reserved == CAP // AMOUNT
    with closing(PostgresBackend(location)) as backend:
        assert backend.ledger.total("t", 1) == reserved * AMOUNT <= CAP


def test_rows_of_several_writers_make_one_chain(backend: PostgresBackend, location: str) -> None:
    with closing(PostgresBackend(location)) as other, ThreadPoolExecutor() as threads:
        done = [
            threads.submit(each.audit.append, [row(number)])
            for number in range(10)
            for each in (backend, other)
        ]
        for each in done:
            each.result(60)
        verdict = other.audit.verify()
    assert isinstance(verdict, Intact)
    assert verdict.rows == 20


def test_a_connection_that_the_server_ended_is_replaced(
    backend: PostgresBackend, location: str
) -> None:
    backend.store.put([entity(1)], OWNER)
    end_connections(location)
    assert backend.store.watermark("local") == 1
    backend.audit.append([row(1)])


def test_a_transaction_that_was_ended_leaves_nothing(
    backend: PostgresBackend, location: str
) -> None:
    def ended() -> None:
        with backend.store._database.writing("local") as connection:
            EntityWriter(connection, "local").put([entity(1)], "given")
            with psycopg.connect(**postgres_databases.superuser(location)) as other:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            connection.execute("SELECT 1")

    with pytest.raises(StoreFailed, match="was lost"):
        ended()
    assert backend.store.watermark("local") == 0


def test_without_the_primary_there_is_no_answer_and_with_it_there_is_again(
    tmp_path: Path,
) -> None:
    with private_postgres() as where:
        with psycopg.connect(**where, autocommit=True) as connection:
            connection.execute("CREATE ROLE redask LOGIN")
            connection.execute("CREATE DATABASE answers OWNER redask")
        url = f"postgresql://redask@/answers?host={where['host']}&port={where['port']}"
        os.environ.setdefault("REDASK_LOCAL_DIRECTORY", str(tmp_path))
        with open_database(url, embedder="none") as db:
            db.put("calls", [{"id": 1, "note": "The pilot came late."}])
            assert db.ask("Why was the pilot late?").citations
            server = int(Path(where["host"], "data", "postmaster.pid").read_text().split()[0])
            os.kill(server, signal.SIGSTOP)
            try:
                for child in children(server):
                    os.kill(child, signal.SIGKILL)
                with pytest.raises(StoreFailed):
                    db.ask("Why was the pilot late?")
            finally:
                os.kill(server, signal.SIGCONT)
            assert until(lambda: is_answered(db.ask)), "it did not come back"
            verdict = db.verify_audit()
            assert isinstance(verdict, Intact)
            assert len(db.audit(limit=100)) == verdict.rows


def children(process: int) -> list[int]:
    return [
        int(each) for each in Path(f"/proc/{process}/task/{process}/children").read_text().split()
    ]


def is_answered(ask: object) -> bool:
    try:
        assert callable(ask)
        return bool(ask("Why was the pilot late?").citations)
    except StoreFailed:
        return False


def test_an_empty_database_gets_its_schema_once_by_whoever_comes_first() -> None:
    location = postgres_databases.empty("fresh")
    row_of = backend_for(location)
    assert not row_of.exists(location)
    with ThreadPoolExecutor() as threads:
        opened = list(threads.map(PostgresBackend, [location] * 3))
    assert len({each.store.identity for each in opened}) == 1
    assert row_of.exists(location)
    assert opened[0].store.check() == []
    for each in opened:
        each.close()


def test_a_newer_schema_is_refused(location: str) -> None:
    with psycopg.connect(**postgres_databases.superuser(location)) as connection:
        connection.execute("INSERT INTO redask.migrations VALUES (99)")
    with pytest.raises(StoreFailed, match="newer redask"):
        PostgresBackend(location)


def test_a_back_up_names_the_tools_of_postgresql(backend: PostgresBackend, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="pg_dump"):
        backend.back_up(tmp_path, made_at=1, made_by="test")


def test_a_password_is_in_no_error(tmp_path: Path) -> None:
    for url in (
        "postgresql://ann:hunter2@127.0.0.1:1/answers",
        "postgresql://ann:hunter2@127.0.0.1:notaport/answers",
        "postgresql://127.0.0.1:1/answers?password=hunter2&sslmode=hunter3",
        "postgresql://ann:hunter2#@127.0.0.1:1/answers",
        "postgresql://ann:hunter2?@127.0.0.1:1/answers",
        "postgresql://ann:hunter2/@127.0.0.1:1/answers",
        "postgresql://ann:hunter2@@127.0.0.1:1/answers",
        "postgresql://ann:hunter2%@127.0.0.1:1/answers",
        "postgresql://ann:hunter2 @127.0.0.1:1/answers",
        "postgresql://ann:hunter2@[::1]x/answers",
        "postgresql://127.0.0.1:1/answers?password=hunter2%zz",
    ):
        with pytest.raises((StoreFailed, Misconfigured)) as failed:
            PostgresBackend(url)
        told = [failed.value, failed.value.__cause__, failed.value.__context__]
        assert not any("hunter2" in f"{each!r} {each}" for each in told), url
        assert "hunter2" not in failed.value.detail


def test_what_is_called_after_close_is_refused(location: str) -> None:
    backend = PostgresBackend(location)
    backend.close()
    backend.close()
    with pytest.raises(StoreFailed, match="closed"):
        backend.store.watermark("local")


def test_an_interrupt_ends_what_runs(backend: PostgresBackend) -> None:
    raised: list[BaseException] = []

    def sleep(database: PostgresDatabase) -> None:
        try:
            with database.reading("local") as connection:
                connection.execute("SELECT pg_sleep(600)")
        except StoreFailed as error:
            raised.append(error)

    database = backend.store._database
    assert isinstance(database, PostgresDatabase)
    thread = threading.Thread(target=sleep, args=(database,))
    thread.start()
    assert until(lambda: backend._pools[0]._busy)
    while thread.is_alive():
        backend.interrupt()
        thread.join(0.2)
    assert len(raised) == 1


def test_a_log_that_cannot_be_written_says_so(backend: PostgresBackend, location: str) -> None:
    with psycopg.connect(**postgres_databases.superuser(location), autocommit=True) as connection:
        connection.execute("ALTER TABLE redask.audit_records RENAME TO gone")
    with pytest.raises((AuditUnavailable, StoreFailed)):
        backend.audit.append([row(1)])
    assert backend.ledger.total(Account("t", 1, "x").tenant, 1) == 0
