"""gRPC calls between two worlds: gRPC's threads, which wait, and the loop, which answers.

`Calls(work…)` are handlers for `grpc.server`. Each call has a thread of gRPC's pool while it runs,
and a coroutine on the loop, `work(line)`, that does everything; the thread only waits for the
call's message, and writes what the coroutine gives it.

    line.token()      the header `authorization`
    line.message()    the call's message, END when there is none
    line.write(…)     one message to the caller
    line.fail(…)      end with this status; only before the first message

Why not grpcio's asyncio server: 1.85's ends, with every call on it, when a stranger names a method
in bytes that are no UTF-8 (the decoding stands outside any `try`).

To gRPC each call takes and gives a stream, of which we read one message: on the wire that is the
same. A call that ends without its message would otherwise be none of ours to answer, and one with
another message would be taken for a failure of ours. The handlers are `experimental_non_blocking`
(as gRPC's own health service is), which lets the coroutine end a call whose thread still waits.

A caller who leaves, or whose deadline passes, cancels the coroutine. One who does not take what
was answered is cut off after TAKING_SECONDS, so that nobody holds a thread for ever.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError

END: Final = object()
TAKING_SECONDS = 30.0  # in which the last of an answer must have been taken
SWEEP_SECONDS = 5.0

Work = Callable[["GrpcCall"], Coroutine[Any, Any, None]]


class GrpcCall:
    """One call; its coroutine uses what is public, its thread the rest."""

    def __init__(self, context: Any, send: Callable[[Any], None]) -> None:
        self._context = context
        self._send = send
        self._arrived: Future[Any] = Future()
        self._given: SimpleQueue[Any] = SimpleQueue()
        self._failed = False
        self._answered: float | None = None

    def token(self) -> str | None:
        """What the caller shows."""
        given = dict(self._context.invocation_metadata() or ()).get("authorization")
        return None if given is None else str(given)

    async def message(self, seconds: float) -> Any:
        """The call's message; END when it ended without, bytes when they are no message."""
        if self._arrived.done():
            return self._arrived.result()
        async with asyncio.timeout(seconds):
            return await asyncio.wrap_future(self._arrived)

    def write(self, message: Any) -> None:
        """One message to the caller."""
        self._given.put(message)

    def fail(self, code: grpc.StatusCode, text: str, trailers: Mapping[str, bytes]) -> None:
        """End the call with this status. It takes no time, and frees the thread if it waits."""
        self._failed = True
        self._context.set_trailing_metadata(tuple(trailers.items()))
        self._context.set_code(code)
        self._context.set_details(text)
        self._send(None)

    def _carry(self, requests: Any, loop: asyncio.AbstractEventLoop, work: Work) -> None:
        """The thread's part."""
        answering = asyncio.run_coroutine_threadsafe(work(self), loop)
        answering.add_done_callback(self._over)
        if not self._context.add_callback(answering.cancel):
            answering.cancel()
        message = first(requests)
        with suppress(InvalidStateError):  # nobody waits for it any more
            self._arrived.set_result(message)
        while (given := self._given.get()) is not END:
            self._send(given)
        if not self._failed:
            self._send(None)

    def _over(self, answering: Future[None]) -> None:
        if answering.cancelled() and not self._failed:
            self.fail(grpc.StatusCode.CANCELLED, "the caller left", {})
        self._answered = time.monotonic()
        self._given.put(END)

    def _cut(self, now: float) -> None:
        if self._answered is not None and now - self._answered > TAKING_SECONDS:
            self._context.cancel()


class Calls:
    """The calls that are open."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: set[GrpcCall] = set()
        self._sweeping = self._loop.create_task(self._sweep())

    def handler(self, work: Work, kind: Any) -> grpc.RpcMethodHandler:
        """The handler of one method: `work` answers each call, whose messages are of a kind."""

        def behave(requests: Any, context: Any, send: Callable[[Any], None]) -> None:
            line = GrpcCall(context, send)
            self._lines.add(line)
            try:
                line._carry(requests, self._loop, work)
            finally:
                self._lines.discard(line)

        behave.experimental_non_blocking = True  # type: ignore[attr-defined]
        return grpc.stream_stream_rpc_method_handler(behave, reader(kind), write)

    def close(self) -> None:
        """Look after them no more."""
        self._sweeping.cancel()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = time.monotonic()
            for line in list(self._lines):
                line._cut(now)


def first(requests: Any) -> Any:
    """The first message of a call, when it has come; END when there is none."""
    try:
        return next(requests, END)
    except grpc.RpcError:  # the caller left
        return END


def reader(kind: Any) -> Callable[[bytes], object]:
    """Reads messages of a kind; bytes that are none are handed on, to be refused."""

    def read(given: bytes) -> object:
        try:
            return kind.FromString(given)
        except DecodeError:
            return given

    return read


def write(message: Any) -> Any:
    """A message's bytes."""
    return message.SerializeToString()
