"""JSON-RPC 2.0, one message a line: `serve(session, lines, write)`; `redask rpc` is its transport.

    ask, explain, search    {"question", "options"}      the envelope · the plan · {"hits"}
    query                   {"statement", "params"}      {"rows"}
    stream                  {"question", "options"}      notifications `frame`, then the envelope
    cancel                  {"id"}                       whether that request was running

A frame is `{"id", "name", "payload"}`, the request's id with the frame as every transport has it.
Requests run side by side, and answers come as they are ready; a batch is answered as a whole.
Without an `id` a request is a notification: it runs, and has no response. A line that is no
message gets an error with id null, and the next line is read. When the input ends, what runs is
finished; when the output is closed, it is cancelled, and audited as such.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from redask.api.asynchronous import AsyncDatabase
from redask.core.access.ask_shares import ALONE
from redask.core.errors import AskError, BadAsk, Cancelled
from redask.core.model import Answered, Failed
from redask.core.wire import envelope, frames, outcomes
from redask.core.wire import json as canonical
from redask.server import request_json
from redask.server.admission import Admission

MAX_LINE = 4 * 1024 * 1024
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
_MAX_BATCH = 1000
_MAX_RUNNING = 1024

Write = Callable[[bytes], Awaitable[None]]
_Work = Callable[[dict[str, Any], object], Awaitable[object]]


class _Problem(Exception):
    """A message that cannot be run; without a response, if it was a valid notification."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.has_response = code == INVALID_REQUEST


class JsonRpcTransport:
    """One dispatcher."""

    def __init__(self, session: AsyncDatabase, admission: Admission, write: Write) -> None:
        self._session = session
        self._admission = admission
        self._write = write
        self.closed = asyncio.Event()  # the client does not read any more
        self._running: dict[object, asyncio.Task[object]] = {}
        self._methods: dict[str, _Work] = {
            "ask": self._ask,
            "explain": self._explain,
            "search": self._search,
            "query": self._query,
            "stream": self._stream,
            "cancel": self._cancel,
        }

    async def take(self, line: bytes) -> None:
        """Answer one line: a request, a notification, a batch, or garbage."""
        if len(line) > MAX_LINE:
            await self._send(_error(None, PARSE_ERROR, f"a line is longer than {MAX_LINE} bytes"))
            return
        try:
            message = request_json.read(line)
        except BadAsk as error:
            await self._send(_error(None, PARSE_ERROR, error.message))
            return
        if not isinstance(message, list):
            reply = await self._one(message)
            if reply is not None:
                await self._send(reply)
        elif not message or len(message) > _MAX_BATCH:
            await self._send(
                _error(None, INVALID_REQUEST, f"a batch has 1 to {_MAX_BATCH} requests")
            )
        else:
            replies = await asyncio.gather(*map(self._one, message))
            if responses := [reply for reply in replies if reply is not None]:
                await self._send(responses)

    async def _one(self, message: object) -> dict[str, object] | None:
        """The reply to one request; None for a notification."""
        name = message.get("id") if isinstance(message, dict) else None
        try:
            method, params, name = _request(message)
            work = self._methods.get(method)
            if work is None:
                known = ", ".join(self._methods)
                raise _Problem(METHOD_NOT_FOUND, f"there is no method {method[:60]!a}: {known}")
            result = await self._run(work, params, name)
        except _Problem as problem:
            if problem.has_response or _is_name(name):
                return _error(name if _is_name(name) else None, problem.code, str(problem))
            return None
        except asyncio.CancelledError:
            return None if name is None else _failed(name, Cancelled("the request was cancelled"))
        except Exception as error:
            return None if name is None else _failed(name, error)
        return None if name is None else {"id": name, "jsonrpc": "2.0", "result": result}

    async def _run(self, work: _Work, params: dict[str, Any], name: object) -> object:
        if name is None:
            return await work(params, name)
        if name in self._running:
            raise _Problem(INVALID_REQUEST, "a request with this id is running")
        task = asyncio.ensure_future(work(params, name))
        self._running[name] = task
        try:
            return await task
        finally:
            del self._running[name]
            task.cancel()

    async def _ask(self, params: dict[str, Any], _: object) -> object:
        ask = request_json.asked(request_json.fields(params, ("question", "options"), "params"))
        return envelope.build(await self._admission.run(lambda: self._session.answer(ask)))

    async def _explain(self, params: dict[str, Any], _: object) -> object:
        ask = request_json.asked(request_json.fields(params, ("question", "options"), "params"))
        return await self._admission.run(lambda: self._session.plan(ask))

    async def _search(self, params: dict[str, Any], _: object) -> object:
        ask = request_json.asked(request_json.fields(params, ("question", "options"), "params"))
        return (await self._admission.run(lambda: self._session.find(ask))).to_dict()

    async def _query(self, params: dict[str, Any], _: object) -> object:
        given = request_json.fields(params, ("statement", "params"), "params")
        statement, values = given.get("statement"), given.get("params", [])
        if not isinstance(statement, str) or not isinstance(values, list):
            raise BadAsk("expected a statement as text, and params as a list", detail="params")
        return {"rows": await self._admission.run(lambda: self._session.query(statement, values))}

    async def _stream(self, params: dict[str, Any], name: object) -> object:
        ask = request_json.asked(request_json.fields(params, ("question", "options"), "params"))
        stream = self._admission.stream(lambda emit: self._session.answer(ask, emit))
        async with aclosing(stream) as events:
            async for event in events:
                if event is None:
                    continue
                frame = frames.of(event)
                sent = {"id": name, "name": frame.name, "payload": frame.payload}
                await self._send({"jsonrpc": "2.0", "method": "frame", "params": sent})
                if isinstance(event, Failed):
                    raise event.error
                if isinstance(event, Answered):
                    return envelope.build(event.answer)
        raise Cancelled("the stream ended without an answer")

    async def _cancel(self, params: dict[str, Any], _: object) -> object:
        wanted = request_json.fields(params, ("id",), "params").get("id")
        running = self._running.get(wanted) if _is_name(wanted) else None
        if running is not None:
            running.cancel()
        return running is not None

    async def _send(self, message: object) -> None:
        try:
            await self._write(canonical.encode(message) + b"\n")
        except OSError:
            self.closed.set()


async def serve(
    session: AsyncDatabase,
    lines: AsyncIterator[bytes],
    write: Write,
    admission: Admission | None = None,
) -> None:
    """Answer lines until there are no more, and wait for what still runs."""
    room = admission or Admission(quota=ALONE)
    transport = JsonRpcTransport(session, room, write)
    running: set[asyncio.Task[None]] = set()
    closed = asyncio.ensure_future(transport.closed.wait())
    reading: asyncio.Future[bytes | None] | None = None
    try:
        while not closed.done():
            reading = asyncio.ensure_future(anext(lines, None))
            await asyncio.wait([reading, closed], return_when=asyncio.FIRST_COMPLETED)
            if not reading.done() or (line := reading.result()) is None:
                break
            if line.strip():
                task = asyncio.ensure_future(transport.take(line))
                running.add(task)
                task.add_done_callback(running.discard)
            if len(running) >= _MAX_RUNNING:  # a client that does not read its responses
                await asyncio.wait([*running, closed], return_when=asyncio.FIRST_COMPLETED)
        if running:
            ending = asyncio.ensure_future(asyncio.wait(set(running)))
            await asyncio.wait([ending, closed], return_when=asyncio.FIRST_COMPLETED)
    finally:
        closed.cancel()
        if reading is not None:
            reading.cancel()
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(set(running))
        await room.close(0)


async def split(chunks: AsyncIterator[bytes], most: int = MAX_LINE) -> AsyncIterator[bytes]:
    """The lines of what comes in pieces; of one that is too long, only enough to refuse it."""
    held = bytearray()
    async for chunk in chunks:
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            held += piece
            yield bytes(held)
            held.clear()
        held += rest
        del held[most + 1 :]
    if held:
        yield bytes(held)


def _request(message: object) -> tuple[str, dict[str, Any], object]:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise _Problem(INVALID_REQUEST, 'a request is an object with "jsonrpc": "2.0"')
    method, params, name = message.get("method"), message.get("params", {}), message.get("id")
    if not isinstance(method, str):
        raise _Problem(INVALID_REQUEST, "a request has a method")
    if "id" in message and not _is_name(name):
        raise _Problem(INVALID_REQUEST, "an id is a text or an integer")
    if not isinstance(params, dict):
        raise _Problem(outcomes.of(BadAsk("")).jsonrpc, "params are an object")
    return method, params, name


def _is_name(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _error(name: object, code: int, message: str) -> dict[str, object]:
    return {"error": {"code": code, "message": message}, "id": name, "jsonrpc": "2.0"}


def _failed(name: object, error: BaseException) -> dict[str, object]:
    shown = _error(name, outcomes.of(error).jsonrpc, outcomes.message(error))
    if isinstance(error, AskError):
        shown["error"] = {**dict(shown["error"]), "data": outcomes.body(error)}  # type: ignore[call-overload]
    return shown
