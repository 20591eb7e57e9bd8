"""Messages in: the same however the bytes are cut, as pygwire writes them, and strict."""

import struct
from collections.abc import Iterator, Sequence
from typing import Any

import fake_pgwire as wire
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygwire import messages as oracle

from redask.server.pgwire.protocol import frontend_messages
from redask.server.pgwire.protocol.frontend_messages import (
    Malformed,
    MessageReader,
    ProtocolViolation,
)
from redask.server.pgwire.protocol.sqlstate_error import SqlStateError

TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20)
SHORTS = st.lists(st.integers(0, 2**15 - 1), max_size=4)  # as far as pygwire writes them
OIDS = st.lists(st.integers(0, 2**32 - 1), max_size=4)
VALUES = st.lists(st.none() | st.binary(max_size=12), max_size=4)
NUMBERS = st.integers(0, 2**31 - 1)
TARGETS = st.sampled_from("SP")

# a message of ours, and of pygwire
PAIRS: st.SearchStrategy[tuple[frontend_messages.FrontendMessage, Any]] = st.one_of(
    st.builds(lambda a: (frontend_messages.SimpleQuery(a), oracle.Query(a)), TEXTS),
    st.builds(
        lambda a, b, c: (frontend_messages.Parse(a, b, tuple(c)), oracle.Parse(a, b, c)),
        TEXTS,
        TEXTS,
        OIDS,
    ),
    st.builds(
        lambda a, b, c, d, e: (
            frontend_messages.Bind(a, b, tuple(c), tuple(d), tuple(e)),
            oracle.Bind(a, b, c, d, e),
        ),
        TEXTS,
        TEXTS,
        SHORTS,
        VALUES,
        SHORTS,
    ),
    st.builds(
        lambda a, b: (frontend_messages.Describe(a, b), oracle.Describe(a, b)), TARGETS, TEXTS
    ),
    st.builds(lambda a, b: (frontend_messages.Close(a, b), oracle.Close(a, b)), TARGETS, TEXTS),
    st.builds(lambda a, b: (frontend_messages.Execute(a, b), oracle.Execute(a, b)), TEXTS, NUMBERS),
    st.builds(
        lambda a: (frontend_messages.CopyMessage(), oracle.CopyData(a)), st.binary(max_size=9)
    ),
    st.sampled_from(
        [
            (frontend_messages.Sync(), oracle.Sync()),
            (frontend_messages.Flush(), oracle.Flush()),
            (frontend_messages.Terminate(), oracle.Terminate()),
            (frontend_messages.CopyMessage(), oracle.CopyDone()),
            (frontend_messages.FunctionCall(), oracle.FunctionCall()),
        ]
    ),
)


def read(data: bytes, cuts: Sequence[int] = ()) -> Iterator[frontend_messages.FrontendMessage]:
    """The messages of bytes that come in pieces."""
    reader, at = MessageReader(), 0
    for end in [*sorted(cut % (len(data) + 1) for cut in cuts), len(data)]:
        reader.feed(data[at:end])
        at = max(at, end)
        while (message := reader.message()) is not None:
            yield message
    assert len(reader) == 0 or reader.message() is None


@given(st.lists(PAIRS, max_size=6), st.lists(st.integers(0, 10_000), max_size=8))
def test_messages_are_read_as_pygwire_writes_them_however_they_are_cut(
    pairs: list[tuple[frontend_messages.FrontendMessage, Any]], cuts: list[int]
) -> None:
    data = b"".join(theirs.to_wire() for _, theirs in pairs)
    assert list(read(data, cuts)) == [ours for ours, _ in pairs]


def shown(message: frontend_messages.FrontendMessage) -> object:
    return (message.kind, message.fault.message) if isinstance(message, Malformed) else message


def outcome(data: bytes, cuts: Sequence[int]) -> tuple[list[object], str]:
    found: list[object] = []
    try:
        for message in read(data, cuts):
            found.append(shown(message))
    except ProtocolViolation as error:
        return found, str(error)
    return found, ""


@given(
    st.lists(st.tuples(st.sampled_from(b"QPBDECHSXdcfFpzR"), st.binary(max_size=30)), max_size=5),
    st.binary(max_size=20),
    st.lists(st.integers(0, 1000), max_size=8),
)
def test_bytes_that_are_no_messages_are_judged_the_same_however_they_are_cut(
    frames: list[tuple[int, bytes]], rest: bytes, cuts: list[int]
) -> None:
    data = b"".join(wire.framed(bytes([kind]), body) for kind, body in frames) + rest
    assert outcome(data, cuts) == outcome(data, ()) == outcome(data, range(len(data)))


@given(st.dictionaries(TEXTS.filter(bool), TEXTS, max_size=5), st.integers(0, 2**16 - 1))
def test_a_start_up_message_is_read_as_pygwire_writes_it(
    parameters: dict[str, str], minor: int
) -> None:
    reader = MessageReader()
    data = oracle.StartupMessage(parameters, 3 << 16 | minor).to_wire()
    for byte in data[:-1]:
        reader.feed(bytes([byte]))
        assert reader.startup_packet() is None
    reader.feed(data[-1:])
    assert reader.startup_packet() == frontend_messages.StartupMessage(3, minor, parameters)
    assert len(reader) == 0


def opening(data: bytes) -> frontend_messages.StartupPacket | None:
    reader = MessageReader()
    reader.feed(data)
    return reader.startup_packet()


def test_the_other_openings_are_read() -> None:
    assert opening(wire.SSL_REQUEST) == frontend_messages.SslRequest()
    assert opening(wire.GSS_REQUEST) == frontend_messages.GssEncRequest()
    key = struct.pack("!i", 7) + b"abcd"
    assert opening(wire.cancel(key)) == frontend_messages.CancelRequest(7, b"abcd")
    assert opening(wire.start_up(2 << 16)) == frontend_messages.StartupMessage(2, 0, {})


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("!i", 7),
        struct.pack("!i", -1),
        struct.pack("!i", frontend_messages.MAX_STARTUP_PACKET + 1),
        b"GET / HTTP/1.1\r\n\r\n",
        wire.special(80877103, b"more"),
        wire.special(80877102, b"no k"),
        wire.special(80877102, b"x" * 300),
        wire.special(3 << 16, b"user\0mia\0"),  # it does not end
        wire.special(3 << 16, b"user\0\0"),
        wire.special(3 << 16, b"\0mia\0\0"),
        wire.special(3 << 16, b"user\0\xff\0\0"),
        wire.special(3 << 16),
    ],
)
def test_a_first_message_that_is_none_ends_it(data: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        opening(data)


def test_a_length_is_refused_before_its_bytes_are_there() -> None:
    for head, signing_in in (
        (b"Q" + struct.pack("!i", frontend_messages.MAX_MESSAGE + 1), False),
        (b"Q" + struct.pack("!i", 3), False),
        (b"p" + struct.pack("!i", frontend_messages.MAX_PASSWORD + 1), True),
    ):
        reader = MessageReader()
        reader.feed(head)
        with pytest.raises(ProtocolViolation):
            reader.message(authenticating=signing_in)
    reader = MessageReader()
    reader.feed(b"Q" + struct.pack("!i", frontend_messages.MAX_MESSAGE))
    assert reader.message() is None


@pytest.mark.parametrize("kind", [b"Q", b"P", b"S", b"?", b"\0"])
def test_before_sign_in_only_secrets_are_read(kind: bytes) -> None:
    reader = MessageReader()
    reader.feed(kind)
    with pytest.raises(ProtocolViolation):
        reader.message(authenticating=True)


@pytest.mark.parametrize(
    ("kind", "body", "state"),
    [
        (b"Q", b"no end", "08P01"),
        (b"Q", b"two\0texts\0", "08P01"),
        (b"Q", b"\xff\0", "22021"),
        (b"P", b"\0\0", "08P01"),
        (b"P", b"\0\0\0\2\0\0\0\1", "08P01"),
        (b"B", b"\0\0\0\0\0\1\0\0\0\5ab\0\0", "08P01"),
        (b"B", b"\0\0\0\0\0\1\xff\xff\xff\xfe\0\0", "08P01"),  # a length of -2
        (b"B", b"\0\0\xff\xff", "08P01"),
        (b"D", b"X\0", "08P01"),
        (b"D", b"", "08P01"),
        (b"E", b"\0\0\0", "08P01"),
        (b"S", b"x", "08P01"),
        (b"H", b"x", "08P01"),
    ],
)
def test_what_is_wrong_inside_a_message_does_not_lose_the_next(
    kind: bytes, body: bytes, state: str
) -> None:
    bad, good = read(wire.framed(kind, body) + wire.SYNC)
    assert isinstance(bad, Malformed)
    assert (bad.kind, bad.fault.sqlstate) == (kind.decode(), state)
    assert good == frontend_messages.Sync()


def test_the_choice_of_a_mechanism_is_read() -> None:
    body = wire.sasl_first(b"n,,n=,r=x")[5:]
    assert frontend_messages.sasl_initial(body) == ("SCRAM-SHA-256", b"n,,n=,r=x")
    for bad in (body[:-1], body + b"x", b"SCRAM\0\xff\xff\xff\xff", b""):
        with pytest.raises(SqlStateError):
            frontend_messages.sasl_initial(bad)
