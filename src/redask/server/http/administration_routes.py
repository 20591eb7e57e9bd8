"""Who may see what, and whether the logs are whole, over HTTP:

    GET  /v1/policies                        {"policies": {collection: policy}}         for owners
    PUT  /v1/policies/{collection}           {"policy"}, null for none                  for owners
    POST /v1/policies/{collection}/preview   {"policy", "user" or "role", "sample"}     for owners
    GET  /v1/users                           {"users": [{"attributes", "name", "role"}]}
    GET  /v1/audit/verify                    ?log=ask   whether the log is as written, for auditors

A preview writes nothing: it counts the real rows that somebody would read, and shows some of them
as they would be shown. Without a policy it is about the one in force.
"""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from redask.core.errors import BadAsk
from redask.core.wire.row_json import for_browsers
from redask.server import request_json
from redask.server.http import bodies
from redask.server.http.request_sessions import RequestSessions
from redask.server.http.responses import plain

MOST_SAMPLED = 100
SAMPLED = 10


class AdministrationRoutes:
    """See the module."""

    def __init__(self, sessions: RequestSessions) -> None:
        self._sessions = sessions

    def routes(self) -> list[Route]:
        return [
            Route("/v1/policies", self.policies, methods=["GET"]),
            Route("/v1/policies/{collection}", self.set_policy, methods=["PUT"]),
            Route("/v1/policies/{collection}/preview", self.preview, methods=["POST"]),
            Route("/v1/users", self.users, methods=["GET"]),
            Route("/v1/audit/verify", self.verify, methods=["GET"]),
        ]

    async def policies(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        found = await self._sessions.room(session).run(session.policies)
        return plain({"policies": for_browsers(found)})

    async def set_policy(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        await session.check_may_write()
        given = request_json.fields(await bodies.read_json(request), ("policy",))
        policy = _policy(given)
        if "policy" not in given:
            raise BadAsk("policy: expected an object, or null for none", detail="policy")
        collection = request.path_params["collection"]
        await self._sessions.room(session).run(lambda: session.set_policy(collection, policy))
        return plain({"collection": collection, "policy": policy})

    async def preview(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        await session.check_may_write()
        given = request_json.fields(
            await bodies.read_json(request), ("policy", "user", "role", "sample")
        )
        user, role = _text(given, "user"), _text(given, "role")
        sample = request_json.whole_number(given.get("sample", SAMPLED), "sample", 0, MOST_SAMPLED)
        collection, policy = request.path_params["collection"], _policy(given)
        found = await self._sessions.room(session).run(
            lambda: session.preview_policy(collection, policy, user=user, role=role, sample=sample)
        )
        return plain(for_browsers(_previewed(found)))

    async def users(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        found = await self._sessions.room(session).run(session.users)
        shown = [
            {"attributes": dict(each.attributes), "name": each.name, "role": each.role}
            for each in found
        ]
        return plain({"users": for_browsers(shown)})

    async def verify(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        unknown = sorted(set(request.query_params) - {"log"})
        if unknown:
            raise BadAsk(f"{unknown[0][:100]!a}: expected log", detail="query")
        log = request.query_params.get("log", "ask")
        room = self._sessions.room(session)
        return plain(await room.run(lambda: session.audit_state(log=log)))


def _policy(given: Mapping[str, object]) -> object | None:
    policy = given.get("policy")
    if policy is not None and not isinstance(policy, dict):
        raise BadAsk("policy: expected an object, or null for none", detail="policy")
    return policy


def _text(given: Mapping[str, object], name: str) -> str | None:
    value = given.get(name)
    if value is not None and not isinstance(value, str):
        raise BadAsk(f"{name}: expected a text", detail=name)
    return value


def _previewed(found: Mapping[str, Any]) -> dict[str, object]:
    """What a preview tells of its one collection."""
    [shown] = found["collections"]
    known = {"role": found["role"], "sample": [], "shown": None, "user": found["user"] or ""}
    return {**known, **shown}
