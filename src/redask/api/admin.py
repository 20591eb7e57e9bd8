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
from redask.app.background.relabelling_thread import RelabelProgress
from redask.core.access.credentials import TokenFacts, User
from redask.core.access.policy import OWNER, Grant, Policy, Principal, grant, must_own, read_policy
from redask.core.errors import AskError, BadAsk
from redask.core.model import Caller
from redask.core.rules.caching import parse_ttl
from redask.core.values import printable

_T = TypeVar("_T")
_NOTHING: Mapping[str, object] = MappingProxyType({})
_PAGE = 1000
_MOST = 65_536  # characters of a change that the log keeps
_LOOK_EVERY = 0.3  # seconds

IndexProgress = Callable[[int], None]  # how many changes the index still has to read


class AsyncAdministration:
    """Users, tokens and policies of a database for asyncio."""

    _app: App

    async def _who(self) -> Caller:
        raise NotImplementedError

    async def _as_caller(self, work: Callable[[Caller], _T], who: list[Caller] | None = None) -> _T:
        raise NotImplementedError

    async def _change(
        self, action: str, subject: object, detail: str, work: Callable[[Caller], _T]
    ) -> _T:
        """Change who may do what; the access log has a row before it, and one after."""
        caller = await self._who()
        async with self._app.logs.recorder.change(caller, action, subject, detail):
            return await self._as_caller(work)

    async def users(self) -> list[User]:
        """The users, by name."""
        return await self._as_caller(self._app.backend.users.list_users)

    async def add_user(
        self, name: str, *, role: str, attributes: Mapping[str, object] = _NOTHING
    ) -> User:
        """A new user; attributes are what policies call `:user.…`."""
        users = self._app.backend.users
        return await self._change(
            *("user_add", name, _told(role=role, attributes=attributes)),
            lambda caller: users.add_user(name, role, attributes, caller),
        )

    async def set_user(
        self, name: str, *, role: str | None = None, attributes: Mapping[str, object] | None = None
    ) -> User:
        """Another role, or other attributes in place of all there are."""
        users = self._app.backend.users
        return await self._change(
            *("user_set", name, _told(role=role, attributes=attributes)),
            lambda caller: users.change_user(name, role, attributes, caller),
        )

    async def remove_user(self, name: str) -> None:
        """Forget a user; the user's tokens are revoked."""
        app = self._app
        await self._change(
            *("user_remove", name, ""),
            lambda caller: app.backend.users.remove_user(name, app.clock(), caller),
        )

    async def make_token(self, user: str, *, expires: str | None = None) -> str:
        """A token for a user, good for a time such as "30d" or until it is revoked.

        This is the only time it can be seen.
        """
        app = self._app
        if expires is not None and not isinstance(expires, str):
            raise BadAsk('expires is a time such as "30d"', detail="expires")
        seconds = None if expires is None else parse_ttl(expires)
        return await self._change(
            *("token_make", user, expires or ""),
            lambda caller: app.backend.users.make_token(user, app.clock(), seconds, caller),
        )

    async def tokens(self) -> list[TokenFacts]:
        """The tokens without their secrets, the oldest first."""
        return await self._as_caller(self._app.backend.users.list_tokens)

    async def revoke_token(self, ident: str) -> None:
        """Let a token open nothing from now on."""
        app = self._app
        await self._change(
            *("token_revoke", ident, ""),
            lambda caller: app.backend.users.revoke_token(ident, app.clock(), caller),
        )

    async def policies(self) -> dict[str, object]:
        """The policies, by collection."""
        return await self._as_caller(self._app.backend.store.policies)

    async def fix_type(self, column: str, type_name: str | None) -> None:
        """Fix the type of a column, `table.column`, for SELECT; None takes it from the data."""
        await self._change(
            *("type_fix", column, type_name if isinstance(type_name, str) else ""),
            lambda caller: self._app.selector.fix_type(column, type_name, caller),
        )

    async def set_policy(
        self,
        collection: str,
        document: object | None,
        *,
        wait: bool = True,
        progress: RelabelProgress | None = None,
    ) -> None:
        """Put a collection under a policy, or (None) open it to its whole tenant.

        It holds at once: until a large collection is classified anew, together with the policy
        before. `wait=False` leaves that to the background; `progress` is told rows done, of all.
        """
        await self._change(
            *("policy_set", collection, "" if document is None else _told(policy=document)),
            lambda caller: self._app.set_policy(
                collection, document, caller, wait=wait, progress=progress
            ),
        )

    async def unsettled(self) -> tuple[str, ...]:
        """What the database is busy with: `catching_up`, `relabelling`, and the like."""
        return await self._app.in_thread(self._app.settling.look)

    @property
    def lag_bytes(self) -> int:
        """How far the replica was behind when `unsettled` looked last."""
        return self._app.settling.lag_bytes

    async def preview_policy(
        self,
        collection: str | None = None,
        document: object | None = None,
        *,
        user: str | None = None,
        role: str | None = None,
        sample: int = 0,
    ) -> dict[str, Any]:
        """What a user or a role sees now, or would see of a collection under another policy.

        Of a collection that is named, `sample` rows are shown as they would see them.
        """

        def previewed(caller: Caller) -> dict[str, Any]:
            seen = _preview(self._app, caller, collection, document, user=user, role=role)
            if collection is not None and sample:
                who = _somebody(self._app, caller, user, role)
                seen["collections"][0]["sample"] = _sample(
                    self._app, caller, who, collection, document=document, most=sample
                )
            return seen

        return await self._as_caller(previewed)

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

    def set_policy(
        self,
        collection: str,
        document: object | None,
        *,
        wait: bool = True,
        progress: RelabelProgress | None = None,
    ) -> None:
        """Put a collection under a policy, or (None) open it to its whole tenant.

        It holds at once: until a large collection is classified anew, together with the policy
        before. `wait=False` leaves that to the background; `progress` is told rows done, of all.
        """
        self._run(self._async.set_policy(collection, document, wait=wait, progress=progress))

    def unsettled(self) -> tuple[str, ...]:
        """What the database is busy with: `catching_up`, `relabelling`, and the like."""
        return self._run(self._async.unsettled())

    def preview_policy(
        self,
        collection: str | None = None,
        document: object | None = None,
        *,
        user: str | None = None,
        role: str | None = None,
        sample: int = 0,
    ) -> dict[str, Any]:
        """What a user or a role sees now, or would see of a collection under another policy.

        Of a collection that is named, `sample` rows are shown as they would see them.
        """
        return self._run(
            self._async.preview_policy(collection, document, user=user, role=role, sample=sample)
        )

    def catch_up(self, progress: IndexProgress | None = None) -> None:
        """Bring the search index up to date, which else the next question does."""
        self._run(self._async.catch_up(progress))


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else repr(value)


def _told(**given: object) -> str:
    """What was asked for, as text for the log, however wrong it is."""
    told = {name: value for name, value in given.items() if value is not None}
    return json.dumps(told, default=_plain)[:_MOST]


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


def _sample(
    app: App,
    caller: Caller,
    who: Principal,
    collection: str,
    *,
    document: object | None,
    most: int,
) -> list[dict[str, str]]:
    """The first rows, by URN, that somebody sees, as they are shown to them."""
    if document is None:
        now = app.backend.store.page(collection, who.caller, limit=most)
        return [{"payload": each.payload, "urn": each.urn} for each in now]
    policy = read_policy(collection, document)
    given = grant(policy, who)
    if given is None:
        return []
    shown: list[dict[str, str]] = []
    after = ""
    while page := app.backend.store.page(collection, caller, after=after, limit=_PAGE):
        for source in page:
            if given.admits(policy.layout.policy_class(json.loads(source.payload))):
                shown.append({"payload": given.projection.show(source.payload), "urn": source.urn})
            if len(shown) == most:
                return shown
        after = page[-1].urn
    return shown


def _count(app: App, caller: Caller, policy: Policy, given: Grant) -> int:
    """How many entities of the policy's collection it would show."""
    admitted: dict[str, bool] = {}
    count, after = 0, ""
    while page := app.backend.store.page(policy.collection, caller, after=after, limit=_PAGE):
        for source in page:
            policy_class = policy.layout.policy_class(json.loads(source.payload))
            if policy_class not in admitted:
                admitted[policy_class] = given.admits(policy_class)
            count += admitted[policy_class]
        after = page[-1].urn
    return count
