"""Attached tables of an open database: who reads them, who computes over them, who keeps them up.

What talks to PostgreSQL is imported when there is an attachment: most databases have none.

    REDASK_ATTACH_<NAME>_PASSWORD, …_PASSWORD_FILE, …_PASSWORD_COMMAND    a source's password
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from redask.core.access.policy import OWNER
from redask.core.errors import AskError, StoreFailed
from redask.core.model import Caller
from redask.core.ports import SELECT_MS, SELECT_ROWS, Selector, SelectResult
from redask.core.ports.selecting import Cancellation
from redask.providers import operator_choices
from redask.stores.attached.attachment import PLACE
from redask.stores.backend import Backend

if TYPE_CHECKING:
    from redask.stores.attached.attachments import Attachments
    from redask.stores.attached.source_statements import SourceStatements

_log = logging.getLogger("redask.attach")
SECONDS = 10.0  # between two looks for changes


def attachments_of(backend: Backend) -> "Attachments":
    """The attachments of a database."""
    try:
        from redask.stores.attached.attachments import Attachments
    except ModuleNotFoundError as error:
        raise StoreFailed("attached tables need: pip install 'redask[postgres]'") from error
    return Attachments(backend.manifest, backend.store, password_of)


def password_of(name: str) -> str | None:
    """The password for an attachment's source; None where libpq finds it, or none is needed."""
    variable = f"REDASK_ATTACH_{name.upper()}_PASSWORD"
    return operator_choices.secret(variable, os.environ)


class AttachedTables:
    """Statements over attached tables: see `ports.selecting.AttachedStatements`."""

    def __init__(self, backend: Backend, selector: Selector) -> None:
        self._backend = backend
        self._selector = selector
        self._made: SourceStatements | None = None

    def run(
        self,
        sql: str,
        caller: Caller,
        *,
        timeout_ms: int = SELECT_MS,
        max_rows: int = SELECT_ROWS,
        cancelled: Cancellation | None = None,
    ) -> SelectResult | None:
        """The rows of a statement over attached tables; None for any other statement."""
        if not self._backend.manifest.known(PLACE, caller):
            return None
        return self._statements.run(
            sql, caller, timeout_ms=timeout_ms, max_rows=max_rows, cancelled=cancelled
        )

    @property
    def _statements(self) -> "SourceStatements":
        if self._made is None:
            made = attachments_of(self._backend)
            from redask.stores.attached.source_statements import SourceStatements

            store = self._backend.store
            self._made = SourceStatements(self._selector, made, store, self._attributes)
        return self._made

    def _attributes(self, caller: Caller) -> Mapping[str, object]:
        """What is known of the caller's user; what came with the sign-in comes first."""
        if caller.attributes is not None:
            return dict(caller.attributes)
        users = self._backend.users.list_users(Caller(caller.tenant, "", OWNER))
        return next((each.attributes for each in users if each.name == caller.user), {})


class AttachedSync:
    """Looks for changes of attached tables every few seconds while a server runs.

    `embed` makes the vectors of what is new. A source that fails is told once, and tried again.
    """

    def __init__(
        self, backend: Backend, embed: Callable[[str], object], *, seconds: float = SECONDS
    ) -> None:
        self._backend = backend
        self._embed = embed
        self._seconds = seconds
        self._closed = threading.Event()
        self._told: dict[tuple[str, str], str] = {}
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to look."""
        self._thread = threading.Thread(target=self._keep, name="redask-attach", daemon=True)
        self._thread.start()

    def close(self, end: float | None = None) -> None:
        """Stop after the attachment that is being read; wait until `end` (of `time.monotonic`)."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join(None if end is None else max(0.0, end - time.monotonic()))

    def _keep(self) -> None:
        while not self._closed.wait(self._seconds):
            try:
                for tenant in self._backend.store.tenants():
                    self._sync(Caller(tenant, "", OWNER))
            except AskError as error:
                _log.warning("attached tables are not looked at: %s", error.message)

    def _sync(self, owner: Caller) -> None:
        if not self._backend.manifest.known(PLACE, owner):
            return
        made = attachments_of(self._backend)
        for each in made.listed(owner):
            name = each.attachment.name
            if self._closed.is_set():
                return
            try:
                done = made.sync(name, owner)
                if done.written:
                    self._embed(owner.tenant)
                if self._told.pop((owner.tenant, name), None):
                    _log.info("the attachment %a is up to date again", name)
            except AskError as error:
                if self._told.get((owner.tenant, name)) != error.message:
                    _log.warning("the attachment %a is not up to date: %s", name, error.message)
                self._told[owner.tenant, name] = error.message
