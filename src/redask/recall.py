"""Answers given before: where one ASK's answer is kept in the cache, if it may be.

A hit is fresh, was made from this very prompt, and passes validation in this call's mode;
anything else is a miss. The rules are `rules.caching`'s; here are the clock and the store.
"""

from collections.abc import Callable
from dataclasses import dataclass

from redask.model import Answer, Knobs, Mode, Prompt
from redask.ports import AnswerCache, Cached
from redask.rules import caching, citations
from redask.rules.validation import Accept, Attempt, judge
from redask.run import Run
from redask.settings import Settings


@dataclass(frozen=True, slots=True)
class Place:
    """Where an answer would be kept, for how long, and what it must match."""

    cache: AnswerCache
    clock: Callable[[], int]
    use: caching.Bypass | caching.Use
    key: str
    prompt_hash: str
    mode: Mode

    @property
    def in_use(self) -> bool:
        """Whether this ASK uses the cache at all."""
        return isinstance(self.use, caching.Use)

    def look_up(self) -> Answer | None:
        """The answer kept here, if it still holds."""
        kept = self.cache.get(self.key)
        if kept is None or kept.prompt_hash != self.prompt_hash:
            return None
        if caching.expired(kept.stored_at, kept.ttl, self.clock()):
            return None
        parsed = citations.parse(kept.answer.answer, len(kept.answer.sources_flat))
        return kept.answer if isinstance(judge(parsed, self.mode, Attempt.FIRST), Accept) else None

    def fill(self, answer: Answer) -> None:
        """Keep an accepted answer, if the cache is in use."""
        if isinstance(self.use, caching.Use):
            kept = Cached(answer, self.prompt_hash, self.clock(), self.use.ttl)
            self.cache.put(self.key, kept)


@dataclass(frozen=True, slots=True)
class Recall:
    """The cache and what the settings say about it."""

    cache: AnswerCache
    settings: Settings
    clock: Callable[[], int]

    def place(self, run: Run, prompt: Prompt, fingerprint: str, settled: Knobs) -> Place:
        """The place of this ASK's answer by its present provider."""
        use = caching.decide(
            nocache=run.ask.nocache,
            ttl=run.ask.cache_ttl,
            enabled=self.settings.cache_enabled,
            default_ttl=self.settings.cache_default_ttl,
        )
        key = caching.key(
            tenant=run.caller.tenant,
            user=run.caller.user,
            question=run.ask.question,
            provider=run.provider,
            model=run.model,
            temperature=settled.temperature,
            seed=settled.seed,
            fingerprint=fingerprint,
        )
        return Place(self.cache, self.clock, use, key, caching.prompt_hash(prompt), run.mode)
