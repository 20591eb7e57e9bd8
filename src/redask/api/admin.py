"""Who may do what, from Python: users, tokens and policies, as methods of an open database.

    db.add_user("mia", role="support", attributes={"region": "north"}); db.set_user(…)
    token = db.make_token("mia", expires="30d")      shown once; db.tokens(), db.revoke_token(id)
    db.set_policy("tickets", {"read": [{"roles": ["support"], "rows": "region = :user.region"}]})
    db.preview_policy("tickets", document, user="mia")   what mia would see, nothing is written

Only the role `owner` may (`Denied` otherwise). A change holds for the next statement of
everybody, those who are signed in included. The two classes are the asynchronous methods and
their synchronous twins; `api` joins them to the rest of a database.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, TypeVar

from redask.app import App
from redask.core.access.credentials import TokenFacts, User
from redask.core.access.policy import OWNER, Grant, Policy, Principal, grant, must_own, read_policy
from redask.core.errors import AskError, BadAsk
from redask.core.model import Caller
from redask.core.rules.caching import parse_ttl
from redask.core.values import printable

_T = TypeVar("_T")
_NOTHING: Mapping[str, object] = MappingProxyType({})
_PAGE = 1000
_LOOK_EVERY = 0.3  # seconds

IndexProgress = Callable[[int], None]  # how many changes the index still has to read


class AsyncAdministration:
    """Users, tokens and policies of a database for asyncio."""

    _app: App

    async def _who(self) -> Caller:
        raise NotImplementedError

    async def _as_caller(self, work: Callable[[Caller], _T]) -> _T:
        raise NotImplementedError

    async def users(self) -> list[User]:
        """The users, by name."""
        return await self._as_caller(self._app.backend.users.list_users)

    async def add_user(
        self, name: str, *, role: str, attributes: Mapping[str, object] = _NOTHING
    ) -> User:
        """A new user; attributes are what policies call `:user.…`."""
        users = self._app.backend.users
        return await self._as_caller(lambda caller: users.add_user(name, role, attributes, caller))

    async def set_user(
        self, name: str, *, role: str | None = None, attributes: Mapping[str, object] | None = None
    ) -> User:
        """Another role, or other attributes in place of all there are."""
        users = self._app.backend.users
        return await self._as_caller(
            lambda caller: users.change_user(name, role, attributes, caller)
        )

    async def remove_user(self, name: str) -> None:
        """Forget a user; the user's tokens are revoked."""
        app = self._app
        await self._as_caller(
            lambda caller: app.backend.users.remove_user(name, app.clock(), caller)
        )

    async def make_token(self, user: str, *, expires: str | None = None) -> str:
        """A token for a user, good for a time such as "30d" or until it is revoked.

        This is the only time it can be seen.
        """
        app = self._app
        if expires is not None and not isinstance(expires, str):
            raise BadAsk('expires is a time such as "30d"', detail="expires")
        seconds = None if expires is None else parse_ttl(expires)
        return await self._as_caller(
            lambda caller: app.backend.users.make_token(user, app.clock(), seconds, caller)
        )

    async def tokens(self) -> list[TokenFacts]:
        """The tokens without their secrets, the oldest first."""
        return await self._as_caller(self._app.backend.users.list_tokens)

    async def revoke_token(self, ident: str) -> None:
        """Let a token open nothing from now on."""
        app = self._app
        await self._as_caller(
            lambda caller: app.backend.users.revoke_token(ident, app.clock(), caller)
        )

    async def policies(self) -> dict[str, object]:
        """The policies, by collection."""
        return await self._as_caller(self._app.backend.store.policies)

    async def fix_type(self, column: str, type_name: str | None) -> None:
        """Fix the type of a column, `table.column`, for SELECT; None takes it from the data."""
        await self._as_caller(lambda caller: self._app.selector.fix_type(column, type_name, caller))

    async def set_policy(self, collection: str, document: object | None) -> None:
        """Put a collection under a policy, or (None) open it to its whole tenant."""
        await self._as_caller(lambda caller: self._app.set_policy(collection, document, caller))

    async def preview_policy(
        self,
        collection: str | None = None,
        document: object | None = None,
        *,
        user: str | None = None,
        role: str | None = None,
    ) -> dict[str, Any]:
        """What a user or a role sees now, or would see of a collection under another policy."""
        return await self._as_caller(
            lambda caller: _preview(self._app, caller, collection, document, user=user, role=role)
        )

    async def catch_up(self, progress: IndexProgress | None = None) -> None:
        """Bring the search index up to date, which else the next question does."""
        caller, app = await self._who(), self._app
        working = asyncio.ensure_future(app.in_thread(app.catch_up, caller))
        while not (await asyncio.wait([working], timeout=_LOOK_EVERY))[0]:
            if progress is not None:
                with suppress(AskError):  # only a look: the work itself tells what is wrong
                    progress((await app.in_thread(app.index.health, caller.tenant)).pending)
        working.result()


class Administration:
    """Users, tokens and policies of a database for everybody else."""

    _async: AsyncAdministration

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        raise NotImplementedError

    def users(self) -> list[User]:
        """The users, by name."""
        return self._run(self._async.users())

    def add_user(
        self, name: str, *, role: str, attributes: Mapping[str, object] = _NOTHING
    ) -> User:
        """A new user; attributes are what policies call `:user.…`."""
        return self._run(self._async.add_user(name, role=role, attributes=attributes))

    def set_user(
        self, name: str, *, role: str | None = None, attributes: Mapping[str, object] | None = None
    ) -> User:
        """Another role, or other attributes in place of all there are."""
        return self._run(self._async.set_user(name, role=role, attributes=attributes))

    def remove_user(self, name: str) -> None:
        """Forget a user; the user's tokens are revoked."""
        self._run(self._async.remove_user(name))

    def make_token(self, user: str, *, expires: str | None = None) -> str:
        """A token for a user, good for a time such as "30d" or until it is revoked.

        This is the only time it can be seen.
        """
        return self._run(self._async.make_token(user, expires=expires))

    def tokens(self) -> list[TokenFacts]:
        """The tokens without their secrets, the oldest first."""
        return self._run(self._async.tokens())

    def revoke_token(self, ident: str) -> None:
        """Let a token open nothing from now on."""
        self._run(self._async.revoke_token(ident))

    def policies(self) -> dict[str, object]:
        """The policies, by collection."""
        return self._run(self._async.policies())

    def fix_type(self, column: str, type_name: str | None) -> None:
        """Fix the type of a column, `table.column`, for SELECT; None takes it from the data."""
        self._run(self._async.fix_type(column, type_name))

    def set_policy(self, collection: str, document: object | None) -> None:
        """Put a collection under a policy, or (None) open it to its whole tenant."""
        self._run(self._async.set_policy(collection, document))

    def preview_policy(
        self,
        collection: str | None = None,
        document: object | None = None,
        *,
        user: str | None = None,
        role: str | None = None,
    ) -> dict[str, Any]:
        """What a user or a role sees now, or would see of a collection under another policy."""
        return self._run(self._async.preview_policy(collection, document, user=user, role=role))

    def catch_up(self, progress: IndexProgress | None = None) -> None:
        """Bring the search index up to date, which else the next question does."""
        self._run(self._async.catch_up(progress))


def _preview(
    app: App,
    caller: Caller,
    collection: str | None,
    document: object | None,
    *,
    user: str | None,
    role: str | None,
) -> dict[str, Any]:
    """Who it is, and for each collection how many rows of how many, and how."""
    must_own(caller)
    planned: Policy | None = None
    if document is not None:
        if collection is None:
            raise BadAsk("a policy is about a collection: name it", detail="collection")
        app.backend.store.check_policy(collection, document, caller)
        planned = read_policy(collection, document)
    who = _somebody(app, caller, user, role)
    seen = {
        each.name: sum(each.entities.values()) for each in app.backend.store.collections(who.caller)
    }
    held = {
        each.name: sum(each.entities.values()) for each in app.backend.store.collections(caller)
    }
    ruled = app.backend.store.policies(caller)
    shown = []
    for name in sorted({*held, *ruled}) if collection is None else [collection]:
        policy = planned or (read_policy(name, ruled[name]) if name in ruled else None)
        is_closed = policy is None and app.settings.access_closed and who.caller.role != OWNER
        given = None if is_closed else grant(policy, who)
        rows = seen.get(name, 0)
        if planned is not None:
            rows = 0 if given is None else _count(app, caller, planned, given)
        shown.append(
            {
                "collection": name,
                "readable": given is not None,
                "rows": rows,
                "rows_in_all": held.get(name, 0),
                "hidden": sorted(given.projection.hide) if given else [],
                "masked": sorted(given.projection.mask) if given else [],
            }
            | (
                {"shown": sorted(given.projection.only)}
                if given and given.projection.only is not None
                else {}
            )
        )
    return {"user": user, "role": who.caller.role, "collections": shown}


def _somebody(app: App, caller: Caller, user: str | None, role: str | None) -> Principal:
    if (user is None) == (role is None):
        raise BadAsk("name either a user or a role", detail="user")
    if user is None:
        return Principal(Caller(caller.tenant, "", role or ""))
    for known in app.backend.users.list_users(caller):
        if known.name == user:
            return Principal(Caller(caller.tenant, user, known.role), known.attributes)
    raise BadAsk(f"there is no user {printable(user)}", detail="user")


def _count(app: App, caller: Caller, policy: Policy, given: Grant) -> int:
    """How many entities of the policy's collection it would show."""
    admitted: dict[str, bool] = {}
    count, after = 0, ""
    while page := app.backend.store.page(policy.collection, caller, after=after, limit=_PAGE):
        for source in page:
            policy_class = policy.policy_class(json.loads(source.payload))
            if policy_class not in admitted:
                admitted[policy_class] = given.admits(policy_class)
            count += admitted[policy_class]
        after = page[-1].urn
    return count
