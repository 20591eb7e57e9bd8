"""Standard input in pieces: `chunks`."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator

_CHUNK = 64 * 1024
_READ_AHEAD = 64  # chunks that are read ahead


async def chunks() -> AsyncIterator[bytes]:
    """Read standard input in a thread: the event loop can watch pipes, but not files."""
    loop, arrived = asyncio.get_running_loop(), asyncio.Queue[bytes](_READ_AHEAD)

    def read() -> None:
        chunk = b"begin"
        while chunk:
            try:
                chunk = os.read(sys.stdin.fileno(), _CHUNK)
            except OSError:
                chunk = b""
            try:
                asyncio.run_coroutine_threadsafe(arrived.put(chunk), loop).result()
            except RuntimeError:  # the loop is gone
                return

    threading.Thread(target=read, name="redask-stdin", daemon=True).start()
    while chunk := await arrived.get():
        yield chunk
