"""The sessions that are open, by number: `OpenSessions`; those of one user: `OwnSessions`.

A user sees, cancels and ends the sessions of that user in that tenant and no others. Of another's
number the answer is that of a number that nobody has, so that it tells nothing.
"""

import hmac
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from redask.core.access.ask_shares import AskClaim


@dataclass(frozen=True, slots=True)
class SessionActivity:
    """What `pg_stat_activity` says of a session: its state in PostgreSQL's words, its statement."""

    state: str
    query: str
    application: str


class RunningSession(Protocol):
    """A session, as others of its user reach it."""

    def activity(self) -> SessionActivity:
        """What it does now."""

    def cancel(self) -> None:
        """Cancel the statement that runs, if one does."""

    def terminate(self) -> None:
        """End it, with the statement that runs."""


@dataclass(frozen=True, slots=True)
class _Entry:
    key: bytes
    owner: AskClaim
    session: RunningSession


@dataclass(slots=True)
class OpenSessions:
    """All the sessions of a listener."""

    entries: dict[int, _Entry] = field(default_factory=dict)

    def open(self, process: int, key: bytes, owner: AskClaim, session: RunningSession) -> None:
        self.entries[process] = _Entry(key, owner, session)

    def close(self, process: int) -> None:
        del self.entries[process]

    def cancel(self, process: int, key: bytes) -> None:
        """Cancel what runs in the session of a number, for who has its key."""
        entry = self.entries.get(process)
        if hmac.compare_digest(entry.key if entry else b"", key) and entry is not None:
            entry.session.cancel()

    def has(self, process: int) -> bool:
        """Whether there is a session of this number."""
        return process in self.entries

    def activity(self, owner: AskClaim) -> Iterator[tuple[int, SessionActivity]]:
        """What each session of a user does, by number."""
        for process, entry in sorted(self.entries.items()):
            if entry.owner == owner:
                yield process, entry.session.activity()

    def signal(self, process: int, owner: AskClaim, *, ends: bool) -> bool:
        """Cancel what runs in a session of a user, or end it. → whether there was one"""
        entry = self.entries.get(process)
        if entry is None or entry.owner != owner:
            return False
        if ends:
            entry.session.terminate()
        else:
            entry.session.cancel()
        return True


class OtherSessions(Protocol):
    """Sessions that other processes of the server have."""

    def cancel(self, process: int, key: bytes) -> None:
        """Cancel what runs in the session of a number, for who has its key."""

    async def signal(self, process: int, owner: AskClaim, *, ends: bool) -> bool:
        """Cancel what runs in a session of a user, or end it. → whether there was one"""

    async def activity(self, owner: AskClaim) -> list[tuple[int, SessionActivity]]:
        """What each session of a user does, by number."""


@dataclass(frozen=True, slots=True)
class OwnSessions:
    """The sessions of one user, as one of them (`process`) sees them."""

    process: int
    owner: AskClaim
    here: OpenSessions
    elsewhere: OtherSessions | None = None

    async def activity(self) -> list[tuple[int, SessionActivity]]:
        """What each does, by number."""
        found = list(self.here.activity(self.owner))
        if self.elsewhere is not None:
            found += await self.elsewhere.activity(self.owner)
        return sorted(found, key=lambda each: each[0])

    def signal_here(self, process: int, *, ends: bool) -> bool | None:
        """As `signal`; None where only another process can tell."""
        if self.elsewhere is not None and not self.here.has(process):
            return None
        return self.here.signal(process, self.owner, ends=ends)

    async def signal(self, process: int, *, ends: bool) -> bool:
        """Cancel what runs in one of them, or end it. → whether there was one"""
        if self.elsewhere is not None and not self.here.has(process):
            return await self.elsewhere.signal(process, self.owner, ends=ends)
        return self.here.signal(process, self.owner, ends=ends)
