"""A worker process at its memory limit: it ends without a word, and its caller hears of memory."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import SECONDS, until

from redask.core.access.worker_shares import Lane, WorkerClaim
from redask.core.errors import LimitExceeded
from redask.engine.processes import worker_processes
from redask.engine.processes.niced_threads import NicedThreads, _NicedThread
from redask.engine.processes.worker_memory import is_full
from redask.engine.processes.worker_messages import WorkerLimits
from redask.engine.processes.worker_processes import WorkerProcesses

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory has no such limit here")
LIMITS = WorkerLimits(memory_bytes=256 * 2**20, grace_seconds=SECONDS)
ASK, SELECT = WorkerClaim("local", "mia", Lane.ASK), WorkerClaim("local", "mia")


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[WorkerProcesses]:
    """Of one process."""
    made = WorkerProcesses("worker_services:make", (str(tmp_path),), size=1, limits=LIMITS)
    yield made
    made.close()


@pytest.fixture
def full(pool: WorkerProcesses, monkeypatch: pytest.MonkeyPatch) -> tuple[WorkerProcesses, int]:
    """A pool whose process has no room for another thread and stays all the same; the process."""
    with monkeypatch.context() as patched:
        patched.setattr(worker_processes, "is_full", lambda *_: False)
        return pool, pool.call("keep_all", timeout_seconds=SECONDS, claim=ASK)


def test_a_worker_that_a_call_left_without_memory_is_replaced(pool: WorkerProcesses) -> None:
    process = pool.call("keep", 2**27, timeout_seconds=SECONDS, claim=ASK)
    assert pool.call("process", timeout_seconds=SECONDS, claim=ASK) == process
    assert pool.call("keep", 13 * 2**24, timeout_seconds=SECONDS, claim=ASK) == process
    assert pool.call("process", timeout_seconds=SECONDS, claim=ASK) != process


def test_what_nobody_expected_is_memory_where_there_is_none(
    pool: WorkerProcesses, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(LimitExceeded) as caught:
        pool.call("fail_full", timeout_seconds=SECONDS, claim=ASK)
    assert caught.value.limit == "memory"
    assert capfd.readouterr().err == ""


def test_a_process_is_full_when_less_than_an_eighth_is_left() -> None:
    own = int(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    assert is_full(os.getpid(), WorkerLimits(memory_bytes=own))
    assert is_full(os.getpid(), WorkerLimits(memory_bytes=own * 9 // 8))
    assert not is_full(os.getpid(), WorkerLimits(memory_bytes=own * 5 // 4))
    assert not is_full(2**30, WorkerLimits(memory_bytes=1))


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
        _NicedThread.start = refuse  # type: ignore[method-assign,assignment]  # as with no room for a stack
        try:
            threads.begin(3, lambda: None)
        except MemoryError as error:
            threads.close()
            os._exit(0 if "new thread" in str(error) else 1)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


def refuse(_: object) -> None:
    raise RuntimeError("can't start new thread")
