"""Contract 15, stream frames: one for each event, and a stream folds to the envelope."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.errors import AuditUnavailable, LimitExceeded, Ungrounded
from redask.core.model import (
    Answer,
    Answered,
    AnswerReset,
    AnswerToken,
    Event,
    Evidence,
    Failed,
    Footnote,
    Mode,
    Notice,
    QuotedPassage,
    Source,
    SourcesFound,
    Validation,
)
from redask.core.wire import envelope, json
from redask.core.wire.frames import Frame, fold, of

ANSWER = Answer(
    answer="Yes[^1].",
    citations=(Footnote(2, "u2"), Footnote(1, "u1")),
    sources_flat=(Source("u1", "{}"), Source("u2", '{"a":1}')),
    validation=Validation(True, (), (Notice("mode_fallback", "d"),)),
    provider="groq",
    model="m",
    mode=Mode.LENIENT,
    prompt_tokens=3,
    completion_tokens=4,
    cost_usd=0,
    retry_count=1,
)


def wire(frame: Frame) -> tuple[str, str]:
    return frame.name, json.text(frame.payload)


@pytest.mark.parametrize(
    ("event", "name", "payload"),
    [
        (
            SourcesFound(ANSWER.sources_flat),
            "sources",
            r'{"sources_flat":[{"payload":"{}","urn":"u1"},{"payload":"{\"a\":1}","urn":"u2"}]}',
        ),
        (SourcesFound(()), "sources", '{"sources_flat":[]}'),
        (AnswerToken("a\n\u2028é"), "answer_token", '{"text":"a\\n\u2028é"}'),
        (AnswerToken(""), "answer_token", '{"text":""}'),
        (AnswerReset("retry"), "answer_reset", '{"reason":"retry"}'),
        (AnswerReset("failover"), "answer_reset", '{"reason":"failover"}'),
        (
            Answered(ANSWER),
            "validation",
            '{"audit":{"cache_hit":false,"completion_tokens":4,"cost_usd":0.0,"mode":"lenient",'
            '"model":"m","prompt_tokens":3,"provider":"groq","retry_count":1},'
            '"citations":[{"marker":1,"urn":"u1"},{"marker":2,"urn":"u2"}],"errors":[],"ok":true,'
            '"warnings":[{"detail":"d","kind":"mode_fallback"}]}',
        ),
        (
            Failed(LimitExceeded("max_prompt_tokens", "too long", detail="9 > 8")),
            "error",
            '{"code":413,"message":"too long"}',
        ),
        (
            Failed(Ungrounded("no", (Notice("malformed", "x"),))),
            "error",
            '{"code":422,"message":"no"}',
        ),
        (Failed(AuditUnavailable("down")), "error", '{"code":503,"message":"down"}'),
        (
            Failed(ZeroDivisionError("/home/me/key sk-1")),
            "error",
            '{"code":500,"message":"internal error"}',
        ),
    ],
)
def test_an_event_has_this_frame(event: Event, name: str, payload: str) -> None:
    assert wire(of(event)) == (name, payload)


_TEXTS = st.lists(st.text(max_size=5), max_size=4)
_NOTICES = st.lists(st.builds(Notice, st.text(max_size=3), st.text(max_size=3)), max_size=2)


_EVIDENCE = st.builds(
    Evidence,
    st.tuples(st.integers(0, 9), st.integers(0, 9)),
    st.lists(st.integers(1, 3), max_size=2).map(tuple),
    st.sampled_from(["supported", "uncited"]),
    st.lists(
        st.builds(
            QuotedPassage,
            st.text(max_size=3),
            st.tuples(st.integers(0, 9), st.integers(0, 9)),
            st.text(max_size=3),
            st.none() | st.just({"page": 3}),
        ),
        max_size=2,
    ).map(tuple),
)


@st.composite
def streams(draw: st.DrawFn) -> tuple[Answer, list[Event]]:
    """An answer and one way to stream it, with attempts that were taken back on the way."""
    events: list[Event] = []
    for _ in range(draw(st.integers(0, 2))):
        events += [AnswerToken(text) for text in draw(_TEXTS)]
        events.append(AnswerReset(draw(st.sampled_from(["retry", "failover"]))))
    tokens = draw(_TEXTS)
    sources = draw(
        st.lists(st.builds(Source, st.text(max_size=3), st.text(max_size=3)), max_size=3)
    )
    answer = Answer(
        "".join(tokens),
        tuple(
            draw(st.lists(st.builds(Footnote, st.integers(1, 3), st.text(max_size=3)), max_size=4))
        ),
        tuple(sources),
        Validation(draw(st.booleans()), tuple(draw(_NOTICES)), tuple(draw(_NOTICES))),
        draw(st.text(max_size=3)),
        draw(st.text(max_size=3)),
        draw(st.sampled_from(Mode)),
        draw(st.integers(0, 10)),
        draw(st.integers(0, 10)),
        draw(st.floats(0, 10)),
        draw(st.booleans()),
        draw(st.integers(0, 1)),
        draw(st.none() | st.lists(_EVIDENCE, max_size=2).map(tuple)),
    )
    events += [AnswerToken(text) for text in tokens]
    return answer, [SourcesFound(answer.sources_flat), *events, Answered(answer)]


@given(streams())
def test_folding_a_stream_gives_the_envelope_byte_for_byte(
    stream: tuple[Answer, list[Event]],
) -> None:
    answer, events = stream
    assert json.encode(fold(map(of, events))) == json.encode(envelope.build(answer))


def test_a_cache_hit_folds_from_three_frames() -> None:
    events: list[Event] = [
        SourcesFound(ANSWER.sources_flat),
        AnswerToken(ANSWER.answer),
        Answered(ANSWER),
    ]
    assert fold(of(event) for event in events) == envelope.build(ANSWER)


def test_folding_leaves_the_frames_as_they_were() -> None:
    frames = [of(SourcesFound(())), of(AnswerToken("x")), of(Answered(ANSWER))]
    before = [wire(frame) for frame in frames]
    fold(frames)
    assert [wire(frame) for frame in frames] == before


def test_what_is_none_of_the_frames_folds_to_nothing() -> None:
    assert fold([Frame("ping", {}), of(Failed(AuditUnavailable("down")))]) == {"answer": ""}


def test_a_new_event_without_a_frame_is_a_bug_that_shows() -> None:
    unknown: Any = object()
    with pytest.raises(AssertionError):
        of(unknown)
