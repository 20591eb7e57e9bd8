"""The one queue between an ask and whoever reads its events."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import pytest

from redask.api.event_stream import events_of
from redask.core.errors import BadAsk, Cancelled, StoreFailed
from redask.core.model import AnswerToken, Emit, Event, Failed
from redask.server.admission import Admission

Work = Callable[[Emit], Awaitable[object]]


async def read(work: Work, admission: Admission | None = None) -> list[Event | None]:
    """All events, as a Python caller or (with an admission) as a transport gets them."""
    if admission is not None:
        return [event async for event in admission.stream(work)]

    async def task(emit: Emit) -> object:
        return await work(emit)

    return [event async for event in events_of(lambda emit: asyncio.create_task(task(emit)))]


@pytest.mark.parametrize("admitted", [False, True])
def test_events_come_in_order_and_end_with_the_work(admitted: bool) -> None:
    async def work(emit: Emit) -> None:
        for text in "abc":
            await emit(AnswerToken(text))

    found = asyncio.run(read(work, Admission() if admitted else None))
    assert found == [AnswerToken(text) for text in "abc"]


@pytest.mark.parametrize("admitted", [False, True])
def test_a_failure_is_raised_before_the_first_event_and_is_the_last_one_after_it(
    admitted: bool,
) -> None:
    error = StoreFailed("gone")

    async def at_once(emit: Emit) -> None:
        raise BadAsk("no")

    async def later(emit: Emit) -> None:
        await emit(AnswerToken("a"))
        raise error

    async def bug(emit: Emit) -> None:
        await emit(AnswerToken("a"))
        raise ZeroDivisionError

    room = Admission() if admitted else None
    with pytest.raises(BadAsk):
        asyncio.run(read(at_once, room))
    assert asyncio.run(read(later, room)) == [AnswerToken("a"), Failed(error)]
    with pytest.raises(ZeroDivisionError):
        asyncio.run(read(bug, room))


def test_closing_the_stream_cancels_the_work_and_the_admission_sees_it_end() -> None:
    async def main() -> None:
        ended = asyncio.Event()

        async def work(emit: Emit) -> None:
            try:
                await emit(AnswerToken("a"))
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await asyncio.sleep(0)  # the audit row
                ended.set()
                raise

        admission = Admission()
        async with aclosing(admission.stream(work)) as events:
            assert await anext(events) == AnswerToken("a")
        async with asyncio.timeout(30):
            await ended.wait()
            await admission.close(60)

    asyncio.run(main())


def test_a_client_that_disconnects_cancels_the_work_once_and_the_stream_says_so() -> None:
    async def main() -> None:
        gone, cancels = asyncio.Event(), []

        async def disconnected() -> None:
            await gone.wait()

        async def work(emit: Emit) -> None:
            try:
                await emit(AnswerToken("a"))
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                task = asyncio.current_task()
                assert task is not None
                cancels.append(task.cancelling())
                raise

        events = Admission().stream(work, disconnected)
        assert await anext(events) == AnswerToken("a")
        gone.set()
        async with asyncio.timeout(30):
            last = await anext(events)
        assert isinstance(last, Failed)
        assert isinstance(last.error, Cancelled)
        assert cancels == [1]

    asyncio.run(main())


def test_a_silent_stream_has_heartbeats() -> None:
    async def main() -> None:
        go = asyncio.Event()

        async def work(emit: Emit) -> None:
            await go.wait()
            await emit(AnswerToken("a"))

        found = []
        async for event in Admission().stream(work, heartbeat=0.001):
            found.append(event)
            go.set()
        assert found[0] is None
        assert [each for each in found if each is not None] == [AnswerToken("a")]

    asyncio.run(main())
