"""Work of asks goes before that of statements: threads of the workers, each with its niceness."""

import json
import os
import sys
import threading
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest
from served import Served, fill
from waiting import SECONDS, until

from redask.core.access.worker_shares import (
    ASK_NICENESS,
    OTHER_NICENESS,
    SAME_TENANT,
    SAME_USER,
    Lane,
    WorkerClaim,
)
from redask.core.errors import Cancelled, StoreFailed
from redask.engine.processes.niced_threads import NicedThreads
from redask.engine.processes.worker_processes import WorkerProcesses

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="threads have no niceness here")
MIA = WorkerClaim("local", "mia", Lane.ASK)
MIA_SELECTS = WorkerClaim("local", "mia")


def own(more: int) -> int:
    """A niceness, counted from that of this process."""
    return min(19, os.nice(0) + more)


def pool(directory: Path, size: int = 1) -> WorkerProcesses:
    return WorkerProcesses("worker_services:make", (str(directory),), size=size)


def test_each_call_works_at_the_niceness_of_its_lane_in_one_process(tmp_path: Path) -> None:
    workers = pool(tmp_path)
    try:
        worked = [
            workers.call("niceness", timeout_seconds=SECONDS, claim=each)
            for each in (MIA, MIA_SELECTS, MIA, None)
        ]
        assert worked == [*map(own, (ASK_NICENESS, OTHER_NICENESS, ASK_NICENESS, ASK_NICENESS))]
        assert len(workers.processes()) == 1
    finally:
        workers.close()


def test_a_second_ask_of_a_user_gives_way_to_the_first(tmp_path: Path) -> None:
    workers = pool(tmp_path, size=4)
    ended = threading.Event()

    def hold() -> None:
        with suppress(Cancelled):
            workers.call("wait", timeout_seconds=SECONDS, cancelled=ended, claim=MIA)

    first = threading.Thread(target=hold)
    try:
        first.start()
        assert until((tmp_path / "started").exists)
        second = workers.call("niceness", timeout_seconds=SECONDS, claim=MIA)
        assert second == own(ASK_NICENESS + SAME_TENANT + SAME_USER)
    finally:
        ended.set()
        first.join()
        workers.close()


def test_a_process_that_takes_the_place_of_another_starts_at_the_niceness_of_statements(
    tmp_path: Path,
) -> None:
    workers = pool(tmp_path)
    try:
        assert workers.call("made_at", timeout_seconds=SECONDS) == own(ASK_NICENESS)
        with pytest.raises(StoreFailed, match="ended in the middle"):
            workers.call("leave", timeout_seconds=SECONDS)
        assert workers.call("made_at", timeout_seconds=SECONDS) == own(OTHER_NICENESS)
    finally:
        workers.close()


def test_what_threads_are_asked_for_is_given_or_raised() -> None:
    """In a process of its own: a niceness is not taken back."""
    child = os.fork()
    if not child:
        threads = NicedThreads()
        good = threads.done(7, lambda: 1) == 1
        try:
            threads.done(7, lambda: 1 // 0)
        except ZeroDivisionError:
            threads.begin(7, lambda: None)
            threads.close()
            os._exit(0 if good else 1)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_server_works_for_asks_before_statements(tmp_path: Path) -> None:
    token = fill(tmp_path / "db")["mia"]
    with Served(tmp_path / "db") as server:
        client = HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
        heads = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        for path, body in (
            ("ask", {"question": "When does the ferry leave?"}),
            ("query", {"statement": "SELECT count(*) FROM notes"}),
        ):
            client.request("POST", f"/v1/{path}", json.dumps(body), heads)
            reply = client.getresponse()
            assert (reply.status, bool(reply.read())) == (200, True)
        client.close()
        found = {
            niceness(task) for worker in children(server.process.pid) for task in tasks(worker)
        }
        assert found == {own(ASK_NICENESS), own(OTHER_NICENESS)}
        assert {niceness(each) for each in tasks(server.process.pid)} == {own(0)}


def tasks(process: int) -> list[Path]:
    return list(Path(f"/proc/{process}/task").iterdir())


def children(process: int) -> list[int]:
    return [
        int(each) for task in tasks(process) for each in (task / "children").read_text().split()
    ]


def niceness(task: Path) -> int:
    return int((task / "stat").read_text().rpartition(")")[2].split()[16])
