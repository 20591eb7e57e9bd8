"""Waiting for something to come about: for the thing, never for so many seconds.

SECONDS is far more than anything needs on any machine. It only guards against hanging.
"""

import asyncio
import threading
import time
from collections.abc import Callable

SECONDS = 60.0


def until(condition: Callable[[], object], seconds: float = SECONDS) -> bool:
    """Whether a condition came about."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


async def until_true(condition: Callable[[], object]) -> None:
    """The same in a loop, which goes on meanwhile; `TimeoutError` if it never does."""
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.005)


def in_a_thread(work: Callable[[], object]) -> None:
    """Do what might never end; what it raises is raised here."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive(), "it does not end"
    for error in raised:
        raise error
