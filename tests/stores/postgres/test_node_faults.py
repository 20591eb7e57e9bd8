"""Faults that a history on one cluster cannot have, with clients asking on eight nodes throughout.

A node that is killed, pools that are exhausted, a disk that is full, a new primary. In each, no
answer is without its row, no row is lost, the chain verifies, and the cap is never exceeded
(`node_histories.violations`).
"""

import os
import random
import secrets
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
from node_histories import Asked, violations
from postgres_cluster import Cluster, Server, cluster
from served import SOURCE
from waiting import until

from redask.core.errors import StoreFailed
from redask.core.model import Caller
from redask.core.ports import AuditLog, AuditRow, Entity
from redask.stores.postgres import pg_database, pg_location
from redask.stores.postgres.pg_pool import Pool
from redask.stores.postgres.postgres_backend import PostgresBackend

OpenNode = Callable[..., PostgresBackend]
OPERATIONS, SEVERAL = 80, 5
SUPPORT = Path(node_runs.__file__).parent
ASKING = """
import sys
from itertools import count
from node_runs import open_node
from redask.core.errors import LimitExceeded

db = open_node(sys.argv[1])
for number in count():
    question = f"Why was the pilot of ship {sys.argv[2]}-{number} late?"
    try:
        assert db.ask(question, **({"using": "openai"} if number % 2 else {})).answer
    except LimitExceeded:  # the others have it all
        continue
    print(question, flush=True)
"""


@pytest.mark.parametrize("days", [(0,) * 8, (0, 3, -2, 4, 0, -5, 7, -7)], ids=["right", "wrong"])
def test_eight_nodes_that_ask_at_once_never_spend_more_than_the_cap(
    servers: Cluster, name: str, monkeypatch: pytest.MonkeyPatch, days: tuple[int, ...]
) -> None:
    """Whatever their clocks say."""
    monkeypatch.setattr(random.Random, "choices", lambda *_: ["spend"])
    clocks = [each * node_runs.DAY for each in days]
    with node_runs.several(servers.primary.url(name), clocks) as nodes:
        nodes[0].put("pilots", [{"id": 99, "note": "The pilot was late."}])
        history = node_runs.run_on(nodes, [], operations=OPERATIONS)
        assert violations(history) == []
        assert {each.is_answered for each in history.asks} == {True, False}
        assert history.spent > node_runs.CAP / 2


@contextmanager
def node_killed(url: str, told: list[str]) -> Iterator[None]:
    """One more node asks beside the others, and is killed while it does; it has `told` answers."""
    with subprocess.Popen(
        [sys.executable, "-c", ASKING, f"{url}?application_name=killed", secrets.token_hex(4)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(SOURCE), str(SUPPORT)))},
    ) as asking:
        assert asking.stdout is not None
        lines = [asking.stdout.readline() for _ in range(random.randint(3, 6))]
        yield
        asking.send_signal(signal.SIGKILL)
        lines += asking.stdout.read().splitlines(keepends=True)
    told += [each.decode().strip() for each in lines if each.endswith(b"\n")]


def test_a_node_that_is_killed_mid_ask_has_told_no_answer_without_a_row(
    servers: Cluster, name: str
) -> None:
    told: list[str] = []
    killed = partial(node_killed, servers.primary.url(name), told)
    with node_runs.several(servers.primary.url(name)) as nodes:
        nodes[0].put("pilots", [{"id": 99, "note": "The pilot was late because of fog."}])
        history = node_runs.run_on(nodes, [killed], operations=OPERATIONS)
        assert len(told) >= 3
        history.asks += [Asked(each, True) for each in told]
        assert violations(history) == []


def pools_of(nodes: list[node_runs.Node]) -> Iterator[Pool]:
    for node in nodes:
        backend = node._async._app.backend
        assert isinstance(backend, PostgresBackend)
        yield from backend._pools


@contextmanager
def pools_exhausted(nodes: list[node_runs.Node]) -> Iterator[None]:
    """Somebody has every connection that these nodes may open, and keeps it."""
    with ExitStack() as taken:
        for pool in pools_of(nodes):
            for _ in range(pool._most):
                assert pool._free.acquire(timeout=60)
                taken.callback(pool._free.release)
        yield


def test_while_pools_are_exhausted_nothing_is_answered_there_and_the_others_go_on(
    servers: Cluster, name: str
) -> None:
    with node_runs.several(servers.primary.url(name)) as nodes:
        for pool in pools_of(nodes):
            pool._patience = 0.1
        exhausted = partial(pools_exhausted, nodes[::2])
        history = node_runs.run_on(nodes, [exhausted] * 2, operations=OPERATIONS)
        assert violations(history) == []
        assert not all(each.is_told for each in history.operations)
        assert any(each.is_answered for each in history.asks)


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


@contextmanager
def disk_full(primary: Server, disk: Path, waiting: Callable[[], object]) -> Iterator[None]:
    """No table grows any more; then the log does not either, and PostgreSQL stops itself."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 16))
    waiting()
    with suppress(psycopg.Error):  # it fills what is left of the log
        for _ in range(1000):
            primary.execute("SELECT pg_logical_emit_message(false, 'full', repeat('x', 1000000))")
        raise AssertionError("the disk is never full")
    yield
    ballast.unlink()
    assert primary.process is not None
    if not until(lambda: is_up(primary), 5):
        primary.stop()
        primary.start()


def is_up(server: Server) -> bool:
    with suppress(psycopg.Error):
        return bool(server.execute("SELECT 1"))
    return False


def append_for_ever(log: AuditLog, rows: list[AuditRow]) -> None:
    for _ in range(1000):
        log.append(rows)


def test_a_full_disk_of_the_primary_is_told_and_when_there_is_room_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(pg_location.DIRECTORY, str(tmp_path / "local"))
    with small_disk() as place, ExitStack() as opened:
        os.chmod(place, 0o755)
        with monkeypatch.context() as patch:  # the server alone is there
            patch.setattr(tempfile, "tempdir", str(place))
            servers = opened.enter_context(cluster(standbys=0))
        with node_runs.several(servers.make("answers")) as nodes:
            rows = [AuditRow({"tenant": "other", "user": "ann", "ts": 1, "question": "x" * 999})]
            written = nodes[0]._async._app.backend.audit

            def no_more_rows() -> None:
                """Until a table of redask's wants to grow."""
                with pytest.raises(StoreFailed, match=r"disk of .* is full"):
                    append_for_ever(written, rows * 100)

            full = partial(disk_full, servers.primary, place, no_more_rows)
            history = node_runs.run_on(nodes, [full], operations=OPERATIONS)
            assert violations(history) == []
            assert not all(each.is_told for each in history.operations)
            assert any(each.is_answered for each in history.asks)


def test_no_connection_left_is_told_and_nothing_is_answered(
    servers: Cluster, name: str, node: OpenNode
) -> None:
    backend = node()
    for pool in backend._pools:
        pool._drop_idle()
    mine = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'redask'"
    assert until(lambda: servers.primary.execute(mine) == [(0,)])
    servers.primary.execute(f"ALTER ROLE redask CONNECTION LIMIT {SEVERAL}")
    try:
        with ExitStack() as held:
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
    with node_runs.several(url) as nodes:
        history = node_runs.run_on(nodes, [partial(taken_over, servers)], operations=OPERATIONS)
        assert violations(history) == []
        assert any(each.is_told for each in history.operations)
