"""A kept answer is served only if it is fresh, of this very prompt, and valid in this mode."""

from dataclasses import replace

import pytest

from redask.core.errors import StoreFailed
from redask.core.model import (
    Answer,
    Ask,
    Caller,
    Knobs,
    Mode,
    Notice,
    Prompt,
    Source,
    Strictness,
    Validation,
)
from redask.core.ports import CachedAnswer
from redask.core.rules import validation
from redask.core.rules.caching import Bypass, Use
from redask.core.rules.grounding import refused_answers
from redask.core.rules.validation import Examined
from redask.core.settings import load
from redask.engine.caching import answer_cache
from redask.engine.caching.answer_cache import AnswerCaching, CacheSlot
from redask.providers.scripted import Scripted

NOW = 10**18
MIA = Caller("t", "mia", "clerk")
KNOBS = Knobs(0.0, 7)
GOOD = Answer(
    answer="At nine [^1].",
    citations=(),
    sources_flat=(Source("urn:reddb:row:t/1", "{}"),),
    validation=Validation(True, (), ()),
    provider="scripted",
    model="m",
    mode=Mode.STRICT,
)


class OneAnswer:
    """A cache that holds one entry, or cannot be read."""

    def __init__(self, entry: CachedAnswer | None, error: bool = False) -> None:
        self.entry = entry
        self.error = error

    def get(self, key: str) -> CachedAnswer | None:
        if self.error:
            raise StoreFailed("the disk is gone")
        return self.entry if key == "k" else None

    def put(self, key: str, entry: CachedAnswer, most: int) -> None:
        raise AssertionError


def slot(
    entry: CachedAnswer | None, *, error: bool = False, strict: Strictness = Strictness.ON
) -> CacheSlot:
    return CacheSlot(OneAnswer(entry, error), lambda: NOW, Use(60), "k", "hash", strict, 10)


ENTRY = CachedAnswer(GOOD, "hash", NOW - 10**9, 60)


def test_what_was_kept_for_this_prompt_is_served() -> None:
    hit = slot(ENTRY).look_up()
    assert hit is not None
    assert hit.answer == GOOD


@pytest.mark.parametrize(
    "entry",
    [
        None,
        replace(ENTRY, prompt_hash="another"),
        replace(ENTRY, stored_at=NOW - 61 * 10**9),
        replace(ENTRY, answer=replace(GOOD, answer="At nine [^2].")),
        replace(ENTRY, answer=replace(GOOD, answer=" ")),
    ],
)
def test_nothing_else_is(entry: CachedAnswer | None) -> None:
    assert slot(entry).look_up() is None


def test_a_lenient_ask_takes_what_a_strict_one_would_not() -> None:
    entry = replace(ENTRY, answer=replace(GOOD, answer="At nine [^2]."))
    assert slot(entry, strict=Strictness.OFF).look_up() is not None


def test_a_cache_that_cannot_be_read_and_one_not_in_use_are_misses() -> None:
    assert slot(ENTRY, error=True).look_up() is None
    assert replace(slot(ENTRY), use=Bypass()).look_up() is None


def test_an_answer_is_examined_once_and_anew_for_all_that_this_depends_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    examined: list[tuple[object, ...]] = []

    def counted(
        text: str, sources: tuple[Source, ...], *, question: str, refused: bool
    ) -> Examined:
        examined.append((text, sources, question, refused))
        return validation.examine(text, sources, question=question, refused=refused)

    monkeypatch.setattr(answer_cache, "examine", counted)
    refusal = Validation(True, (), (Notice(refused_answers.REFUSED, ""),))
    kept = [
        GOOD,
        replace(GOOD, answer="At ten [^1]."),
        replace(GOOD, sources_flat=(Source("urn:reddb:row:t/1", '{"at":"nine"}'),)),
        replace(GOOD, validation=refusal),
    ]
    answer_cache._examined.cache_clear()
    for answer in (*kept, *kept):
        for question in ("When?", "Why?"):
            place = replace(slot(replace(ENTRY, answer=answer)), question=question)
            hit = place.look_up()
            assert hit is not None
            assert hit.examined == validation.examine(
                answer.answer,
                answer.sources_flat,
                question=question,
                refused=answer.validation is refusal,
            )
    answer_cache._examined.cache_clear()
    assert len(examined) == len(set(examined)) == 8


def key(
    question: str = "When?",
    caller: Caller = MIA,
    knobs: Knobs = KNOBS,
    fingerprint: str = "f",
) -> str:
    caching = AnswerCaching(OneAnswer(None), load("[ask.cache]\nenabled = true\n", {}), lambda: NOW)
    found = caching.place(
        Ask(question, cache_ttl=60),
        caller,
        Scripted([]),
        in_force=Strictness.ON,
        knobs=knobs,
        prompt=Prompt("system", "user", question, ()),
        fingerprint=fingerprint,
    )
    assert found.in_use
    return found.key


def test_the_engine_puts_everything_into_the_key_that_an_answer_depends_on() -> None:
    others = [
        key("Why?"),
        key(caller=Caller("t", "tom", "clerk")),
        key(caller=Caller("u", "mia", "clerk")),
        key(knobs=Knobs(0.5, 7)),
        key(knobs=Knobs(0.0, 8)),
        key(fingerprint="g"),
    ]
    assert len({key(), *others}) == len(others) + 1
    assert key() == key()
