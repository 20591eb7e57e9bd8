"""The hint of a retry counts towards `ask.max_prompt_tokens`."""

from pathlib import Path

import pytest

import redask
from redask.core.errors import LimitExceeded
from redask.core.settings import load
from redask.providers.scripted import Reply, Scripted

QUESTION = "When does the ferry leave?"


def opened(place: Path, tokens: int, scripted: Scripted) -> redask.OpenDatabase:
    settings = load(f"[ask]\nmax_prompt_tokens = {tokens}\n", {})
    return redask.open(place, settings=settings, providers={"scripted": scripted}, embedder="none")


def test_a_prompt_that_fits_without_the_hint_only_is_asked_once(tmp_path: Path) -> None:
    with opened(tmp_path, 10_000, Scripted([])) as db:
        db.put("notes", [{"id": 1, "text": "The ferry leaves at nine."}])
        size = db.explain(QUESTION, using="scripted")["estimated_cost"]["prompt_tokens"]
    wrong = Scripted([Reply("At nine [^9]."), Reply("At nine [^1].")])
    with opened(tmp_path, size + 5, wrong) as db, pytest.raises(LimitExceeded) as caught:
        db.ask(QUESTION, using="scripted")
    assert caught.value.limit == "max_prompt_tokens"
    roomy = Scripted([Reply("At nine [^9]."), Reply("At nine [^1].")])
    with opened(tmp_path, size + 500, roomy) as db:
        assert db.ask(QUESTION, using="scripted").retry_count == 1
