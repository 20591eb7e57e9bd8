"""`redask mcp`: the Model Context Protocol on standard input and output."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.standard_input import chunks
from redask.core.access.ask_shares import ALONE
from redask.core.errors import Misconfigured


@click.command("mcp")
@click.pass_obj
def command(db: str) -> None:
    """Serve MCP on standard input and output, for an assistant that starts redask itself."""
    with reports_errors():
        try:
            import mcp  # noqa: F401 - only to see whether it is there
        except ImportError:
            raise Misconfigured("this transport needs `pip install redask[mcp]`") from None
        given = click.get_current_context().meta
        asyncio.run(_serve(db, given["redask.token"], given["redask.tenant"]))


async def _serve(location: str, token: str | None, tenant: str | None) -> None:
    from mcp.server.stdio import stdio_server

    from redask.server import mcp_transport
    from redask.server.admission import Admission
    from redask.server.sessions import Authenticator

    mcp_transport.quieten()
    admission = Admission(quota=ALONE)
    given: Any = _Lines()
    async with await opening.served(location, tenant) as opened:
        authenticator = Authenticator(opened, anonymous=token is None, tenant=tenant)
        await authenticator.sign_in(token)  # or the assistant would believe to be connected
        server = mcp_transport.server(authenticator, admission, token)
        try:
            async with stdio_server(stdin=given) as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())
        except* OSError:
            pass  # the reader closed the pipe
        finally:
            await admission.close(0)  # what still runs ends with its audit row


class _Lines:
    """Standard input as the SDK reads it, but that a line has an end."""

    async def __aiter__(self) -> AsyncIterator[str]:
        from redask.server import jsonrpc

        async for line in jsonrpc.split(chunks()):
            yield line.decode(errors="replace")
