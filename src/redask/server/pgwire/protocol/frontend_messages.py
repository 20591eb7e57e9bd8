"""Frontend messages, from client to server, protocol 3: `MessageReader` reads them from bytes.

    start-up packet     length(4) code(4) …     SSLRequest, GSSENCRequest, CancelRequest, start-up
    message             type(1) length(4) …     everything else

`MessageReader.feed` takes bytes as they arrive; `startup_packet` and `message` return the next one,
or None while it is incomplete. How the bytes were cut changes nothing. Two kinds of errors:

    ProtocolViolation   raised, for the frame: an impossible length or type. Where the next
                        message starts is not known, so the connection has to end.
    Malformed           returned, for the body: 08P01, or 22021 where text is not UTF-8. The next
                        message starts where the length of this one ends.

The length is checked before anything is buffered: `MAX_STARTUP_PACKET`, `MAX_PASSWORD` for a
password message, `MAX_MESSAGE` for the rest.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from redask.server.pgwire.protocol.client_encodings import decoded
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError

MAX_STARTUP_PACKET = 10_000  # as PostgreSQL has it
MAX_PASSWORD = 4096
MAX_MESSAGE = 4 * 1024 * 1024
VIOLATION = "08P01"
TLS_HANDSHAKE = 0x16

_SSL, _GSS, _CANCEL = 80877103, 80877104, 80877102
_INT = struct.Struct("!i")
_TWO = struct.Struct("!ii")
_SHORT = struct.Struct("!h")
_MAX_KEY = 256


class ProtocolViolation(Exception):
    """Bytes that are no message; what follows them cannot be read either."""


@dataclass(frozen=True, slots=True)
class SslRequest:
    """Asks for TLS."""


@dataclass(frozen=True, slots=True)
class GssEncRequest:
    """Asks for GSSAPI encryption."""


@dataclass(frozen=True, slots=True)
class CancelRequest:
    """Cancel what another connection runs."""

    process: int
    key: bytes


@dataclass(frozen=True, slots=True)
class StartupMessage:
    """The protocol's `major` and `minor` version, and the start-up parameters."""

    major: int
    minor: int
    parameters: Mapping[str, str]


StartupPacket = SslRequest | GssEncRequest | CancelRequest | StartupMessage


@dataclass(frozen=True, slots=True)
class PasswordMessage:
    """A message of type `p`; in SCRAM, a SASLInitialResponse or a SASLResponse."""

    body: bytes


@dataclass(frozen=True, slots=True)
class SimpleQuery:
    """A simple query: one or more statements."""

    text: str


@dataclass(frozen=True, slots=True)
class Parse:
    """Make a prepared statement; `types` may be shorter than its parameters."""

    name: str
    text: str
    types: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bind:
    """Make a portal of a prepared statement; format codes are 0 text and 1 binary."""

    portal: str
    statement: str
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    results: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Describe:
    """Describe a prepared statement (`S`) or a portal (`P`)."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Execute:
    """Run a portal, for at most so many rows; 0: all."""

    portal: str
    rows: int


@dataclass(frozen=True, slots=True)
class Close:
    """Close a prepared statement (`S`) or a portal (`P`)."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Flush:
    """Send what is buffered."""


@dataclass(frozen=True, slots=True)
class Sync:
    """The end of an extended query; after an error, the next message that is read."""


@dataclass(frozen=True, slots=True)
class Terminate:
    """The end of the session."""


@dataclass(frozen=True, slots=True)
class CopyMessage:
    """CopyData, CopyDone or CopyFail, which are ignored outside of a COPY."""


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """The legacy function call, which is not supported."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A message of this type with a body that cannot be read."""

    kind: str
    fault: SqlStateError


FrontendMessage = (
    Malformed
    | PasswordMessage
    | SimpleQuery
    | Parse
    | Bind
    | Describe
    | Execute
    | Close
    | Flush
    | Sync
    | Terminate
    | CopyMessage
    | FunctionCall
)


class MessageReader:
    """The bytes that arrived and were not read yet."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def __len__(self) -> int:
        return len(self._bytes)

    def feed(self, data: bytes) -> None:
        """Take bytes as they arrived."""
        self._bytes += data

    def first_byte(self) -> int | None:
        """The first byte that arrived, which stays; a TLS handshake starts with TLS_HANDSHAKE."""
        return self._bytes[0] if self._bytes else None

    def take_all(self) -> bytes:
        """All bytes that arrived."""
        return self._take(0, len(self._bytes))

    def startup_packet(self) -> StartupPacket | None:
        """The next packet of a connection that has not started up."""
        if len(self._bytes) < _TWO.size:
            if len(self._bytes) >= _INT.size:
                self._packet_length()
            return None
        length = self._packet_length()
        if len(self._bytes) < length:
            return None
        body = self._take(0, length)[_INT.size :]
        return _startup_packet(_INT.unpack_from(body)[0], body[_INT.size :])

    def message(self, *, authenticating: bool = False) -> FrontendMessage | None:
        """The next message; while authenticating, password messages only."""
        if not self._bytes:
            return None
        kind = self._bytes[0]
        read = _READERS.get(kind)
        if read is None or (authenticating and kind not in b"pX"):
            raise ProtocolViolation(f"a message of kind {kind} has no place here")
        if len(self._bytes) < 5:
            return None
        length = _INT.unpack_from(self._bytes, 1)[0]
        if not _INT.size <= length <= (MAX_PASSWORD if authenticating else MAX_MESSAGE):
            raise ProtocolViolation(f"a message of {length} bytes is too short or too long")
        if len(self._bytes) <= length:
            return None
        body = _Body(self._take(1 + _INT.size, 1 + length))
        try:
            message = read(body)
            body.end()
        except SqlStateError as fault:
            return Malformed(chr(kind), fault)
        return message

    def _packet_length(self) -> int:
        length: int = _INT.unpack_from(self._bytes)[0]
        if not _TWO.size <= length <= MAX_STARTUP_PACKET:
            raise ProtocolViolation(f"a first message of {length} bytes is too short or too long")
        return length

    def _take(self, start: int, end: int) -> bytes:
        taken = bytes(self._bytes[start:end])
        del self._bytes[:end]
        return taken


def sasl_initial(body: bytes) -> tuple[str, bytes]:
    """The mechanism that a client chose, and its initial response."""
    inside = _Body(body)
    mechanism = inside.text()
    response = inside.some(inside.long())
    inside.end()
    return mechanism, response


class _Body:
    """The body of a message, read from its start to its end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def short(self) -> int:
        return int(self._unpack(_SHORT))

    def long(self) -> int:
        return int(self._unpack(_INT))

    def _unpack(self, form: struct.Struct) -> int:
        try:
            value: int = form.unpack_from(self._data, self._at)[0]
        except struct.error:
            raise SqlStateError(VIOLATION, "a message ends too early") from None
        self._at += form.size
        return value

    def some(self, length: int) -> bytes:
        if not 0 <= length <= len(self._data) - self._at:
            raise SqlStateError(VIOLATION, "a message holds less than it says")
        start, self._at = self._at, self._at + length
        return self._data[start : self._at]

    def rest(self) -> bytes:
        return self.some(len(self._data) - self._at)

    def text(self) -> str:
        end = self._data.find(0, self._at)
        if end < 0:
            raise SqlStateError(VIOLATION, "a text in a message does not end")
        found, self._at = self._data[self._at : end], end + 1
        try:
            return decoded(found)
        except UnicodeDecodeError:
            raise SqlStateError("22021", "a text is not in the client's encoding") from None

    def shorts(self) -> tuple[int, ...]:
        count = self.count(_SHORT.size)
        return struct.unpack(f"!{count}h", self.some(count * _SHORT.size))

    def count(self, least: int) -> int:
        """How many items follow, of at least so many bytes each."""
        count = self.short() & 0xFFFF
        if count * least > len(self._data) - self._at:
            raise SqlStateError(VIOLATION, "a message holds less than it says")
        return count

    def end(self) -> None:
        if self._at != len(self._data):
            raise SqlStateError(VIOLATION, "a message holds more than it says")


def _startup_packet(code: int, body: bytes) -> StartupPacket:
    if code in (_SSL, _GSS):
        if body:
            raise ProtocolViolation("a request for encryption holds more than that")
        return SslRequest() if code == _SSL else GssEncRequest()
    if code == _CANCEL:
        if not _INT.size < len(body) <= _INT.size + _MAX_KEY:
            raise ProtocolViolation("a request to cancel has no key")
        return CancelRequest(_INT.unpack_from(body)[0], body[_INT.size :])
    major, minor = (code >> 16) & 0xFFFF, code & 0xFFFF
    return StartupMessage(major, minor, _parameters(body) if major == 3 else {})


def _parameters(body: bytes) -> dict[str, str]:
    """Names and values in turn, each ended by a zero byte, and one more at the end."""
    if body[-1:] != b"\0":
        raise ProtocolViolation("the first message does not end")
    try:
        words = body[:-1].decode().split("\0")
    except UnicodeDecodeError:
        raise ProtocolViolation("the first message is not UTF-8") from None
    if words.pop() or len(words) % 2 or "" in words[::2]:
        raise ProtocolViolation("the first message is not names and values")
    return dict(zip(words[::2], words[1::2], strict=True))


def _parse(body: _Body) -> FrontendMessage:
    name, text = body.text(), body.text()
    return Parse(name, text, tuple(body.long() & 0xFFFFFFFF for _ in _items(body)))


def _items(body: _Body) -> range:
    return range(body.count(_INT.size))


def _bind(body: _Body) -> FrontendMessage:
    portal, statement, formats = body.text(), body.text(), body.shorts()
    values = tuple(_value(body) for _ in _items(body))
    return Bind(portal, statement, formats, values, body.shorts())


def _value(body: _Body) -> bytes | None:
    length = body.long()
    return None if length == -1 else body.some(length)


def _target(make: Callable[[str, str], FrontendMessage]) -> Callable[[_Body], FrontendMessage]:
    def read(body: _Body) -> FrontendMessage:
        kind = body.some(1)
        if kind not in (b"S", b"P"):
            raise SqlStateError(VIOLATION, "a message is about neither a statement nor a portal")
        return make(kind.decode(), body.text())

    return read


def _without_body(message: FrontendMessage) -> Callable[[_Body], FrontendMessage]:
    def read(body: _Body) -> FrontendMessage:
        body.rest()
        return message

    return read


_READERS: dict[int, Callable[[_Body], FrontendMessage]] = {
    ord("p"): lambda body: PasswordMessage(body.rest()),
    ord("Q"): lambda body: SimpleQuery(body.text()),
    ord("P"): _parse,
    ord("B"): _bind,
    ord("D"): _target(Describe),
    ord("E"): lambda body: Execute(body.text(), body.long()),
    ord("C"): _target(Close),
    ord("H"): lambda _: Flush(),
    ord("S"): lambda _: Sync(),
    ord("X"): lambda _: Terminate(),
    ord("d"): _without_body(CopyMessage()),
    ord("c"): _without_body(CopyMessage()),
    ord("f"): _without_body(CopyMessage()),
    ord("F"): _without_body(FunctionCall()),
}
