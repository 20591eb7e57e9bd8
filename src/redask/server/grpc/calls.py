"""gRPC calls between gRPC's threads, which wait, and the event loop, which answers.

`Calls(work…)` are handlers for `grpc.server`. Each call has a thread of gRPC's pool while it runs,
and a coroutine on the loop, `work(call)`, that does everything; the thread only reads the request
message, when the coroutine wants it, and writes what it answers.

    call.token()      the header `authorization`
    call.message()    the request message, END when there is none
    call.write(…)     one response message
    call.fail(…)      end with this status; only before the first message

Why not grpcio's asyncio server: 1.85's ends, with every call on it, when an unauthenticated client
names a method in bytes that are no UTF-8 (the decoding stands outside any `try`).

To gRPC each call takes and gives a stream, of which we read one message: on the wire that is the
same. A call that ends without its message would otherwise be none of ours to answer, and one with
another message would be taken for a failure of ours. The handlers are `experimental_non_blocking`
(as gRPC's own health service is), which lets the coroutine end a call whose thread still waits.

A client that cancels or disconnects, or whose deadline passes, cancels the coroutine. One that
does not read its response is cancelled after READ_SECONDS, so that no client holds a thread.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final
from urllib.parse import unquote

import grpc
from google.protobuf.message import DecodeError

END: Final = object()
_READ: Final = object()  # the coroutine wants the request message
_TOKEN = "authorization"
READ_SECONDS = 30.0  # in which the last of a response must have been read
SWEEP_SECONDS = 5.0

Work = Callable[["GrpcCall"], Coroutine[Any, Any, None]]


class GrpcCall:
    """One call; its coroutine uses what is public, its thread the rest."""

    def __init__(self, context: Any, send: Callable[[Any], None]) -> None:
        self._context = context
        self._send = send
        self._arrived: Future[Any] = Future()
        self._responses: SimpleQueue[Any] = SimpleQueue()
        self._failed = False
        self._finished_at: float | None = None

    def token(self) -> str | None:
        """The header `authorization`."""
        return token_of(self._context)

    @property
    def address(self) -> str:
        """Where the client is."""
        return address_of(self._context)

    async def message(self, seconds: float) -> Any:
        """The request message; END when there was none, bytes when they are no message.

        Nothing of it is read before this: whoever does not sign in makes us read nothing.
        """
        self._responses.put(_READ)
        async with asyncio.timeout(seconds):
            return await asyncio.wrap_future(self._arrived)

    def write(self, message: Any) -> None:
        """One response message."""
        self._responses.put(message)

    def fail(self, code: grpc.StatusCode, text: str, trailers: Mapping[str, bytes]) -> None:
        """End the call with this status. It takes no time, and frees the thread if it waits."""
        self._failed = True
        self._context.set_trailing_metadata(tuple(trailers.items()))
        self._context.set_code(code)
        self._context.set_details(text)
        self._send(None)

    def _serve(self, requests: Any, loop: asyncio.AbstractEventLoop, work: Work) -> None:
        """The thread's part."""
        answering = asyncio.run_coroutine_threadsafe(work(self), loop)
        answering.add_done_callback(self._finished)
        if not self._context.add_callback(answering.cancel):
            answering.cancel()
        while (response := self._responses.get()) is not END:
            if response is not _READ:
                self._send(response)
                continue
            message = first(requests)
            with suppress(InvalidStateError):  # the coroutine ended without it
                self._arrived.set_result(message)
        if not self._failed:
            self._send(None)

    def _finished(self, answering: Future[None]) -> None:
        if answering.cancelled() and not self._failed:
            self.fail(grpc.StatusCode.CANCELLED, "cancelled by the client", {})
        self._finished_at = time.monotonic()
        self._responses.put(END)

    def _cancel_if_unread(self, now: float) -> None:
        if self._finished_at is not None and now - self._finished_at > READ_SECONDS:
            self._context.cancel()


class Calls:
    """The calls that are open."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._open: set[GrpcCall] = set()
        self._sweeping = self._loop.create_task(self._sweep())

    def handler(self, work: Work, kind: Any) -> grpc.RpcMethodHandler:
        """The handler of one method: `work` answers each call, whose messages are of a kind."""

        def behave(requests: Any, context: Any, send: Callable[[Any], None]) -> None:
            call = GrpcCall(context, send)
            self._open.add(call)
            try:
                call._serve(requests, self._loop, work)
            finally:
                self._open.discard(call)

        behave.experimental_non_blocking = True  # type: ignore[attr-defined]
        return grpc.stream_stream_rpc_method_handler(behave, reader(kind), write)

    def close(self) -> None:
        """Stop looking for responses that are not read."""
        self._sweeping.cancel()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = time.monotonic()
            for call in list(self._open):
                call._cancel_if_unread(now)


def token_of(context: Any) -> str | None:
    """The header `authorization` of a call; two of them sign nobody in."""
    given = [value for name, value in context.invocation_metadata() or () if name == _TOKEN]
    return ",".join(map(str, given)) if given else None


def address_of(context: Any) -> str:
    """Where the client of a call is, of `ipv4:10.0.0.1:5000` or `ipv6:[::1]:5000`."""
    kind, _, rest = unquote(str(context.peer())).partition(":")
    host = rest.rpartition(":")[0] if kind in ("ipv4", "ipv6") else rest
    return host.removeprefix("[").removesuffix("]")


def first(requests: Any) -> Any:
    """The first message of a call, when it has come; END when there is none."""
    try:
        return next(requests, END)
    except grpc.RpcError:  # the client cancelled
        return END


def reader(kind: Any) -> Callable[[bytes], object]:
    """Reads messages of a kind; bytes that are none are returned as they are, to be refused."""

    def read(given: bytes) -> object:
        try:
            return kind.FromString(given)
        except DecodeError:
            return given

    return read


def write(message: Any) -> Any:
    """A message's bytes."""
    return message.SerializeToString()
