"""Contract 5, the response envelope: twelve keys, their order of lists, and their bytes."""

from dataclasses import replace
from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Answer, Footnote, Mode, Notice, Source, Validation
from redask.core.wire import json
from redask.core.wire.envelope import build

TWELVE = (
    "answer cache_hit citations completion_tokens cost_usd mode model prompt_tokens provider "
    "retry_count sources_flat validation"
).split()

PLAIN = Answer("", (), (), Validation(True), "extractive", "none", Mode.STRICT)
FULL = Answer(
    answer='Ünits: "5"[^2][^1]',
    citations=(Footnote(2, "urn:reddb:row:b/2"), Footnote(1, "urn:reddb:row:a/1")),
    sources_flat=(
        Source("urn:reddb:row:a/1", '{"a":"<é>"}'),
        Source("urn:reddb:row:b/2", '{"b":5}'),
    ),
    validation=Validation(True, (Notice("malformed", "e"),), (Notice("no_sources", "w"),)),
    provider="openai",
    model="gpt",
    mode=Mode.LENIENT,
    prompt_tokens=11,
    completion_tokens=7,
    cost_usd=0.00032100000000000005,
    cache_hit=True,
    retry_count=1,
)

_TEXT = st.text(max_size=8)
_NOTICES = st.lists(st.builds(Notice, _TEXT, _TEXT), max_size=3).map(tuple)
_ANSWERS = st.builds(
    Answer,
    _TEXT,
    st.lists(st.builds(Footnote, st.integers(1, 4), _TEXT), max_size=8).map(tuple),
    st.lists(st.builds(Source, _TEXT, _TEXT), max_size=4).map(tuple),
    st.builds(Validation, st.booleans(), _NOTICES, _NOTICES),
    _TEXT,
    _TEXT,
    st.sampled_from(Mode),
    st.integers(0, 2**63 - 1),
    st.integers(0, 2**63 - 1),
    st.floats(0.0, allow_infinity=False) | st.integers(0, 10),
    st.booleans(),
    st.integers(0, 1),
)


def test_a_full_envelope_has_these_bytes() -> None:
    assert json.text(build(FULL)) == (
        r'{"answer":"Ünits: \"5\"[^2][^1]","cache_hit":true,'
        '"citations":[{"marker":1,"urn":"urn:reddb:row:a/1"},'
        '{"marker":2,"urn":"urn:reddb:row:b/2"}],'
        '"completion_tokens":7,"cost_usd":0.00032100000000000005,"mode":"lenient",'
        '"model":"gpt","prompt_tokens":11,"provider":"openai","retry_count":1,'
        r'"sources_flat":[{"payload":"{\"a\":\"<é>\"}","urn":"urn:reddb:row:a/1"},'
        r'{"payload":"{\"b\":5}","urn":"urn:reddb:row:b/2"}],'
        '"validation":{"errors":[{"detail":"e","kind":"malformed"}],"ok":true,'
        '"warnings":[{"detail":"w","kind":"no_sources"}]}}'
    )


def test_an_empty_envelope_has_these_bytes_and_every_list() -> None:
    assert json.text(build(PLAIN)) == (
        '{"answer":"","cache_hit":false,"citations":[],"completion_tokens":0,"cost_usd":0.0,'
        '"mode":"strict","model":"none","prompt_tokens":0,"provider":"extractive",'
        '"retry_count":0,"sources_flat":[],"validation":{"errors":[],"ok":true,"warnings":[]}}'
    )


@pytest.mark.parametrize(
    ("cost", "written"), [(0, "0.0"), (-0.0, "0.0"), (3, "3.0"), (1e-7, "1e-07")]
)
def test_the_cost_is_a_double_in_full_precision(cost: float, written: str) -> None:
    assert f'"cost_usd":{written},' in json.text(build(replace(PLAIN, cost_usd=cost)))


def test_citations_with_one_marker_keep_their_order_and_both_stay() -> None:
    notes = (Footnote(2, "z"), Footnote(1, "b"), Footnote(2, "a"), Footnote(1, "b"))
    assert build(replace(PLAIN, citations=notes))["citations"] == [
        {"marker": 1, "urn": "b"},
        {"marker": 1, "urn": "b"},
        {"marker": 2, "urn": "z"},
        {"marker": 2, "urn": "a"},
    ]


def test_markers_sort_as_numbers() -> None:
    notes = (Footnote(10, "j"), Footnote(9, "i"))
    built: Any = build(replace(PLAIN, citations=notes))
    assert [note["marker"] for note in built["citations"]] == [9, 10]


@pytest.mark.parametrize("mode", Mode)
def test_the_mode_is_its_word(mode: Mode) -> None:
    assert build(replace(PLAIN, mode=mode))["mode"] == mode.value
    assert type(build(replace(PLAIN, mode=mode))["mode"]) is str


@given(_ANSWERS)
def test_an_envelope_has_exactly_twelve_keys_and_their_shapes(answer: Answer) -> None:
    built: Any = build(answer)
    assert sorted(built) == TWELVE
    assert all(set(note) == {"marker", "urn"} for note in built["citations"])
    assert all(set(source) == {"payload", "urn"} for source in built["sources_flat"])
    assert set(built["validation"]) == {"errors", "ok", "warnings"}
    for notice in built["validation"]["errors"] + built["validation"]["warnings"]:
        assert set(notice) == {"detail", "kind"}


@given(_ANSWERS)
def test_nothing_is_lost_added_or_reordered_but_the_sorting_by_marker(answer: Answer) -> None:
    built: Any = build(answer)
    pairs = [(note.marker, note.urn) for note in answer.citations]
    assert [(n["marker"], n["urn"]) for n in built["citations"]] == sorted(pairs, key=itemgetter(0))
    assert [(s["urn"], s["payload"]) for s in built["sources_flat"]] == [
        (source.urn, source.payload) for source in answer.sources_flat
    ]
    for name in ("errors", "warnings"):
        given = [(notice.kind, notice.detail) for notice in getattr(answer.validation, name)]
        assert [(n["kind"], n["detail"]) for n in built["validation"][name]] == given
    for name in sorted(set(TWELVE) - {"citations", "sources_flat", "validation"}):
        assert built[name] == getattr(answer, name)


@given(_ANSWERS)
def test_equal_answers_have_equal_bytes(answer: Answer) -> None:
    assert json.encode(build(answer)) == json.encode(build(replace(answer)))
