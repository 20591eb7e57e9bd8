"""Bad HTTP: many requests a connection, each with its reply, then one that ends it badly.

A connection carries up to BATCH requests ahead of their replies. All but the last are framed
rightly, whatever else is wrong with them, and each must get one whole reply below 500 in the one
error shape. The last one may be anything; then the socket is half closed, reset, or left to drip.
"""

import json
import random
import select
import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mutations import ODD, SPICE, Asked, bad_json, mangled, options, written
from served import Served, Silence
from waiting import SECONDS

BATCH = 60
SLOW = 20  # connections that drip
Judge = Callable[[int, bytes], None]


class Violation(Exception):
    """A promise that does not hold."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent, and who looks at the reply."""

    sent: bytes
    judge: Judge
    bodiless: bool = False


@dataclass(slots=True)
class Drip:
    """A connection that sends a byte now and then."""

    wire: socket.socket
    rest: bytes
    since: float


def head(method: str, path: str, *lines: bytes) -> bytes:
    return b"\r\n".join([f"{method} {path} HTTP/1.1\r\nHost: a".encode(), *lines, b"", b""])


def refused(status: int, body: bytes) -> None:
    """Any reply but one of ours that failed."""
    if status >= 500 or status < 200:
        raise Violation(f"status {status}: {body[:300]!r}")
    if status >= 400:
        shown = json.loads(body)["error"]
        if not isinstance(shown["message"], str):
            raise Violation(f"an error without a message: {body[:300]!r}")


class HttpFuzz:
    """One transport, attacked."""

    name = "http"

    def __init__(self, server: Served, token: str, asked: Asked) -> None:
        self.server = server
        self.asked = asked
        self.token = f"Authorization: Bearer {token}".encode()
        self.slow: list[Drip] = []

    def batch(self, rng: random.Random) -> int:
        """Send a connection's worth. → how many messages it was"""
        requests = [self.request(rng) for _ in range(rng.randrange(BATCH))]
        last = self.breaking(rng) if rng.random() < 0.8 else b""
        manner = rng.random()
        with self.connect() as wire:
            wire.setblocking(False)
            if manner < 0.04:  # the client vanishes while it is answered
                self._exchange(
                    wire, b"".join(each.sent for each in requests) + last, lambda _: True
                )
                wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return len(requests) + 1
            received = Replies(requests)
            self._exchange(wire, b"".join(each.sent for each in requests), received.take)
            if last:
                self._end_badly(wire, last)
        self._drip(rng)
        return len(requests) + bool(last)

    def honest(self) -> None:
        """A new client asks, and is answered."""
        question = self.asked.new()
        body = written({"question": question, "options": {"using": "scripted"}})
        lines = (self.token, b"Content-Type: application/json", b"Content-Length: %d" % len(body))

        def judge(status: int, reply: bytes) -> None:
            if status != 200 or not json.loads(reply)["citations"]:
                raise Violation(f"an honest client heard {status}: {reply[:300]!r}")
            self.asked.receive(question)

        request = Request(head("POST", "/v1/ask", *lines) + body, judge)
        with self.connect() as wire:
            wire.setblocking(False)
            self._exchange(wire, request.sent, Replies([request]).take)

    def close(self) -> None:
        for each in self.slow:
            each.wire.close()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.server.port), timeout=SECONDS)

    # --- what is sent --------------------------------------------------------------------

    def request(self, rng: random.Random) -> Request:
        """A request that is framed rightly."""
        kind = rng.random()
        if kind < 0.008:
            return self._ask(rng)
        if kind < 0.15:
            return self._post(rng, "/v1/ask", written({}), token=rng.choice((b"", b"x", None)))
        if kind < 0.35:
            given = {"question": "ferry", "options": options(rng), "stream": rng.choice(ODD)}
            return self._post(rng, "/v1/ask", bad_json(rng, given))
        if kind < 0.45:
            given = {"statement": f"SELECT {rng.choice(ODD)} FROM", "params": rng.choice(ODD)}
            return self._post(rng, "/v1/query", bad_json(rng, given))
        if kind < 0.5:
            rows = {"rows": [{"id": 1, "text": "x"}], "kind": "row"}
            path = f"/v1/collections/{rng.choice(('notes', '%00', 'a' * 300, '%ff'))}/entities"
            return self._post(rng, path, bad_json(rng, rows), method="PUT")
        if kind < 0.6:
            urn = mangled(rng, b"urn%3Areddb%3Arow%3Anotes%2F1").translate(None, b" \r\n\0\t#?")
            target = "/v1/sources/" + urn.decode("ascii", "ignore").replace("\x7f", "")
            return Request(head("GET", printable(target), self.token), refused)
        if kind < 0.65:
            value = printable(str(rng.choice(ODD))).replace(" ", "+")[:200]
            target = f"/v1/audit?{rng.choice(('limit', 'before', 'x'))}={value}"
            return Request(head("GET", target, self.token), refused)
        method = rng.choice(("GET", "HEAD", "DELETE", "OPTIONS", "PATCH", "TRACE", "PUT"))
        path = printable("/" + rng.randbytes(9).decode("latin-1"))
        path = rng.choice((path, "/v1/ask", "/healthz", "/v1", "//", "/..%2f..", "/%", "/mcp/"))
        extra = rng.choice(
            (b"X: y", b"X-Request-Id: \x80\xff", b"Accept: " + b"z" * 4000, self.token)
        )
        # a token that stands there twice ends the connection: see `breaking`
        lines = [extra] * (1 if extra == self.token else rng.choice((1, 1, 3)))
        return Request(head(method, path, *lines), refused, method == "HEAD")

    def _post(
        self,
        rng: random.Random,
        path: str,
        body: bytes,
        *,
        token: bytes | None = b"ours",
        method: str = "POST",
        judge: Judge = refused,
    ) -> Request:
        lines = [b"Content-Type: application/json"]
        if token == b"ours":
            lines.append(self.token)
        elif token is not None:
            lines.append(b"Authorization: " + rng.choice((b"Bearer ", b"Basic ", b"")) + token)
        if rng.random() < 0.15 and body:
            lines.append(b"Transfer-Encoding: chunked")
            cut = rng.randrange(len(body)) + 1
            pieces = [each for each in (body[:cut], body[cut:]) if each]
            body = b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in pieces) + b"0\r\n\r\n"
        else:
            lines.append(b"Content-Length: %d" % len(body))
        return Request(head(method, path, *lines) + body, judge)

    def _ask(self, rng: random.Random) -> Request:
        question, stream = self.asked.new(), rng.random() < 0.3

        def judge(status: int, body: bytes) -> None:
            if (
                status != 200
                or b"ferry" not in body
                or (stream and b"event: validation" not in body)
            ):
                raise Violation(f"a good question heard {status}: {body[:300]!r}")
            self.asked.receive(question)

        given = {"question": question, "options": {"using": "scripted"}, "stream": stream}
        return self._post(rng, "/v1/ask", written(given), judge=judge)

    def breaking(self, rng: random.Random) -> bytes:
        """The last message of a connection: anything."""
        whole = self.request(rng).sent
        match rng.randrange(10):
            case 0:
                return rng.randbytes(rng.choice((1, 20, 3000)))
            case 1:
                length = rng.choice(
                    (b"99999999999999999999", b"-1", b"4294967296", b"1e3", b"+5", b"")
                )
                return head("POST", "/v1/ask", self.token, b"Content-Length: " + length) + b"{"
            case 2:
                both = b"Content-Length: 4\r\nTransfer-Encoding: chunked"
                return head("POST", "/v1/ask", self.token, both) + b"0\r\n\r\nGET /x"
            case 3:
                size = rng.choice((b"fffffffff", b"-1", b"g", b"0" * 70_000, b"5;" + b"e" * 70_000))
                chunked = head("POST", "/v1/ask", self.token, b"Transfer-Encoding: chunked")
                return chunked + size + b"\r\nhello"
            case 4:
                return b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * rng.choice(
                    (900, 70_000, 300_000)
                )
            case 5:
                opening = (
                    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                    b"\x16\x03\x01\x02\x00\x01",
                    b"GET / HTTP/9\r\n\r\n",
                )
                return rng.choice(opening)
            case 6:
                upgrade = b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA=="
                return head("GET", "/v1/ask", upgrade) + rng.randbytes(20)
            case 7:
                return head("GET", "/v1/audit", self.token, self.token)
            case 8:
                return whole[: rng.randrange(len(whole))]
            case _:
                return mangled(rng, whole) + rng.choice(SPICE)

    # --- how it is sent --------------------------------------------------------------------

    def _exchange(self, wire: socket.socket, sent: bytes, take: Callable[[bytes], bool]) -> None:
        """Send all of it and hand over what comes, until `take` has enough."""
        view, enough = memoryview(sent), not sent
        while view or not enough:
            ready = select.select([wire], [wire] if view else [], [], SECONDS)
            if not ready[0] and not ready[1]:
                raise Silence(f"{self.name}: nothing moved for {SECONDS} s")
            if ready[1]:
                view = view[wire.send(view[:65536]) :]
                enough = enough or take(b"")
            if ready[0]:
                piece = wire.recv(1 << 20)
                if not piece:
                    raise Violation("the server hung up on a good connection")
                enough = take(piece)

    def _end_badly(self, wire: socket.socket, last: bytes) -> None:
        """The last message, then no more; whatever comes until the server hangs up is no 500."""
        wire.settimeout(SECONDS)
        received = b""
        try:
            wire.sendall(last)
            wire.shutdown(socket.SHUT_WR)
            while piece := wire.recv(1 << 16):
                received += piece
        except TimeoutError:
            raise Silence(f"the server did not hang up after {last[:200]!r}") from None
        except OSError:
            pass  # it hung up first
        if b"HTTP/1.1 5" in received:
            raise Violation(f"{received[:300]!r} to {last[:300]!r}")

    def _drip(self, rng: random.Random) -> None:
        """Let every slow connection send a byte; who was let go is followed by another."""
        now = time.monotonic()
        if len(self.slow) < SLOW:
            wire = self.connect()
            whole = head("POST", "/v1/ask", self.token, b"Content-Length: 5000")
            refusal = head("POST", "/v1/nowhere", b"Content-Length: 5000")
            slow = rng.choice((whole[:-2] + b"X: " + b"y" * 5000, whole + b"x" * 5000))
            rest = rng.choice((slow, refusal + b"x" * 5000))
            already = rng.choice((0, rest.index(b"5000") + 8))
            wire.sendall(rest[:already])
            wire.setblocking(False)
            self.slow.append(Drip(wire, rest[already:], now))
            return
        each = rng.choice(self.slow)
        try:
            each.wire.send(each.rest[:1])
            each.rest = each.rest[1:] or b"x"
            while each.wire.recv(4096):
                pass
            raise ConnectionResetError
        except BlockingIOError:
            if now - each.since > 90:
                raise Violation("who drips is held for more than 90 s") from None
        except OSError:
            each.wire.close()
            self.slow.remove(each)


class Replies:
    """Reads the replies to requests, in order; each is judged once it is whole."""

    def __init__(self, requests: list[Request]) -> None:
        self._waiting = requests[::-1]
        self._held = bytearray()

    def take(self, piece: bytes) -> bool:
        """→ whether every request has its reply"""
        self._held += piece
        while self._waiting and (found := self._reply(self._waiting[-1].bodiless)) is not None:
            status, body = found
            if status == 100:
                continue
            request = self._waiting.pop()
            try:
                if not request.bodiless:
                    request.judge(status, body)
            except (ValueError, KeyError, TypeError) as error:
                raise Violation(f"{error!r}: {status} {body[:300]!r}") from error
            except Violation as error:
                raise Violation(f"{error}\nto {request.sent[:2000]!r}") from None
        return not self._waiting

    def _reply(self, bodiless: bool) -> tuple[int, bytes] | None:
        held = self._held
        end = held.find(b"\r\n\r\n")
        if end < 0:
            return None
        lines = bytes(held[:end]).split(b"\r\n")
        status = int(lines[0].split()[1])
        fields = dict(line.lower().split(b": ", 1) for line in lines[1:])
        if bodiless or status in (100, 204, 304):
            del held[: end + 4]
            return status, b""
        if fields.get(b"transfer-encoding") == b"chunked":
            return self._chunked(status, end + 4)
        size = int(fields[b"content-length"])
        if len(held) < end + 4 + size:
            return None
        body = bytes(held[end + 4 : end + 4 + size])
        del held[: end + 4 + size]
        return status, body

    def _chunked(self, status: int, at: int) -> tuple[int, bytes] | None:
        held, pieces = self._held, []
        while (line := held.find(b"\r\n", at)) >= 0:
            size = int(held[at:line], 16)
            if len(held) < line + 2 + size + 2:
                return None
            pieces.append(bytes(held[line + 2 : line + 2 + size]))
            at = line + 2 + size + 2
            if size == 0:
                del held[:at]
                return status, b"".join(pieces)
        return None


def printable(target: str) -> str:
    """A target that can stand in a request's first line."""
    return "".join(each for each in target if "!" <= each <= "~") or "/"


def served(server: Served, token: str, asked: Asked) -> Any:
    return HttpFuzz(server, token, asked)
