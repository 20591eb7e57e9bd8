"""Bad gRPC: HTTP/2 frames by hand, many calls a connection, then one frame that ends it badly.

Calls are framed rightly, whatever else is wrong with them, and each must end: with a status, which
is none of our failures, or reset. Between them stand frames that HTTP/2 says are to be ignored.
The last message may be anything; then the socket is half closed.

gRPC's core itself keeps some bad calls waiting, to slow down whoever sends them (its tar pit: a
message that is too long or a header that cannot be read is answered after 0.1 to 1 s). So the next
calls are sent while up to LEFT still wait; only before the last message all must have ended.
All clients together stay below what the server takes at once: more would rightly be refused.
"""

import random
import re
import select
import socket
import struct
from dataclasses import dataclass

from fuzz_http import Violation
from google.protobuf.message import DecodeError
from mutations import Asked, mangled
from served import Served, Silence
from waiting import SECONDS

from redask.server.grpc.generated import redask_pb2 as pb

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END_STREAM, END_HEADERS, ACK = 1, 4, 1
ROUND, BURST, LEFT = 24, 60, 12  # calls at a time, now and then, and those not waited for
METHODS = [f"/redask.v1.Redask/{name}" for name in ("Ask", "AskStream", "Explain", "Query")]
STATUS = re.compile(rb"grpc-status.(\d+)", re.DOTALL)
FAILURES = {b"2", b"13", b"14", b"15"}  # unknown, internal, unavailable, data loss


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3, "big") + struct.pack(">BBI", kind, flags, stream) + payload


def header(name: bytes, value: bytes) -> bytes:
    """One header, spelled out: never indexed, never compressed."""
    return b"\x00" + _length(len(name)) + name + _length(len(value)) + value


def _length(size: int) -> bytes:
    if size < 127:
        return bytes([size])
    made, size = bytearray([127]), size - 127
    while size >= 128:
        made.append(size % 128 + 128)
        size //= 128
    return bytes([*made, size])


def packed(message: bytes) -> bytes:
    return b"\x00" + len(message).to_bytes(4, "big") + message


@dataclass(slots=True)
class Call:
    """A stream that is open; `question` if it is a good one."""

    question: str = ""
    kind: str = ""
    received: bytes = b""


class Connection:
    """One HTTP/2 connection as a client that does not care sees it."""

    def __init__(self, port: int) -> None:
        self.wire = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self.wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.wire.setblocking(False)
        self.calls: dict[int, Call] = {}
        self.next = 1
        self._held = b""
        wide = struct.pack(">HI", 1, 0) + struct.pack(">HI", 4, 2**31 - 1)
        self.pending = PREFACE + frame(SETTINGS, 0, 0, wide)
        self.pending += frame(WINDOW, 0, 0, struct.pack(">I", 2**31 - 1 - 65535))

    def run(self, asked: Asked, left: int = 0) -> None:
        """Send what is pending, and read until all calls but so many have ended."""
        while self.pending or len(self.calls) > left:
            readable, writable, _ = select.select(
                [self.wire], [self.wire] if self.pending else [], [], SECONDS
            )
            if not readable and not writable:
                raise Silence(f"grpc: {len(self.calls)} calls do not end: {self.calls}")
            if writable:
                self.pending = self.pending[self.wire.send(self.pending) :]
            if readable:
                piece = self.wire.recv(1 << 20)
                if not piece:
                    raise Violation(f"grpc: the server hung up on {self.calls}")
                self._take(piece, asked)

    def _take(self, piece: bytes, asked: Asked) -> None:
        held, at = self._held + piece, 0
        while len(held) >= at + 9:
            size = int.from_bytes(held[at : at + 3], "big")
            if len(held) < at + 9 + size:
                break
            kind, flags, stream = struct.unpack(">BBI", held[at + 3 : at + 9])
            payload = held[at + 9 : at + 9 + size]
            at += 9 + size
            match kind:
                case 4 if not flags & ACK:
                    self.pending += frame(SETTINGS, ACK, 0)
                case 6 if not flags & ACK:
                    self.pending += frame(PING, ACK, 0, payload)
                case 7:
                    raise Violation(f"the server said good-bye: {payload!r}")
                case 0 | 1 | 3 if stream in self.calls:
                    self._of_call(kind, flags, stream, payload, asked)
                case _:
                    pass
        self._held = held[at:]

    def _of_call(self, kind: int, flags: int, stream: int, payload: bytes, asked: Asked) -> None:
        call = self.calls[stream]
        if kind == DATA:
            call.received += payload
        elif kind == HEADERS and (found := STATUS.search(payload)):
            code = found[1]
            # gRPC itself calls it internal when it cannot read a header; our replies have a body
            if code in FAILURES and (code == b"2" or b"redask-error" in payload):
                raise Violation(f"{payload!r} to {call}")
            if call.question and code != b"0":
                raise Violation(f"a good question: {payload!r}")
        if kind == RESET and call.question:
            raise Violation(f"a good question is reset: {payload!r}")
        if kind == RESET or flags & END_STREAM:
            del self.calls[stream]
            if call.question:
                _check(call)
                asked.receive(call.question)


def _check(call: Call) -> None:
    """Whether the messages of a good call are what they should be."""
    messages, at = [], 0
    while at < len(call.received):
        size = int.from_bytes(call.received[at + 1 : at + 5], "big")
        messages.append(call.received[at + 5 : at + 5 + size])
        at += 5 + size
    try:
        if call.kind.endswith("/Ask"):
            good = bool(pb.AskReply.FromString(messages[0]).citations)
        else:
            good = pb.AskFrame.FromString(messages[-1]).WhichOneof("frame") == "validation"
    except (DecodeError, IndexError) as error:
        raise Violation(f"{call}: {error!r}") from error
    if not good:
        raise Violation(f"{call}: no answer")


class GrpcFuzz:
    """One transport, attacked."""

    name = "grpc"

    def __init__(self, server: Served, token: str, asked: Asked) -> None:
        self.server = server
        self.asked = asked
        self.token = f"Bearer {token}".encode()

    def batch(self, rng: random.Random) -> int:
        """A connection's worth. → how many messages it was"""
        count, connection = 0, Connection(self.server.grpc_port)
        with connection.wire:
            for _ in range(rng.choice((0, 2, 16, 64))):
                for _ in range(rng.randrange(1, BURST if rng.random() < 0.05 else ROUND)):
                    count += 1
                    if rng.random() < 0.25:
                        connection.pending += self.ignored(rng, connection)
                    else:
                        self.call(rng, connection)
                connection.run(self.asked, LEFT)
            connection.run(self.asked)
            last = self.breaking(rng, connection)
            if rng.random() < 0.2:
                last = mangled(rng, connection.pending + last)
            self._end_badly(connection.wire, connection.pending + last)
        return count + 1

    def honest(self) -> None:
        """A new client asks, and is answered."""
        connection = Connection(self.server.grpc_port)
        with connection.wire:
            self._ask(connection, METHODS[0])
            connection.run(self.asked)

    def close(self) -> None:
        """Nothing is held."""

    def call(self, rng: random.Random, connection: Connection) -> None:
        kind = rng.random()
        if kind < 0.01:
            self._ask(connection, rng.choice(METHODS[:2]))
            return
        stream, method = connection.next, rng.choice(METHODS)
        connection.next += 2
        message = _message(rng, method)
        fields = self._fields(rng, method, kind)
        if kind < 0.6:
            body = packed(message)
        elif kind < 0.7:
            body = rng.choice((b"", b"\x00", b"\x01" + packed(message)[1:], packed(message)[:-1]))
        elif kind < 0.75:
            body = (
                b"\x00" + rng.choice((b"\xff" * 4, b"\x7f\xff\xff\xff", b"\x00@\x00\x01")) + message
            )
        elif kind < 0.8:
            body = packed(message) * rng.choice((2, 3))
        else:
            body = mangled(rng, packed(message))
        made = frame(HEADERS, END_HEADERS, stream, fields)
        cut = rng.randrange(len(body) + 1)
        if rng.random() < 0.2:
            made += frame(DATA, 0, stream, body[:cut])
            body = body[cut:]
        if rng.random() < 0.08:  # changed its mind
            connection.pending += made + frame(
                RESET, 0, stream, struct.pack(">I", rng.choice((8, 0, 99)))
            )
            return
        connection.calls[stream] = Call(kind=f"{method} {fields!r} {body!r}")
        connection.pending += made + frame(DATA, END_STREAM, stream, body)

    def _ask(self, connection: Connection, method: str) -> None:
        question = self.asked.new()
        message = pb.AskRequest(question=question, using="scripted").SerializeToString()
        fields = self._fields(random.Random(0), method, 0.1)
        connection.calls[connection.next] = Call(question, method)
        connection.pending += frame(HEADERS, END_HEADERS, connection.next, fields)
        connection.pending += frame(DATA, END_STREAM, connection.next, packed(message))
        connection.next += 2

    def _fields(self, rng: random.Random, method: str, kind: float) -> bytes:
        path, token = method.encode(), self.token
        extra = b""
        if 0.1 < kind < 0.35:
            odd = (b"/", b"/x/y", path + b"x", path.lower(), b"/" + b"p" * 500, b"x")
            path = rng.choice((*odd, path + b"\xff", b"/\xc1\xff"))
        elif 0.35 < kind < 0.55:
            token = rng.choice(
                (b"", b"Bearer", b"Bearer x", b"Basic y", b"\xc3\x28", b"Bearer \xff")
            )
        elif kind > 0.85:
            bad = (b"grpc-timeout", b"grpc-encoding", b"x-bin", b"grpc-status", b"te", b"cookie")
            values = (b"1n", b"99999999999H", b"gzip", b"!!", b"", b"\xff", b"-1S", b"z" * 3000)
            extra = header(rng.choice(bad), rng.choice(values))
        return (
            header(b":method", b"POST")
            + header(b":scheme", b"http")
            + header(b":path", path)
            + header(b":authority", b"a")
            + header(b"te", b"trailers")
            + header(b"content-type", b"application/grpc")
            + (header(b"authorization", token) if token else b"")
            + extra
        )

    def ignored(self, rng: random.Random, connection: Connection) -> bytes:
        """A frame that changes nothing."""
        old = rng.randrange(1, connection.next + 1) | 1
        match rng.randrange(4):
            case 0:
                return frame(PRIORITY, 0, old, rng.randbytes(5))
            case 1:
                return frame(rng.randrange(11, 200), rng.randrange(256), old, rng.randbytes(9))
            case 2:
                return frame(WINDOW, 0, old, struct.pack(">I", 1)) if connection.next > old else b""
            case _:
                return frame(SETTINGS, 0, 0, struct.pack(">HI", 99, rng.getrandbits(32)))

    def breaking(self, rng: random.Random, connection: Connection) -> bytes:
        """The last message of a connection: anything."""
        stream = connection.next
        match rng.randrange(9):
            case 0:
                return rng.randbytes(rng.choice((1, 30, 3000)))
            case 1:
                kind, flags = rng.randrange(10), rng.randrange(256)
                return frame(
                    kind, flags, rng.choice((0, 1, 2, stream)), rng.randbytes(rng.randrange(60))
                )
            case 2:
                return b"\xff\xff\xff" + frame(rng.randrange(10), 4, stream)[3:] + rng.randbytes(50)
            case 3:
                block = rng.choice(
                    (b"\xff" * 30, b"\x80", b"\x3f" + b"\xff" * 9, b"\x00\xff\xff\xff\x7f")
                )
                return frame(HEADERS, END_HEADERS | END_STREAM, stream, block)
            case 4:
                fields = self._fields(rng, METHODS[0], 0.1)
                return frame(HEADERS, 0, stream, fields) + frame(CONTINUATION, 0, stream, b"") * 50
            case 5:
                return frame(PING, 0, 0, b"12345678") * 50
            case 6:
                bad = frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 2**32 - 1))
                return rng.choice(
                    (bad, frame(WINDOW, 0, 0, b"\x7f\xff\xff\xff"), frame(SETTINGS, 0, 0, b"x"))
                )
            case 7:
                fields = self._fields(rng, METHODS[0], 0.1) + header(b"x", b"y" * 60_000)
                return b"".join(
                    frame(CONTINUATION if at else HEADERS, 0, stream, fields[at : at + 16_000])
                    for at in range(0, len(fields), 16_000)
                )
            case _:
                opening = (
                    b"GET / HTTP/1.1\r\n\r\n",
                    b"\x16\x03\x01\x02\x00\x01",
                    PREFACE,
                    PREFACE[:9],
                )
                return rng.choice(opening)

    def _end_badly(self, wire: socket.socket, last: bytes) -> None:
        wire.settimeout(SECONDS)
        try:
            wire.sendall(last)
            wire.shutdown(socket.SHUT_WR)
            while wire.recv(1 << 16):
                pass
        except TimeoutError:
            raise Silence(f"the server did not hang up after {last[:200]!r}") from None
        except OSError:
            pass  # it hung up first


def _message(rng: random.Random, method: str) -> bytes:
    """A request that is probably refused."""
    if method.endswith("Query"):
        good = pb.QueryRequest(statement="SELECT 1 FROM", params_json="[1, {}]").SerializeToString()
    else:
        wrong = rng.choice(
            ({"limit": 0}, {"limit": 4000}, {"min_score": -1.0}, {"using": "nobody"})
        )
        more = rng.choice(({"depth": 99}, {"cache_ttl": "x"}, {"temperature": 9.0}, {"model": ""}))
        good = pb.AskRequest(question="ferry", **wrong, **more).SerializeToString()
    kind = rng.random()
    if kind < 0.4:
        return bytes(good)
    return mangled(rng, good) if kind < 0.9 else rng.randbytes(rng.randrange(90))
