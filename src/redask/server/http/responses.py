"""What the HTTP transport sends back: JSON (`plain`, `encoded`), `failed`, and an `EventStream`.

Errors have one shape, from `wire.outcomes`. A stream sends its first event at once, a comment
when it was silent, and ends in a frame whatever happens. When the client does not read for
SEND_SECONDS, the stream is closed, and the ask is cancelled.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from redask.core import errors
from redask.core.model import Event, Failed
from redask.core.wire import json as canonical
from redask.core.wire import outcomes, sse
from redask.core.wire.row_json import PIECE_BYTES
from redask.server.admission import RETRY_SECONDS, Disconnected

SEND_SECONDS = 30.0
JSON = "application/json"
EVENTS = "text/event-stream"


def plain(value: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A value as canonical JSON."""
    return Response(canonical.encode(value), status, headers, media_type=JSON)


def failed(error: BaseException) -> Response:
    """The reply to a request that failed."""
    headers = {}
    if isinstance(error, errors.Overloaded):
        headers["Retry-After"] = str(RETRY_SECONDS)
    if isinstance(error, errors.Unauthenticated):
        headers["WWW-Authenticate"] = "Bearer"
    return plain(outcomes.body(error), outcomes.of(error).http, headers)


def refused(
    status: int,
    kind: str,
    message: str,
    headers: dict[str, str] | None = None,
    detail: str = "",
) -> Response:
    """An error that only this transport has."""
    shown = {"error": {"detail": detail, "kind": kind, "message": message}}
    return plain(shown, status, headers)


def not_found(message: str) -> Response:
    """There is nothing, or nothing that the caller may see."""
    return refused(404, "not_found", message)


def disconnected(request: Request) -> Disconnected:
    """What returns when the client of a request, whose body was read, has disconnected."""

    async def returned() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    return returned


def encoded(pieces: Sequence[bytes], sent: Callable[[], None]) -> Response:
    """What is JSON already; `sent` is called once nothing of it is here any more, or little."""
    if sum(map(len, pieces)) <= PIECE_BYTES:
        sent()
        return Response(b"".join(pieces), media_type=JSON)
    return _LongJson(pieces, sent)


class _LongJson(Response):
    """JSON that is sent piece by piece, and the event loop has other work in between.

    Written in one call, tens of megabytes would be copied on the loop, and again for what the
    client leaves for later. When the client takes nothing for SEND_SECONDS, the reply ends there.
    """

    def __init__(self, pieces: Sequence[bytes], sent: Callable[[], None]) -> None:
        size = str(sum(map(len, pieces)))
        super().__init__(headers={"Content-Length": size}, media_type=JSON)
        self._pieces = pieces
        self._sent = sent

    async def __call__(self, _: Scope, __: Receive, send: Send) -> None:
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            for piece in self._pieces:
                async with asyncio.timeout(SEND_SECONDS):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                await asyncio.sleep(0)  # a client that takes all at once would keep the loop
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except TimeoutError:
            return
        finally:
            self._pieces = ()
            self._sent()


class EventStream(Response):
    """Server-sent events as they come; None among them is a heartbeat.

    `encode` makes bytes of each, whatever happens of the last; then comes the `end`.
    """

    def __init__(
        self,
        first: Event | None,
        events: AsyncGenerator[Event | None, None],
        encode: Callable[[Event], bytes] = sse.encode,
        end: bytes = b"",
    ) -> None:
        super().__init__(headers={"Cache-Control": "no-store"}, media_type=EVENTS)
        del self.headers["content-length"]  # it is not known yet
        self._first = first
        self._events = events
        self._encode = encode
        self._end = end

    async def __call__(self, _: Scope, __: Receive, send: Send) -> None:
        async def write(piece: bytes, more: bool = True) -> None:
            async with asyncio.timeout(SEND_SECONDS):
                await send({"type": "http.response.body", "body": piece, "more_body": more})

        async with aclosing(self._events):
            try:
                await send(
                    {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
                )
                await write(self._frame(self._first))
                async for event in self._events:
                    await write(self._frame(event))
            except TimeoutError:
                return
            except errors.AskError as error:
                await write(self._encode(Failed(error)))
            except Exception:
                await write(self._encode(Failed(errors.AskError("internal error"))))
            await write(self._end, more=False)

    def _frame(self, event: Event | None) -> bytes:
        return sse.HEARTBEAT if event is None else self._encode(event)
