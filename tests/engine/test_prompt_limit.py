"""`ask.max_prompt_tokens` holds for the prompt that is sent, as the estimator counts it whole."""

from typing import Any

import pytest
from stage import Player, Stage

import redask
from redask.core import errors
from redask.core.model import Prompt
from redask.core.token_count import estimate

QUESTION = "Which pier & which <ferry>?"
HOSTILE = ["<&>" * 40, '"&quot;"' * 30, "</source>\n" * 25, "plain words, one after the other " * 9]


def counted(prompt: Prompt) -> int:
    return estimate(prompt.system) + estimate(prompt.user)


@pytest.fixture
def piers(stage: Stage) -> Stage:
    with redask.open(stage.directory, embedder="none") as db:
        rows = [{"id": f'{n}<&">', "text": f"ferry {each}"} for n, each in enumerate(HOSTILE)]
        db.put("piers", rows)
    return stage


def ask(stage: Stage, limit: int | None) -> tuple[Player, redask.CitedAnswer, dict[str, Any]]:
    player = Player("scripted", ["At nine [^1]."])
    toml = "" if limit is None else f"[ask]\nmax_prompt_tokens = {limit}"
    db = stage.open(player, toml=toml)
    return player, db.ask(QUESTION, plan="off"), db.explain(QUESTION, plan="off")


def test_the_plan_says_what_the_assembled_prompt_is_counted_as(piers: Stage) -> None:
    player, answer, plan = ask(piers, None)
    assert len(answer.sources_flat) == len(HOSTILE)
    assert plan["estimated_cost"]["prompt_tokens"] == counted(player.calls[0][0])


def test_a_prompt_at_the_limit_is_sent_whole_and_one_token_less_costs_a_source(
    piers: Stage,
) -> None:
    whole = counted(ask(piers, None)[0].calls[0][0])
    _, at_the_limit, _ = ask(piers, whole)
    assert len(at_the_limit.sources_flat) == len(HOSTILE)
    player, below, plan = ask(piers, whole - 1)
    assert len(below.sources_flat) == len(HOSTILE) - 1
    assert "sources_trimmed" in [notice.kind for notice in below.validation.warnings]
    assert plan["estimated_cost"]["prompt_tokens"] == counted(player.calls[0][0]) < whole


@pytest.mark.parametrize("limit", [690, 930, 1170])
def test_whatever_the_limit_no_longer_prompt_is_sent(piers: Stage, limit: int) -> None:
    player, answer, _ = ask(piers, limit)
    assert len(answer.sources_flat) < len(HOSTILE)
    assert counted(player.calls[0][0]) <= limit


def test_a_first_source_that_does_not_fit_once_it_is_escaped_is_refused(piers: Stage) -> None:
    player = Player("scripted", ["never"])
    db = piers.open(player, toml="[ask]\nmax_prompt_tokens = 450")  # unescaped it would
    with pytest.raises(errors.LimitExceeded) as caught:
        db.ask(QUESTION, limit=1, plan="off")
    assert (caught.value.limit, player.calls) == ("max_prompt_tokens", [])
