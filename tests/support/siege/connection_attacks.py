"""Attacks by connections: idle, dripping, hung up, with bodies, with wrong tokens, with bombs."""

import gzip
import json
import secrets
import socket
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import psycopg

from siege.attack import HOST, Target, at_once
from siege.clients import requested

IDLE, DRIPPING, BODIES = 1100, 200, 100
_HEAD = b"POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
_STARTUP = struct.pack("!II", 300, 196608) + b"user\0eve\0database\0" + b"x" * 500
_SLOW = [
    "SELECT count(*) FROM generate_series(1, 1000000000000)",
    f"SELECT {'char(' * 180}1{')' * 180}",
    "SELECT repeat('x', 9999) ~ '(x+x+)+y'",
]


def _connected(target: Target, port: int) -> socket.socket | None:
    try:
        made = socket.create_connection((HOST, port), 5)
    except OSError:
        target.note("not connected")
        return None
    made.setblocking(False)
    target.note("connected")
    return made


def _is_open(each: socket.socket) -> bool:
    try:
        return each.recv(4096, socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


def _held(
    target: Target, port: int, count: int, pieces: Callable[[int], bytes], every: float
) -> None:
    """Keep so many connections open, and send the next piece on each; who is closed comes back."""
    there: list[socket.socket] = []
    step = 0
    try:
        while not target.over():
            for each in [each for each in there if not _is_open(each)]:
                target.note("closed")
                there.remove(each)
                each.close()
            while len(there) < count and not target.over():
                made = _connected(target, port)
                if made is None:
                    break
                there.append(made)
            for each in there:
                with suppress(OSError):
                    each.send(pieces(step))
            step += 1
            time.sleep(min(every, target.left()))
    finally:
        for each in there:
            each.close()


def idle(wire: bool) -> Callable[[Target], None]:
    """Connections that say nothing."""

    def run(target: Target) -> None:
        port = target.at.pg_port if wire else target.at.http_port
        _held(target, port, IDLE, lambda _: b"", 1.0)

    return run


def dripping(wire: bool) -> Callable[[Target], None]:
    """Connections that say a byte in half a second."""
    said = _STARTUP if wire else _HEAD + b"X-Long: " + b"a" * 4000

    def run(target: Target) -> None:
        port = target.at.pg_port if wire else target.at.http_port
        _held(target, port, DRIPPING, lambda step: said[step % len(said) :][:1], 0.5)

    return run


def dripping_bodies(target: Target) -> None:
    """Clients without a token that announce 60 MB, and send a little of it now and then."""
    head = _HEAD + b"Content-Length: 60000000\r\n\r\n"

    def pieces(step: int) -> bytes:
        return head if step == 0 else b"[" * 1024

    _held(target, target.at.http_port, BODIES, pieces, 0.2)


def bodies(target: Target) -> None:
    """A hundred clients without a token, each with a body of 60 MB as fast as it can."""
    path = b"PUT /v1/collections/notes/entities HTTP/1.1\r\nHost: localhost\r\n"
    head = path + b"Content-Type: application/json\r\nContent-Length: 60000000\r\n\r\n"
    piece = b"[" * 65536

    def one(_: Target, number: int) -> None:
        with socket.create_connection((HOST, target.at.http_port), 5) as made:
            made.settimeout(2)
            made.sendall(head)
            for sent in range(900):
                made.sendall(piece)
                if target.over():
                    target.note(f"taken for {sent // 100 * 100} pieces")
                    return
            target.note("taken whole")

    at_once(target, BODIES, one)


def hung_up(target: Target) -> None:
    """Requests of a reader who closes the connection at once, and asks the next."""

    def one(_: Target, number: int) -> None:
        question = {"question": "How many films of which director " * 900}
        sql = {"statement": _SLOW[number % len(_SLOW)]}
        path, body = (b"ask", question) if number % 2 else (b"query", sql)
        sent = json.dumps(body).encode()
        head = b"POST /v1/%b HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %b\r\n" % (
            path,
            target.at.reader.encode(),
        )
        head += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(sent)
        with socket.create_connection((HOST, target.at.http_port), 5) as made:
            made.sendall(head + sent)
        target.note("left")
        time.sleep(0.05)

    at_once(target, 16, one)


def wrong_tokens(target: Target) -> None:
    """Tokens that nobody has, over HTTP and the Postgres wire."""

    def one(_: Target, number: int) -> None:
        token = f"{target.at.reader[:8]}{secrets.token_urlsafe(32)}"
        if number % 4:
            target.note(requested(target, "POST", "/v1/ask", b'{"question":"a"}', token=token))
            return
        try:
            psycopg.connect(
                host=HOST,
                port=target.at.pg_port,
                user=f"eve{number}",
                password=token,
                dbname="south",
                connect_timeout=5,
            ).close()
        except psycopg.OperationalError as error:
            target.note("wire 28P01" if "28P01" in str(error) else "wire refused")

    at_once(target, 16, one)


def make_gzip_bombs(scratch: Path) -> None:
    """Two megabytes that unpack to two gigabytes."""
    (scratch / "zeros.gz").write_bytes(gzip.compress(bytes(1 << 28), 9) * 7)


def gzip_bombs(target: Target) -> None:
    """Bodies that are much larger than they may be, once they are unpacked."""
    bomb = (target.scratch / "zeros.gz").read_bytes()
    _packed(target, [("POST", "/v1/ask", bomb, target.at.reader)])


def make_body_bombs(scratch: Path) -> None:
    """JSON of 60 MB: many objects, nested deep, a long number."""
    made = {
        "many": b'{"rows":[' + b"{}," * 20_000_000 + b"{}]}",
        "deep": b'{"rows":' + b"[" * 30_000_000,
        "number": b'{"rows":[{"id":' + b"9" * 60_000_000 + b"}]}",
        "rows": b'{"rows":[' + b'{"id":1,"a":[0]},' * 3_000_000 + b'{"id":2}]}',
    }
    for name, text in made.items():
        (scratch / f"{name}.json.gz").write_bytes(gzip.compress(text, 6))


def body_bombs(target: Target) -> None:
    """JSON of an owner that is small as sent, and large, deep or many in memory."""
    files = sorted(target.scratch.glob("*.json.gz"))
    path = "/v1/collections/bombs/entities"
    _packed(target, [("PUT", path, each.read_bytes(), target.at.owner) for each in files], 6)


def _packed(
    target: Target, requests: Sequence[tuple[str, str, bytes, str]], at_a_time: int = 16
) -> None:
    def one(_: Target, number: int) -> None:
        method, path, body, token = requests[number % len(requests)]
        target.note(requested(target, method, path, body, token=token, Content_Encoding="gzip"))

    at_once(target, at_a_time, one)
