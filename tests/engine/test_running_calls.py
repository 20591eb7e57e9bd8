"""The calls of a database, and the loop of a synchronous one: what closing does to each."""

import asyncio
import threading

import pytest

from redask.api import loop_thread
from redask.api.loop_thread import LoopThread
from redask.core.errors import BadAsk, Cancelled
from redask.engine.running_calls import RunningCalls


def test_a_call_is_cancelled_where_it_may_be_and_finished_where_not() -> None:
    async def main() -> list[str]:
        running, steps = RunningCalls(), []
        inside, go_on = asyncio.Event(), asyncio.Event()

        async def call() -> None:
            with running.begin() as call:
                inside.set()
                with pytest.raises(Cancelled, match="the database was closed"):
                    async with call.cancellable():
                        await asyncio.Event().wait()
                steps.append("cancelled")
                await go_on.wait()
                steps.append("finished")
                with pytest.raises(Cancelled):
                    async with call.cancellable():
                        raise AssertionError("it is closed by now")

        calling = asyncio.create_task(call())
        await inside.wait()
        closing = asyncio.create_task(running.close())
        while not steps:
            await asyncio.sleep(0)
        assert not closing.done()
        go_on.set()
        await closing
        await calling
        await running.close()  # a second time is fine
        with pytest.raises(BadAsk, match="the database is closed"), running.begin():
            pass
        return steps

    assert asyncio.run(main()) == ["cancelled", "finished"]


def test_a_deadline_inside_a_call_stays_a_deadline() -> None:
    async def main() -> None:
        with pytest.raises(TimeoutError):
            async with RunningCalls().cancellable(), asyncio.timeout(0):
                await asyncio.Event().wait()

    asyncio.run(main())


def test_a_call_of_another_loop_is_cancelled_there() -> None:
    running, began, ended = RunningCalls(), threading.Event(), threading.Event()

    async def waiting() -> None:
        async with running.cancellable():
            began.set()
            await asyncio.Event().wait()

    async def call() -> None:
        with pytest.raises(Cancelled):
            await waiting()
        ended.set()

    thread = threading.Thread(target=asyncio.run, args=(call(),), daemon=True)
    thread.start()
    assert began.wait(60)
    asyncio.run(asyncio.wait_for(running.close(), 60))
    assert ended.wait(60)
    thread.join()


def test_a_call_whose_loop_is_gone_is_not_waited_for() -> None:
    running = RunningCalls()
    loop = asyncio.new_event_loop()

    async def call() -> None:
        with running.begin():
            await asyncio.Event().wait()

    calling = call()
    task = loop.create_task(calling)
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.close()
    asyncio.run(asyncio.wait_for(running.close(), 60))
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # on purpose
    calling.close()


def test_a_thread_that_waits_in_the_loop_wakes_also_when_closing_does_not_end_its_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loop_thread, "_LAST_WORDS_SECONDS", 0)
    loop, began, told = LoopThread(), threading.Event(), []

    async def forever() -> None:
        began.set()
        await asyncio.Event().wait()

    async def last() -> None:
        raise OSError("the disk is gone")

    def wait() -> None:
        try:
            loop.run(forever())
        except Cancelled as error:
            told.append(error.message)

    waiting = threading.Thread(target=wait, daemon=True)
    waiting.start()
    assert began.wait(60)
    with pytest.raises(OSError, match="the disk is gone"):
        loop.close(last())
    waiting.join(60)
    assert told == ["the database was closed"]
    loop.close(last())  # a second time is fine, and runs nothing
    with pytest.raises(BadAsk, match="the database is closed"):
        loop.run(forever())
