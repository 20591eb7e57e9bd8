"""Tables of your own PostgreSQL, asked where they are: `attach`, `attachments`, `sync`, `detach`.

    db.attach("postgresql://reader@host/shop", ["orders", "customers"], role="reader",
              readers=["support"], changes="triggers")
    db.attachments(); db.sync("shop"); db.detach("shop")

Only the role `owner` may. A password is given by the environment or a file, never in the URL: see
docs/attach.md.
"""

import json
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from redask.app import App
from redask.app.attached.attached_facts import AttachmentFacts, SyncFacts, facts_of, name_of
from redask.app.attached.attached_parts import attachments_of
from redask.core.access.policy import must_own
from redask.core.errors import BadAsk
from redask.core.model import Caller

_T = TypeVar("_T")


class AsyncAttaching:
    """Attached tables, for asyncio; see the module."""

    _app: App

    async def _who(self) -> Caller:
        raise NotImplementedError

    async def _as_caller(self, work: Callable[[Caller], _T]) -> _T:
        raise NotImplementedError

    async def _change(
        self, action: str, subject: object, detail: str, work: Callable[[Caller], _T]
    ) -> _T:
        raise NotImplementedError

    async def attach(
        self,
        url: str,
        tables: Sequence[str],
        *,
        name: str = "",
        role: str | None = None,
        readers: Sequence[str] = (),
        changes: str = "polling",
        prefix: str | None = None,
    ) -> SyncFacts:
        """Attach tables of a PostgreSQL, and read them. → how much was read

        `role` is whose rights and row level security they are read and computed with, `readers` are
        the roles here that read as it. `changes` says how changes are noticed.
        """
        await self._who()  # before anything is said of what was given
        if isinstance(tables, str) or isinstance(readers, str):
            raise BadAsk("tables and readers are lists of names", detail="tables")
        app, chosen = self._app, name or name_of(url)

        def work(caller: Caller) -> SyncFacts:
            must_own(caller)
            done = attachments_of(app.backend).attach(
                *(url, tables, caller),
                name=chosen,
                role=role,
                readers=readers,
                changes=changes,
                prefix=prefix,
            )[1]
            app.embed(caller)
            return SyncFacts(done.written, done.removed)

        told = {"changes": changes, "readers": list(readers), "role": role, "tables": list(tables)}
        return await self._change("attach", chosen, json.dumps(told, default=str), work)

    async def attachments(self) -> list[AttachmentFacts]:
        """The attachments, by name; for owners."""

        def work(caller: Caller) -> list[AttachmentFacts]:
            must_own(caller)
            return [facts_of(each) for each in attachments_of(self._app.backend).listed(caller)]

        return await self._as_caller(work)

    async def sync(self, name: str | None = None) -> SyncFacts:
        """Bring what is kept of an attachment, or of all, up to date. → what was done"""
        app = self._app

        def work(caller: Caller) -> SyncFacts:
            done = attachments_of(app.backend).sync(name, caller)
            app.embed(caller)
            return SyncFacts(done.written, done.removed, done.busy)

        return await self._as_caller(work)

    async def detach(self, name: str, *, forget_source: bool = False) -> int:
        """Detach: the tables are left as they were. → how many entities went here

        `forget_source` is for a source that is gone: nothing is removed there.
        """
        app = self._app
        return await self._change(
            *("detach", name, "without the source" if forget_source else ""),
            lambda caller: attachments_of(app.backend).detach(
                name, caller, forget_source=forget_source
            ),
        )


class SyncAttaching:
    """Attached tables, for everybody else."""

    _async: AsyncAttaching

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        raise NotImplementedError

    def attach(
        self,
        url: str,
        tables: Sequence[str],
        *,
        name: str = "",
        role: str | None = None,
        readers: Sequence[str] = (),
        changes: str = "polling",
        prefix: str | None = None,
    ) -> SyncFacts:
        """Attach tables of a PostgreSQL, and read them. → how much was read

        `role` is whose rights and row level security they are read and computed with, `readers` are
        the roles here that read as it. `changes` says how changes are noticed.
        """
        return self._run(
            self._async.attach(
                *(url, tables),
                name=name,
                role=role,
                readers=readers,
                changes=changes,
                prefix=prefix,
            )
        )

    def attachments(self) -> list[AttachmentFacts]:
        """The attachments, by name; for owners."""
        return self._run(self._async.attachments())

    def sync(self, name: str | None = None) -> SyncFacts:
        """Bring what is kept of an attachment, or of all, up to date. → what was done"""
        return self._run(self._async.sync(name))

    def detach(self, name: str, *, forget_source: bool = False) -> int:
        """Detach: the tables are left as they were. → how many entities went here

        `forget_source` is for a source that is gone: nothing is removed there.
        """
        return self._run(self._async.detach(name, forget_source=forget_source))
