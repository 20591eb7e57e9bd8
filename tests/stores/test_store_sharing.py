"""Threads and processes share a store: all see what was committed, and nobody tramples."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from waiting import SECONDS, until

from redask.core.errors import StoreFailed
from redask.core.model import Caller
from redask.stores import entity_rows
from redask.stores.sqlite.connection import Database
from redask.stores.sqlite.migrations import MIGRATIONS
from redask.stores.sqlite.store import FILE, SqliteStore

ME = Caller()

WRITER = """
import sys
from pathlib import Path
from redask.core.model import Caller
from redask.stores import entity_rows as rows
from redask.stores.sqlite.store import SqliteStore

name = sys.argv[2]
with SqliteStore(Path(sys.argv[1]), busy_timeout=60) as store:
    for number in range(30):
        mine = [{"id": f"{name}-{number}-{part}", "by": name} for part in range(5)]
        shared = [{"id": "shared", "by": name, "number": number}]
        store.put(rows.entities("t", mine + shared), Caller())
        assert store.get(f"urn:reddb:row:t/{name}-{number}-4", Caller()) is not None
"""

FORK = """
import os, sys
from pathlib import Path
from redask.core.errors import StoreFailed
from redask.core.model import Caller
from redask.stores import entity_rows as rows
from redask.stores.sqlite.store import SqliteStore

store = SqliteStore(Path(sys.argv[1]))
if os.fork() == 0:
    try:
        store.put(rows.entities("t", [{"id": 1}]), Caller())
    except StoreFailed as error:
        print("child:", error.message, flush=True)
    store.close()
    os._exit(0)
os.wait()
store.put(rows.entities("t", [{"id": 2}]), Caller())
print("parent:", len(store.page("t", Caller())))
"""


def start(script: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True
    )


def put(store: SqliteStore, *ids: str) -> None:
    store.put(entity_rows.entities("t", [{"id": name} for name in ids]), ME)


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    writers = [start(WRITER, str(tmp_path), name) for name in "abc"]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    for writer in writers:
        writer.communicate()
    with SqliteStore(tmp_path) as store:
        assert len(store.page("t", ME, limit=10_000)) == 3 * 30 * 5 + 1
        changes = store.changes("local", 0, 10_000)
        sequences = [change.seq for change in changes]
        assert sequences == sorted(set(sequences))
        assert store.watermark("local") == sequences[-1] == 3 * 30 * 6
        assert store.check() == []


def test_processes_that_make_the_database_at_once_make_one(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from redask.stores.sqlite.store import SqliteStore\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "print(SqliteStore(Path(sys.argv[1])).identity)"
    )
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", script, str(tmp_path)]
    makers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(4)]
    for maker in makers:
        assert maker.stdout is not None
        assert maker.stdout.readline() == "ready\n"
    for maker in makers:
        assert maker.stdin is not None
        maker.stdin.write("go\n")
        maker.stdin.flush()
    identities = {maker.communicate()[0] for maker in makers}
    assert len(identities) == 1
    assert len(identities.pop().strip()) == 32


def test_who_is_second_to_make_the_database_takes_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link
    first: list[str] = []

    def overtaken(source: Path, target: Path) -> None:
        monkeypatch.setattr(os, "link", link)
        with SqliteStore(tmp_path) as store:
            put(store, "a")
            first.append(store.identity)
        link(source, target)

    monkeypatch.setattr(os, "link", overtaken)
    with SqliteStore(tmp_path) as second:
        assert [second.identity] == first
        assert second.get("urn:reddb:row:t/a", ME) is not None


def test_threads_write_and_read_one_store(tmp_path: Path) -> None:
    with SqliteStore(tmp_path) as store, ThreadPoolExecutor(8) as pool:

        def work(name: str) -> int:
            for number in range(20):
                put(store, f"{name}-{number}", "shared")
                assert store.get(f"urn:reddb:row:t/{name}-{number}", ME) is not None
            return len(store.changes("local", 0, 10_000))

        assert all(list(pool.map(work, "abcdefgh")))
        assert len(store.page("t", ME, limit=10_000)) == 8 * 20 + 1
        assert store.watermark("local") == 8 * 20 + 1
        assert store.check() == []


def test_a_reader_is_not_held_up_by_a_writer_and_sees_only_what_was_committed(
    tmp_path: Path,
) -> None:
    with SqliteStore(tmp_path) as store, SqliteStore(tmp_path) as other:
        put(store, "a")
        with store.database.writing() as connection:
            connection.execute("UPDATE entities SET payload = '{}'")
            assert other.get("urn:reddb:row:t/a", ME) == store.get("urn:reddb:row:t/a", ME)
            assert store.read(["urn:reddb:row:t/a"], ME)[0].payload == '{"id":"a"}'


def test_a_writer_waits_for_another_process(tmp_path: Path) -> None:
    with (
        SqliteStore(tmp_path, busy_timeout=60) as store,
        closing(sqlite3.connect(tmp_path / FILE, check_same_thread=False)) as rival,
    ):
        rival.execute("BEGIN IMMEDIATE")
        end = threading.Timer(0.3, rival.rollback)
        end.start()
        put(store, "a")
        end.join()
        assert store.get("urn:reddb:row:t/a", ME) is not None


def test_a_writer_that_waits_in_vain_says_so_and_can_try_again(tmp_path: Path) -> None:
    with (
        SqliteStore(tmp_path, busy_timeout=0.05) as store,
        closing(sqlite3.connect(tmp_path / FILE)) as rival,
    ):
        put(store, "a")
        rival.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreFailed, match="was not free for"):
            put(store, "b")
        assert store.get("urn:reddb:row:t/a", ME) is not None
        rival.rollback()
        put(store, "b")
        assert store.get("urn:reddb:row:t/b", ME) is not None


def test_a_second_thread_that_waits_in_vain_says_so(tmp_path: Path) -> None:
    database = Database(tmp_path / FILE, busy_timeout=0.05, migrations=MIGRATIONS)

    def write() -> None:
        with database.writing() as connection:
            connection.execute("SELECT 1")

    with ThreadPoolExecutor(1) as pool:
        with (
            database.writing(),
            pytest.raises(StoreFailed, match="was not free for"),
        ):
            pool.submit(write).result()
        pool.submit(write).result()
    database.close()


def test_an_exception_inside_a_transaction_takes_everything_back(tmp_path: Path) -> None:
    database = Database(tmp_path / FILE, busy_timeout=1, migrations=MIGRATIONS)

    def interrupted() -> None:
        with database.writing() as connection:
            connection.execute("INSERT INTO settings VALUES ('a', 'b')")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with database.reading() as connection:
        assert connection.execute("SELECT * FROM settings").fetchall() == []
    database.close()


def test_a_reader_that_failed_leaves_no_old_snapshot_behind(tmp_path: Path) -> None:
    left_open = []

    def interrupted(store: SqliteStore) -> None:
        with store.database.reading() as connection:
            left_open.append(connection.execute("SELECT key FROM entities"))
            next(left_open[0])
            raise KeyboardInterrupt

    with SqliteStore(tmp_path) as store:
        put(store, "a", "b")
        with pytest.raises(KeyboardInterrupt):
            interrupted(store)
        put(store, "c")
        assert store.get("urn:reddb:row:t/c", ME) is not None


def test_closing_waits_for_nobody_who_reads(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    put(store, "a")
    with store.database.reading() as connection:
        store.close()
        assert connection.execute("SELECT count(*) FROM entities").fetchone() == (1,)
    assert not (tmp_path / f"{FILE}-wal").exists()


def test_a_forked_child_is_told_to_open_the_store_itself(tmp_path: Path) -> None:
    told, _ = start(FORK, str(tmp_path)).communicate()
    assert told.splitlines() == [
        "child: a database does not survive a fork: open it in the new process",
        "parent: 1",
    ]


def test_writes_are_on_the_disk_before_they_are_acknowledged(tmp_path: Path) -> None:
    with SqliteStore(tmp_path) as store:
        for connection_of in (store.database.writing, store.database.reading):
            with connection_of() as connection:
                assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
                assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_equal_content_does_not_touch_the_disk(tmp_path: Path) -> None:
    with SqliteStore(tmp_path) as store:
        put(store, "a", "b")
        log = tmp_path / f"{FILE}-wal"
        before = log.read_bytes()
        put(store, "b", "a")
        assert store.delete(["urn:reddb:row:t/zzz"], ME) == 0
        assert log.read_bytes() == before


def test_what_is_stored_is_plain_sql_for_whoever_looks(tmp_path: Path) -> None:
    with SqliteStore(tmp_path) as store:
        store.put(entity_rows.entities("t", [{"id": 1, "x": 1}, {"id": 2, "x": 0.5}]), ME)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        assert connection.execute("SELECT * FROM red_columns").fetchall() == [
            ("local", "t", "id", "integer"),
            ("local", "t", "x", "real"),
        ]
        payloads = connection.execute("SELECT payload FROM entities ORDER BY urn").fetchall()
        assert [json.loads(payload)["id"] for (payload,) in payloads] == [1, 2]


def test_a_thread_that_writes_on_and_on_lets_one_that_waits_have_its_turn(tmp_path: Path) -> None:
    order: list[str] = []
    with closing(Database(tmp_path / FILE, busy_timeout=SECONDS, migrations=MIGRATIONS)) as shared:

        def write(name: str) -> None:
            with shared.writing():
                order.append(name)

        other = threading.Thread(target=write, args=("the other",))
        with shared.writing():
            other.start()
            assert until(shared._next_writer.locked, 5)  # it waits
        write("the first again")
        other.join(SECONDS)
    assert order == ["the other", "the first again"]
