"""Sessions of browsers that the parent of several processes keeps: `ParentsSessions`."""

from redask.api.asynchronous import AsyncDatabase
from redask.server.sessions import Authenticator
from redask.server.supervising.process_link import ProcessLink


class ParentsSessions:
    """See `browser_sessions.HeldSessions`. The parent knows by what a session is opened anew."""

    def __init__(self, link: ProcessLink, authenticator: Authenticator) -> None:
        self._link = link
        self._authenticator = authenticator

    async def put(self, key: str, database: AsyncDatabase) -> None:
        whose = database.claim
        await self._link.ask(
            "session_put",
            key=key,
            tenant=whose.tenant,
            user=whose.user,
            what=list(database.held_token()),
        )

    async def get(self, key: str) -> AsyncDatabase | None:
        found = await self._link.ask("session_get", key=key)
        return None if found is None else await self._authenticator.resumed(*found)

    async def drop(self, key: str) -> bool:
        return bool(await self._link.ask("session_drop", key=key))
