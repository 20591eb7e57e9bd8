"""Start-up of a connection: TLS or not, the protocol version, authentication.

    password        a token of the user          `redask token make mia`
    user            the user's name              mia
    database        the tenant                   local, unless there are others

`start_session` returns the authenticated client, or the cancel request that came instead; all in
`SECONDS`. A token is proven by SCRAM-SHA-256 and never sent. Whatever is wrong with name, database
or token (unknown, truncated, expired, revoked, without keys because it is older than this
transport), the work is the same and so is the response: 28P01 with one text; after several of them
an address waits (53300). Where unauthenticated
clients may act as the local owner (`--no-auth`), no password is requested.

With a certificate, TLS is required, as at the other transports; a client asks for it or, with ALPN
`postgresql`, begins it directly. Then the sign-in may be bound to the certificate (see `scram`).
Where there is one tenant only, whoever proved a token is told that another does not exist (3D000):
nothing that a client sees before depends on the database it named. A newer protocol 3.x is
negotiated down to 3.0. What is not the protocol gets no response.
"""

import asyncio
import secrets
import ssl
from dataclasses import dataclass

from redask.api.asynchronous import AsyncDatabase
from redask.core.errors import Unauthenticated
from redask.server.pgwire.protocol import backend_messages, frontend_messages, scram
from redask.server.pgwire.protocol.client_connection import ClientConnection
from redask.server.pgwire.protocol.frontend_messages import (
    CancelRequest,
    GssEncRequest,
    Malformed,
    PasswordMessage,
    ProtocolViolation,
    SslRequest,
    StartupMessage,
)
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.sessions import Authenticator

SECONDS = 30.0
LOOKUP_SECONDS = 0.005  # a look-up of verifiers takes this long, whether a user exists or not
REFUSED = "the password is not a valid token of this user"
REFUSED_HINT = "The password is a token (redask token make USER), the database is the tenant."
_NONCE_BYTES = 18
_OPTION = "_pq_."  # protocol options, as against run-time parameters


class ConnectionRejected(Exception):
    """A fatal error of start-up."""

    def __init__(self, sqlstate: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.response = backend_messages.error_response(sqlstate, message, fatal=True, hint=hint)


@dataclass(frozen=True, slots=True)
class AuthenticatedClient:
    """A client after start-up."""

    session: AsyncDatabase
    user: str
    database: str
    startup: dict[str, str]


async def start_session(
    connection: ClientConnection,
    authenticator: Authenticator,
    context: ssl.SSLContext | None,
    end_point: bytes | None = None,
) -> AuthenticatedClient | CancelRequest:
    """The client, or its cancel request. Raises `ConnectionRejected`, `ProtocolViolation`."""
    requested: set[type] = set()
    if await connection.next(connection.reader.first_byte) == frontend_messages.TLS_HANDSHAKE:
        if context is None:
            raise ProtocolViolation("TLS, for which there is no certificate")
        await connection.start_tls_directly(context, SECONDS)
    while True:
        packet = await connection.next(connection.reader.startup_packet)
        if isinstance(packet, CancelRequest):
            return packet
        if isinstance(packet, StartupMessage):
            _check_secure(connection, context, packet)
            return await _start(connection, authenticator, packet, end_point)
        if type(packet) in requested:
            raise ProtocolViolation("the same request twice")
        requested.add(type(packet))
        if isinstance(packet, SslRequest) and context is not None:
            await connection.start_tls(context, SECONDS)
        else:
            assert isinstance(packet, SslRequest | GssEncRequest)
            connection.send(backend_messages.SSL_REFUSED)
            await connection.flush()


def _check_secure(
    connection: ClientConnection, context: ssl.SSLContext | None, start: StartupMessage
) -> None:
    is_named = start.major == 3 and start.parameters.get("user")
    if is_named and context is not None and not connection.is_secure:
        raise ConnectionRejected("28000", "here one signs in over TLS only: sslmode=require")


async def _start(
    connection: ClientConnection,
    authenticator: Authenticator,
    start: StartupMessage,
    end_point: bytes | None,
) -> AuthenticatedClient:
    if start.major != 3:
        raise ConnectionRejected(
            "0A000",
            f"unsupported frontend protocol {start.major}.{start.minor}: the server supports 3.0",
        )
    given = dict(start.parameters)
    unknown = sorted(name for name in given if name.startswith(_OPTION))
    if start.minor or unknown:
        connection.send(backend_messages.negotiate_protocol_version(unknown))
    user = given.get("user", "")
    if not user:
        raise ConnectionRejected("28000", "the client did not say who it is: name a user")
    if given.get("replication", "false").lower() not in ("false", "off", "no", "0"):
        raise ConnectionRejected("0A000", "there is nothing to replicate here")
    database = given.get("database") or user
    try:
        session = await authenticator.sign_in(None)
    except Unauthenticated:
        offered = end_point if connection.is_secure else None
        session = await _authenticate(connection, authenticator, (user, database), offered)
    only = await authenticator.only_tenant()
    if only is not None and database != only:
        raise ConnectionRejected(
            "3D000", f'database "{database[:100]}" does not exist', f"The database is here: {only}"
        )
    connection.send(backend_messages.AUTHENTICATION_OK)
    return AuthenticatedClient(session, user, database, given)


async def _authenticate(
    connection: ClientConnection,
    authenticator: Authenticator,
    named: tuple[str, str],
    end_point: bytes | None,
) -> AsyncDatabase:
    """SCRAM-SHA-256: the client proves its token, and the server that it knows it."""
    user, tenant = named
    loop = asyncio.get_running_loop()
    due = loop.time() + LOOKUP_SECONDS
    tenant = await authenticator.only_tenant() or tenant
    verifiers = await authenticator.verifiers(user, tenant, connection.address)
    await asyncio.sleep(due - loop.time())
    offered = (scram.MECHANISM,) if end_point is None else (scram.BOUND, scram.MECHANISM)
    connection.send(backend_messages.authentication_sasl(*offered))
    try:
        mechanism, response = frontend_messages.sasl_initial(await _password(connection))
        if mechanism not in offered:
            raise ConnectionRejected(
                frontend_messages.VIOLATION,
                f"the supported SASL mechanisms are {', '.join(offered)}",
            )
        nonce = secrets.token_urlsafe(_NONCE_BYTES)
        exchange = scram.Exchange(verifiers, nonce, end_point, mechanism)
        connection.send(backend_messages.authentication_sasl_continue(exchange.first(response)))
        proven = exchange.final(await _password(connection))
    except SqlStateError as fault:
        raise ConnectionRejected(fault.sqlstate, fault.message) from None
    try:
        if proven is None:
            await authenticator.refused(user)
            raise Unauthenticated(REFUSED)
        session = await authenticator.sign_in_proven(proven.token)
    except Unauthenticated:
        authenticator.not_proven(user, tenant, connection.address)
        raise ConnectionRejected("28P01", REFUSED, REFUSED_HINT) from None
    authenticator.proven(user, tenant, connection.address)
    connection.send(backend_messages.authentication_sasl_final(proven.reply))
    return session


async def _password(connection: ClientConnection) -> bytes:
    await connection.flush()
    message = await connection.next(lambda: connection.reader.message(authenticating=True))
    if isinstance(message, PasswordMessage):
        return message.body
    if isinstance(message, Malformed):
        raise message.fault
    raise ProtocolViolation("something else than a password")
