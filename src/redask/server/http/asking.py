"""A question over HTTP, in whatever shape it came: `answered` at once, or `streamed` as events.

Both run in the caller's part of the admission, and end when the client has disconnected. A failure
before the first event of a stream is raised, and so becomes a plain error.
"""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from redask.api.asynchronous import AsyncDatabase
from redask.core.model import Answer, Ask, Event
from redask.core.wire import sse
from redask.server.admission import UserAdmission
from redask.server.http.responses import EventStream, disconnected

HEARTBEAT_SECONDS = 10.0


async def answered(
    request: Request, room: UserAdmission, session: AsyncDatabase, ask: Ask
) -> Answer:
    """The answer, when it is whole."""
    return await room.run(lambda: session.answer(ask), disconnected(request))


async def streamed(
    request: Request,
    room: UserAdmission,
    session: AsyncDatabase,
    ask: Ask,
    *,
    encode: Callable[[Event], bytes] = sse.encode,
    end: bytes = b"",
) -> Response:
    """The answer while it is written; `encode` makes bytes of each event, `end` comes last."""
    events = room.stream(
        lambda emit: session.answer(ask, emit), disconnected(request), HEARTBEAT_SECONDS
    )
    return EventStream(await anext(events), events, encode, end)
