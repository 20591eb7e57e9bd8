"""What a model replies to a prompt of ours: `ModelReplies(…).reply(run, steps, prompt, place)`.

A statement to write, a question to make whole: not answers, so nothing is streamed or judged. They
are called like any provider: limits, reservation, deadline, failover and cost are the ASK's, and
the reply is kept in the answer cache where the ASK uses it, under the fingerprint of the prompt at
`place`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from redask.core import errors, token_count
from redask.core.model import Answer, Mode, Prompt, Strictness, Usage, Validation
from redask.core.ports import Provider
from redask.core.rules import capabilities, determinism, failover, fingerprint, prompt
from redask.engine.ask_state import AskState
from redask.engine.caching.answer_cache import AnswerCaching
from redask.engine.opened_providers import OpenedProviders
from redask.engine.provider_calls import ProviderCall, ProviderCalls
from redask.engine.workers import Workers


@dataclass(frozen=True, slots=True)
class ModelReplies:
    """See the module."""

    calls: ProviderCalls
    recall: AnswerCaching
    opened: OpenedProviders

    @property
    def workers(self) -> Workers:
        """The threads for what may be long."""
        return self.opened.workers

    async def reply(
        self, run: AskState, steps: Sequence[failover.Step], asked: Prompt, place: str
    ) -> str:
        """What the first provider that answers replies."""
        for left, step in zip(range(len(steps), 0, -1), steps, strict=True):
            provider = await self.opened.open(step)
            run.provider, run.model = provider.name, provider.model
            try:
                return await self._called(run, provider, asked, left + 1, place)
            except errors.ProviderFailed as failure:
                run.failures.append(failure)
                if isinstance(failover.after(failure), failover.Stop):
                    raise
        raise errors.ProvidersExhausted(tuple(run.failures))

    async def _called(
        self, run: AskState, provider: Provider, asked: Prompt, left: int, place: str
    ) -> str:
        ask, settings = run.ask, self.calls.settings
        can = capabilities.of(provider.name, settings.capabilities)
        version = fingerprint.content_version(prompt.render(asked))
        print_ = fingerprint.of([(place, version)])
        knobs = determinism.effective_knobs(
            *(ask.question, print_, can),
            temperature=ask.temperature,
            seed=ask.seed,
            default_temperature=settings.default_temperature,
        )
        kept = self.recall.place(
            *(ask, run.caller, provider),
            in_force=Strictness.OFF,
            knobs=knobs,
            prompt=asked,
            fingerprint=print_,
        )
        if hit := await self.workers.hop(kept.look_up):
            return hit.answer.answer
        size = Usage(
            prompt_tokens=token_count.estimate(asked.system) + token_count.estimate(asked.user)
        )
        call = ProviderCall(provider, asked, knobs, left)
        completion, _ = await self.calls.complete(run, size, call)
        if kept.in_use:
            await self.workers.hop(kept.fill, _as_answer(completion.text, provider))
        return completion.text


def _as_answer(reply: str, provider: Provider) -> Answer:
    """A reply as the cache keeps answers."""
    return Answer(
        answer=reply,
        citations=(),
        sources_flat=(),
        validation=Validation(True),
        provider=provider.name,
        model=provider.model,
        mode=Mode.LENIENT,
    )
