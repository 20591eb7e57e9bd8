"""The events of one ask while it runs: `events_of(start)`, the only queue a stream crosses.

`start(emit)` begins the ask in a task; the engine calls `emit` there, and whoever iterates gets
the event here. The engine writes the audit row before it emits `Answered` or raises, so a row
stands before every last event. Closing the generator cancels the task and does not wait for it:
whoever started it owns it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from redask.core.errors import AskError
from redask.core.model import Emit, Event, Failed


async def events_of(
    start: Callable[[Emit], asyncio.Task[Any]],
    heartbeat: float | None = None,
    result: Callable[[asyncio.Task[Any]], object] = asyncio.Task.result,
) -> AsyncGenerator[Event | None, None]:
    """The events, and None after each `heartbeat` seconds without one.

    `result` raises what the ended task failed with: an `AskError` after the first event becomes
    the last event, `Failed`; everything else is raised here.
    """
    arrived: asyncio.Queue[Event | None] = asyncio.Queue()
    begun = False

    async def emit(event: Event) -> None:
        arrived.put_nowait(event)
        await asyncio.sleep(0)  # the consumer's turn, before the next piece is parsed

    task = start(emit)
    task.add_done_callback(lambda _: arrived.put_nowait(None))
    try:
        while True:
            try:
                async with asyncio.timeout(heartbeat):
                    event = await arrived.get()
            except TimeoutError:
                yield None
                continue
            if event is None:
                break
            begun = True
            yield event
        try:
            result(task)
        except AskError as error:
            if not begun:
                raise
            yield Failed(error)
    finally:
        task.cancel()
