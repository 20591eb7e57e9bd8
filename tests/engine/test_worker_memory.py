"""A worker process at its memory limit: it ends without a word, and its caller hears of memory."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import SECONDS, until

from redask.core.access.worker_shares import Lane, WorkerClaim
from redask.core.errors import LimitExceeded
from redask.engine.processes.niced_threads import NicedThreads, _NicedThread
from redask.engine.processes.worker_messages import WorkerLimits
from redask.engine.processes.worker_processes import WorkerProcesses

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory has no such limit here")
LIMITS = WorkerLimits(memory_bytes=256 * 2**20, grace_seconds=SECONDS)
ASK, SELECT = WorkerClaim("local", "mia", Lane.ASK), WorkerClaim("local", "mia")


@pytest.fixture
def full(tmp_path: Path) -> Iterator[tuple[WorkerProcesses, int]]:
    """A pool of one process that has no room for another thread, and the process."""
    pool = WorkerProcesses("worker_services:make", (str(tmp_path),), size=1, limits=LIMITS)
    try:
        yield pool, pool.call("keep_all", timeout_seconds=SECONDS, claim=ASK)
    finally:
        pool.close()


def test_a_full_worker_still_serves_what_needs_no_memory(
    full: tuple[WorkerProcesses, int],
) -> None:
    pool, process = full
    assert pool.call("process", timeout_seconds=SECONDS, claim=ASK) == process


def test_a_call_that_needs_another_thread_is_refused_as_one_over_its_memory(
    full: tuple[WorkerProcesses, int], capfd: pytest.CaptureFixture[str]
) -> None:
    pool, process = full
    with pytest.raises(LimitExceeded, match="256 MiB") as caught:
        pool.call("process", timeout_seconds=SECONDS, claim=SELECT)
    assert caught.value.limit == "memory"
    assert pool.call("process", timeout_seconds=SECONDS, claim=SELECT) != process
    assert capfd.readouterr().err == ""


def test_a_request_that_is_too_large_for_what_is_left_is_refused_likewise(
    full: tuple[WorkerProcesses, int], capfd: pytest.CaptureFixture[str]
) -> None:
    pool, _ = full
    with pytest.raises(LimitExceeded) as caught:
        pool.call("echo", "x" * 2**23, timeout_seconds=SECONDS, claim=ASK)
    assert caught.value.limit == "memory"
    assert capfd.readouterr().err == ""


def test_a_full_worker_whose_pool_closes_ends_without_a_word(
    full: tuple[WorkerProcesses, int], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pool, process = full
    pool.close()
    assert until((tmp_path / f"closed-{process}").exists)
    assert capfd.readouterr().err == ""


def test_threads_that_cannot_be_started_are_memory_and_are_not_waited_for() -> None:
    """In a process of its own: a niceness is not taken back."""
    child = os.fork()
    if not child:
        threads = NicedThreads()
        _NicedThread.start = refuse  # type: ignore[method-assign]  # as with no room for a stack
        try:
            threads.begin(3, lambda: None)
        except MemoryError as error:
            threads.close()
            os._exit(0 if "new thread" in str(error) else 1)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def refuse(_: object) -> None:
    raise RuntimeError("can't start new thread")
