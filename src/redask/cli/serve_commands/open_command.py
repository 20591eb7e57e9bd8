"""`redask open`: the page in a browser on this machine, signed in, until Ctrl-C.

The server listens on 127.0.0.1 alone, and takes nobody without sign-in: the browser comes with a
code that is good once (`entry_codes`), and gets a session as the user of the token, or as the local
owner. Where no browser can be started, the address is printed.
"""

import asyncio
import os
import socket
import sys
import threading
import webbrowser
from typing import TYPE_CHECKING

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo

if TYPE_CHECKING:
    from redask.server.serving_choices import Serving

HOST, PORT = "127.0.0.1", 8080


@click.command("open")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help=f"The port; else {PORT}, or any that is free where somebody has that.",
)
@click.option("--no-browser", is_flag=True, help="Print the address instead of opening it.")
@click.pass_obj
def command(db: str, /, *, port: int | None, no_browser: bool) -> None:
    """Serve the database on this machine and open its page in your browser, signed in.

    You are the local owner there, or with --token its user. Ctrl-C stops the server.
    """
    with reports_errors():
        from redask.server.http.entering.entry_codes import EntryCodes
        from redask.server.serving_choices import Serving

        given = click.get_current_context().meta
        chosen = _free(PORT) if port is None else port
        serving = Serving(
            host=HOST, http_port=chosen, tenant=given["redask.tenant"], entry=EntryCodes()
        )
        asyncio.run(_serve(db, serving, given["redask.token"], browser=not no_browser))


async def _serve(location: str, serving: "Serving", token: str | None, *, browser: bool) -> None:
    from redask.server.http.entering.entry_routes import OPEN
    from redask.server.serving import serve

    async with await opening.served(location, serving.tenant) as opened:
        session = opened
        if token is not None:
            session = await opened.signed_in(token, tenant=serving.tenant)
        codes = serving.entry
        assert codes is not None

        def ready(addresses: list[str]) -> None:
            echo(f"redask: serving {addresses[0]} until Ctrl-C", err=True)
            address = f"{addresses[0]}{OPEN}?code={codes.make(session)}"
            if browser and _has_browser():
                # a browser may take as long as it is used
                threading.Thread(target=_browse, args=(address,), daemon=True).start()
            else:
                _print_address(address)

        await serve(opened, serving, ready)
    echo("redask: stopped", err=True)


def _has_browser() -> bool:
    """Whether a browser with a window can be there: one in the terminal runs no scripts."""
    if os.environ.get("BROWSER"):
        return True
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _browse(address: str) -> None:
    try:
        opened = webbrowser.open(address)
    except (OSError, ValueError, webbrowser.Error):
        opened = False
    if not opened:
        _print_address(address)


def _print_address(address: str) -> None:
    from redask.server.http.entering.entry_codes import CODE_SECONDS

    minutes = CODE_SECONDS // 60
    echo(f"redask: open this address; it is good once, within {minutes} minutes:", err=True)
    echo(address)


def _free(port: int) -> int:
    """The port, or 0 for any, if somebody listens there."""
    try:
        socket.create_server((HOST, port)).close()
    except OSError:
        return 0
    return port
