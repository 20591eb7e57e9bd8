"""The database as a model, for everything that speaks OpenAI's API:

    POST /v1/chat/completions    messages in, an answer with footnotes out; streamed if asked for
    GET  /v1/models              the one model that there is
    GET  /v1/models/{model}      the same, by its name (`serve.chat_model`)

Asked, answered, audited and refused as at /v1/ask: only the shapes are that API's. They are in
`core.wire.chat`, what is read of a request in `chat_requests`, errors in `error_shapes`.
"""

import secrets
import time

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from redask.core.serving_limits import ORIGIN, ServingLimits
from redask.core.wire.chat import chat_replies
from redask.core.wire.chat.chat_replies import ChatHead
from redask.server.http import asking, bodies
from redask.server.http.chat import chat_requests
from redask.server.http.chat.chat_requests import ChatRequest
from redask.server.http.chat.chat_stream import DONE, ChatStream
from redask.server.http.chat.error_shapes import CHAT, MODELS, shaped
from redask.server.http.request_sessions import RequestSessions
from redask.server.http.responses import plain, refused


class ChatRoutes:
    """See the module."""

    def __init__(self, sessions: RequestSessions) -> None:
        self._sessions = sessions

    def routes(self) -> list[Route]:
        return [
            Route(CHAT, self.complete, methods=["POST"]),
            Route(MODELS, self.models, methods=["GET"]),
            Route(f"{MODELS}/{{model:path}}", self.model, methods=["GET"]),
        ]

    async def complete(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        given = await bodies.read_made(request, chat_requests.read)
        limits = session.serving_limits
        if given.model != limits.chat_model:
            return _no_model(limits)
        room, head = self._sessions.room(session), _head(request, given, limits)
        if given.stream:
            chunks = ChatStream(
                head, include_usage=given.include_usage, checked=limits.chat_checked
            )
            return await asking.streamed(
                request, room, session, given.ask, encode=chunks.encode, end=DONE
            )
        answer = await asking.answered(request, room, session, given.ask)
        return plain(chat_replies.completion(head, answer))

    async def models(self, request: Request) -> Response:
        session = await self._sessions.of(request)
        found = chat_replies.model(session.serving_limits.chat_model)
        return plain({"data": [found], "object": "list"})

    async def model(self, request: Request) -> Response:
        limits = (await self._sessions.of(request)).serving_limits
        if request.path_params["model"] != limits.chat_model:
            return _no_model(limits)
        return plain(chat_replies.model(limits.chat_model))


def _head(request: Request, given: ChatRequest, limits: ServingLimits) -> ChatHead:
    in_text = given.sources_in_text
    return ChatHead(
        f"chatcmpl-{secrets.token_hex(12)}",
        int(time.time()),
        given.model,
        limits.public_url or origin_of(request),
        given.ignored,
        limits.chat_sources_in_text if in_text is None else in_text,
    )


def origin_of(request: Request) -> str:
    """Where the client reaches us, as far as it can be told.

    The Host header, if it is no more than a name and a port; headers of proxies are not believed,
    for clients can write them, too. Else the address that the request came in at.
    """
    scheme = request.url.scheme
    named = f"{scheme}://{request.headers.get('host', '').lower()}"
    if ORIGIN.fullmatch(named):
        return named
    host, port = request.scope.get("server") or ("localhost", None)
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}" if port is None else f"{scheme}://{shown}:{port}"


def _no_model(limits: ServingLimits) -> Response:
    message = f"there is no such model here: the one there is is called {limits.chat_model}"
    return shaped(MODELS, refused(404, "not_found", message, detail="model"))
