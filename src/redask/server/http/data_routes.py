"""Tables and files over HTTP:

    GET  /v1/collections        the collections that the caller reads, with columns and counts
    POST /v1/select             {"statement", "params", "max_rows"}    rows with the columns' types
    POST /v1/ingest             {"name", "content", "collection"}      one file; for who may write

`content` is the file in base64: JSON like every body, which no page elsewhere may send.
"""

import asyncio
import base64
import binascii

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from redask.core.errors import BadAsk
from redask.core.wire.row_json import for_browsers
from redask.server import request_json, table_reading
from redask.server.http import bodies
from redask.server.http.request_sessions import RequestSessions
from redask.server.http.responses import disconnected, plain


class DataRoutes:
    """See the module."""

    def __init__(self, sessions: RequestSessions) -> None:
        self._sessions = sessions

    def routes(self) -> list[Route]:
        return [
            Route("/v1/collections", self.collections, methods=["GET"]),
            Route("/v1/select", self.select, methods=["POST"]),
            Route("/v1/ingest", self.ingest, methods=["POST"]),
        ]

    async def collections(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        room = self._sessions.room(session)
        return plain(await room.run(lambda: table_reading.collections(session)))

    async def select(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        given = request_json.fields(
            await bodies.read_json(request), ("statement", "params", "max_rows")
        )
        found = await self._sessions.room(session).run(
            lambda: table_reading.selected(session, given), disconnected(request)
        )
        return await asyncio.to_thread(plain, found)

    async def ingest(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        await session.check_may_write()  # before its body is read
        body = await bodies.read_rows(request)  # a file may be as large
        given = request_json.fields(body, ("name", "content", "collection"))
        name, collection = given.get("name"), given.get("collection")
        if not isinstance(name, str):
            raise BadAsk("name: expected a text", detail="name")
        if collection is not None and not isinstance(collection, str):
            raise BadAsk("collection: expected a text", detail="collection")
        content = await asyncio.to_thread(_decoded, given.get("content"))
        summary = await self._sessions.room(session).run(
            lambda: session.upload(name, content, collection=collection), disconnected(request)
        )
        return plain(for_browsers(summary.to_dict()))


def _decoded(content: object) -> bytes:
    if not isinstance(content, str):
        raise BadAsk("content: expected a text in base64", detail="content")
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        raise BadAsk("content: expected a text in base64", detail="content") from None
