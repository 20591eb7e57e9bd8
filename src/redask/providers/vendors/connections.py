"""Connections to providers: one client for each event loop, and a guard at the transport.

The vendors' SDKs bring the protocol; what they share is here, for all use the same HTTP library.

    one client a loop   a connection belongs to the event loop it was opened in: `PerLoop` makes a
                        client at its first use in a loop, keeps its connections open between
                        calls, and closes it when told, at the latest when the loop shuts down
    guard               no redirect is followed (it could carry a key elsewhere), no compression
                        asked for or taken, no reply longer than MOST_BYTES, no line of one longer
                        than MOST_LINE_BYTES (SDKs collect a line piece by piece, which costs
                        them its square), nothing in a success but JSON or an event stream: else
                        `Unreadable`
    time                only connecting has a limit of its own; the deadline is the engine's, and
                        cancelling a call closes its connection

`running` iterates over a vendor's stream. Leaving it early closes the call and runs the SDK's
generators dry, so that no task is left behind to do it.
"""

import asyncio
import ssl
import weakref
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import cache
from typing import Generic, TypeVar

import httpx2

MOST_BYTES = 32 * 1024 * 1024  # a stream spends some 250 bytes on a token
MOST_LINE_BYTES = 4 * 1024 * 1024
CONNECT_SECONDS = 10.0
TIMEOUT = httpx2.Timeout(None, connect=CONNECT_SECONDS)
_TYPES = ("application/json", "text/event-stream")
_TURNS = 24  # two or three for each generator inside another
_T = TypeVar("_T")
Pieces = AsyncGenerator[str, None]


class Unreadable(Exception):
    """A reply that nobody should try to read, and why."""


class BoundedBody(httpx2.AsyncByteStream):
    """A reply's body that ends with `Unreadable` when it is too long."""

    def __init__(self, body: httpx2.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = line = 0
        async for chunk in self._body:
            total += len(chunk)
            end = chunk.rfind(b"\n")
            line = len(chunk) - end - 1 + (line if end < 0 else 0)
            if total > MOST_BYTES or line > MOST_LINE_BYTES:
                raise Unreadable("its reply is too long")
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


async def _guard(response: httpx2.Response) -> None:
    """Look at a reply's head before anybody reads its body."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise Unreadable("it sent a compressed reply, which we did not ask for")
    kind = response.headers.get("content-type", _TYPES[0]).partition(";")[0].strip().lower()
    if response.is_success and kind not in _TYPES:
        raise Unreadable("its reply is neither JSON nor an event stream")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = BoundedBody(response.stream)


@cache
def _trust() -> ssl.SSLContext:
    """Whom to believe; reading the machine's certificates takes 50 ms, so once is enough."""
    return httpx2.create_ssl_context()


def http_client() -> httpx2.AsyncClient:
    """A client with the guard at its transport."""
    return httpx2.AsyncClient(
        verify=_trust(),
        headers={"Accept-Encoding": "identity"},
        timeout=TIMEOUT,
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=20),
        follow_redirects=False,
        event_hooks={"response": [_guard]},
    )


class PerLoop(Generic[_T]):
    """What `make` makes of an HTTP client, once for each event loop."""

    def __init__(self, make: Callable[[httpx2.AsyncClient], _T]) -> None:
        _trust()  # now, where waiting holds nobody up
        self._make = make
        self._made: weakref.WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[_T, AsyncGenerator[None, None]]
        ] = weakref.WeakKeyDictionary()

    async def get(self) -> _T:
        """The one of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._made:
            client = http_client()
            life = _life(client)
            self._made[loop] = self._make(client), life
            await anext(life)
        return self._made[loop][0]

    async def aclose(self) -> None:
        """Close the one of the running loop."""
        _, life = self._made.pop(asyncio.get_running_loop(), (None, None))
        if life is not None:
            await life.aclose()


async def _life(client: httpx2.AsyncClient) -> AsyncGenerator[None, None]:
    """Once begun, it is known to the loop, which closes it at the end, and so the client."""
    try:
        yield
    finally:
        await client.aclose()


@asynccontextmanager
async def running(
    stream: AsyncIterable[_T], close: Callable[[], Awaitable[None]]
) -> AsyncIterator[AsyncIterator[_T]]:
    """The items of a stream, which is closed and finished in any case."""
    items = aiter(stream)
    try:
        yield items
    except BaseException:
        await close()
        with suppress(Exception):
            async for _ in items:
                pass
        for _ in range(_TURNS):  # the loop closes what the SDK's generators let go of
            await asyncio.sleep(0)
        raise
    await close()
