"""`redask serve`: one process, several transports, until it is stopped.

    HTTP, with MCP at /mcp    127.0.0.1:8080
    gRPC                      127.0.0.1:50051

Callers sign in by token. On a loopback address `--no-auth` lets unauthenticated clients act as
the local owner; on any other address that is refused before a port is opened. Stopping (Ctrl-C,
SIGTERM) closes the ports, gives running asks `GRACE_SECONDS` to finish, then cancels them: each
writes its audit row either way, and only then the database is closed. SIGHUP is the same, and then
the command executes itself anew (`listening_sockets`): with what settings, certificates and program
say by then.
"""

import asyncio
import os
import signal
import ssl
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import Any

from redask.api.asynchronous import AsyncDatabase
from redask.core.access.ask_shares import AskQuota
from redask.core.errors import Misconfigured
from redask.core.serving_limits import ALONE, ServingLimits
from redask.server import connection_limits
from redask.server.admission import Admission
from redask.server.connection_limits import (
    GRPC_SHARE,
    HTTP_SHARE,
    PG_SHARE,
    ConnectionLimits,
    accepted_at_once,
)
from redask.server.http.cross_origin import Origins
from redask.server.readiness import Readiness
from redask.server.serving_choices import Serving, check, shown
from redask.server.sessions import Authenticator
from redask.server.supervising.process_link import ProcessLink
from redask.server.wrong_tokens import WrongTokens

__all__ = ["Serving", "check", "serve"]
GRACE_SECONDS = 10
_CANCEL_SECONDS = 5  # for what was cancelled, to write its audit row


async def serve(
    db: AsyncDatabase,
    serving: Serving,
    ready: Callable[[list[str]], None] | None = None,
    stop: asyncio.Event | None = None,
    admission: Admission | None = None,
    *,
    link: ProcessLink | None = None,
) -> bool:
    """Serve until `stop` is set or a signal comes; `ready` gets each transport's address.

    `link` leads to the other processes of the server, where there are any.
    → whether to begin anew, with the same sockets.
    """
    check(serving)
    limits, place = db.serving_limits, link.place if link else ALONE
    authenticator = Authenticator(
        db,
        anonymous=serving.anonymous,
        tenant=serving.tenant,
        wrong=await _wrong_tokens(limits.wrong_tokens, link),
        public=limits.public,
    )
    admission = admission or Admission(
        *(place.part(serving.at_once), place.part(serving.waiting)),
        quota=quota_of(limits),
        rate=limits.tenant_rate,
    )
    stopping = stop or asyncio.Event()
    restart = asyncio.Event()
    _on_signals(stopping, restart)
    async with AsyncExitStack() as transports:
        ports = Readiness(missing=lambda: link.missing if link else 0)
        closers: list[AsyncExitStack] = []  # of each transport, so that all close at once
        opened = await _open_all(
            *(partial(_closer, transports, closers), authenticator, admission, serving, ports),
            limits=limits,
            link=link,
        )
        ports.opened()
        watching = asyncio.ensure_future(ports.watch(db.unsettled))
        if ready is not None:
            ready(opened)
        await stopping.wait()
        ports.stopping()
        watching.cancel()
        copies = ports.sockets.copy() if restart.is_set() else None
        await _close(closers, admission)
    if copies is not None:
        ports.sockets.hand_over(copies)
    return copies is not None


async def _closer(transports: AsyncExitStack, closers: list[AsyncExitStack]) -> AsyncExitStack:
    """What closes one more transport."""
    closers.append(await transports.enter_async_context(AsyncExitStack()))
    return closers[-1]


async def _close(closers: list[AsyncExitStack], admission: Admission) -> None:
    """Close all transports at once; after a while, cancel what they have not finished.

    What a transport has accepted is admitted still, for nobody else could serve it.
    """
    closed = asyncio.gather(*(each.pop_all().aclose() for each in closers))
    await asyncio.wait([closed], timeout=GRACE_SECONDS)
    await admission.close(0)
    await closed


async def _open_all(
    closer: Callable[[], Awaitable[AsyncExitStack]],
    authenticator: Authenticator,
    admission: Admission,
    serving: Serving,
    ports: Readiness,
    *,
    limits: ServingLimits,
    link: ProcessLink | None,
) -> list[str]:
    """Open what is to be served. → the addresses"""
    given = (authenticator, admission, serving)
    opened = []
    if serving.http_port is not None:
        made = _limits(HTTP_SHARE, limits)
        opened.append(await _open_http(await closer(), *given, ports, limits=made, link=link))
    if serving.grpc_port is not None:
        most = _limits(GRPC_SHARE, limits).total
        opened.append(await _open_grpc(await closer(), *given, connections=most, link=link))
    if serving.pg_port is not None:
        made = _limits(PG_SHARE, limits)
        opened.append(await _open_pg(await closer(), *given, ports, limits=made, link=link))
    return opened


async def _wrong_tokens(free: int, link: ProcessLink | None) -> WrongTokens:
    """What is remembered of wrong tokens, by all processes of the server together."""
    if link is None:
        return WrongTokens(free)
    made = WrongTokens(
        free,
        told=lambda word, of, name: link.tell("wrong_token", word=word, of=of, name=name),
    )
    link.on("wrong_token", made.hear)
    begun = await link.ask("begin")
    made.key, link.missing = bytes.fromhex(begun["key"]), begun["missing"]
    made.restore(begun["wrong"])
    return made


def _on_signals(stopping: asyncio.Event, restart: asyncio.Event) -> None:
    """SIGINT and SIGTERM stop, SIGHUP stops and begins anew."""

    def begin_anew() -> None:
        if not stopping.is_set():
            restart.set()
            stopping.set()

    handlers = {"SIGINT": stopping.set, "SIGTERM": stopping.set, "SIGHUP": begin_anew}
    for name, handler in handlers.items():
        with suppress(NotImplementedError, ValueError, RuntimeError, AttributeError):
            # not in the main thread, or not on this platform
            asyncio.get_running_loop().add_signal_handler(getattr(signal, name), handler)


def quota_of(limits: ServingLimits) -> AskQuota:
    """What users and tenants may have of the asks."""
    return AskQuota(
        limits.user_running, limits.user_waiting, limits.tenant_running, limits.tenant_waiting
    )


def _limits(share: int, limits: ServingLimits) -> ConnectionLimits:
    return connection_limits.limits_for(share, limits, connection_limits.descriptor_limit)


async def _open_http(
    transports: AsyncExitStack,
    authenticator: Authenticator,
    admission: Admission,
    serving: Serving,
    ports: Readiness,
    *,
    limits: ConnectionLimits,
    link: ProcessLink | None,
) -> str:
    import uvicorn

    from redask.server.http import routes
    from redask.server.http.timeouts import TimeoutProtocol

    listening = ports.sockets.open("http", serving.host, serving.http_port or 0)
    config = uvicorn.Config(
        routes.application(
            authenticator,
            admission,
            local_only=serving.anonymous,
            origins=Origins(serving.cors_origins),
            health=ports.status,
            reasons=ports.reasons,
            entry=serving.entry,
            link=link,
        ),
        log_level="critical",
        access_log=False,
        lifespan="on",
        ssl_certfile=serving.certificate,
        ssl_keyfile=serving.key,
        timeout_graceful_shutdown=GRACE_SECONDS + _CANCEL_SECONDS,
        backlog=accepted_at_once(link.place if link else ALONE),
        server_header=False,
        http=type("_Connection", (TimeoutProtocol,), {"limits": limits}),
        proxy_headers=False,  # or a client could say that it is at another address
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
    connection_limits.queue(listening)
    scheme = "https" if serving.certificate else "http"
    return f"{scheme}://{shown(serving.host)}:{listening.getsockname()[1]}"


async def _open_grpc(
    transports: AsyncExitStack,
    authenticator: Authenticator,
    admission: Admission,
    serving: Serving,
    *,
    connections: int,
    link: ProcessLink | None,
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
    host, wanted = shown(serving.host), serving.grpc_port or 0
    if link is not None:
        wanted = link.grpc_port or wanted
    try:
        server, port = await service.serve(
            *(authenticator, admission, host, wanted, credentials),
            connections=connections,
            shares_port=link is not None,
        )
    except RuntimeError:
        raise Misconfigured(f"{host}:{wanted} cannot be opened for gRPC") from None
    transports.push_async_callback(server.stop, GRACE_SECONDS + _CANCEL_SECONDS)
    return f"grpc://{host}:{port}"


async def _open_pg(
    transports: AsyncExitStack,
    authenticator: Authenticator,
    admission: Admission,
    serving: Serving,
    ports: Readiness,
    *,
    limits: ConnectionLimits,
    link: ProcessLink | None,
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
    server = PostgresListener(
        *(authenticator, admission, planner, context, end_point(certificate)),
        limits=limits,
        link=link,
    )
    listening = ports.sockets.open("pg", serving.host, serving.pg_port or 0)
    await server.listen(listening)
    transports.push_async_callback(server.close, GRACE_SECONDS + _CANCEL_SECONDS)
    return f"postgresql://{shown(serving.host)}:{listening.getsockname()[1]}"


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
