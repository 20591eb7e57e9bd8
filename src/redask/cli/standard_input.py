"""What comes in on standard input, in pieces: `chunks`."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator

_CHUNK = 64 * 1024
_AHEAD = 64  # chunks that are read before anybody asked for them


async def chunks() -> AsyncIterator[bytes]:
    """What comes in. A thread waits for it: the loop can watch pipes, but not files."""
    loop, arrived = asyncio.get_running_loop(), asyncio.Queue[bytes](_AHEAD)

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
