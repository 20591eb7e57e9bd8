"""`redask rpc`: JSON-RPC 2.0 on standard input and output, one message a line."""

import asyncio
import sys

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.standard_input import chunks


@click.command("rpc")
@click.pass_obj
def command(db: str) -> None:
    """Answer JSON-RPC 2.0 requests, one a line: ask, explain, search, query, stream, cancel."""
    with reports_errors():
        given = click.get_current_context().meta
        asyncio.run(_serve(db, given["redask.token"], given["redask.tenant"]))


async def _serve(location: str, token: str | None, tenant: str | None) -> None:
    from redask.server import jsonrpc
    from redask.server.sessions import Authenticator

    async with await opening.served(location, tenant) as opened:
        authenticator = Authenticator(opened, anonymous=token is None, tenant=tenant)
        caller = await authenticator.sign_in(token)
        await jsonrpc.serve(caller, jsonrpc.split(chunks()), _write)


async def _write(message: bytes) -> None:
    await asyncio.to_thread(_out, message)


def _out(message: bytes) -> None:
    sys.stdout.buffer.write(message)
    sys.stdout.buffer.flush()
