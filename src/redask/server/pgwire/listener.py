"""The Postgres wire transport: `PostgresListener`, one connection for each client.

    limit                                     beyond it
    `limits`: connections of all, of one      the one that has been in start-up for longest is
    address, and of those in start-up         closed; if none is, FATAL 53300 for the new one,
                                              but a few cancel requests are taken
    `startup.SECONDS` for start-up            closed without a response

Cancel requests are accepted from unauthenticated clients, also without TLS, and get no response:
the secret key, compared in constant time, decides. No client gets a stack trace: a bug is XX000
and goes to the log. `close` accepts no connection any more, ends idle ones (57P01), lets running
statements end, and after so many seconds cancels the rest.
"""

import asyncio
import logging
import secrets
import socket
import ssl
from collections.abc import Callable

from redask.core.errors import AskError
from redask.core.serving_limits import ALONE
from redask.server.admission import Admission
from redask.server.connection_limits import (
    ConnectionEntry,
    ConnectionLimits,
    accepted_at_once,
    queue,
)
from redask.server.pgwire.own_sessions.open_sessions import OpenSessions, OwnSessions
from redask.server.pgwire.own_sessions.sessions_elsewhere import SessionsElsewhere, session_numbers
from redask.server.pgwire.protocol import backend_messages
from redask.server.pgwire.protocol.client_connection import (
    ClientConnection,
    ClientStalled,
    Stopping,
    Terminated,
)
from redask.server.pgwire.protocol.frontend_messages import CancelRequest, ProtocolViolation
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError
from redask.server.pgwire.session import startup
from redask.server.pgwire.session.error_responses import error_response
from redask.server.pgwire.session.message_loop import MessageLoop
from redask.server.pgwire.session.planned_statement import Planner
from redask.server.pgwire.session.startup import AuthenticatedClient, ConnectionRejected
from redask.server.sessions import Authenticator
from redask.server.supervising.process_link import ProcessLink

_KEY_BYTES = 4  # as protocol 3.0 has it
# the parameters that PostgreSQL reports at start-up, and drivers count on
_REPORTED = (
    *("server_version", "server_encoding", "client_encoding", "application_name"),
    *("DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes"),
    *("standard_conforming_strings", "is_superuser", "in_hot_standby"),
    "default_transaction_read_only",
)
_NO_ROOM = "there are too many connections: try again later"
_TERMINATED = "terminating connection due to administrator command"  # PostgreSQL's words
_log = logging.getLogger("redask.pgwire")

MakePlanner = Callable[[AuthenticatedClient], Planner]


class PostgresListener:
    """The transport; `listen` opens it."""

    def __init__(
        self,
        authenticator: Authenticator,
        admission: Admission,
        make_planner: MakePlanner,
        context: ssl.SSLContext | None = None,
        end_point: bytes | None = None,
        *,
        limits: ConnectionLimits | None = None,
        link: ProcessLink | None = None,
    ) -> None:
        """`end_point` is what a sign-in over TLS can be bound to: see `channel_binding`.

        `link` leads to the other processes of the server, where there are any.
        """
        self._end_point = end_point
        self._limits = limits or ConnectionLimits()
        self._authenticator = authenticator
        self._admission = admission
        self._make_planner = make_planner
        self._context = context
        self._connections: set[ClientConnection] = set()
        self._sessions = OpenSessions()
        self._elsewhere = SessionsElsewhere(link, self._sessions) if link else None
        self._process_ids = session_numbers(link.place if link else ALONE)
        self._at_once = accepted_at_once(link.place if link else ALONE)
        self._server: asyncio.Server | None = None

    async def listen(self, listening: socket.socket) -> None:
        """Accept connections."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: ClientConnection(self._serve), sock=listening, backlog=self._at_once
        )
        queue(listening)

    async def close(self, seconds: float) -> None:
        """Accept no connection any more, and end those there are."""
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.stop()
        tasks = {connection.task for connection in self._connections}
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        for connection in set(self._connections):
            connection.task.cancel()
        while self._connections:
            await asyncio.wait({connection.task for connection in self._connections})

    async def _serve(self, connection: ClientConnection) -> None:
        """One connection, from start-up to its end; nothing is raised."""
        self._connections.add(connection)
        try:
            entry = self._limits.enter(connection)
            if entry is ConnectionEntry.NO_ROOM:
                raise ConnectionRejected("53300", _NO_ROOM)
            client = await self._start_up(connection)
            if client is not None and entry is not ConnectionEntry.OPEN:
                raise ConnectionRejected("53300", _NO_ROOM)
            if client is not None:
                await self._run_session(connection, client)
        except ConnectionRejected as refusal:
            connection.send(refusal.response)
        except Stopping:
            connection.send(
                backend_messages.error_response("57P01", "the server is stopping", fatal=True)
            )
        except Terminated:
            connection.send(backend_messages.error_response("57P01", _TERMINATED, fatal=True))
        except (AskError, SqlStateError) as error:
            connection.send(error_response(error, fatal=True))
        except (ClientStalled, OSError, asyncio.CancelledError):  # disconnected, or out of time
            pass
        except Exception as error:
            _log.error("a connection ended: %s", type(error).__name__)
            connection.send(backend_messages.error_response("XX000", "internal error", fatal=True))
        finally:
            self._connections.discard(connection)
            self._limits.leave(connection)
            connection.close()

    async def _start_up(self, connection: ClientConnection) -> AuthenticatedClient | None:
        """The client; None when there is no session to run."""
        try:
            async with asyncio.timeout(startup.SECONDS):
                found = await startup.start_session(
                    connection, self._authenticator, self._context, self._end_point
                )
        except ProtocolViolation:
            return None
        if isinstance(found, CancelRequest):
            if self._elsewhere is not None and not self._sessions.has(found.process):
                self._elsewhere.cancel(found.process, found.key)
            self._sessions.cancel(found.process, found.key)
            return None
        return found

    async def _run_session(self, connection: ClientConnection, client: AuthenticatedClient) -> None:
        connection.authenticated()
        process, key = next(self._process_ids), secrets.token_bytes(_KEY_BYTES)
        planner = self._make_planner(client)
        for name in _REPORTED:
            connection.send(backend_messages.parameter_status(name, planner.parameter(name) or ""))
        connection.send(backend_messages.parameter_status("session_authorization", client.user))
        connection.send(backend_messages.backend_key_data(process, key))
        owner = client.session.claim
        planner.state.own = OwnSessions(process, owner, self._sessions, self._elsewhere)
        message_loop = MessageLoop(connection, planner, self._admission.of(owner))
        self._sessions.open(process, key, owner, message_loop)
        try:
            await message_loop.run()
        except ProtocolViolation as error:
            connection.send(backend_messages.error_response("08P01", str(error), fatal=True))
        finally:
            self._sessions.close(process)
