"""The bodies of HTTP requests: `read_json` and `read_bytes`, neither too large nor too slow.

    content type    application/json, and nothing else: a page elsewhere may send the others
    encoding        none, or gzip, which is unpacked beside the event loop
    size            bounded as sent, and once more as unpacked: `LimitExceeded` (413)
    time            BODY_SECONDS from the head to the last byte: `BadAsk`

What is no gzip, or ends too early, is `BadAsk`, and so is any other encoding.
"""

import asyncio
import zlib

from starlette.requests import Request

from redask.core.errors import BadAsk, LimitExceeded
from redask.server import request_json

MAX_BODY = 2 * 1024 * 1024
MAX_ROWS_BODY = 64 * 1024 * 1024
BODY_SECONDS = 30.0  # in which a body must have come
JSON = "application/json"
_ELSEWHERE = 256 * 1024  # a body of this size is parsed in a thread
_GZIP = 31  # zlib's number for the gzip format with the largest window


async def read_json(request: Request, most: int = MAX_BODY) -> object:
    """The JSON of a body."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != JSON:
        raise BadAsk(f"expected the content type {JSON}", detail="content-type")
    whole = await read_bytes(request, most)
    if len(whole) < _ELSEWHERE:
        return request_json.read(whole)
    return await asyncio.to_thread(request_json.read, whole)


async def read_bytes(request: Request, most: int) -> bytes:
    """The bytes of a body, unpacked."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", "x-gzip"):
        message = f"expected the content encoding gzip or none, found {encoding[:40]!a}"
        raise BadAsk(message, detail="content-encoding")
    sent = await _sent(request, most)
    if encoding == "identity":
        return sent
    return await asyncio.to_thread(unpacked, sent, most)


def unpacked(packed: bytes, most: int) -> bytes:
    """What gzip packed, of one member or several; never more than `most` bytes are made."""
    pieces: list[bytes] = []
    left = most + 1
    while packed:
        member = zlib.decompressobj(_GZIP)
        try:
            pieces.append(member.decompress(packed, left))
        except zlib.error:
            raise BadAsk("the body is not gzip", detail="content-encoding") from None
        left -= len(pieces[-1])
        if left <= 0:
            raise LimitExceeded("body", f"the body is longer than {most} bytes, unpacked")
        if not member.eof:
            raise BadAsk("the gzip of the body ends too early", detail="content-encoding")
        packed = member.unused_data
    return b"".join(pieces)


async def _sent(request: Request, most: int) -> bytes:
    """The bytes as they came."""
    pieces, size = [], 0
    request.state.unread = True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                size += len(piece)
                if size > most:
                    raise LimitExceeded("body", f"the body is longer than {most} bytes")
                pieces.append(piece)
    except TimeoutError:
        raise BadAsk(f"the body did not come within {BODY_SECONDS:.0f} seconds") from None
    request.state.unread = False
    return b"".join(pieces)
