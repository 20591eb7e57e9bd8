"""A model as judge of claims, where the settings name one: `ClaimJudge(…).judged(run, …)`.

    asked about        claims that cite a source and in which the checks found nothing wrong;
                       without any, nobody is called
    it says            what comes of it
    supported          nothing: the verdict of the checks stands
    unsupported        an `unsupported_claim` that names the judge: a warning, or an error under
                       STRICT SUPPORTED, with the one retry
    nothing usable     a warning `not_judged`, and the verdict of the checks stands: the call
                       failed, took more than its share of the time, would break a limit or the
                       cap, the caller's role may not use it, or its reply was no verdict on
                       just these claims (`judge_prompt.read`)

So a judge only ever adds: whatever it replies, or a source has talked it into, an answer is at most
as good as the checks found it. It reads what the provider read, under the same limits, at
temperature 0; its tokens and cost are the ASK's, and a call that failed is in the trail of the
audit row. The row goes on naming who answered.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from redask.core import errors
from redask.core.model import Knobs, Notice, Prompt, Source, Usage
from redask.core.ports import Provider
from redask.core.rules import capabilities, determinism, failover, fingerprint, prompt, validation
from redask.core.rules.caching import NOT_JUDGED
from redask.core.rules.grounding import check
from redask.core.rules.grounding.check import Finding
from redask.core.rules.prompting import judge_prompt
from redask.core.rules.validation import Examined
from redask.core.wire import query_source
from redask.engine.ask_state import AskState
from redask.engine.opened_providers import OpenedProviders
from redask.engine.provider_calls import ProviderCall, ProviderCalls

_PLACE = query_source.address("claims")
_NOT_ALLOWED = "the caller's role may not use it"
_UNREADABLE = "its reply was no verdict on each claim"
_TWO = 2  # who shares what is left of the time: the judge, and what comes after it


@dataclass(frozen=True, slots=True)
class ClaimJudge:
    """See the module; `known` are the providers there are."""

    calls: ProviderCalls
    opened: OpenedProviders
    known: Collection[str]

    async def open(self, may_use: Callable[[failover.Step], bool]) -> Provider | None:
        """The judge that the settings name, if they name one that the caller may use."""
        settings = self.calls.settings
        step = failover.judge(settings.judge_provider, settings.judge_model, self.known)
        return await self.opened.open(step) if step and may_use(step) else None

    async def judged(
        self, run: AskState, sources: Sequence[Source], examined: Examined
    ) -> tuple[Examined, tuple[Notice, ...]]:
        """The answer with what the judge of this ASK doubts in it, and what is to be told."""
        asked_about = check.judgeable(examined.findings, len(sources))
        if not asked_about:
            return examined, ()
        if run.judge is None:
            named = self.calls.settings.judge_provider
            return examined, (_not_judged(named, _NOT_ALLOWED),) if named else ()
        try:
            verdicts, told = await self._verdicts(
                run, run.judge, sources, [examined.findings[number] for number in asked_about]
            )
        except errors.DeadlineExceeded:
            raise
        except errors.ProviderFailed as failure:
            run.failures.append(failure)
            return examined, (_not_judged(run.judge.name, failure.message),)
        except errors.LimitExceeded as broken:
            return examined, (_not_judged(run.judge.name, broken.message),)
        if verdicts is None:
            return examined, (*told, _not_judged(run.judge.name, _UNREADABLE))
        pairs = zip(asked_about, verdicts, strict=True)
        doubts = [number for number, supported in pairs if not supported]
        return validation.doubt(examined, doubts, run.judge.name), told

    async def _verdicts(
        self,
        run: AskState,
        judge: Provider,
        sources: Sequence[Source],
        findings: Sequence[Finding],
    ) -> tuple[tuple[bool, ...] | None, tuple[Notice, ...]]:
        """Call the judge. → what it says of each finding, and whether its usage is estimated."""
        asked, size, knobs = await self.calls.workers.hop(
            self._asked, run, judge, sources, findings
        )
        with run.aside():
            completion, told = await self.calls.complete(
                run, size, ProviderCall(judge, asked, knobs, _TWO)
            )
        return judge_prompt.read(completion.text, len(findings)), told

    def _asked(
        self,
        run: AskState,
        judge: Provider,
        sources: Sequence[Source],
        findings: Sequence[Finding],
    ) -> tuple[Prompt, Usage, Knobs]:
        settings, question = self.calls.settings, run.ask.question
        asked, size = judge_prompt.assemble(question, findings, sources, settings.limits)
        version = fingerprint.content_version(prompt.render(asked))
        knobs = determinism.effective_knobs(
            question,
            fingerprint.of([(_PLACE, version)]),
            capabilities.of(judge.name, settings.capabilities),
            temperature=0.0,
            seed=run.ask.seed,
            default_temperature=0.0,
        )
        return asked, size, knobs


def _not_judged(judge: str, why: str) -> Notice:
    return Notice(NOT_JUDGED, f"{judge} did not judge the claims: {why}")
