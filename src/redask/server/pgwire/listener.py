"""The Postgres wire transport: `PostgresListener`, one connection for each client.

    bound                       beyond it
    `MAX_UNAUTHENTICATED` signing in  closed without a word
    `MAX_CONNECTIONS` signed in      FATAL 53300
    `start_session.SECONDS`           closed without a word, unless signed in

Requests to cancel are taken from everybody, in the clear too, and answered by nothing: the key,
compared in constant time, says whether they count. No error leaves as a stack trace: a bug is
XX000 and goes to the log. `close` lets nobody in any more, sends idle clients away (57P01), lets
running statements end, and after so many seconds cuts what is left.
"""

import asyncio
import hmac
import itertools
import logging
import secrets
import socket
import ssl
from collections.abc import Callable

from redask.core.errors import AskError
from redask.server.admission import Admission
from redask.server.pgwire.protocol import backend_messages
from redask.server.pgwire.protocol.client_connection import (
    ClientConnection,
    ClientStalled,
    Stopping,
)
from redask.server.pgwire.protocol.frontend_messages import CancelRequest, ProtocolViolation
from redask.server.pgwire.session import startup
from redask.server.pgwire.session.message_loop import MessageLoop, told
from redask.server.pgwire.session.planned import StatementSource
from redask.server.pgwire.session.startup import AuthenticatedClient, ConnectionRejected
from redask.server.sessions import Authenticator

MAX_UNAUTHENTICATED = 512
MAX_CONNECTIONS = 1000
_KEY_BYTES = 4  # as protocol 3.0 has it
# what PostgreSQL tells its clients, and drivers count on
_TOLD = (
    *("server_version", "server_encoding", "client_encoding", "application_name"),
    *("DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes"),
    *("standard_conforming_strings", "is_superuser", "in_hot_standby"),
    "default_transaction_read_only",
)
_log = logging.getLogger("redask.pgwire")

Converse = Callable[[AuthenticatedClient], StatementSource]


class PostgresListener:
    """The transport; `listen` opens it."""

    def __init__(
        self,
        authenticator: Authenticator,
        admission: Admission,
        converse: Converse,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._desk = authenticator
        self._gate = admission
        self._converse = converse
        self._context = context
        self._numbers = itertools.count(1)
        self._lines: set[ClientConnection] = set()
        self._strangers = 0
        self._guests: dict[int, tuple[bytes, MessageLoop]] = {}
        self._server: asyncio.Server | None = None

    async def listen(self, listening: socket.socket) -> None:
        """Let clients in."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: ClientConnection(self._serve), sock=listening
        )

    async def close(self, seconds: float) -> None:
        """Let nobody in any more, and see everybody out."""
        if self._server is not None:
            self._server.close()
        for line in self._lines:
            line.stop()
        tasks = {line.task for line in self._lines}
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        for line in set(self._lines):
            line.task.cancel()
        while self._lines:
            await asyncio.wait({line.task for line in self._lines})

    async def _serve(self, line: ClientConnection) -> None:
        """One connection from its first byte to its last; nothing is raised."""
        self._lines.add(line)
        try:
            client = await self._welcome(line)
            if client is not None:
                await self._host(line, client)
        except ConnectionRejected as refusal:
            line.say(refusal.said)
        except Stopping:
            line.say(backend_messages.trouble("57P01", "the server is stopping", fatal=True))
        except AskError as error:
            line.say(told(error, fatal=True))
        except (ClientStalled, OSError, asyncio.CancelledError):  # left, or out of time
            pass
        except Exception as error:
            _log.error("a connection ended: %s", type(error).__name__)
            line.say(backend_messages.trouble("XX000", "internal error", fatal=True))
        finally:
            self._lines.discard(line)
            line.hang_up()

    async def _welcome(self, line: ClientConnection) -> AuthenticatedClient | None:
        """Who it is; None when there is no more to do."""
        if self._strangers >= MAX_UNAUTHENTICATED:
            return None
        self._strangers += 1
        try:
            async with asyncio.timeout(startup.SECONDS):
                found = await startup.start_session(line, self._desk, self._context)
        except ProtocolViolation:
            return None
        finally:
            self._strangers -= 1
        if isinstance(found, CancelRequest):
            self._cancel(found)
            return None
        return found

    async def _host(self, line: ClientConnection, client: AuthenticatedClient) -> None:
        if len(self._guests) >= MAX_CONNECTIONS:
            raise ConnectionRejected(
                "53300", f"{MAX_CONNECTIONS} clients are connected: try again later"
            )
        line.open_wide()
        number, key = next(self._numbers) & 0x7FFFFFFF, secrets.token_bytes(_KEY_BYTES)
        dispatcher = self._converse(client)
        for name in _TOLD:
            line.say(backend_messages.parameter(name, dispatcher.setting(name) or ""))
        line.say(backend_messages.parameter("session_authorization", client.user))
        line.say(backend_messages.key_data(number, key))
        message_loop = MessageLoop(line, dispatcher, self._gate)
        self._guests[number] = (key, message_loop)
        try:
            await message_loop.talk()
        except ProtocolViolation as error:
            line.say(backend_messages.trouble("08P01", str(error), fatal=True))
        finally:
            del self._guests[number]

    def _cancel(self, request: CancelRequest) -> None:
        key, message_loop = self._guests.get(request.process, (b"", None))
        if hmac.compare_digest(key, request.key) and message_loop is not None:
            message_loop.cancel()
