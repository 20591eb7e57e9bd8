"""`redask serve`: one process, several transports, until it is stopped.

    HTTP, with MCP at /mcp    127.0.0.1:8080
    gRPC                      127.0.0.1:50051

Callers sign in by token. On a loopback address `--no-auth` lets unauthenticated clients act as
the local owner; on any other address that is refused before a port is opened. Stopping (Ctrl-C,
SIGTERM) closes the ports, gives running asks `GRACE_SECONDS` to finish, then cancels them: each
writes its audit row either way, and only then the database is closed.
"""

import asyncio
import ipaddress
import os
import signal
import socket
import ssl
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redask.api.asynchronous import AsyncDatabase
from redask.core.errors import Misconfigured
from redask.server.admission import Admission
from redask.server.sessions import Authenticator

GRACE_SECONDS = 10
_CANCEL_SECONDS = 5  # for what was cancelled, to write its audit row
_BACKLOG = 1024


@dataclass(frozen=True, slots=True)
class Serving:
    """What to serve, and where; a port of None closes that transport, 0 takes any."""

    host: str = "127.0.0.1"
    http_port: int | None = 8080
    grpc_port: int | None = None
    pg_port: int | None = None
    anonymous: bool = False
    certificate: Path | None = None
    key: Path | None = None
    at_once: int = 64
    waiting: int = 256
    tenant: str | None = None  # if given, tokens must be for it


def check(serving: Serving) -> None:
    """Refuse what must not be served."""
    if serving.anonymous and not _is_loopback(serving.host):
        raise Misconfigured(
            f"without sign-in redask serves loopback addresses only, and {serving.host} is none"
        )
    if (serving.certificate is None) != (serving.key is None):
        raise Misconfigured("TLS needs both a certificate and a key")
    for path in (serving.certificate, serving.key):
        if path is not None and not path.is_file():
            raise Misconfigured(f"there is no file {path}")


async def serve(
    db: AsyncDatabase,
    serving: Serving,
    ready: Callable[[list[str]], None] | None = None,
    stop: asyncio.Event | None = None,
    admission: Admission | None = None,
) -> None:
    """Serve until `stop` is set or a signal comes; `ready` gets each transport's address."""
    check(serving)
    authenticator = Authenticator(db, anonymous=serving.anonymous, tenant=serving.tenant)
    admission = admission or Admission(serving.at_once, serving.waiting)
    stopping = stop or asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, ValueError, RuntimeError):  # not in the main thread
            asyncio.get_running_loop().add_signal_handler(name, stopping.set)
    async with AsyncExitStack() as transports:
        opened = []
        if serving.http_port is not None:
            opened.append(await _open_http(transports, authenticator, admission, serving))
        if serving.grpc_port is not None:
            opened.append(await _open_grpc(transports, authenticator, admission, serving))
        if serving.pg_port is not None:
            opened.append(await _open_pg(transports, authenticator, admission, serving))
        if ready is not None:
            ready(opened)
        await stopping.wait()
        closing = asyncio.ensure_future(admission.close(GRACE_SECONDS))
    await closing


async def _open_http(
    transports: AsyncExitStack, authenticator: Authenticator, admission: Admission, serving: Serving
) -> str:
    import uvicorn

    from redask.server.http import routes
    from redask.server.http.timeouts import TimeoutProtocol

    listening = _listen(serving.host, serving.http_port or 0)
    config = uvicorn.Config(
        routes.application(authenticator, admission, local_only=serving.anonymous),
        log_level="critical",
        access_log=False,
        lifespan="on",
        ssl_certfile=serving.certificate,
        ssl_keyfile=serving.key,
        timeout_graceful_shutdown=GRACE_SECONDS + _CANCEL_SECONDS,
        backlog=_BACKLOG,
        server_header=False,
        http=TimeoutProtocol,
        ws="none",
    )
    try:
        config.load()
    except OSError as error:  # of which a bad certificate is one
        listening.close()
        raise Misconfigured(f"the certificate and key cannot be used: {error.strerror}") from None
    server = uvicorn.Server(config)
    server.capture_signals = _nothing_captured  # type: ignore[method-assign]  # ours are set
    running = asyncio.ensure_future(server.serve(sockets=[listening]))

    async def close() -> None:
        server.should_exit = True
        await asyncio.wait([running])

    transports.push_async_callback(close)
    while not server.started:
        if running.done():
            raise Misconfigured("the HTTP transport did not open")
        await asyncio.sleep(0.01)
    port = listening.getsockname()[1]
    scheme = "https" if serving.certificate else "http"
    return f"{scheme}://{_shown(serving.host)}:{port}"


def _listen(host: str, port: int) -> socket.socket:
    """A listening socket, or a clear error; uvicorn would exit the process."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = found[0]
        made = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
        # asyncio sets TCP_NODELAY only on sockets that are declared to be TCP
        return socket.socket(made.family, made.type, socket.IPPROTO_TCP, fileno=made.detach())
    except (OSError, OverflowError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Misconfigured(f"port {port} of {host} cannot be opened: {reason}") from None


async def _open_grpc(
    transports: AsyncExitStack, authenticator: Authenticator, admission: Admission, serving: Serving
) -> str:
    os.environ.setdefault(
        "GRPC_VERBOSITY", "NONE"
    )  # or every bad request of an unauthenticated client is logged
    try:
        import grpc

        from redask.server.grpc import service
    except ImportError:
        raise Misconfigured("the gRPC transport needs `pip install redask[grpc]`") from None
    credentials = None
    if serving.certificate and serving.key:
        pair = (serving.key.read_bytes(), serving.certificate.read_bytes())
        credentials = grpc.ssl_server_credentials([pair])
    host, wanted = _shown(serving.host), serving.grpc_port or 0
    try:
        server, port = await service.serve(authenticator, admission, host, wanted, credentials)
    except RuntimeError:
        raise Misconfigured(f"{host}:{wanted} cannot be opened for gRPC") from None
    transports.push_async_callback(server.stop, GRACE_SECONDS + _CANCEL_SECONDS)
    return f"grpc://{host}:{port}"


async def _open_pg(
    transports: AsyncExitStack,
    authenticator: Authenticator,
    admission: Admission,
    serving: Serving,
) -> str:
    from redask.server.pgwire.listener import PostgresListener
    from redask.server.pgwire.protocol.channel_binding import end_point
    from redask.server.pgwire.session.startup import AuthenticatedClient
    from redask.server.pgwire.session.statement_planner import StatementPlanner

    def planner(client: AuthenticatedClient) -> StatementPlanner:
        return StatementPlanner(
            client.session, user=client.user, database=client.database, startup=client.startup
        )

    context = _tls(serving)
    certificate = serving.certificate.read_text() if serving.certificate else ""
    server = PostgresListener(authenticator, admission, planner, context, end_point(certificate))
    listening = _listen(serving.host, serving.pg_port or 0)
    await server.listen(listening)
    transports.push_async_callback(server.close, GRACE_SECONDS + _CANCEL_SECONDS)
    return f"postgresql://{_shown(serving.host)}:{listening.getsockname()[1]}"


def _tls(serving: Serving) -> ssl.SSLContext | None:
    if not serving.certificate:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["postgresql"])
    try:
        context.load_cert_chain(serving.certificate, serving.key)
    except OSError as error:  # of which a bad certificate is one
        raise Misconfigured(f"the certificate and key cannot be used: {error.strerror}") from None
    return context


def _nothing_captured() -> Any:
    from contextlib import nullcontext

    return nullcontext()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
