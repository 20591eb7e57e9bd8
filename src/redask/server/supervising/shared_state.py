"""What the processes of a server share, kept by their parent: `SharedState`.

    sessions of browsers    here alone: whoever signs in, or out, does so at all processes at once
    wrong tokens            each process counts, and hears what the others count; one that begins
                            later begins with all of it
    messages                from one process to another, and to all

What it keeps is in memory, and goes with the parent, as that of a server in one process does.
"""

from collections.abc import Callable
from typing import Any

from redask.core.access.ask_shares import AskClaim
from redask.core.errors import StoreFailed
from redask.server.session_table import SessionTable
from redask.server.supervising.message_channel import Handler, MessageChannel
from redask.server.wrong_tokens import WrongTokens


class SharedState:
    """`ended` waits until all processes but one have ended."""

    def __init__(self, ended: Callable[[int], Any]) -> None:
        self._ended = ended
        self._channels: dict[int, MessageChannel] = {}
        self._sessions: SessionTable[list[Any]] = SessionTable()
        self._wrong = WrongTokens()
        self._missing = 0

    def channel(self, number: int, opened: Callable[[list[str]], None]) -> MessageChannel:
        """The parent's end for a process; `opened` is given its addresses."""
        handlers: dict[str, Handler] = {
            "begin": self._begin,
            "opened": opened,
            "others_ended": lambda: self._ended(number),
            "session_put": self._put,
            "session_get": self._sessions.get,
            "session_drop": self._sessions.drop,
            "wrong_token": lambda **said: self._wrong_token(number, **said),
            "relay": self._relay,
            "relay_told": lambda **said: self._relay_told(number, **said),
        }
        made = self._channels[number] = MessageChannel(handlers)
        return made

    def gone(self, number: int) -> None:
        """A process has ended."""
        found = self._channels.pop(number, None)
        if found is not None:
            found.close()

    def tell_missing(self, count: int) -> None:
        """Tell all processes how many of them are not open."""
        self._missing = count
        for each in self._channels.values():
            each.tell("missing", count=count)

    def _begin(self) -> dict[str, Any]:
        return {
            "key": self._wrong.key.hex(),
            "missing": self._missing,
            "wrong": self._wrong.kept(),
        }

    def _put(self, key: str, tenant: str, user: str, what: list[Any]) -> None:
        self._sessions.put(key, AskClaim(tenant, user), what)

    def _wrong_token(self, number: int, word: str, of: str, name: str) -> None:
        self._wrong.hear(word, of, name)
        self._tell_others(number, "wrong_token", {"word": word, "of": of, "name": name})

    async def _relay(self, to: int, name: str, body: dict[str, Any]) -> Any:
        found = self._channels.get(to)
        if found is None:
            raise StoreFailed(f"process {to} is not there")
        return await found.ask(name, **body)

    def _relay_told(self, number: int, to: int | None, name: str, body: dict[str, Any]) -> None:
        if to is None:
            self._tell_others(number, name, body)
        elif to in self._channels:
            self._channels[to].tell(name, **body)

    def _tell_others(self, number: int, name: str, body: dict[str, Any]) -> None:
        for other, channel in self._channels.items():
            if other != number:
                channel.tell(name, **body)
