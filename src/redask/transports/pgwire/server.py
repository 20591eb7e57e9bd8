"""The Postgres wire door: `WireServer(desk, gate, context)`, one line for each client.

    bound                       beyond it
    `MAX_STRANGERS` signing in  closed without a word
    `MAX_GUESTS` signed in      FATAL 53300
    `welcome.SECONDS`           closed without a word, unless signed in

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

from redask.errors import AskError
from redask.transports.desk import Gate, PasswordDesk
from redask.transports.pgwire import spoken, welcome
from redask.transports.pgwire.codec import CancelRequest, LostTrack
from redask.transports.pgwire.dialogue import Dialogue, told
from redask.transports.pgwire.line import Stalled, Stopping, WireLine
from redask.transports.pgwire.planned import ConversationPort
from redask.transports.pgwire.welcome import Guest, Rejected

MAX_STRANGERS = 512
MAX_GUESTS = 1000
_KEY_BYTES = 4  # as protocol 3.0 has it
# what PostgreSQL tells its clients, and drivers count on
_TOLD = (
    *("server_version", "server_encoding", "client_encoding", "application_name"),
    *("DateStyle", "IntervalStyle", "TimeZone", "integer_datetimes"),
    *("standard_conforming_strings", "is_superuser", "in_hot_standby"),
    "default_transaction_read_only",
)
_log = logging.getLogger("redask.pgwire")

Converse = Callable[[Guest], ConversationPort]


class WireServer:
    """The door; `listen` opens it."""

    def __init__(
        self,
        desk: PasswordDesk,
        gate: Gate,
        converse: Converse,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._desk = desk
        self._gate = gate
        self._converse = converse
        self._context = context
        self._numbers = itertools.count(1)
        self._lines: set[WireLine] = set()
        self._strangers = 0
        self._guests: dict[int, tuple[bytes, Dialogue]] = {}
        self._server: asyncio.Server | None = None

    async def listen(self, listening: socket.socket) -> None:
        """Let clients in."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: WireLine(self._serve), sock=listening)

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

    async def _serve(self, line: WireLine) -> None:
        """One connection from its first byte to its last; nothing is raised."""
        self._lines.add(line)
        try:
            guest = await self._welcome(line)
            if guest is not None:
                await self._host(line, guest)
        except Rejected as refusal:
            line.say(refusal.said)
        except Stopping:
            line.say(spoken.trouble("57P01", "the server is stopping", fatal=True))
        except AskError as error:
            line.say(told(error, fatal=True))
        except (Stalled, OSError, asyncio.CancelledError):  # left, or out of time
            pass
        except Exception as error:
            _log.error("a connection ended: %s", type(error).__name__)
            line.say(spoken.trouble("XX000", "internal error", fatal=True))
        finally:
            self._lines.discard(line)
            line.hang_up()

    async def _welcome(self, line: WireLine) -> Guest | None:
        """Who it is; None when there is no more to do."""
        if self._strangers >= MAX_STRANGERS:
            return None
        self._strangers += 1
        try:
            async with asyncio.timeout(welcome.SECONDS):
                found = await welcome.welcome(line, self._desk, self._context)
        except LostTrack:
            return None
        finally:
            self._strangers -= 1
        if isinstance(found, CancelRequest):
            self._cancel(found)
            return None
        return found

    async def _host(self, line: WireLine, guest: Guest) -> None:
        if len(self._guests) >= MAX_GUESTS:
            raise Rejected("53300", f"{MAX_GUESTS} clients are connected: try again later")
        line.open_wide()
        number, key = next(self._numbers) & 0x7FFFFFFF, secrets.token_bytes(_KEY_BYTES)
        conversation = self._converse(guest)
        for name in _TOLD:
            line.say(spoken.parameter(name, conversation.setting(name) or ""))
        line.say(spoken.parameter("session_authorization", guest.user))
        line.say(spoken.key_data(number, key))
        dialogue = Dialogue(line, conversation, self._gate)
        self._guests[number] = (key, dialogue)
        try:
            await dialogue.talk()
        except LostTrack as error:
            line.say(spoken.trouble("08P01", str(error), fatal=True))
        finally:
            del self._guests[number]

    def _cancel(self, request: CancelRequest) -> None:
        key, dialogue = self._guests.get(request.process, (b"", None))
        if hmac.compare_digest(key, request.key) and dialogue is not None:
            dialogue.cancel()
