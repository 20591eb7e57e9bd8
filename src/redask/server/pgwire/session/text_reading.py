"""Reading a statement's text: `await read_text(read, sql, …)`, a long one beside the event loop.

Whatever reads is linear, and a statement has at most a megabyte: the longest takes a second or two
of a thread, and no turn of the loop.
"""

import asyncio
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

LONG = 4096  # characters: up to these, reading takes less than a millisecond or two
_T = TypeVar("_T")
_P = ParamSpec("_P")


async def read_text(
    read: Callable[Concatenate[str, _P], _T], sql: str, *given: _P.args, **named: _P.kwargs
) -> _T:
    """What `read(sql, …)` gives."""
    if len(sql) <= LONG:
        return read(sql, *given, **named)
    return await asyncio.to_thread(read, sql, *given, **named)
