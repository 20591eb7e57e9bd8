"""Threads beside the loop: what is done there, in which of them, and what happens at the end."""

import asyncio
import gc
import subprocess
import sys
import threading
import weakref
from functools import partial
from pathlib import Path

import pytest

from redask.core.errors import Overloaded
from redask.engine.workers import Workers


def test_work_is_done_in_a_thread_and_its_result_or_error_comes_back() -> None:
    def fails() -> None:
        raise KeyError("gone")

    async def main() -> None:
        workers = Workers(2, "w")
        assert await workers.run(threading.get_ident) != threading.get_ident()
        with pytest.raises(KeyError, match="gone"):
            await workers.run(fails)
        assert await workers.run(lambda: 7) == 7
        workers.close()

    asyncio.run(main())


def test_one_caller_at_a_time_keeps_to_one_thread() -> None:
    async def main() -> None:
        workers = Workers(8, "w")
        await asyncio.gather(*(workers.run(lambda: barrier.wait(60)) for _ in range(4)))
        seen = {await workers.run(threading.get_ident) for _ in range(200)}
        workers.close()
        assert len(seen) == 1

    barrier = threading.Barrier(4)
    asyncio.run(main())


def test_no_more_than_so_many_run_at_once_and_all_get_their_turn() -> None:
    running, most, lock = 0, 0, threading.Lock()

    def work(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.002)
        with lock:
            running -= 1
        return number

    async def main() -> None:
        workers = Workers(3, "w")
        asked = (workers.run(partial(work, number)) for number in range(60))
        assert await asyncio.gather(*asked) == list(range(60))
        workers.close()

    asyncio.run(main())
    assert most == 3


def test_work_that_nobody_waits_for_is_not_begun_but_what_began_is_finished() -> None:
    begun, go, done, late = threading.Event(), threading.Event(), threading.Event(), []

    def first() -> None:
        begun.set()
        go.wait(60)
        done.set()

    async def main() -> None:
        workers = Workers(1, "w")
        running = asyncio.ensure_future(workers.run(first))
        waiting = asyncio.ensure_future(workers.run(lambda: late.append(1)))
        await asyncio.sleep(0)
        assert begun.wait(60)
        for each in (running, waiting):
            each.cancel()
        await asyncio.wait([running, waiting])
        go.set()
        assert await workers.run(lambda: 3) == 3, "the thread goes on"
        workers.close()

    asyncio.run(main())
    assert done.is_set()
    assert late == []


def test_closing_sees_what_runs_and_waits_done_and_takes_no_more() -> None:
    done = []

    def slow(number: int) -> None:
        threading.Event().wait(0.02)
        done.append(number)

    async def main() -> None:
        workers = Workers(1, "w")
        asked = [asyncio.ensure_future(workers.run(partial(slow, number))) for number in range(3)]
        await asyncio.sleep(0)
        workers.close()
        assert done == [0, 1, 2]
        await asyncio.gather(*asked)
        with pytest.raises(RuntimeError, match="no work"):
            await workers.run(lambda: None)

    asyncio.run(main())
    assert not [each for each in threading.enumerate() if each.name.startswith("w_")]


def test_a_loop_that_was_closed_meanwhile_breaks_no_thread() -> None:
    begun, go, done = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        go.wait(60)
        done.set()

    workers = Workers(1, "w")
    loop = asyncio.new_event_loop()
    task = loop.create_task(workers.run(work))
    loop.run_until_complete(asyncio.sleep(0))
    assert begun.wait(60)
    task.cancel()
    loop.run_until_complete(asyncio.wait([task]))
    loop.close()
    go.set()
    assert done.wait(60)
    assert asyncio.run(workers.run(lambda: 5)) == 5
    workers.close()


def test_an_idle_thread_holds_on_to_nothing() -> None:
    class Thing:
        pass

    async def main() -> None:
        workers = Workers(1, "w")
        thing = await workers.run(Thing)
        gone = weakref.ref(thing)
        await workers.run(partial(id, thing))
        del thing
        for _ in range(100):
            gc.collect()
            if gone() is None:
                break
            await asyncio.sleep(0.01)
        assert gone() is None
        workers.close()

    asyncio.run(main())


def test_a_thread_that_cannot_be_started_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def main() -> None:
        workers = Workers(1, "w")
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", fails)
            with pytest.raises(Overloaded, match="no thread can be started"):
                await workers.run(lambda: 1)
        assert await workers.run(lambda: 2) == 2
        workers.close()

    asyncio.run(main())


def test_an_error_is_let_go_of_without_the_garbage_collector() -> None:
    class Thing:
        pass

    def fails(thing: Thing) -> None:
        raise KeyError(f"{thing}")

    async def main() -> None:
        workers = Workers(1, "w")
        thing = Thing()
        gone = weakref.ref(thing)
        with pytest.raises(KeyError):
            await workers.run(partial(fails, thing))
        del thing
        await workers.run(lambda: None)
        assert gone() is None
        workers.close()

    gc.disable()
    try:
        asyncio.run(main())
    finally:
        gc.enable()


def test_work_that_raises_stop_iteration_keeps_nobody_waiting() -> None:
    async def main() -> None:
        workers = Workers(1, "w")
        with pytest.raises(RuntimeError, match="StopIteration"):
            await workers.run(lambda: next(iter(())))
        workers.close()

    asyncio.run(main())


def test_what_runs_when_the_process_ends_is_finished(tmp_path: Path) -> None:
    program = """
import asyncio, pathlib, sys, time
from redask.engine.workers import Workers

def work():
    time.sleep(0.3)
    pathlib.Path(sys.argv[1]).touch()

async def main():
    asking = asyncio.ensure_future(Workers(1, "w").run(work))
    await asyncio.sleep(0.1)

asyncio.run(main())
"""
    command = [sys.executable, "-c", program, str(tmp_path / "done")]
    subprocess.run(command, check=True, timeout=60)
    assert (tmp_path / "done").exists()
