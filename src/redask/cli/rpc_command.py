"""`redask rpc`: JSON-RPC 2.0 on standard input and output, one message a line."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator

import click

from redask.cli import session
from redask.cli.session import polite

_CHUNK = 64 * 1024
_AHEAD = 64  # chunks that are read before anybody asked for them


@click.command("rpc")
@click.pass_obj
def command(db: str) -> None:
    """Answer JSON-RPC 2.0 requests, one a line: ask, explain, search, query, stream, cancel."""
    with polite():
        given = click.get_current_context().meta
        asyncio.run(_serve(db, given["redask.token"], given["redask.tenant"]))


async def _serve(location: str, token: str | None, tenant: str | None) -> None:
    from redask.serving import FrontDesk
    from redask.transports import rpc

    async with await session.served(location, tenant) as opened:
        desk = FrontDesk(opened, anonymous=token is None, tenant=tenant)
        caller = await desk.sign_in(token)
        await rpc.serve(caller, rpc.split(_chunks()), _write)


async def _chunks() -> AsyncIterator[bytes]:
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


async def _write(message: bytes) -> None:
    await asyncio.to_thread(_out, message)


def _out(message: bytes) -> None:
    sys.stdout.buffer.write(message)
    sys.stdout.buffer.flush()
