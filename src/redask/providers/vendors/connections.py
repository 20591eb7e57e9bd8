"""Connections to providers: one HTTP client for each event loop, and limits on replies.

The vendors' SDKs implement the protocols, all over the same HTTP library, which is set up here.

    one client a loop   a connection belongs to the event loop it was opened in: `ClientPerLoop`
                        makes a client at its first use in a loop, keeps its connections open
                        between calls, and closes it on `aclose`, at the latest with the loop
    limits              no redirect is followed (it could send a key elsewhere), no compression
                        requested or accepted, no reply longer than MAX_BYTES, no line of one
                        longer than MAX_LINE_BYTES (SDKs take quadratic time for a line), no
                        successful reply but JSON or an event stream: else `Unreadable`
    timeouts            only connecting has one here; the deadline is the engine's, and cancelling
                        a call closes its connection

`closing_stream` iterates over a vendor's stream. Leaving it early closes the call and exhausts the
SDK's generators, so that no background task is left to do it.
"""

import asyncio
import ssl
import weakref
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import cache
from typing import Generic, TypeVar

import httpx2

MAX_BYTES = 32 * 1024 * 1024  # a stream takes some 250 bytes a token
MAX_LINE_BYTES = 4 * 1024 * 1024
CONNECT_SECONDS = 10.0
TIMEOUT = httpx2.Timeout(None, connect=CONNECT_SECONDS)
_TYPES = ("application/json", "text/event-stream")
_DRAIN_STEPS = 24  # two or three for each nested generator
_T = TypeVar("_T")
Pieces = AsyncGenerator[str, None]


class Unreadable(Exception):
    """A reply that is refused unread; the message is the reason."""


class BoundedBody(httpx2.AsyncByteStream):
    """A reply's body that raises `Unreadable` when it exceeds MAX_BYTES or MAX_LINE_BYTES."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = line = 0
        async for chunk in self._body:
            total += len(chunk)
            end = chunk.rfind(b"\n")
            line = len(chunk) - end - 1 + (line if end < 0 else 0)
            if total > MAX_BYTES or line > MAX_LINE_BYTES:
                raise Unreadable("its reply is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


async def _check_reply(response: httpx2.Response) -> None:
    """Check a reply's headers before its body is read."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise Unreadable("it sent a compressed reply, which we did not ask for")
    kind = response.headers.get("content-type", _TYPES[0]).partition(";")[0].strip().lower()
    if response.is_success and kind not in _TYPES:
        raise Unreadable("its reply is neither JSON nor an event stream")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = BoundedBody(response.stream)


@cache
def _tls_context() -> ssl.SSLContext:
    """The TLS context, made once: reading the system's certificates takes 50 ms."""
    return httpx2.create_ssl_context()


def http_client() -> httpx2.AsyncClient:
    """A client that checks every reply."""
    return httpx2.AsyncClient(
        verify=_tls_context(),
        headers={"Accept-Encoding": "identity"},
        timeout=TIMEOUT,
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        follow_redirects=False,
        event_hooks={"response": [_check_reply]},
    )


class ClientPerLoop(Generic[_T]):
    """One SDK client for each event loop; `make` makes it from an HTTP client."""

    def __init__(self, make: Callable[[httpx2.AsyncClient], _T]) -> None:
        _tls_context()  # now: in `get` it would block the event loop
        self._make = make
        self._made: weakref.WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[_T, AsyncGenerator[None, None]]
        ] = weakref.WeakKeyDictionary()

    async def get(self) -> _T:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._made:
            client = http_client()
            lifespan = _lifespan(client)
            self._made[loop] = self._make(client), lifespan
            await anext(lifespan)
        return self._made[loop][0]

    async def aclose(self) -> None:
        """Close the client of the running loop."""
        _, lifespan = self._made.pop(asyncio.get_running_loop(), (None, None))
        if lifespan is not None:
            await lifespan.aclose()


async def _lifespan(client: httpx2.AsyncClient) -> AsyncGenerator[None, None]:
    """Closes the client when closed; a loop closes its started generators when it shuts down."""
    try:
        yield
    finally:
        await client.aclose()


@asynccontextmanager
async def closing_stream(
    stream: AsyncIterable[_T], close: Callable[[], Awaitable[None]]
) -> AsyncIterator[AsyncIterator[_T]]:
    """The items of a stream, which is closed and exhausted in any case."""
    items = aiter(stream)
    try:
        yield items
    except BaseException:
        await close()
        with suppress(Exception):
            async for _ in items:
                pass
        for _ in range(_DRAIN_STEPS):  # the loop closes generators that the SDK dropped
            await asyncio.sleep(0)
        raise
    await close()
