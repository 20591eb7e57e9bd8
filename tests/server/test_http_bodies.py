"""Bodies that gzip packed: read as if they were not, bounded as sent and as unpacked.

And large bodies that wait for a thread, whose client hangs up.
"""

import gzip
import json
import os
import socket
import threading
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import httpx
import pytest
from transports import Transports
from waiting import SECONDS, until

from redask.core.access.ask_shares import AskClaim
from redask.core.errors import BadAsk, LimitExceeded
from redask.server import request_json
from redask.server.http import bodies

JSON = {"Content-Type": "application/json"}
ASKED = json.dumps(
    {"question": "When does the ferry leave?", "options": {"using": "scripted"}}
).encode()


@pytest.fixture(scope="module")
def transports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Transports]:
    with Transports(tmp_path_factory.mktemp("bodies") / "db") as opened:
        yield opened


def sent(
    transports: Transports, content: bytes, encoding: str, path: str = "/v1/ask"
) -> httpx.Response:
    headers = {**JSON, "Content-Encoding": encoding}
    if path == "/mcp":
        headers["Accept"] = "application/json, text/event-stream"
    client = transports.clients["mia"].http
    return transports.run(client.post(path, content=content, headers=headers))


PACKED = {
    "one member": gzip.compress(ASKED),
    "two members": gzip.compress(ASKED[:9]) + gzip.compress(ASKED[9:]),
}
BAD = {
    "plain": (ASKED, "gzip"),
    "cut off": (gzip.compress(ASKED)[:-3], "gzip"),
    "more after it": (gzip.compress(ASKED) + b"x", "gzip"),
    "zlib": (zlib.compress(ASKED), "gzip"),
    "deflate": (zlib.compress(ASKED), "deflate"),
    "twice": (gzip.compress(gzip.compress(ASKED)), "gzip, gzip"),
    "brotli": (ASKED, "br"),
    "members without end": (gzip.compress(b"") * (bodies.MAX_MEMBERS + 1), "gzip"),
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "x-gzip"])
def test_a_packed_question_is_answered_as_a_plain_one(
    transports: Transports, packed: str, encoding: str
) -> None:
    plain = sent(transports, ASKED, "identity")
    assert sent(transports, PACKED[packed], encoding).content == plain.content
    assert plain.status_code == 200


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_gzip_is_a_bad_ask(transports: Transports, what: str) -> None:
    reply = sent(transports, *BAD[what])
    shown = reply.json()["error"]
    assert (reply.status_code, shown["detail"]) == (400, "content-encoding")


def test_a_small_body_that_unpacks_to_a_large_one_is_refused(transports: Transports) -> None:
    packed = gzip.compress(b" " * (bodies.MAX_BODY + 1))
    assert len(packed) < 10_000
    for path in ("/v1/ask", "/mcp"):
        reply = sent(transports, packed, "gzip", path)
        assert (reply.status_code, reply.json()["error"]["kind"]) == (413, "limit_exceeded")


def test_mcp_reads_packed_messages(transports: Transports) -> None:
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode()
    reply = sent(transports, gzip.compress(message), "gzip", "/mcp")
    assert reply.status_code == 200
    assert '"id":1' in reply.text.replace(" ", "")


def test_the_bound_is_on_what_is_unpacked_and_nothing_beyond_it_is_made() -> None:
    assert bodies.unpacked(gzip.compress(b"x" * 100), 100) == b"x" * 100
    with pytest.raises(LimitExceeded):
        bodies.unpacked(gzip.compress(b"x" * 101), 100)
    halves = gzip.compress(b"x" * 60) * 2
    with pytest.raises(LimitExceeded):
        bodies.unpacked(halves, 100)
    assert bodies.unpacked(halves, 120) == b"x" * 120
    with pytest.raises(BadAsk):
        bodies.unpacked(b"\x1f\x8b", 100)
    assert bodies.unpacked(b"", 100) == b""


def test_a_bomb_takes_no_more_memory_than_the_bound() -> None:
    bomb = gzip.compress(bytes(64 * 1024 * 1024))
    tracemalloc.start()
    try:
        with pytest.raises(LimitExceeded):
            bodies.unpacked(bomb, 1000)
        assert tracemalloc.get_traced_memory()[1] < 1024 * 1024
    finally:
        tracemalloc.stop()


def test_members_are_joined_wherever_they_end_and_are_so_many_at_most() -> None:
    content = os.urandom(100_000)
    for size in (99, 16_361, 16_384, 50_000):  # within a slice, at its end, and across several
        parts = [content[at : at + size] for at in range(0, len(content), size)]
        packed = b"".join(map(gzip.compress, parts))
        assert bodies.unpacked(packed, len(content)) == content
        with pytest.raises(BadAsk):
            bodies.unpacked(packed[:-1], len(content))
    most = gzip.compress(b"") * bodies.MAX_MEMBERS
    assert bodies.unpacked(most, 100) == b""
    with pytest.raises(BadAsk, match="members"):
        bodies.unpacked(most + gzip.compress(b""), 100)


def test_what_follows_a_member_is_not_copied_for_it() -> None:
    packed = gzip.compress(b"") * 10 + gzip.compress(os.urandom(2 * 1024 * 1024), 0)
    tracemalloc.start()
    try:
        with pytest.raises(LimitExceeded):
            bodies.unpacked(packed, 1000)
        assert tracemalloc.get_traced_memory()[1] < 1024 * 1024
    finally:
        tracemalloc.stop()


def test_a_body_that_waits_is_dropped_when_its_client_hangs_up(
    transports: Transports, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[bytes] = []
    real = request_json.read

    def noted(body: bytes) -> object:
        parsed.append(body)
        return real(body)

    monkeypatch.setattr(request_json, "read", noted)
    large = ASKED + b" " * request_json.LOOP_BYTES
    lines = [
        "POST /v1/ask HTTP/1.1",
        "Host: a",
        f"Authorization: Bearer {transports.tokens['mia']}",
        "Content-Type: application/json",
        f"Content-Length: {len(large)}",
    ]
    head = "\r\n".join([*lines, "", ""]).encode()
    gate, submit = threading.Event(), bodies._for_messages.submit
    busy = [submit(AskClaim(tenant), lambda: gate.wait(SECONDS)) for tenant in ("a", "b")]
    queued: list[Future[Any]] = []

    def kept(claim: AskClaim, work: Callable[[], Any]) -> Future[Any]:
        queued.append(submit(claim, work))
        return queued[-1]

    monkeypatch.setattr(bodies._for_messages, "submit", kept)
    try:
        assert until(lambda: all(each.running() for each in busy))
        port = int(transports.url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as wire:
            wire.sendall(head + large)
            assert until(lambda: queued)
            assert not queued[0].cancelled()
        assert until(queued[0].cancelled, 10)
    finally:
        gate.set()
    assert sent(transports, large + b" ", "identity").status_code == 200
    assert parsed == [large + b" "]
