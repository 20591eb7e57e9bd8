"""Answers given before: where one ASK's answer is kept in the cache, if it may be.

A hit is fresh, was made from this very prompt, and passes validation as strict as this call is;
anything else is a miss, a cache that cannot be read included. What is found in an answer depends on
its text, its sources and the question alone, and is remembered by these; who may have the answer is
decided before. The rules are `rules.caching`'s; here are the clock and the store.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from redask.core.errors import StoreFailed
from redask.core.model import Answer, Ask, Caller, Knobs, Prompt, Source, Strictness
from redask.core.ports import AnswerCache, CachedAnswer, Provider
from redask.core.rules import caching, capabilities, validation
from redask.core.rules.grounding import refused_answers
from redask.core.rules.validation import (
    Accept,
    Attempt,
    Check,
    Examined,
    doubt_again,
    examine,
    judge,
)
from redask.core.settings import Settings

_EXAMINED = 64  # answers asked for again and again; each with its sources


@dataclass(frozen=True, slots=True)
class CacheHit:
    """An answer that was kept and still holds, and what was found in it."""

    answer: Answer
    examined: Examined


@lru_cache(_EXAMINED)
def _examined(
    text: str, sources: tuple[Source, ...], question: str, refused: bool, _checks: tuple[Check, ...]
) -> Examined:
    """What is found in an answer, remembered by all that it depends on, whole: the checks, too."""
    return examine(text, sources, question=question, refused=refused)


@dataclass(frozen=True, slots=True)
class CacheSlot:
    """Where an answer would be kept, for how long, and what it must match."""

    cache: AnswerCache
    clock: Callable[[], int]
    use: caching.Bypass | caching.Use
    key: str
    prompt_hash: str
    in_force: Strictness
    most: int
    question: str = ""
    judge: str = ""

    @property
    def in_use(self) -> bool:
        """Whether this ASK uses the cache at all."""
        return isinstance(self.use, caching.Use)

    def look_up(self) -> CacheHit | None:
        """The answer kept here, if this ASK uses the cache and the answer still holds."""
        if not self.in_use:
            return None
        try:
            kept = self.cache.get(self.key)
        except StoreFailed:  # the audit row will tell, if it cannot be written either
            return None
        if kept is None or kept.prompt_hash != self.prompt_hash:
            return None
        if caching.expired(kept.stored_at, kept.ttl, self.clock()):
            return None
        examined = _examined(
            kept.answer.answer,
            kept.answer.sources_flat,
            self.question,
            refused_answers.is_refusal(kept.answer.validation.warnings),
            validation.CHECKS,
        )
        if self.judge:
            examined = doubt_again(examined, kept.answer.validation.warnings, self.judge)
        accepted = isinstance(judge(examined, self.in_force, Attempt.FIRST), Accept)
        return CacheHit(kept.answer, examined) if accepted else None

    def fill(self, answer: Answer) -> None:
        """Keep an accepted answer, if the cache is in use; an answer never fails over this."""
        if isinstance(self.use, caching.Use) and caching.keeps(answer.validation.warnings):
            bare = replace(answer, evidence=None)  # it is found again, where it is asked for
            kept = CachedAnswer(bare, self.prompt_hash, self.clock(), self.use.ttl)
            with suppress(StoreFailed):
                self.cache.put(self.key, kept, self.most)


@dataclass(frozen=True, slots=True)
class ProviderTurn:
    """One provider's turn: its mode and knobs, where its answer is kept, what is kept there."""

    provider: Provider
    mode: capabilities.Settled
    knobs: Knobs
    kept: CacheSlot
    hit: CacheHit | None


@dataclass(frozen=True, slots=True)
class AnswerCaching:
    """The cache and what the settings say about it."""

    cache: AnswerCache
    settings: Settings
    clock: Callable[[], int]

    def place(
        self,
        ask: Ask,
        caller: Caller,
        provider: Provider,
        *,
        in_force: Strictness,
        knobs: Knobs,
        prompt: Prompt,
        fingerprint: str,
        judge: Provider | None = None,
    ) -> CacheSlot:
        """The place of an ASK's answer by one provider, whose claims this one judges."""
        use = caching.decide(
            nocache=ask.nocache,
            ttl=ask.cache_ttl,
            enabled=self.settings.cache_enabled,
            default_ttl=self.settings.cache_default_ttl,
        )
        if isinstance(use, caching.Bypass):
            return CacheSlot(self.cache, self.clock, use, "", "", in_force, 0)
        key = caching.key(
            tenant=caller.tenant,
            user=caller.user,
            question=ask.question,
            provider=provider.name,
            model=provider.model,
            temperature=knobs.temperature,
            seed=knobs.seed,
            fingerprint=fingerprint,
            judge=(judge.name, judge.model) if judge else (),
        )
        hashed, most = caching.prompt_hash(prompt), self.settings.cache_max_entries
        return CacheSlot(
            *(self.cache, self.clock, use, key, hashed, in_force, most, ask.question),
            judge=judge.name if judge else "",
        )
