"""`redask rpc`: JSON-RPC 2.0 on standard input and output, one message a line."""

import asyncio
import sys
from collections.abc import AsyncIterator

import click

from redask.cli import session
from redask.cli.session import polite


@click.command("rpc")
@click.pass_obj
def command(db: str) -> None:
    """Answer JSON-RPC 2.0 requests, one a line: ask, explain, search, query, stream, cancel."""
    with polite():
        asyncio.run(_serve(session.existing(db), click.get_current_context().meta["redask.token"]))


async def _serve(location: str, token: str | None) -> None:
    from redask.api import open_async
    from redask.serving import FrontDesk
    from redask.transports import rpc

    async with await open_async(location) as opened:
        caller = await FrontDesk(opened, anonymous=token is None).sign_in(token)
        reader = await _stdin(rpc.MAX_LINE)
        await rpc.serve(caller, _lines(reader, rpc.MAX_LINE), _write)


async def _stdin(most: int) -> asyncio.StreamReader:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=2 * most)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    return reader


async def _lines(reader: asyncio.StreamReader, most: int) -> AsyncIterator[bytes]:
    """The lines that come; of one that is too long, more than `most` bytes, to be refused."""
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as ended:
            if ended.partial:
                yield ended.partial
            return
        except asyncio.LimitOverrunError as overrun:
            await reader.readexactly(overrun.consumed)
            while b"\n" not in (rest := await reader.read(most)) and rest:
                pass
            yield b"x" * (most + 1)
            continue
        yield line


async def _write(message: bytes) -> None:
    await asyncio.to_thread(_out, message)


def _out(message: bytes) -> None:
    sys.stdout.buffer.write(message)
    sys.stdout.buffer.flush()
