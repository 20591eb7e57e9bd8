"""PostgreSQL's messages as bytes, protocol 3: `WireReader` reads what clients send.

    first on a connection       length(4) code(4) …         SSL, GSS, cancel, start-up
    then                        kind(1) length(4) …         everything else

`WireReader.feed` takes bytes as they come; `opening` and `message` give the next message or None
when it is not all there. How the bytes were cut changes nothing. Two ways to be wrong:

    ProtocolViolation   raised, for the frame itself: a length or kind that cannot be. Where the
                        next message starts is not known, so the connection has to end.
    Malformed           given, for what is inside: 08P01, or 22021 where text is not UTF-8. The
                        next message starts where this one said that it ends.

A length is looked at before anything is kept, so nobody makes us hold more than the bounds:
`MAX_OPENING` for a first message, `MAX_SECRET` for a password, `MAX_MESSAGE` for the rest.
"""

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from redask.server.pgwire.session.planned import WireFault

MAX_OPENING = 10_000  # as PostgreSQL has it
MAX_SECRET = 4096
MAX_MESSAGE = 4 * 1024 * 1024
VIOLATION = "08P01"

_SSL, _GSS, _CANCEL = 80877103, 80877104, 80877102
_INT = struct.Struct("!i")
_TWO = struct.Struct("!ii")
_SHORT = struct.Struct("!h")
_MAX_KEY = 256


class ProtocolViolation(Exception):
    """Bytes that are no message; what follows them cannot be read either."""


@dataclass(frozen=True, slots=True)
class SslRequest:
    """The client would like TLS."""


@dataclass(frozen=True, slots=True)
class GssRequest:
    """The client would like Kerberos encryption."""


@dataclass(frozen=True, slots=True)
class CancelRequest:
    """Somebody wants the statement of another connection to stop."""

    process: int
    key: bytes


@dataclass(frozen=True, slots=True)
class StartUp:
    """Who comes: `major` and `minor` of the protocol, and what was said besides."""

    major: int
    minor: int
    parameters: Mapping[str, str]


Opening = SslRequest | GssRequest | CancelRequest | StartUp


@dataclass(frozen=True, slots=True)
class Secret:
    """A message of kind `p`: what it means depends on what was asked."""

    body: bytes


@dataclass(frozen=True, slots=True)
class SimpleQuery:
    """Statements to run at once."""

    text: str


@dataclass(frozen=True, slots=True)
class ParseStatement:
    """A statement to keep under a name; `types` may be shorter than its parameters."""

    name: str
    text: str
    types: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class BindPortal:
    """A kept statement with its values; formats are 0 text and 1 binary."""

    portal: str
    statement: str
    formats: tuple[int, ...]
    values: tuple[bytes | None, ...]
    results: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DescribeTarget:
    """What a statement (`S`) or a portal (`P`) will give."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class ExecutePortal:
    """Run, and give so many rows; 0: all."""

    portal: str
    rows: int


@dataclass(frozen=True, slots=True)
class CloseTarget:
    """Forget a statement (`S`) or a portal (`P`)."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Flush:
    """Send what is there."""


@dataclass(frozen=True, slots=True)
class Sync:
    """The end of a series: after an error, where to go on."""


@dataclass(frozen=True, slots=True)
class Terminate:
    """Good-bye."""


@dataclass(frozen=True, slots=True)
class CopyPart:
    """Part of a COPY that nobody asked for."""


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call in a way that is older than this protocol."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A message of that kind with something wrong inside."""

    kind: str
    fault: WireFault


Message = (
    Malformed
    | Secret
    | SimpleQuery
    | ParseStatement
    | BindPortal
    | DescribeTarget
    | ExecutePortal
    | CloseTarget
    | Flush
    | Sync
    | Terminate
    | CopyPart
    | FunctionCall
)


class WireReader:
    """The bytes that came and were not read yet."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def __len__(self) -> int:
        return len(self._bytes)

    def feed(self, data: bytes) -> None:
        """Take bytes in."""
        self._bytes += data

    def opening(self) -> Opening | None:
        """The next message of a connection that has not started."""
        if len(self._bytes) < _TWO.size:
            if len(self._bytes) >= _INT.size:
                self._opening_length()
            return None
        length = self._opening_length()
        if len(self._bytes) < length:
            return None
        body = self._take(0, length)[_INT.size :]
        return _opening(_INT.unpack_from(body)[0], body[_INT.size :])

    def message(self, *, signing_in: bool = False) -> Message | None:
        """The next message of a connection that has; before sign-in only secrets are read."""
        if not self._bytes:
            return None
        kind = self._bytes[0]
        read = _READERS.get(kind)
        if read is None or (signing_in and kind not in b"pX"):
            raise ProtocolViolation(f"a message of kind {kind} has no place here")
        if len(self._bytes) < 5:
            return None
        length = _INT.unpack_from(self._bytes, 1)[0]
        if not _INT.size <= length <= (MAX_SECRET if signing_in else MAX_MESSAGE):
            raise ProtocolViolation(f"a message of {length} bytes is too short or too long")
        if len(self._bytes) <= length:
            return None
        body = _Body(self._take(1 + _INT.size, 1 + length))
        try:
            message = read(body)
            body.end()
        except WireFault as fault:
            return Malformed(chr(kind), fault)
        return message

    def _opening_length(self) -> int:
        length: int = _INT.unpack_from(self._bytes)[0]
        if not _TWO.size <= length <= MAX_OPENING:
            raise ProtocolViolation(f"a first message of {length} bytes is too short or too long")
        return length

    def _take(self, start: int, end: int) -> bytes:
        taken = bytes(self._bytes[start:end])
        del self._bytes[:end]
        return taken


def sasl_initial(body: bytes) -> tuple[str, bytes]:
    """The mechanism that a client chose, and its first words."""
    inside = _Body(body)
    mechanism = inside.text()
    words = inside.some(inside.long())
    inside.end()
    return mechanism, words


class _Body:
    """The inside of a message, read from its start to its end."""

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
            raise WireFault(VIOLATION, "a message ends too early") from None
        self._at += form.size
        return value

    def some(self, length: int) -> bytes:
        if not 0 <= length <= len(self._data) - self._at:
            raise WireFault(VIOLATION, "a message holds less than it says")
        start, self._at = self._at, self._at + length
        return self._data[start : self._at]

    def rest(self) -> bytes:
        return self.some(len(self._data) - self._at)

    def text(self) -> str:
        end = self._data.find(0, self._at)
        if end < 0:
            raise WireFault(VIOLATION, "a text in a message does not end")
        found, self._at = self._data[self._at : end], end + 1
        try:
            return found.decode()
        except UnicodeDecodeError:
            raise WireFault("22021", "a text in a message is not UTF-8") from None

    def shorts(self) -> tuple[int, ...]:
        count = self.count(_SHORT.size)
        return struct.unpack(f"!{count}h", self.some(count * _SHORT.size))

    def count(self, least: int) -> int:
        """How many items follow, of at least so many bytes each."""
        count = self.short() & 0xFFFF
        if count * least > len(self._data) - self._at:
            raise WireFault(VIOLATION, "a message holds less than it says")
        return count

    def end(self) -> None:
        if self._at != len(self._data):
            raise WireFault(VIOLATION, "a message holds more than it says")


def _opening(code: int, body: bytes) -> Opening:
    if code in (_SSL, _GSS):
        if body:
            raise ProtocolViolation("a request for encryption holds more than that")
        return SslRequest() if code == _SSL else GssRequest()
    if code == _CANCEL:
        if not _INT.size < len(body) <= _INT.size + _MAX_KEY:
            raise ProtocolViolation("a request to cancel has no key")
        return CancelRequest(_INT.unpack_from(body)[0], body[_INT.size :])
    major, minor = (code >> 16) & 0xFFFF, code & 0xFFFF
    return StartUp(major, minor, _parameters(body) if major == 3 else {})


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


def _parse(body: _Body) -> Message:
    name, text = body.text(), body.text()
    return ParseStatement(name, text, tuple(body.long() & 0xFFFFFFFF for _ in _items(body)))


def _items(body: _Body) -> range:
    return range(body.count(_INT.size))


def _bind(body: _Body) -> Message:
    portal, statement, formats = body.text(), body.text(), body.shorts()
    values = tuple(_value(body) for _ in _items(body))
    return BindPortal(portal, statement, formats, values, body.shorts())


def _value(body: _Body) -> bytes | None:
    length = body.long()
    return None if length == -1 else body.some(length)


def _target(make: Callable[[str, str], Message]) -> Callable[[_Body], Message]:
    def read(body: _Body) -> Message:
        kind = body.some(1)
        if kind not in (b"S", b"P"):
            raise WireFault(VIOLATION, "a message is about neither a statement nor a portal")
        return make(kind.decode(), body.text())

    return read


def _emptied(message: Message) -> Callable[[_Body], Message]:
    def read(body: _Body) -> Message:
        body.rest()
        return message

    return read


_READERS: dict[int, Callable[[_Body], Message]] = {
    ord("p"): lambda body: Secret(body.rest()),
    ord("Q"): lambda body: SimpleQuery(body.text()),
    ord("P"): _parse,
    ord("B"): _bind,
    ord("D"): _target(DescribeTarget),
    ord("E"): lambda body: ExecutePortal(body.text(), body.long()),
    ord("C"): _target(CloseTarget),
    ord("H"): lambda _: Flush(),
    ord("S"): lambda _: Sync(),
    ord("X"): lambda _: Terminate(),
    ord("d"): _emptied(CopyPart()),
    ord("c"): _emptied(CopyPart()),
    ord("f"): _emptied(CopyPart()),
    ord("F"): _emptied(FunctionCall()),
}
