"""The logs of a database for asyncio: `AsyncAuditReading`, a part of `AsyncDatabase`."""

from collections.abc import Callable
from typing import TypeVar

from redask.api.auditing.sealing_methods import AsyncSealingMethods
from redask.app import App
from redask.core.model import Caller
from redask.core.ports import AuditEntry
from redask.core.rules.audit_chain import Broken
from redask.core.rules.auditing.access_rows import SignInRefusal

_T = TypeVar("_T")


class AsyncAuditReading(AsyncSealingMethods):
    """Reads and verifies the audit log and the access log."""

    _app: App

    async def _as_caller(self, work: Callable[[Caller], _T], who: list[Caller] | None = None) -> _T:
        raise NotImplementedError

    async def audit(
        self, limit: int = 20, before: int | None = None, *, log: str = "ask"
    ) -> list[AuditEntry]:
        """The newest audit rows the caller may see; `before` a number, to page on.

        `log` is "ask", or "access" for SELECTs, searches, refused sign-ins and administration.
        """
        chosen = self._app.log(log)
        return await self._as_caller(
            lambda caller: chosen.entries(caller, limit=limit, before=before)
        )

    async def audit_state(self, *, log: str = "ask") -> dict[str, object]:
        """What `verify_audit` finds as plain data, for transports."""
        found = await self.verify_audit(log=log)
        if isinstance(found, Broken):
            return {"head": "", "ok": False, "reason": found.reason, "rows": 0, "seq": found.seq}
        head = found.head
        return {"head": head.hash, "ok": True, "reason": "", "rows": found.rows, "seq": head.seq}

    async def accept_logs(self, reason: str) -> str:
        """Take the logs as they are now, on record; for owners. → what was wrong, if anything."""
        backend = self._app.backend
        return await self._as_caller(lambda caller: backend.accept_logs(caller, reason))

    async def sign_in_refused(self, user: str, *, tenant: str | None = None) -> None:
        """Note in the access log that somebody could not sign in; for transports."""
        await self._opened_here()
        self._note_refusal(user, tenant)

    async def _opened_here(self) -> App:
        raise NotImplementedError

    def _note_refusal(self, user: str, tenant: str | None) -> None:
        whose = tenant or Caller().tenant  # the operator's, where nobody knows whose
        self._app.logs.recorder.refused(SignInRefusal(whose, user))
