"""Faults that a history on one cluster cannot have: a killed node, a full disk, a new primary."""

import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import node_runs
import psycopg
import pytest
from node_histories import violations
from postgres_cluster import Cluster, cluster
from served import SOURCE
from waiting import until

import redask
from redask.core.errors import AskError, StoreFailed
from redask.core.model import Caller
from redask.core.ports import AuditRow, Entity
from redask.core.rules.audit_chain import Intact
from redask.stores.postgres import pg_database, pg_location
from redask.stores.postgres.postgres_backend import PostgresBackend

OpenNode = Callable[..., PostgresBackend]
SEVERAL = 5
ASKING = """
import sys
import redask
from redask.core.settings import load

db = redask.open(sys.argv[1], settings=load(sys.argv[2], {}))
number = 0
while True:
    number += 1
    question = f"Why was pilot {number} late?"
    assert db.ask(question).answer
    print(question, flush=True)
"""


def test_a_node_that_is_killed_mid_ask_has_told_no_answer_without_a_row(
    servers: Cluster, name: str
) -> None:
    url = servers.primary.url(name)
    with redask.open(url, settings=node_runs.SETTINGS) as db:
        db.put("pilots", [{"id": 1, "note": "The pilot was late because of fog."}])
        with subprocess.Popen(
            [sys.executable, "-c", ASKING, f"{url}?application_name=killed", node_runs.TOML],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
        ) as asking:
            assert asking.stdout is not None
            told = [asking.stdout.readline() for _ in range(random.randint(3, 6))]
            asking.send_signal(signal.SIGKILL)
            told += asking.stdout.read().splitlines(keepends=True)
        assert db.ask("Why was the pilot late?").answer
        rows = node_runs.rows_of(db)
        assert all(rows[line.decode().strip()] == 1 for line in told if line.endswith(b"\n"))
        assert set(rows.values()) == {1}
        assert isinstance(db.verify_audit(), Intact)


@contextmanager
def small_disk() -> Iterator[Path]:
    """A file system of 160 MB."""
    with tempfile.TemporaryDirectory() as place:
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=160m", "redask-test", place],
            check=False,
            capture_output=True,
        )
        if made.returncode:
            pytest.skip(f"no file system can be mounted here: {made.stderr.decode().strip()}")
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", "-l", place], check=True)


def test_a_full_disk_of_the_primary_is_told_and_when_there_is_room_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(pg_location.DIRECTORY, str(tmp_path / "local"))
    with small_disk() as place, monkeypatch.context() as patch:
        os.chmod(place, 0o755)
        patch.setattr(tempfile, "tempdir", str(place))
        with cluster(standbys=0) as servers:
            backend = PostgresBackend(servers.make("answers"))
            rows = [AuditRow({"tenant": "local", "user": "ann", "ts": 1, "question": "x" * 999})]
            backend.audit.append(rows)
            ballast = place / "ballast"
            with ballast.open("wb") as file, suppress(OSError):
                while True:
                    file.write(bytes(1 << 16))
            written = 1
            with suppress(StoreFailed):
                while written < 1_000_000:
                    backend.audit.append(rows * 100)
                    written += 100
            assert written < 1_000_000, "the disk is never full"
            ballast.unlink()
            if servers.primary.process is not None and servers.primary.process.poll() is not None:
                servers.primary.start()  # its log had no room: PostgreSQL stops itself then

            def is_written() -> bool:
                with suppress(AskError):
                    backend.audit.append(rows)
                    return True
                return False

            assert until(is_written)
            verdict = backend.audit.verify()
            assert isinstance(verdict, Intact)
            assert verdict.rows >= written + 1
            backend.close()


def test_no_connection_left_is_told_and_nothing_is_answered(
    servers: Cluster, name: str, node: OpenNode
) -> None:
    backend = node()
    taken: list[psycopg.Connection[tuple[object, ...]]] = []
    servers.primary.execute("ALTER ROLE redask CONNECTION LIMIT 3")
    try:
        with ExitStack() as held, suppress(psycopg.OperationalError):
            backend._pools[0]._drop_idle()
            backend._pools[2]._drop_idle()
            while True:
                taken.append(held.enter_context(psycopg.connect(servers.primary.url(name))))
                if len(taken) > SEVERAL:
                    raise AssertionError("there is no limit")
        with ExitStack() as held:
            with suppress(psycopg.OperationalError):
                for _ in range(SEVERAL):
                    held.enter_context(psycopg.connect(servers.primary.url(name)))
            with pytest.raises(StoreFailed, match=r"cannot be reached|no more connections"):
                backend.audit.append([AuditRow({"tenant": "local", "user": "ann", "ts": 1})])
        assert until(lambda: is_put(backend))
    finally:
        servers.primary.execute("ALTER ROLE redask CONNECTION LIMIT -1")


def is_put(backend: PostgresBackend) -> bool:
    with suppress(StoreFailed):
        backend.store.put([Entity("urn:reddb:row:calls/1", '{"id":1}')], Caller())
        return True
    return False


@contextmanager
def taken_over(servers: Cluster) -> Iterator[None]:
    """The primary is gone for good, and a standby takes its place."""
    servers.primary.stop()
    servers.standbys[0].promote()
    yield


def test_when_a_standby_takes_over_every_node_goes_on_by_itself_and_nothing_is_lost(
    servers: Cluster, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last test of this cluster, whose primary is gone afterwards."""
    monkeypatch.setattr(pg_database, "FIRST_REPLY_SECONDS", 1.5)
    servers.primary.execute(
        "ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (successor)'",
        "SELECT pg_reload_conf()",
    )
    standby = servers.standbys[0]
    standby.execute(
        f"ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port={servers.primary.port}"
        " user=postgres application_name=successor'",
        "SELECT pg_reload_conf()",
    )
    in_step = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
    assert until(lambda: servers.primary.execute(in_step) == [(1,)])
    hosts = f"127.0.0.1:{servers.primary.port},127.0.0.1:{standby.port}"
    url = f"postgresql://redask@{hosts}/{name}?target_session_attrs=read-write"
    monkeypatch.setenv(pg_location.READ_URL, standby.url(name))
    with ExitStack() as opened:
        nodes = [
            opened.enter_context(
                redask.open(f"{url}&application_name=node{at}", settings=node_runs.SETTINGS)
            )
            for at in range(2)
        ]
        history = node_runs.run_on(nodes, [partial(taken_over, servers)], operations=60)
        assert violations(history) == []
        assert any(each.is_told for each in history.operations)
