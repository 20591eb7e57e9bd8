"""No stale or foreign answer comes from the cache, and none is missing, in random histories.

`--cache-histories` says how many are played; `make cache-histories` plays 10,000. Then each of
these bugs is planted once: a small lie in one place of the real code, which a history notices.
"""

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import pytest
from cache_histories import check, problem

from redask.core.errors import Ungrounded
from redask.core.model import Answer, Validation
from redask.core.rules import caching
from redask.core.rules.validation import Accept
from redask.engine.ask import Engine
from redask.engine.ask_state import AskState
from redask.engine.caching import answer_cache
from redask.engine.provider_calls import ProviderCall
from redask.stores.relational.cached_answers import RelationalAnswerCache


def test_the_cache_answers_when_it_may_and_never_otherwise(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> None:
    rounds = int(request.config.getoption("--cache-histories"))
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        played = list(pool.map(problem, range(rounds), chunksize=5))
    assert [wrong for _, wrong in played if wrong] == []
    hits = sum(hits for hits, _ in played)
    assert hits > rounds, f"{hits} answers from the cache: the test shows little"
    record_property("hits", hits)


ENOUGH = 60
# a history that notices, tried first: others follow, should the histories have changed
NOTICED = {
    "a_hit_is_not_validated_in_this_mode": 10,
    "an_answer_dies_a_nanosecond_too_soon": 15,
    "an_answer_lives_a_nanosecond_too_long": 34,
    "the_key_forgets_the_model": 30,
    "the_key_forgets_the_provider": 16,
    "the_key_forgets_the_seed": 16,
    "the_key_forgets_the_tenant": 14,
}
Plant = Callable[[pytest.MonkeyPatch], None]
BUGS: dict[str, Plant] = {}


def bug(plant: Plant) -> Plant:
    BUGS[plant.__name__] = plant
    return plant


def forgotten(part: str, value: object) -> Plant:
    def plant(patch: pytest.MonkeyPatch) -> None:
        key = caching.key
        patch.setattr(caching, "key", lambda **named: key(**{**named, part: value}))

    return plant


for part in ("tenant", "user", "provider", "model", "fingerprint"):
    BUGS[f"the_key_forgets_the_{part}"] = forgotten(part, "")
BUGS["the_key_forgets_the_temperature"] = forgotten("temperature", None)
BUGS["the_key_forgets_the_seed"] = forgotten("seed", None)


@bug
def nothing_tells_questions_apart(patch: pytest.MonkeyPatch) -> None:
    """The key alone would not show: a seed is drawn from the question, and prompts hold it."""
    key = caching.key
    patch.setattr(caching, "key", lambda **named: key(**{**named, "question": "", "seed": None}))
    patch.setattr(caching, "prompt_hash", lambda _: "")


@bug
def prompts_are_not_compared(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(caching, "prompt_hash", lambda _: "")


@bug
def an_answer_lives_a_nanosecond_too_long(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(caching, "expired", lambda stored, ttl, now: now - stored > ttl * 10**9)


@bug
def an_answer_dies_a_nanosecond_too_soon(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(caching, "expired", lambda stored, ttl, now: now - stored + 1 >= ttl * 10**9)


@bug
def a_hit_is_not_validated_in_this_mode(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(answer_cache, "judge", lambda *_: Accept(()))


@bug
def rejected_answers_are_stored(patch: pytest.MonkeyPatch) -> None:
    attempt = Engine._attempt

    async def greedy(self: Engine, run: AskState, found: Any, call: ProviderCall) -> Answer:
        try:
            return await attempt(self, run, found, call)
        except Ungrounded:
            rejected = run.finish(found.sources, Validation(True, (), ()))
            self.recall.place(
                run.ask,
                run.caller,
                call.provider,
                in_force=run.in_force,
                knobs=call.knobs,
                prompt=found.prompt,
                fingerprint=found.fingerprint,
            ).fill(rejected)
            raise

    patch.setattr(Engine, "_attempt", greedy)


@bug
def nocache_is_not_heard(patch: pytest.MonkeyPatch) -> None:
    decide = caching.decide
    patch.setattr(caching, "decide", lambda **named: decide(**{**named, "nocache": False}))


@bug
def the_readers_ttl_counts(patch: pytest.MonkeyPatch) -> None:
    look_up = answer_cache.CacheSlot.look_up

    def impatient(self: answer_cache.CacheSlot) -> answer_cache.CacheHit | None:
        if isinstance(self.use, caching.Use):
            kept = self.cache.get(self.key)
            if kept and caching.expired(kept.stored_at, self.use.ttl, self.clock()):
                return None
        return look_up(self)

    patch.setattr(answer_cache.CacheSlot, "look_up", impatient)


@bug
def the_cache_never_answers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RelationalAnswerCache, "get", lambda *_: None)


@bug
def one_entry_too_few_is_kept(patch: pytest.MonkeyPatch) -> None:
    put = RelationalAnswerCache.put
    patch.setattr(
        RelationalAnswerCache, "put", lambda self, key, entry, most: put(self, key, entry, most - 1)
    )


def caught(seed: int) -> bool:
    try:
        check(seed)
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize("name", sorted(BUGS))
def test_a_planted_bug_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    BUGS[name](monkeypatch)
    seeds = (NOTICED.get(name, 0), *range(ENOUGH))
    assert any(caught(seed) for seed in seeds), f"{name} went unnoticed"
