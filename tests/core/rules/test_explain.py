"""Contract 3: what EXPLAIN shows, to the byte."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Ask, Capabilities, Knobs, Mode
from redask.core.rules import explain, fusion
from redask.core.rules.explain import Retrieval
from redask.core.rules.fusion import Fused
from redask.core.wire.json import encode

KEYS = "depth determinism estimated_cost fusion mode provider question retrieval sources".split()
BUCKETS = (Retrieval("bm25", 20), Retrieval("vector", 20, 0.25), Retrieval("graph", 20))


def plan(**changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "question": "why?",
        "mode": Mode.STRICT,
        "provider": "openai",
        "model": "gpt-x",
        "capabilities": Capabilities(True, True, True, True),
        "knobs": Knobs(0.0, 2958604639977193162),
        "retrieval": BUCKETS,
        "sources": [Fused("urn:reddb:row:t/1", 0.03278688524590164)],
        "depth": 2,
        "limit": 20,
        "k_constant": 60,
        "prompt_tokens": 812,
        "max_completion_tokens": 1024,
    }
    return explain.plan(**{**given, **changes})


def test_the_plan_is_golden_to_the_byte() -> None:
    assert encode(plan()) == (
        b'{"depth":2,"determinism":{"seed":2958604639977193162,"temperature":0.0},'
        b'"estimated_cost":{"max_completion_tokens":1024,"prompt_tokens":812},'
        b'"fusion":{"algorithm":"rrf","k_constant":60,"limit":20},"mode":"strict",'
        b'"provider":{"model":"gpt-x","name":"openai","supports_citations":true,'
        b'"supports_seed":true},"question":"why?",'
        b'"retrieval":[{"bucket":"bm25","min_score":0.0,"top_k":20},'
        b'{"bucket":"vector","min_score":0.25,"top_k":20},'
        b'{"bucket":"graph","min_score":0.0,"top_k":20}],'
        b'"sources":[{"rank":1,"rrf_score":0.03278688524590164,"urn":"urn:reddb:row:t/1"}]}'
    )


@pytest.mark.parametrize(
    "changes",
    [{}, {"knobs": Knobs(None, None)}, {"retrieval": (), "sources": ()}, {"mode": Mode.LENIENT}],
)
def test_the_plan_has_exactly_nine_keys_whatever_is_missing(changes: dict[str, Any]) -> None:
    assert sorted(plan(**changes)) == KEYS


@pytest.mark.parametrize(
    ("knobs", "shown"),
    [
        (Knobs(None, None), b"{}"),
        (Knobs(None, 7), b'{"seed":7}'),
        (Knobs(0.5, None), b'{"temperature":0.5}'),
        (Knobs(0.0, 0), b'{"seed":0,"temperature":0.0}'),
        (Knobs(1, 2**64 - 1), b'{"seed":18446744073709551615,"temperature":1.0}'),
    ],
)
def test_a_knob_the_provider_lacks_is_absent_and_zero_is_present(
    knobs: Knobs, shown: bytes
) -> None:
    assert encode(plan(knobs=knobs)["determinism"]) == shown


def test_empty_lists_are_never_missing() -> None:
    empty = plan(retrieval=(), sources=())
    assert (empty["retrieval"], empty["sources"]) == ([], [])


@pytest.mark.parametrize("mode", Mode)
def test_the_mode_is_shown_as_its_word(mode: Mode) -> None:
    shown = plan(mode=mode)["mode"]
    assert shown == mode.value
    assert type(shown) is str


@pytest.mark.parametrize("cites", [True, False])
@pytest.mark.parametrize("seeds", [True, False])
def test_the_provider_shows_its_name_model_and_two_flags(cites: bool, seeds: bool) -> None:
    capabilities = Capabilities(cites, seeds, not cites, not seeds)
    assert plan(provider="p", model="m", capabilities=capabilities)["provider"] == {
        "model": "m",
        "name": "p",
        "supports_citations": cites,
        "supports_seed": seeds,
    }


def test_scores_and_floors_are_doubles_even_when_given_as_integers() -> None:
    shown = plan(retrieval=[Retrieval("bm25", 40, 1)], sources=[Fused("u", 0)])
    assert encode(shown["retrieval"]) == b'[{"bucket":"bm25","min_score":1.0,"top_k":40}]'
    assert encode(shown["sources"]) == b'[{"rank":1,"rrf_score":0.0,"urn":"u"}]'


def test_limit_depth_and_estimates_are_shown_as_given() -> None:
    shown = plan(depth=0, limit=200, k_constant=1, prompt_tokens=0, max_completion_tokens=9)
    assert shown["depth"] == 0
    assert shown["fusion"] == {"algorithm": "rrf", "k_constant": 1, "limit": 200}
    assert shown["estimated_cost"] == {"max_completion_tokens": 9, "prompt_tokens": 0}


def test_the_defaults_are_those_of_the_contract() -> None:
    ask = Ask("why?")
    assert (ask.limit, ask.depth) == (20, 2)
    assert (fusion.LIMIT, fusion.K) == (20, 60)
    assert Retrieval("bm25", 20).min_score == 0.0


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_the_question_is_verbatim_byte_for_byte(question: str) -> None:
    shown = plan(question=question)
    assert shown["question"] == question
    assert json.loads(encode(shown))["question"].encode() == question.encode()


@given(st.lists(st.builds(Fused, st.text(max_size=5), st.floats(0, 1))))
def test_sources_keep_their_order_and_rank_from_one(sources: list[Fused]) -> None:
    shown = plan(sources=sources)["sources"]
    assert [(item["urn"], item["rrf_score"]) for item in shown] == [
        (item.urn, item.score) for item in sources
    ]
    assert [item["rank"] for item in shown] == list(range(1, len(sources) + 1))
    assert all(item.keys() == {"rank", "rrf_score", "urn"} for item in shown)


@given(st.lists(st.builds(Retrieval, st.text(max_size=3), st.integers(0, 200), st.floats(0, 1))))
def test_retrieval_keeps_its_order(steps: list[Retrieval]) -> None:
    assert plan(retrieval=steps)["retrieval"] == [
        {"bucket": step.bucket, "min_score": step.min_score, "top_k": step.top_k} for step in steps
    ]


def test_equal_input_gives_equal_bytes() -> None:
    assert encode(plan()) == encode(plan())


def test_a_statement_is_a_tenth_key() -> None:
    query = {"coverage": 1.0, "intent": "count", "sql": "SELECT 1"}
    assert plan(query=query)["query"] == query
    assert sorted(plan(query=query)) == sorted([*KEYS, "query"])
