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


@dataclass(frozen=True, slots=True)
class OwnSessions:
    """The sessions of one user, as one of them (`process`) sees them."""

    process: int
    owner: AskClaim
    every: OpenSessions

    def activity(self) -> Iterator[tuple[int, SessionActivity]]:
        """What each does, by number."""
        for process, entry in sorted(self.every.entries.items()):
            if entry.owner == self.owner:
                yield process, entry.session.activity()

    def find(self, process: int) -> RunningSession | None:
        """The session of a number, if it is the user's."""
        entry = self.every.entries.get(process)
        return entry.session if entry is not None and entry.owner == self.owner else None
