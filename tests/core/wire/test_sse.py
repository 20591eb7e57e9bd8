"""Contract 15, frames as server-sent events: these bytes and nothing more."""

import json as stdlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.errors import Overloaded
from redask.core.model import AnswerReset, AnswerToken, Event, Failed, Source, SourcesFound
from redask.core.wire.frames import of
from redask.core.wire.sse import HEARTBEAT, encode


def read(stream: bytes) -> list[tuple[str, str]]:
    """What a browser's EventSource dispatches, written from the standard's parsing rules."""
    dispatched: list[tuple[str, str]] = []
    name, data = "", list[str]()
    text = stream.decode().replace("\r\n", "\n").replace("\r", "\n")
    for line in text.split("\n"):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if line == "":
            if data:
                dispatched.append((name or "message", "\n".join(data)))
            name, data = "", []
        elif field == "event":
            name = value
        elif field == "data":
            data.append(value)
        else:
            assert field == "", f"neither event, data nor a comment: {line!r}"
    assert (name, data) == ("", []), "a frame without its blank line"
    return dispatched


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (SourcesFound(()), b'event: sources\ndata: {"sources_flat":[]}\n\n'),
        (AnswerToken("é"), 'event: answer_token\ndata: {"text":"é"}\n\n'.encode()),
        (AnswerToken("a\r\nb\rc\n"), b'event: answer_token\ndata: {"text":"a\\r\\nb\\rc\\n"}\n\n'),
        (AnswerReset("retry"), b'event: answer_reset\ndata: {"reason":"retry"}\n\n'),
        (Failed(Overloaded("busy")), b'event: error\ndata: {"code":429,"message":"busy"}\n\n'),
    ],
)
def test_a_frame_has_exactly_these_bytes(event: Event, expected: bytes) -> None:
    assert encode(event) == expected


_EVENTS = (
    st.builds(AnswerToken, st.text())
    | st.builds(AnswerReset, st.sampled_from(["retry", "failover"]))
    | st.lists(st.builds(Source, st.text(), st.text()), max_size=2).map(
        lambda found: SourcesFound(tuple(found))
    )
)


@given(st.lists(_EVENTS), st.booleans())
def test_a_reader_gets_every_frame_whatever_the_text(events: list[Event], beat: bool) -> None:
    between = HEARTBEAT if beat else b""
    frames = read(between + between.join(encode(event) for event in events) + between)
    assert [name for name, _ in frames] == [of(event).name for event in events]
    assert [stdlib.loads(data) for _, data in frames] == [of(event).payload for event in events]


@given(_EVENTS)
def test_a_frame_is_one_event_line_one_data_line_and_a_blank_one(event: Event) -> None:
    lines = encode(event).split(b"\n")
    assert [line.partition(b": ")[0] for line in lines] == [b"event", b"data", b"", b""]


def test_a_heartbeat_is_a_comment_and_dispatches_nothing() -> None:
    assert HEARTBEAT.startswith(b":")
    assert read(HEARTBEAT * 3) == []
