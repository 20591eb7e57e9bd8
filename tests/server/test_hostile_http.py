"""Clients without manners, one test for each thing that `make fuzz-wire` found."""

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import grpc
import pytest
from fuzz_grpc import DATA as GRPC_DATA
from fuzz_grpc import END_HEADERS, END_STREAM, METHODS, Connection, frame, header, packed
from fuzz_grpc import HEADERS as GRPC_HEADERS
from served import Piped, audited, fill, pipe
from transports import Transports
from waiting import SECONDS

from redask.server.grpc import service
from redask.server.grpc.generated import redask_pb2 as pb
from redask.server.grpc.generated import redask_pb2_grpc
from redask.server.http import bodies, timeouts


@pytest.fixture(scope="module")
def transports(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Transports]:
    with Transports(tmp_path_factory.mktemp("rude") / "db") as opened:
        yield opened


def received(transports: Transports, *pieces: bytes, pause: float = 0.0) -> bytes:
    """What a socket hears until the server hangs up; the last piece comes again and again."""
    port = int(transports.url.rpartition(":")[2])
    found, end = b"", time.monotonic() + SECONDS
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as wire:
        for piece in pieces:
            wire.sendall(piece)
        wire.settimeout(pause or SECONDS)
        with suppress(ConnectionResetError, BrokenPipeError):
            while time.monotonic() < end:
                try:
                    piece = wire.recv(65536)
                except TimeoutError:
                    wire.sendall(pieces[-1])
                    continue
                if not piece:
                    return found
                found += piece
            raise AssertionError(f"the server holds the line: {found!r}")
    return found


def head(path: str, *lines: str, method: str = "POST") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: a", *lines, "", ""]).encode()


def test_who_drips_the_rest_of_a_refused_request_is_let_go(
    transports: Transports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timeouts, "HEADER_SECONDS", 0.5)
    found = received(transports, head("/v1/ask", "Content-Length: 99999"), b"x", pause=0.1)
    assert found.startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize("opening", ["X: ", "Transfer-Encoding: chunked\r\n\r\n5;"])
def test_words_without_end_are_refused_wherever_they_stand(
    transports: Transports, opening: str
) -> None:
    first = head("/v1/ask", opening)[:-4]
    assert b"400 Bad Request" in received(
        transports, first + b"y" * (timeouts.HEAD_BYTES + timeouts.SLICE)
    )


def test_requests_sent_ahead_are_answered_in_order_however_many(transports: Transports) -> None:
    many = 3000
    sent = b"".join(head(f"/{each}", f"X-Request-Id: {each}", method="GET") for each in range(many))
    last = head("/last", "Connection: close", method="GET")
    found = received(transports, sent + last)
    names = [
        int(line.split()[1])
        for line in found.split(b"\r\n")
        if line.startswith(b"x-request-id: ") and line.split()[1].isdigit() and len(line) < 20
    ]
    assert names == list(range(many))


def test_the_mcp_door_waits_for_no_body_for_ever_and_takes_no_endless_one(
    transports: Transports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "BODY_SECONDS", 0.3)
    token = f"Authorization: Bearer {transports.tokens['mia']}"
    kind = "Content-Type: application/json"
    opening = head("/mcp", token, kind, f"Content-Length: {bodies.MAX_BODY}")
    assert b"did not come within" in received(transports, opening, b"x", pause=0.1)
    too_long = head("/mcp", token, kind, f"Content-Length: {bodies.MAX_BODY + 1}")
    assert received(transports, too_long).startswith(b"HTTP/1.1 413")  # before anything is sent
    endless = head("/mcp", token, kind, "Transfer-Encoding: chunked")
    endless += b"%x\r\n" % (bodies.MAX_BODY * 2) + b"x" * (bodies.MAX_BODY + 9)
    assert received(transports, endless).startswith(b"HTTP/1.1 413")
    assert received(transports, head("/mcp", "Connection: close", method="GET")).startswith(
        b"HTTP/1.1 405"
    )


# --- gRPC ----------------------------------------------------------------------------------


def called(transports: Transports, path: bytes, *frames: tuple[int, bytes]) -> bytes:
    """The trailers of a call made of these DATA frames; empty when the server hung up."""
    token = f"Bearer {transports.tokens['mia']}".encode()
    fields = [(b":method", b"POST"), (b":scheme", b"http"), (b":path", path), (b":authority", b"a")]
    fields += [(b"te", b"trailers"), (b"content-type", b"application/grpc")]
    fields += [(b"authorization", token)]
    line = Connection(transports.grpc_port)
    sent = line.pending
    sent += frame(GRPC_HEADERS, END_HEADERS, 1, b"".join(header(*each) for each in fields))
    sent += b"".join(frame(GRPC_DATA, flags, 1, body) for flags, body in frames)
    found = b""
    with line.wire as wire:
        wire.settimeout(SECONDS)
        wire.sendall(sent)
        with suppress(ConnectionResetError):
            while b"grpc-status" not in found:
                piece = wire.recv(65536)
                if not piece:
                    return b""
                found += piece
    return found.partition(b"grpc-status")[2][1:]


ASK = METHODS[0].encode()


@pytest.mark.parametrize(
    ("frames", "message"),
    [
        ([(END_STREAM, packed(b"\xff\xff\xff"))], b"none of this call's type"),
        ([(END_STREAM, b"")], b"without a message"),
    ],
    ids=["no protobuf", "nothing"],
)
def test_a_call_without_a_message_of_its_type_is_a_bad_ask(
    transports: Transports, frames: list[tuple[int, bytes]], message: bytes
) -> None:
    trailers = called(transports, ASK, *frames)
    assert trailers.startswith(b"3")
    assert message in trailers


def test_a_call_that_never_sends_its_message_ends(
    transports: Transports, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "MESSAGE_SECONDS", 0.2)
    assert b"did not come within" in called(transports, ASK)


def test_a_call_nobody_can_name_does_not_close_the_transport(transports: Transports) -> None:
    asked = pb.AskRequest(question="When does the ferry leave?", using="scripted")
    for path in (b"/redask.v1.Redask/\xc1sk", b"/\xff"):
        called(transports, path, (END_STREAM, b""))
        metadata = transports.clients["mia"].metadata
        with grpc.insecure_channel(f"127.0.0.1:{transports.grpc_port}") as channel:
            stub = redask_pb2_grpc.RedaskStub(channel)  # type: ignore[no-untyped-call]
            reply = stub.Explain(asked, metadata=metadata, timeout=SECONDS)
        assert reply.plan_json


# --- standard input and output ---------------------------------------------------------------


@pytest.mark.parametrize("command", ["rpc", "mcp"])
def test_a_command_whose_output_is_closed_ends_without_an_error_and_audits_what_ran(
    tmp_path: Path, command: str
) -> None:
    token = fill(tmp_path / "db")["mia"]
    asked = {"question": "ferry", "options": {"using": "scripted", "model": "endless"}}
    with Piped(tmp_path / "db", token, command) as piped:
        if command == "mcp":
            about = {"capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
            hello = {"protocolVersion": "2025-06-18", **about}
            piped.exchange(_line("initialize", 1, hello))
            piped.received()
            piped.exchange(_line("notifications/initialized", None, {}))
            progress = {"_meta": {"progressToken": 1}}
            piped.exchange(
                _line("tools/call", 2, {"name": "redask_ask", "arguments": asked, **progress})
            )
        else:
            piped.exchange(_line("stream", 2, asked))
        piped.received()  # it is being answered
        pipe(piped.process.stdout).close()
        try:
            code = piped.process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError("it does not leave") from None
        assert (code, piped.stderr()) == (0, b"")
    rows, intact = audited(tmp_path / "db")
    assert (rows["ferry"], intact) == (1, True)


def _line(method: str, name: int | None, params: object) -> bytes:
    made = {"jsonrpc": "2.0", "method": method, "params": params}
    if name is not None:
        made["id"] = name
    return json.dumps(made).encode() + b"\n"
