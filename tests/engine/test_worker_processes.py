"""Worker processes: whatever a call does, its caller gets an answer and the next one is served."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from waiting import SECONDS, until

from redask.core import errors
from redask.core.access.worker_shares import Lane, WorkerClaim, WorkerQuota
from redask.core.errors import (
    AskError,
    BadAsk,
    BadStatement,
    Cancelled,
    DeadlineExceeded,
    LimitExceeded,
    Misconfigured,
    SqlError,
    StoreFailed,
)
from redask.core.model import Notice
from redask.engine.processes import worker_talk
from redask.engine.processes.worker_messages import WorkerLimits
from redask.engine.processes.worker_process import WorkerProcess
from redask.engine.processes.worker_processes import WorkerProcesses

MANY = 100 * SECONDS
PATIENT = WorkerLimits(grace_seconds=SECONDS)
SUPPORT = Path(__file__).parents[1] / "support"
Maker = Callable[..., WorkerProcesses]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Maker]:
    """Pools that are closed at the end, with every process gone."""
    made: list[WorkerProcesses] = []

    def pool(size: int = 1, limits: WorkerLimits | None = None) -> WorkerProcesses:
        made.append(
            WorkerProcesses(
                "worker_services:make",
                (str(tmp_path),),
                size=size,
                limits=limits,
                deadline_setting="test.timeout",
            )
        )
        return made[-1]

    yield pool
    for each in made:
        there = each.processes()
        each.close()
        assert not [pid for pid in there if alive(pid)]
        assert each.processes() == []


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def served(pool: WorkerProcesses) -> int:
    pid = pool.call("process", timeout_seconds=SECONDS)
    assert isinstance(pid, int)
    return pid


def begun(tmp_path: Path, work: Callable[[], object]) -> "ThreadPoolExecutor":
    """A thread that has a worker in the middle of `work`."""
    threads = ThreadPoolExecutor(1)
    threads.submit(work)
    assert until((tmp_path / "started").exists)
    return threads


def test_a_call_is_served_by_another_process_that_stays(make: Maker) -> None:
    pool = make()
    first = served(pool)
    assert first != os.getpid()
    assert served(pool) == first
    assert pool.call("echo", 1, "a", timeout_seconds=SECONDS, key=b"x") == ((1, "a"), {"key": b"x"})


def test_no_process_is_started_before_the_first_call_unless_warmed(make: Maker) -> None:
    pool = make(size=2)
    assert pool.processes() == []
    served(pool)
    assert len(pool.processes()) == 1
    pool.warm()
    assert until(lambda: len(pool.processes()) == 2)


@pytest.mark.parametrize("method", ["loop", "deaf"])
def test_work_that_does_not_stop_is_ended_at_its_deadline(make: Maker, method: str) -> None:
    pool = make(limits=WorkerLimits(grace_seconds=0.05))
    before = served(pool)
    with pytest.raises(DeadlineExceeded, match=r"500 ms \(test.timeout") as caught:
        pool.call(method, timeout_seconds=0.5)
    assert caught.value.limit == "test.timeout"
    assert served(pool) != before
    assert until(lambda: not alive(before))


def test_nobody_waits_until_a_process_that_is_killed_has_given_back_its_memory(
    make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, wait = threading.Event(), subprocess.Popen.wait

    def late(process: Any, timeout: float | None = None) -> int:
        gone.wait(SECONDS)
        return wait(process, timeout)

    pool = make(limits=WorkerLimits(grace_seconds=0.05))
    before = served(pool)
    monkeypatch.setattr(subprocess.Popen, "wait", late)
    monkeypatch.setattr(subprocess.Popen, "poll", lambda _: None)
    with ThreadPoolExecutor(1) as threads:
        ended = threads.submit(pool.call, "loop", timeout_seconds=0.5)
        assert isinstance(ended.exception(SECONDS / 2), DeadlineExceeded)
        assert threads.submit(served, pool).result(SECONDS / 2) != before
        gone.set()
    monkeypatch.undo()
    assert until(lambda: not alive(before))


@pytest.mark.parametrize("method", ["wait", "sleep_pages"])
def test_work_that_stops_when_interrupted_keeps_its_process(make: Maker, method: str) -> None:
    pool = make(limits=PATIENT)
    before = served(pool)
    with pytest.raises(DeadlineExceeded):
        pool.call(method, timeout_seconds=0.2)
    assert served(pool) == before


@pytest.mark.parametrize("method", ["wait", "sleep_pages"])
def test_a_caller_who_leaves_has_the_work_interrupted(
    make: Maker, tmp_path: Path, method: str
) -> None:
    pool, left = make(limits=PATIENT), threading.Event()
    before = served(pool)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(pool.call, method, timeout_seconds=MANY, cancelled=left)
        assert until((tmp_path / "started").exists)
        left.set()
        assert isinstance(running.exception(SECONDS), Cancelled)
    assert served(pool) == before


def test_work_whose_caller_has_left_has_longer_to_stop(
    make: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert worker_talk._LEFT_GRACE > 1
    monkeypatch.setattr(worker_talk, "_LEFT_GRACE", 20 * SECONDS)
    pool, left = make(limits=WorkerLimits(grace_seconds=0.05)), threading.Event()
    before = served(pool)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(pool.call, "linger", timeout_seconds=MANY, cancelled=left)
        assert until((tmp_path / "started").exists)
        left.set()
        time.sleep(0.5)  # ten times what a caller who waits would have to
        (tmp_path / "go").touch()
        assert isinstance(running.exception(SECONDS), Cancelled)
    assert served(pool) == before


def test_nothing_is_begun_for_a_caller_who_has_left(make: Maker, tmp_path: Path) -> None:
    pool, left = make(limits=WorkerLimits(grace_seconds=0.05)), threading.Event()
    before = served(pool)
    left.set()
    with pytest.raises(Cancelled, match="the caller left"):
        pool.call("loop", timeout_seconds=MANY, cancelled=left)
    assert served(pool) == before
    assert not (tmp_path / "started").exists()


def test_memory_without_end_is_refused_and_the_next_call_served(make: Maker) -> None:
    pool = make(limits=WorkerLimits(memory_bytes=256 * 2**20))
    before = served(pool)
    with pytest.raises(LimitExceeded, match="256 MiB") as caught:
        pool.call("hoard", timeout_seconds=MANY)
    assert caught.value.limit == "memory"
    assert served(pool) != before


def test_a_worker_killed_in_the_middle_is_an_error_and_is_replaced(
    make: Maker, tmp_path: Path
) -> None:
    pool = make()
    before = served(pool)
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(pool.call, "wait", timeout_seconds=MANY)
        assert until((tmp_path / "started").exists)
        os.kill(before, signal.SIGKILL)
        error = running.exception(SECONDS)
    assert isinstance(error, StoreFailed)
    assert error.detail == "killed by signal 9"
    assert served(pool) != before


def test_a_worker_that_leaves_is_an_error_and_is_replaced(make: Maker) -> None:
    pool = make()
    with pytest.raises(StoreFailed) as caught:
        pool.call("leave", timeout_seconds=SECONDS)
    assert caught.value.detail == "exit code 3"
    served(pool)


def test_a_worker_that_died_while_idle_is_nobodys_error(make: Maker) -> None:
    pool = make()
    before = served(pool)
    os.kill(before, signal.SIGKILL)
    (worker,) = pool._workers
    assert until(lambda: worker.process.poll() is not None)
    assert served(pool) != before


def test_a_stopped_process_holds_nobody_longer_than_the_deadline(make: Maker) -> None:
    pool = make(limits=WorkerLimits(grace_seconds=0.05))
    before = served(pool)
    os.kill(before, signal.SIGSTOP)
    with pytest.raises(DeadlineExceeded):
        pool.call("echo", b"x" * 2**24, timeout_seconds=0.2)
    assert served(pool) != before


@pytest.mark.parametrize("method", ["wait", "deaf"])
def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path, method: str) -> None:
    parent = run_parent(tmp_path, method)
    worker = int(line(parent))
    assert line(parent) == "started"
    assert alive(worker)
    parent.kill()
    parent.communicate()
    assert until(lambda: not running(worker))


def test_workers_end_with_a_parent_that_closes_the_pool(tmp_path: Path) -> None:
    parent = run_parent(tmp_path, "wait")
    worker = int(line(parent))
    assert line(parent) == "started"
    for each in (signal.SIGINT, signal.SIGTERM):
        os.kill(worker, each)  # a terminal sends them to the whole group: the parent decides
    assert parent.communicate("")[0] == ""
    assert parent.returncode == 0
    assert not running(worker)
    assert (tmp_path / f"closed-{worker}").exists()


def run_parent(tmp_path: Path, method: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, str(SUPPORT / "worker_parent.py"), str(tmp_path), method],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def line(parent: "subprocess.Popen[str]") -> str:
    assert parent.stdout is not None
    return parent.stdout.readline().strip()


def running(pid: int) -> bool:
    """Whether it runs; an orphan may stay a zombie where nobody reaps."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return alive(pid)
    return "State:\tZ" not in status


def waiting_in(pool: WorkerProcesses, count: int) -> bool:
    return len(pool._waiting) == count


def test_fifty_callers_at_once_are_all_served(make: Maker) -> None:
    pool = make(size=2)
    with ThreadPoolExecutor(50) as threads:
        asked = [
            threads.submit(pool.call, "echo", number, timeout_seconds=MANY) for number in range(200)
        ]
        assert [each.result(SECONDS)[0][0] for each in asked] == list(range(200))
    assert len(pool.processes()) == 2


def test_callers_are_served_in_the_order_they_came(make: Maker, tmp_path: Path) -> None:
    pool, left = make(limits=PATIENT), threading.Event()
    served(pool)
    threads = begun(tmp_path, lambda: pool.call("wait", timeout_seconds=MANY, cancelled=left))
    with ThreadPoolExecutor(20) as callers:
        for number in range(20):
            callers.submit(pool.call, "in_line", str(number), timeout_seconds=MANY)
            assert until(partial(waiting_in, pool, number + 1))
        left.set()
    threads.shutdown()
    assert (tmp_path / "line").read_text().split() == [str(number) for number in range(20)]


def test_a_caller_waits_for_a_worker_no_longer_than_its_deadline(
    make: Maker, tmp_path: Path
) -> None:
    pool, left = make(limits=PATIENT), threading.Event()
    served(pool)
    threads = begun(tmp_path, lambda: pool.call("wait", timeout_seconds=MANY, cancelled=left))
    with pytest.raises(DeadlineExceeded, match=r"no worker process was free .* \(test.timeout\)"):
        pool.call("process", timeout_seconds=0.05)
    gone = threading.Event()
    gone.set()
    with pytest.raises(Cancelled):
        pool.call("process", timeout_seconds=MANY, cancelled=gone)
    assert not pool._waiting
    left.set()
    threads.shutdown()
    served(pool)


def test_a_large_result_comes_in_pages(make: Maker) -> None:
    pages = make().call("pages", 100, 1000, timeout_seconds=MANY)
    assert len(pages) == 100
    rows = [row for page in pages for row in page]
    assert rows == [(number, "text") for number in range(100_000)]


@pytest.mark.parametrize(("method", "arguments"), [("pages", (1000, 1000)), ("text", (2**20 + 1,))])
def test_a_result_that_is_too_large_is_refused_and_the_process_stays(
    make: Maker, method: str, arguments: tuple[int, ...]
) -> None:
    pool = make(limits=WorkerLimits(result_bytes=2**20))
    before = served(pool)
    with pytest.raises(LimitExceeded, match="1 MiB") as caught:
        pool.call(method, *arguments, timeout_seconds=MANY)
    assert caught.value.limit == "result_bytes"
    assert served(pool) == before
    assert len(pool.call("text", 2**20 - 100, timeout_seconds=MANY)) == 2**20 - 100


def test_errors_of_the_service_come_as_they_are(make: Maker) -> None:
    pool = make()
    with pytest.raises(SqlError) as caught:
        pool.call("half", timeout_seconds=SECONDS)
    error = caught.value
    assert (error.sqlstate, error.message, error.position, error.hint) == (
        *("22012", "division by zero"),
        *(8, "do not"),
    )
    with pytest.raises(BadStatement) as other:
        pool.call("statement_error", timeout_seconds=SECONDS)
    assert (other.value.line, other.value.column, other.value.detail) == (3, 4, "line 3, column 4")


@pytest.mark.parametrize("method", ["bug", "unpicklable", "no_such_method"])
def test_anything_else_is_an_internal_error_that_is_logged(
    make: Maker, capfd: pytest.CaptureFixture[str], method: str
) -> None:
    pool = make()
    with pytest.raises(AskError, match=r"^internal error$") as caught:
        pool.call(method, timeout_seconds=SECONDS)
    assert type(caught.value) is AskError
    assert "Traceback" in capfd.readouterr().err
    served(pool)


def test_standard_output_belongs_to_the_parent(
    make: Maker, capfd: pytest.CaptureFixture[str]
) -> None:
    make().call("say", timeout_seconds=SECONDS)
    assert capfd.readouterr().out == ""


def test_a_value_that_cannot_be_sent_is_refused(make: Maker) -> None:
    pool = make()
    with pytest.raises(BadAsk, match="cannot be sent"):
        pool.call("echo", threading.Lock(), timeout_seconds=SECONDS)
    served(pool)


def test_a_service_that_cannot_be_made_says_why_to_every_caller() -> None:
    pool = WorkerProcesses("worker_services:make_nothing", size=1)
    for _ in range(2):
        with pytest.raises(Misconfigured) as caught:
            pool.call("process", timeout_seconds=SECONDS)
        assert (caught.value.message, caught.value.detail) == ("there is nothing here", "nothing")
    pool.close()
    pool = WorkerProcesses("worker_services:make_badly", size=1)
    with pytest.raises(AskError, match=r"^internal error$"):
        pool.call("process", timeout_seconds=SECONDS)
    pool.close()


def test_closing_cancels_what_runs_and_what_waits(make: Maker, tmp_path: Path) -> None:
    pool = make(limits=PATIENT)
    served(pool)
    with ThreadPoolExecutor(2) as threads:
        runs = threads.submit(pool.call, "wait", timeout_seconds=MANY)
        assert until((tmp_path / "started").exists)
        waits = threads.submit(pool.call, "process", timeout_seconds=MANY)
        assert until(partial(waiting_in, pool, 1))
        pool.close()
        assert isinstance(runs.exception(SECONDS), Cancelled)
        assert isinstance(waits.exception(SECONDS), Cancelled)
    pool.close()
    with pytest.raises(BadAsk, match="closed"):
        pool.call("process", timeout_seconds=SECONDS)
    pool.warm()
    assert pool.processes() == []


@pytest.mark.parametrize("method", ["loop", "deaf"])
def test_closing_ends_what_does_not_stop(make: Maker, tmp_path: Path, method: str) -> None:
    pool = make(limits=WorkerLimits(grace_seconds=0.05))
    before = served(pool)
    with ThreadPoolExecutor(1) as threads:
        runs = threads.submit(pool.call, method, timeout_seconds=MANY)
        assert until((tmp_path / "started").exists)
        pool.close()
        assert isinstance(runs.exception(SECONDS), Cancelled)
    assert not alive(before)


def test_a_pool_that_was_never_used_is_closed_twice() -> None:
    pool = WorkerProcesses("worker_services:make", ("",), size=2)
    pool.close()
    pool.close()


def made_errors() -> list[AskError]:
    refused = errors.ProviderRefused("p", "no", detail="d", billed=(1, 2))
    return [
        errors.SqlError("42703", 'column "x" does not exist', position=8, hint="h"),
        errors.BadStatement(1, 2, "x", "y"),
        errors.BadUrn(errors.UrnFault.KIND, "bad"),
        errors.BadTtl(errors.TtlFault.ZERO, "bad"),
        errors.BadRows("c", [errors.RowProblem(0, "no id")], 1),
        errors.DeadlineExceeded("timeout_ms", "late", detail="d"),
        errors.Ungrounded("bad", (Notice("a", "b"),)),
        refused,
        errors.ProvidersExhausted((refused,)),
        *(
            kind("m", detail="d")
            for kind in (errors.CorruptIndex, errors.Denied, errors.NotCanonical)
        ),
    ]


@pytest.mark.parametrize("error", made_errors(), ids=lambda error: type(error).__name__)
def test_every_error_survives_pickling_and_copying(error: AskError) -> None:
    def known(each: AskError) -> dict[str, Any]:
        return {**vars(each), "args": each.args, "attempts": repr(vars(each).get("attempts"))}

    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert known(again) == known(error)


# --- shares and quotas ---------------------------------------------------------------------


def test_a_user_waits_for_so_many_calls_and_has_so_many_seconds(tmp_path: Path) -> None:
    mia, bo = WorkerClaim("local", "mia"), WorkerClaim("local", "bo")
    quota = WorkerQuota(user_waiting=1, tenant_seconds=1000)
    pool = WorkerProcesses("worker_services:make", (str(tmp_path),), size=1, quota=quota)
    stop = threading.Event()

    def waiting() -> None:
        with pytest.raises(Cancelled):
            pool.call("wait", timeout_seconds=MANY, cancelled=stop, claim=mia)

    with ThreadPoolExecutor(2) as threads:
        work = [threads.submit(waiting)]
        try:
            assert until(lambda: len(pool._held) == 1)
            work.append(threads.submit(waiting))
            assert until(lambda: len(pool._waiting) == 1)
            with pytest.raises(errors.Overloaded, match="1 statements of this user are waiting"):
                pool.call("process", timeout_seconds=SECONDS, claim=mia)
        finally:
            stop.set()
        for each in work:
            each.result(SECONDS)
    assert pool._usage._running == {}  # what ended is past
    assert pool.call("process", timeout_seconds=SECONDS, claim=bo)
    pool._quota = WorkerQuota(tenant_seconds=0.000001)
    with pytest.raises(LimitExceeded, match=r"select\.tenant_seconds_a_minute"):
        pool.call("process", timeout_seconds=SECONDS, claim=bo)
    pool.close()


def test_the_start_of_the_first_process_is_no_part_of_the_time_of_a_call(tmp_path: Path) -> None:
    factory = ("worker_services:make_slowly", (str(tmp_path), 2.0))
    with closing(WorkerProcesses(*factory, size=1)) as pool:
        assert pool.call("process", timeout_seconds=1.0)
        with pytest.raises(StoreFailed):
            pool.call("leave", timeout_seconds=MANY)
        with pytest.raises(DeadlineExceeded):  # that of another is
            pool.call("process", timeout_seconds=1.0)


def test_who_leaves_while_the_first_process_starts_is_let_go(tmp_path: Path) -> None:
    left = threading.Event()
    left.set()
    factory = ("worker_services:make_slowly", (str(tmp_path), float(MANY)))
    with (
        closing(WorkerProcesses(*factory, size=1)) as pool,
        pytest.raises(Cancelled, match="the caller left"),
    ):
        pool.call("process", timeout_seconds=MANY, cancelled=left)


def test_a_process_that_started_in_time_is_kept_however_late_it_is_first_used(make: Maker) -> None:
    pool = make(size=2)
    pool.warm()
    assert until(lambda: len(pool._idle) == 2 and all(each.has_started for each in pool._idle))
    there = pool.processes()
    for each in pool._workers:
        each._give_up = 0  # long ago
    for _ in range(3):
        assert served(pool) in there
    assert pool.processes() == there


def test_asks_of_tenants_keep_to_their_processes(make: Maker) -> None:
    pool = make(size=3)
    pool.warm()
    assert until(lambda: len(pool._idle) == 3 and all(each.has_started for each in pool._idle))
    ada, eve = WorkerClaim("north", "ada", Lane.ASK), WorkerClaim("south", "eve", Lane.ASK)

    def asked(claim: WorkerClaim) -> object:
        return pool.call("process", timeout_seconds=SECONDS, claim=claim)

    first, second = asked(ada), asked(eve)
    assert first != second
    assert [asked(each) for each in (eve, eve, ada, eve, ada)] == [
        *(second, second, first),
        *(second, first),
    ]


def test_nobody_waits_for_a_process_to_start_in_anothers_place_while_one_is_free_sooner(
    make: Maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = make(size=2)
    pool.warm()
    assert until(lambda: len(pool._idle) == 2 and all(each.has_started for each in pool._idle))
    working = served(pool)
    (late,) = [each for each in pool._workers if each.process.pid != working]
    late.is_first = False
    has_started = [False]
    monkeypatch.setattr(
        WorkerProcess, "has_started", property(lambda each: each is not late or has_started[0])
    )
    left = threading.Event()

    def wait() -> None:
        pool.call("wait", timeout_seconds=MANY, cancelled=left)

    with begun(tmp_path, wait), ThreadPoolExecutor(1) as threads:
        following = threads.submit(served, pool)
        assert until(lambda: pool._waiting)
        left.set()
        assert following.result(SECONDS) == working
    (tmp_path / "started").unlink()
    left.clear()
    with begun(tmp_path, wait), ThreadPoolExecutor(1) as threads:
        following = threads.submit(served, pool)
        assert until(lambda: pool._waiting)
        has_started[0] = True  # nobody is told: who waits looks
        assert following.result(SECONDS) == late.process.pid
        left.set()


def test_a_process_that_does_not_start_in_time_is_replaced(tmp_path: Path) -> None:
    factory = ("worker_services:make_slowly", (str(tmp_path), float(MANY)))
    with closing(WorkerProcesses(*factory, size=1)) as pool:
        pool._has_worked = True  # or nobody's time would be counted
        pool.warm()
        assert until(lambda: len(pool._idle) == 1)
        (first,) = pool._workers
        assert not first.has_started
        first._give_up = 0
        with pytest.raises(DeadlineExceeded):
            pool.call("process", timeout_seconds=0.01)
        assert until(lambda: first not in pool._workers and first.process.poll() is not None)


def test_what_a_worker_starts_with_is_nothing_that_garbage_is_looked_for_in(make: Maker) -> None:
    assert make().call("frozen", timeout_seconds=SECONDS) > 10_000


# --- what only the parent has ---------------------------------------------------------------


def test_a_worker_has_its_parent_work_and_is_told_what_went_wrong(tmp_path: Path) -> None:
    going, left = threading.Event(), threading.Event()

    def refuse(_: object) -> None:
        raise LimitExceeded("embedding", "too much")

    def fail() -> None:
        raise KeyError("a secret of ours")

    def wait() -> str:
        going.set()
        assert left.wait(SECONDS)
        return "late"

    work: dict[str, Callable[..., object]] = {
        "double": lambda n: 2 * n,
        "refuse": refuse,
        "fail": fail,
        "wait": wait,
    }
    pool = WorkerProcesses(
        "worker_services:make", (str(tmp_path),), size=1, limits=PATIENT, parent_work=work
    )
    try:
        call = partial(pool.call, timeout_seconds=MANY)
        assert call("from_parent", "double", 21) == [42, 42]
        with pytest.raises(LimitExceeded, match="too much"):
            call("from_parent", "refuse", 1)
        for name in ("fail", "no such work"):
            with pytest.raises(AskError) as raised:
                call("from_parent", name)
            assert raised.value.message == "internal error"
        process = call("process")
        with ThreadPoolExecutor(1) as threads:  # its caller leaves while the parent works for it
            running = threads.submit(call, "from_parent", "wait", cancelled=left)
            assert going.wait(SECONDS)
            left.set()
            assert isinstance(running.exception(SECONDS), Cancelled)
        assert call("process") == process
        assert call("from_parent", "double", 1) == [2, 2]
    finally:
        pool.close()


def test_asks_keep_their_process_while_those_of_statements_are_ended(tmp_path: Path) -> None:
    asking, selecting = WorkerClaim("north", "ada", Lane.ASK), WorkerClaim("south", "eve")
    with closing(WorkerProcesses("worker_services:make", (str(tmp_path),), size=3)) as pool:
        pool.warm()
        first = pool.call("process", timeout_seconds=MANY, claim=asking)
        ended = []
        for _ in range(3):
            ended.append(pool.call("process", timeout_seconds=MANY, claim=selecting))
            with pytest.raises(StoreFailed):
                pool.call("leave", timeout_seconds=MANY, claim=selecting)
            assert pool.call("process", timeout_seconds=MANY, claim=asking) == first
        assert first not in ended


def test_a_tenant_whose_process_was_ended_waits_for_the_next_and_takes_no_other_tenants(
    make: Maker,
) -> None:
    pool = make(size=2)
    pool.warm()
    assert until(lambda: len(pool._idle) == 2 and all(each.has_started for each in pool._idle))
    ada, eve = WorkerClaim("north", "ada", Lane.ASK), WorkerClaim("south", "eve", Lane.ASK)

    def asked(claim: WorkerClaim) -> object:
        return pool.call("process", timeout_seconds=MANY, claim=claim)

    kept, ended = asked(ada), asked(eve)
    for _ in range(2):
        with pytest.raises(StoreFailed):
            pool.call("leave", timeout_seconds=MANY, claim=eve)
        following = asked(eve)
        assert following not in (kept, ended)
        assert asked(ada) == kept
