"""Deadlines in the hands of a test: they pass when it says so, not after so many milliseconds.

The code under test says `asyncio.timeout(seconds)` or `loop.call_later(seconds, …)`; a test gives
it a minute, waits until it is where the deadline shall meet it, and lets the deadline pass there.
"""

import asyncio
from typing import Any, NoReturn


def let_deadline_pass() -> None:
    """The soonest `asyncio.timeout` of the task that runs is now: of two, the one inside."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    _pass([each for each in deadlines(loop) if each._task is task][:1])


def let_deadlines_pass(loop: asyncio.AbstractEventLoop) -> None:
    """The soonest `asyncio.timeout` of each task of a loop, perhaps in another thread, is now."""

    def now() -> None:
        _pass(list({each._task: each for each in reversed(deadlines(loop))}.values()))

    loop.call_soon_threadsafe(now)


def let_timers_pass(name: str) -> None:
    """Call now what `loop.call_later` in this loop will call: methods of that name."""
    loop = asyncio.get_running_loop()
    for timer in _timers(loop):
        if getattr(timer._callback, "__name__", "") == name:
            loop.call_soon(timer._callback, *timer._args)
            timer.cancel()


async def out_of_time() -> NoReturn:
    """A reply that does not come before the deadline."""
    let_deadline_pass()
    await asyncio.Event().wait()
    raise AssertionError("the deadline did not pass")


def deadlines(loop: asyncio.AbstractEventLoop) -> list[Any]:
    """Every `asyncio.timeout` that runs in a loop, the soonest first."""
    owners = [getattr(each._callback, "__self__", None) for each in _timers(loop)]
    return [each for each in owners if isinstance(each, asyncio.Timeout)]


def _timers(loop: Any) -> list[Any]:
    return sorted(each for each in loop._scheduled if not each.cancelled())


def _pass(found: list[Any]) -> None:
    assert found, "there is no deadline"
    for each in found:
        each.reschedule(asyncio.get_running_loop().time())
