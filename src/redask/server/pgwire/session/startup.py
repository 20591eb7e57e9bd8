"""The beginning of a connection: TLS or not, which protocol, and who it is.

    password        a token of the user          `redask token make mia`
    user            the user's name              mia
    database        the tenant                   local, unless there are others

`start_session` gives the session, or the request to cancel that came instead; all in `SECONDS`. A
token is proven by SCRAM-SHA-256 and never sent. Whatever is wrong with name, database or token
(unknown, cut, expired, revoked, without keys because it is older than this transport), the work is
the same and so is the answer: 28P01 with one text. Where unauthenticated clients may act as the
local owner (`--no-auth`), nobody is asked for anything.

With a certificate, nobody signs in without TLS, as at the other transports. Clients who offer a
newer protocol 3.x are told that 3.0 is spoken. What is no protocol at all gets no answer.
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
    GssRequest,
    Malformed,
    ProtocolViolation,
    Secret,
    SslRequest,
    StartUp,
)
from redask.server.pgwire.session.planned import WireFault
from redask.server.sessions import Authenticator

SECONDS = 30.0
PACE_SECONDS = 0.005  # looking somebody up takes this long, so that nobody sees who was found
REFUSED = "the password is not a valid token of this user"
REFUSED_HINT = "The password is a token (redask token make USER), the database is the tenant."
_NONCE_BYTES = 18
_OPTION = "_pq_."  # names of options of the protocol itself


class ConnectionRejected(Exception):
    """Not let in, and told so."""

    def __init__(self, sqlstate: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.said = backend_messages.trouble(sqlstate, message, fatal=True, hint=hint)


@dataclass(frozen=True, slots=True)
class AuthenticatedClient:
    """Somebody who came in."""

    session: AsyncDatabase
    user: str
    database: str
    startup: dict[str, str]


async def start_session(
    line: ClientConnection, authenticator: Authenticator, context: ssl.SSLContext | None
) -> AuthenticatedClient | CancelRequest:
    """Who it is, or what came instead. Raises `ConnectionRejected` and `ProtocolViolation`."""
    asked: set[type] = set()
    while True:
        opening = await line.next(line.reader.opening)
        if isinstance(opening, CancelRequest):
            return opening
        if isinstance(opening, StartUp):
            return await _start(line, authenticator, context, opening)
        if type(opening) in asked:
            raise ProtocolViolation("the same request twice")
        asked.add(type(opening))
        if isinstance(opening, SslRequest) and context is not None:
            await line.secure(context, SECONDS)
        else:
            assert isinstance(opening, SslRequest | GssRequest)
            line.say(backend_messages.SSL_NO)
            await line.flush()


async def _start(
    line: ClientConnection,
    authenticator: Authenticator,
    context: ssl.SSLContext | None,
    start: StartUp,
) -> AuthenticatedClient:
    if start.major != 3:
        raise ConnectionRejected(
            "0A000", f"protocol {start.major}.{start.minor} is not spoken here, 3.0 is"
        )
    given = dict(start.parameters)
    unknown = sorted(name for name in given if name.startswith(_OPTION))
    if start.minor or unknown:
        line.say(backend_messages.negotiate(unknown))
    user = given.get("user", "")
    if not user:
        raise ConnectionRejected("28000", "the client did not say who it is: name a user")
    if context is not None and not line.is_secure:
        raise ConnectionRejected("28000", "here one signs in over TLS only: sslmode=require")
    if given.get("replication", "false").lower() not in ("false", "off", "no", "0"):
        raise ConnectionRejected("0A000", "there is nothing to replicate here")
    database = given.get("database") or user
    try:
        session = await authenticator.sign_in(None)
    except Unauthenticated:
        session = await _prove(line, authenticator, user, database)
    line.say(backend_messages.SIGNED_IN)
    return AuthenticatedClient(session, user, database, given)


async def _prove(
    line: ClientConnection, authenticator: Authenticator, user: str, tenant: str
) -> AsyncDatabase:
    """SCRAM, both ways."""
    loop = asyncio.get_running_loop()
    due = loop.time() + PACE_SECONDS
    verifiers = await authenticator.verifiers(user, tenant)
    await asyncio.sleep(due - loop.time())
    exchange = scram.Exchange(verifiers, secrets.token_urlsafe(_NONCE_BYTES))
    line.say(backend_messages.offer(scram.MECHANISM))
    try:
        mechanism, words = frontend_messages.sasl_initial(await _secret(line))
        if mechanism != scram.MECHANISM:
            raise ConnectionRejected(
                frontend_messages.VIOLATION, f"only {scram.MECHANISM} is spoken here"
            )
        line.say(backend_messages.challenge(exchange.first(words)))
        proven = exchange.final(await _secret(line))
    except WireFault as fault:
        raise ConnectionRejected(fault.sqlstate, fault.message) from None
    try:
        if proven is None:
            raise Unauthenticated(REFUSED)
        session = await authenticator.sign_in_proven(proven.token)
    except Unauthenticated:
        raise ConnectionRejected("28P01", REFUSED, REFUSED_HINT) from None
    line.say(backend_messages.proof(proven.reply))
    return session


async def _secret(line: ClientConnection) -> bytes:
    await line.flush()
    message = await line.next(lambda: line.reader.message(signing_in=True))
    if isinstance(message, Secret):
        return message.body
    if isinstance(message, Malformed):
        raise message.fault
    raise ProtocolViolation("something else than a password")
