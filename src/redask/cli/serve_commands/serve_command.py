"""`redask serve`: HTTP with MCP, gRPC and the Postgres wire, until Ctrl-C; SIGHUP restarts it."""

import asyncio
import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from redask.cli import opening
from redask.cli.opening import reports_errors
from redask.cli.terminal_text import echo

if TYPE_CHECKING:
    from redask.server.serving_choices import Serving
    from redask.server.supervising.process_link import ProcessStart


_PORT = click.IntRange(0, 65535)  # 0 takes any
_TURN_SECONDS = 0.0005  # of Python's own 0.005 the event loop waits one for each busy thread


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=_PORT, default=8080, show_default=True, help="The port of HTTP.")
@click.option("--grpc-port", type=_PORT, default=50051, show_default=True, help="The port of gRPC.")
@click.option(
    "--pg-port", type=_PORT, default=5433, show_default=True, help="The port of PostgreSQL clients."
)
@click.option("--http/--no-http", default=True, help="Whether HTTP (and MCP) is served.")
@click.option("--grpc/--no-grpc", default=None, help="Whether gRPC is; if it is installed.")
@click.option("--pg/--no-pg", default=True, help="Whether PostgreSQL clients are served.")
@click.option("--no-auth", is_flag=True, help="Callers without a token are the local owner.")
@click.option("--certificate", type=click.Path(path_type=Path), help="TLS: the certificate.")
@click.option("--key", type=click.Path(path_type=Path), help="TLS: its key.")
@click.option("--plain-text", is_flag=True, help="Off loopback without TLS: behind a proxy.")
@click.option(
    "--cors-origin",
    "cors_origins",
    multiple=True,
    envvar="REDASK_CORS_ORIGINS",
    help="An origin whose pages may call over HTTP, such as https://app.example; repeat for more.",
)
@click.option("--at-once", default=64, show_default=True, help="Asks that run at a time.")
@click.option("--waiting", default=256, show_default=True, help="Asks that wait at most.")
@click.option(
    "--tenants",
    multiple=True,
    metavar="NAME",
    help="A tenant to serve, if not all; repeat for more. Others' callers are told 503.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    help="Processes that serve, behind the same ports: one a core at most.",
)
@click.pass_obj
def command(db: str, /, **given: Any) -> None:
    """Serve the database over HTTP (with MCP at /mcp), gRPC and PostgreSQL's protocol.

    Callers sign in with a token (`redask token make USER`). With --no-auth, and on a loopback
    address only, whoever comes without one acts as the local owner. With --tenant, only its tokens
    are taken. For PostgreSQL clients the token is the password, and the
    tenant (local, unless there are others) the database.

    SIGHUP finishes what runs and starts the server anew; its ports stay open.

    With --workers several processes serve together; one that ends is replaced.
    """
    with reports_errors():
        from redask.server.serving_choices import Serving, check
        from redask.server.supervising.process_link import place_of

        serving = Serving(
            host=given["host"],
            http_port=given["port"] if given["http"] else None,
            grpc_port=given["grpc_port"] if _wants_grpc(given["grpc"]) else None,
            pg_port=given["pg_port"] if given["pg"] else None,
            anonymous=given["no_auth"],
            certificate=given["certificate"],
            key=given["key"],
            plain_text=given["plain_text"],
            at_once=given["at_once"],
            waiting=given["waiting"],
            cors_origins=given["cors_origins"],
            tenant=click.get_current_context().meta["redask.tenant"],
        )
        check(serving)
        start = place_of()
        if start is not None:
            asyncio.run(_serve_part(db, serving, start, given["tenants"]))
        elif given["workers"] > 1:
            opening.existing(db)
            _begin_anew(asyncio.run(_supervise(serving, given["workers"])))
        else:
            _begin_anew(asyncio.run(_serve(db, serving, given["tenants"])))


def _begin_anew(wanted: bool) -> None:
    if wanted:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


async def _supervise(serving: "Serving", workers: int) -> bool:
    """The parent of several processes. → whether to begin anew"""
    from redask.server.supervising.supervised_serving import supervise
    from redask.server.supervising.supervisor import ProcessFailed

    try:
        again = await supervise(serving, workers, _ready, _say)
    except ProcessFailed as failed:  # which said why
        sys.exit(failed.code)
    _say("restarting" if again else "stopped")
    return again


async def _serve_part(
    location: str, serving: "Serving", start: "ProcessStart", tenants: tuple[str, ...]
) -> None:
    """One of several processes; its parent prints what people read."""
    from redask.server.serving import serve
    from redask.server.supervising.process_link import ProcessLink

    link = await ProcessLink.connect(start)
    stop = asyncio.Event()
    link.on_lost(stop.set)

    def ready(addresses: list[str]) -> None:
        _tune_interpreter()
        link.tell("opened", addresses=addresses)

    async with await opening.served(
        location, serving.tenant, link.place, tenants=tenants
    ) as opened:
        await serve(opened, serving, ready, stop, link=link)
        await link.close()


async def _serve(location: str, serving: "Serving", tenants: tuple[str, ...]) -> bool:
    from redask.server.serving import serve

    async with await opening.served(location, serving.tenant, tenants=tenants) as opened:
        again = await serve(opened, serving, _ready)
    _say("restarting" if again else "stopped")
    return again


def _ready(addresses: list[str]) -> None:
    _tune_interpreter()
    for address in addresses:
        _say(f"serving {address}")


def _tune_interpreter() -> None:
    """What holds for a process that serves many: no long collection, and threads in short turns."""
    gc.collect()
    gc.freeze()  # what is there by now stays: looking through it held all requests up for 0.1 s
    sys.setswitchinterval(_TURN_SECONDS)


def _say(line: str) -> None:
    echo(f"redask: {line}", err=True)


def _wants_grpc(asked: bool | None) -> bool:
    """As requested; by default, if the package is installed."""
    if asked is not None:
        return asked
    from importlib.util import find_spec

    return find_spec("grpc") is not None
