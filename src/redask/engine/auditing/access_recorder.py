"""Rows of the access log, written where the thing happens: `AccessRecorder`.

A SELECT, search or replay has its row before its result is seen, whatever the outcome; the settings
`access_log.select` and `access_log.search` switch those of the first two off. A change of users,
tokens, policies or types has a row before it begins and one when it has ended. Refused sign-ins are
counted (`rules.auditing.access_rows`), and nobody waits for their rows. If a row cannot be written,
the result is withheld, and a change is not begun.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from redask.core.errors import AskError, Unauthenticated
from redask.core.model import Caller
from redask.core.rules.auditing.access_rows import (
    Refusals,
    SignInRefusal,
    access_row,
    left_over,
    refuse,
)
from redask.core.settings import Settings
from redask.engine.auditing.audit_writer import AuditWriter, written_by

SELECT, SEARCH = "select", "search"


class AccessRecorder:
    """Writes to the access log of one open database."""

    def __init__(self, writer: AuditWriter, settings: Settings, clock: Callable[[], int]) -> None:
        self._writer = writer
        self._settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._refusals = Refusals()
        self._switched = {
            SELECT: settings.access_log_select,
            SEARCH: settings.access_log_search,
        }

    @asynccontextmanager
    async def reading(self, action: str, subject: object, who: list[Caller]) -> AsyncIterator[None]:
        """A SELECT, search or replay that runs inside; `who` has the caller once that is known."""
        began = self._clock()
        outcome = "ok"
        try:
            yield
        except AskError as error:
            outcome = error.kind
            raise
        except asyncio.CancelledError:
            outcome = "cancelled"
            raise
        finally:
            if who and isinstance(subject, str) and self._switched.get(action, True):
                hashed = self._settings.hashes_question(who[0].tenant)
                row = access_row(began, who[0], action, subject, outcome=outcome, hashed=hashed)
                await self._write(row)

    @asynccontextmanager
    async def change(
        self, caller: Caller, action: str, subject: object, detail: str = ""
    ) -> AsyncIterator[None]:
        """A change of who may do what that is made inside."""
        named = subject if isinstance(subject, str) else ""

        async def note(outcome: str) -> None:
            row = access_row(self._clock(), caller, action, named, detail=detail, outcome=outcome)
            await self._write(row)

        await note("begun")
        outcome = "ok"
        try:
            yield
        except AskError as error:
            outcome = error.kind
            raise
        except BaseException:
            outcome = "cancelled"
            raise
        finally:
            await note(outcome)

    def refused(self, refusal: SignInRefusal) -> None:
        """A sign-in was refused; from any thread."""
        now = self._clock()
        with self._lock:
            self._refusals, due = refuse(self._refusals, refusal, now)
        self._post(due, now)

    def close(self) -> None:
        """Write what was counted and has no row yet."""
        with self._lock:
            due, self._refusals = left_over(self._refusals), Refusals()
        self._post(due, self._clock())

    def _post(self, due: tuple[tuple[SignInRefusal, int], ...], now: int) -> None:
        for each, count in due:
            row = access_row(
                *(now, Caller(each.tenant, "", ""), "sign_in", each.user),
                outcome=Unauthenticated.kind,
                address=each.address,
                count=count,
            )
            self._writer.post(row)

    async def _write(self, row: dict[str, object]) -> None:
        """A row has the time that an ask has; whoever leaves meanwhile does not stop it."""
        end = time.monotonic() + self._settings.limits.timeout_ms / 1000
        await written_by(end, self._writer.append(row))
