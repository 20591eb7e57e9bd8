"""rules.auditing.provenance: what is kept of an answer reads back as it was, and says no more."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Ask, PlanChoice, Strictness, Turn
from redask.core.rules.auditing.provenance import (
    AnswerSetup,
    DataState,
    Provenance,
    SourceFacts,
    ask_of,
    options_of,
    read_provenance,
)

STATE = DataState("v" * 64, 7, "3:abc", "4.1", "minilm 384")
FACTS = SourceFacts((1, 2**64 - 1), (1, 3), "f" * 64, "p" * 64, STATE)
SETUP = AnswerSetup("t" * 16, "0.1.0", {"ask.strict": "off"})


@pytest.mark.parametrize(
    "made",
    [
        Provenance(SETUP),
        Provenance(SETUP, {"limit": 5}, FACTS),
        Provenance(SETUP, {}, SourceFacts((), (), "f", "p", DataState("v", 0, ""))),
        Provenance(
            SETUP,
            {"collections": ["a"]},
            FACTS,
            (("region", "north"), ("teams", ("a", "b"))),
            by_model=True,
            hashed=True,
            replays=3,
        ),
        Provenance(SETUP, attributes=()),
    ],
)
def test_it_reads_back_from_its_json_as_it_was(made: Provenance) -> None:
    assert read_provenance(json.loads(json.dumps(made.plain()))) == made


def test_what_says_nothing_is_left_out_and_equal_versions_are_written_once() -> None:
    assert Provenance(SETUP).plain() == {"setup": SETUP.plain()}
    plain = SourceFacts((5, 6), (5, 6), "f", "p", STATE).plain()
    assert (plain["versions"], plain["read"]) == (f"{5:016x}{6:016x}", "")


@given(st.lists(st.integers(0, 2**64 - 1)), st.booleans())
def test_versions_of_any_size_read_back(versions: list[int], same: bool) -> None:
    read = tuple(versions) if same else tuple(reversed(versions))
    facts = SourceFacts(tuple(versions), read, "f", "p", STATE)
    assert read_provenance(Provenance(SETUP, found=facts).plain()).found == facts


@pytest.mark.parametrize(
    "ask",
    [
        Ask("Who?"),
        Ask("Who?", limit=3, depth=0, min_score=0.25, temperature=0.0, seed=0),
        Ask("Who?", collections=("a", "b"), strict=Strictness.SUPPORTED, plan=PlanChoice.OFF),
        Ask("Who?", steps=2, plan=PlanChoice.ONLY, strict=Strictness.OFF),
    ],
)
def test_an_ask_is_made_again_of_its_question_and_options(ask: Ask) -> None:
    options = json.loads(json.dumps(options_of(ask)))
    again = ask_of("Who?", options)
    assert again.nocache
    assert options_of(again) == options_of(ask)
    assert type(again.plan) is PlanChoice
    assert again.collections == ask.collections


def test_options_hold_neither_the_question_nor_the_history() -> None:
    ask = Ask(
        "Who is ill?", history=(Turn("Is Ann ill?", "Yes"),), using=("openai",), evidence=True
    )
    assert options_of(ask) == {}
    assert ask_of("Who?", {"unknown": 1, "limit": 2}).limit == 2  # of a newer redask
