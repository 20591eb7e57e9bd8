"""`redask mcp`: the Model Context Protocol on standard input and output."""

import asyncio

import click

from redask.cli import session
from redask.cli.session import polite
from redask.errors import Misconfigured


@click.command("mcp")
@click.pass_obj
def command(db: str) -> None:
    """Serve MCP on standard input and output, for an assistant that starts redask itself."""
    with polite():
        try:
            import mcp  # noqa: F401 - only to see whether it is there
        except ImportError:
            raise Misconfigured("this door needs `pip install redask[mcp]`") from None
        given = click.get_current_context().meta
        asyncio.run(_serve(db, given["redask.token"], given["redask.tenant"]))


async def _serve(location: str, token: str | None, tenant: str | None) -> None:
    from mcp.server.stdio import stdio_server

    from redask.serving import FrontDesk
    from redask.transports import mcp_door
    from redask.transports.desk import Gate

    async with (
        await session.served(location, tenant) as opened,
        stdio_server() as (incoming, outgoing),
    ):
        desk = FrontDesk(opened, anonymous=token is None, tenant=tenant)
        server = mcp_door.server(desk, Gate(), token)
        await server.run(incoming, outgoing, server.create_initialization_options())
