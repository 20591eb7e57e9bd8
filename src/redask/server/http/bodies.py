"""The bodies of HTTP requests: `read_json`, `read_rows` and `read_message`, bounded all.

    content type    application/json, and nothing else: a page elsewhere may send the others
    encoding        none, or gzip, which is unpacked beside the event loop
    size            bounded as announced, as sent, and once more as unpacked: `LimitExceeded` (413)
    turns           beyond FREE_BYTES a body is read piece by piece in turn with others: `BodyTurns`
    values          bounded before they are parsed: see `request_json`
    time            BODY_SECONDS from the head to the last byte: `BadAsk`

What is no gzip, ends too early or has more than MAX_MEMBERS members is `BadAsk`, and so is any
other encoding. Large bodies are unpacked and parsed by few threads of their own: while one makes
values, the others wait anyway; callers take turns there, and have room for so many bytes
(`body_shares`). What waits there is dropped when its client has disconnected.
"""

import asyncio
import zlib
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request

from redask.core.access.ask_shares import AskClaim
from redask.core.errors import BadAsk, LimitExceeded
from redask.server import request_json
from redask.server.http.body_shares import BodyRoom, BodyTurns, FairThreads
from redask.server.http.request_sessions import claim_of
from redask.server.http.responses import disconnected
from redask.server.http.timeouts import announced

_T = TypeVar("_T")
MAX_BODY = 2 * 1024 * 1024
MAX_ROWS_BODY = 64 * 1024 * 1024
MAX_MEMBERS = 2000  # of a gzip; tools that pack in blocks of 64 KiB make 1,029 of the most rows
BODY_SECONDS = 30.0  # in which a body must have come
JSON = "application/json"
_GZIP = 31  # zlib's number for the gzip format with the largest window
_SLICE = 16 * 1024  # unpacked at once: what follows a member is copied, and that often
FREE_BYTES = 64 * 1024  # that a body has without waiting for its turn
_MADE = 32 * 1024  # of it: a large piece that is thrown away costs more than to unpack it
_room = BodyRoom()
_turns = BodyTurns()
_for_messages = FairThreads(2, "redask-messages")
_for_rows = FairThreads(1, "redask-rows")  # one body of 64 MiB at a time


async def read_json(request: Request) -> object:
    """The JSON of a body."""
    return await read_made(request, lambda value: value)


async def read_made(request: Request, make: Callable[[object], _T]) -> _T:
    """What is made of the JSON of a body, in the thread that parses it."""
    _check_type(request)
    return await _read(
        request, MAX_BODY, _for_messages, lambda whole: make(request_json.read(whole))
    )


async def read_rows(request: Request) -> object:
    """The JSON of a body that may have many rows."""
    _check_type(request)
    parse = partial(request_json.read, rows=True)
    return await _read(request, MAX_ROWS_BODY, _for_rows, parse)


async def read_message(request: Request, most: int) -> bytes:
    """The bytes of a body that somebody else parses, unpacked."""

    def checked(whole: bytes) -> bytes:
        request_json.check_values(whole)
        return whole

    return await _read(request, most, _for_messages, checked)


async def _read(
    request: Request, most: int, threads: FairThreads, parse: Callable[[bytes], _T]
) -> _T:
    is_packed, claim = _is_packed(request), claim_of(request)
    with _room.holding(claim.tenant) as add:
        sent = await _sent(request, most, add, claim.tenant)
        if not is_packed and len(sent) <= request_json.LOOP_BYTES:
            return parse(sent)

        def parsed() -> _T:
            return parse(unpacked(sent, most) if is_packed else sent)

        return await _in_turn(request, claim, threads, parsed)


async def _in_turn(
    request: Request, claim: AskClaim, threads: FairThreads, parsed: Callable[[], _T]
) -> _T:
    queued = threads.submit(claim, parsed)
    watching = asyncio.get_running_loop().create_task(disconnected(request)())
    watching.add_done_callback(lambda done: None if done.cancelled() else queued.cancel())
    try:
        return await asyncio.wrap_future(queued)
    except asyncio.CancelledError:
        if watching.done():
            raise ClientDisconnect from None
        raise
    finally:
        watching.cancel()


def _check_type(request: Request) -> None:
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != JSON:
        raise BadAsk(f"expected the content type {JSON}", detail="content-type")


def _is_packed(request: Request) -> bool:
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", "x-gzip"):
        message = f"expected the content encoding gzip or none, found {encoding[:40]!a}"
        raise BadAsk(message, detail="content-encoding")
    return encoding != "identity"


def unpacked(packed: bytes, most: int) -> bytes:
    """What gzip packed, of one member or several; never more than `most` bytes are made."""
    pieces: list[bytes] = []
    left = most + 1
    place = members = 0
    while place < len(packed):
        members += 1
        if members > MAX_MEMBERS:
            message = f"the gzip of the body has more than {MAX_MEMBERS} members"
            raise BadAsk(message, detail="content-encoding")
        member, waiting = zlib.decompressobj(_GZIP), b""
        while not member.eof:
            if not waiting:
                waiting = packed[place : place + _SLICE]
                place += len(waiting)
            if not waiting:
                raise BadAsk("the gzip of the body ends too early", detail="content-encoding")
            try:
                pieces.append(member.decompress(waiting, min(left, _MADE)))
            except zlib.error:
                raise BadAsk("the body is not gzip", detail="content-encoding") from None
            left -= len(pieces[-1])
            if left <= 0:
                raise LimitExceeded("body", f"the body is longer than {most} bytes, unpacked")
            waiting = member.unconsumed_tail
        place -= len(member.unused_data)
    return b"".join(pieces)


async def _sent(request: Request, most: int, add: Callable[[int], None], tenant: str) -> bytes:
    """The bytes as they came."""
    pieces, size = [], 0
    too_long = LimitExceeded("body", f"the body is longer than {most} bytes")
    if announced(request.headers.raw) > most:
        raise too_long
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                size += len(piece)
                if size > most:
                    raise too_long
                add(len(piece))
                pieces.append(piece)
                if size > FREE_BYTES:
                    await _turns.next(tenant)
    except TimeoutError:
        raise BadAsk(f"the body did not come within {BODY_SECONDS:.0f} seconds") from None
    return b"".join(pieces)
