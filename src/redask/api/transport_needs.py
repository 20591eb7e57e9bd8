"""What servers need of an open database beside answers: limits, checks and verifiers."""

from pathlib import Path

from redask.api.results import IngestSummary
from redask.app import App, uploads
from redask.core.access.credentials import Verifiers
from redask.core.access.policy import must_audit, must_own
from redask.core.model import Caller
from redask.core.serving_limits import ServingLimits


class AsyncTransportNeeds:
    """For transports; see the module."""

    _app: App

    async def _who(self) -> Caller:
        raise NotImplementedError

    async def _opened_here(self) -> App:
        raise NotImplementedError

    async def ingest(
        self, *paths: str | Path, collection: str | None = None, isolated: bool = False
    ) -> IngestSummary:
        """Bring the database up to date with files: see `AsyncDatabase`."""
        raise NotImplementedError

    async def upload(
        self, name: str, content: bytes, *, collection: str | None = None
    ) -> IngestSummary:
        """Ingest a file that was sent; the same name once more brings it up to date."""
        caller, app = await self._who(), self._app
        must_own(caller)
        async with uploads.staged(app, caller.tenant, name, content) as path:
            done = await self.ingest(path, collection=collection, isolated=True)
        return done.without_folder(str(path.parent))

    @property
    def serving_limits(self) -> ServingLimits:
        """What a server of this database lets clients have, by the settings of its operator."""
        return self._app.settings.serving

    async def check_may_write(self) -> None:
        """`Denied` unless the caller may write: asked before a body is read."""
        must_own(await self._who())

    async def check_may_audit(self) -> None:
        """`Denied` unless the caller may see what others asked."""
        must_audit(await self._who())

    async def only_tenant(self) -> str | None:
        """The one tenant of the database; None: there are several."""
        app = await self._opened_here()
        return await app.in_thread(app.backend.users.only_tenant)

    async def verifiers(self, user: str, tenant: str) -> Verifiers:
        """What a proof of knowing a token is checked against, by the transport."""
        app = await self._opened_here()
        return await app.in_thread(app.backend.users.verifiers, user, tenant, app.clock())
