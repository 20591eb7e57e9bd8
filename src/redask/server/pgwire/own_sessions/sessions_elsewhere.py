"""Sessions that other processes of this server have: `SessionsElsewhere`, reached by the link.

The number of a session says which process has it: its remainder by how many there are. So a cancel
request finds the session wherever it came in, and a user sees, cancels and ends own sessions in all
of them. A process that does not answer has none.
"""

import itertools
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from redask.core.access.ask_shares import AskClaim
from redask.core.errors import StoreFailed
from redask.core.serving_limits import ALONE, ProcessPlace
from redask.server.pgwire.own_sessions.open_sessions import OpenSessions, SessionActivity
from redask.server.supervising.process_link import ProcessLink

_MOST = 0x7FFFFFFF


def session_numbers(place: ProcessPlace = ALONE) -> Iterator[int]:
    """The numbers of the sessions of one process, each of which says whose it is."""
    return (each & _MOST for each in itertools.count(place.count + place.number, place.count))


class SessionsElsewhere:
    """Reaches the others, and lets them reach `here`."""

    def __init__(self, link: ProcessLink, here: OpenSessions) -> None:
        self._link = link
        self._here = here
        link.on("pg_cancel", self._cancel)
        link.on("pg_signal", self._signal)
        link.on("pg_activity", self._activity)

    def cancel(self, process: int, key: bytes) -> None:
        """A cancel request for a session that is not here."""
        self._link.tell_process(self._holder(process), "pg_cancel", process=process, key=key.hex())

    async def signal(self, process: int, owner: AskClaim, *, ends: bool) -> bool:
        """Cancel what runs in a session of a user, or end it. → whether there was one"""
        whose = {"tenant": owner.tenant, "user": owner.user}
        holder = self._holder(process)
        if holder == self._link.place.number:
            return False
        with suppress(StoreFailed):
            return bool(
                await self._link.ask_process(
                    holder, "pg_signal", process=process, ends=ends, **whose
                )
            )
        return False

    async def activity(self, owner: AskClaim) -> list[tuple[int, SessionActivity]]:
        """What the sessions of a user do that others have."""
        found = []
        for number in self._link.others():
            with suppress(StoreFailed):
                rows = await self._link.ask_process(
                    number, "pg_activity", tenant=owner.tenant, user=owner.user
                )
                found += [(process, SessionActivity(*rest)) for process, *rest in rows]
        return found

    def _holder(self, process: int) -> int:
        return process % self._link.place.count

    def _cancel(self, process: int, key: str) -> None:
        self._here.cancel(process, bytes.fromhex(key))

    def _signal(self, process: int, tenant: str, user: str, ends: bool) -> bool:
        return self._here.signal(process, AskClaim(tenant, user), ends=ends)

    def _activity(self, tenant: str, user: str) -> list[list[Any]]:
        return [
            [process, each.state, each.query, each.application]
            for process, each in self._here.activity(AskClaim(tenant, user))
        ]
