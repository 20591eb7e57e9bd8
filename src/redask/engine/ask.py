"""One ASK, top to bottom: the only place that orders I/O.

    _answer      0 a follow-up is made whole
    find         1 compute, or: terms · 2 search, read · 3 fuse, trim, fingerprint · 4 prompt
    _walk          for each provider of the plan:
    _turn        5   mode, knobs · 7 cache (the first one's in the same thread as find)
    _attempt         for what is left of FIRST, RETRY:
    _call        8     limits, reserve · 9 call, settle, sending what may be sent by then
                10     examine · 11 judge: Accept (a model may doubt it) · Retry · GiveUp
                12   fill the cache
    _audited    13 the audit row: answered, failed and cancelled alike, before anybody sees a thing
    explain        stops after 5: no call, no limit, no row, nothing cached

`emit` gets the events while it runs; a plain call is the same path with nobody listening.
`BadAsk` means that nothing was asked: it leaves no row. Without its row there is no answer
(`AuditUnavailable`); the deadline covers the row, too. Time is the injected clock's, in epoch ns.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import assert_never

from redask.core import errors, token_count
from redask.core.model import (
    Answer,
    Answered,
    AnswerToken,
    Ask,
    Caller,
    Capabilities,
    Emit,
    Knobs,
    Notice,
    SourcesFound,
    Strictness,
    Validation,
)
from redask.core.ports import Provider
from redask.core.provider_table import PROVIDERS
from redask.core.rules import (
    capabilities,
    determinism,
    explain,
    failover,
    fusion,
    prompt,
    validation,
)
from redask.core.rules.auditing import ask_outcomes
from redask.core.rules.auditing.provenance import AnswerSetup
from redask.core.rules.followups.whole_question import by_rule
from redask.core.rules.grounding import refused_answers
from redask.core.rules.grounding.refused_answers import Refusal
from redask.core.rules.spending import provider_access
from redask.core.settings import Settings
from redask.engine import call_limits, telemetry
from redask.engine.access.callers import check_caller
from redask.engine.ask_state import AskState, distinct
from redask.engine.auditing.ask_recording import record
from redask.engine.auditing.audit_writer import AuditSink
from redask.engine.caching.answer_cache import AnswerCaching, ProviderTurn
from redask.engine.findings import AskWork, Findings
from redask.engine.opened_providers import OpenedProviders
from redask.engine.provider_calls import ProviderCall, ProviderCalls, as_sent
from redask.engine.running_calls import RunningCalls
from redask.engine.spending.payers import Payer, paying
from redask.engine.streaming import AnswerStream
from redask.engine.workers import Workers
from redask.engine.writers.claim_judge import ClaimJudge
from redask.engine.writers.followup_reader import FollowupReader
from redask.engine.writers.statement_writer import StatementWriter

NO_SOURCES = "I found nothing in the data that answers this question."
_NOTHING_FOUND = Refusal(
    NO_SOURCES, Notice(ask_outcomes.NO_SOURCES, "nothing in the data matches the question")
)


@dataclass(slots=True)
class Engine:
    """Everything an ASK needs, handed in once."""

    finder: AskWork
    log: AuditSink
    recall: AnswerCaching
    calls: ProviderCalls
    writer: StatementWriter
    followups: FollowupReader
    judge: ClaimJudge
    providers: frozenset[str]
    installed: frozenset[str]
    opened: OpenedProviders
    settings: Settings
    clock: Callable[[], int]
    running: RunningCalls
    workers: Workers
    threads: Workers  # those that wait for what may be long
    setup: AnswerSetup = field(default_factory=AnswerSetup)

    async def ask(self, ask: Ask, caller: Caller, emit: Emit | None = None) -> Answer:
        """Answer one question or raise an `AskError`; either way there is an audit row."""
        check_caller(caller)
        return await self._audited(self.begin(ask, caller, emit), self._answer)

    def begin(self, ask: Ask, caller: Caller, emit: Emit | None = None) -> AskState:
        """The state of an ask that begins now."""
        return AskState(ask, caller, emit, self.clock(), self._requested(ask))

    async def answer_again(self, run: AskState, found: Findings) -> Answer:
        """Answer from what was found already: an ask of its own, of whoever replays another."""
        return await self._audited(run, partial(self._answer_from, found))

    async def _audited(
        self, run: AskState, answer_it: Callable[[AskState], Awaitable[Answer]]
    ) -> Answer:
        """An answer or an error, within the time of an ask, once its row is written."""
        seconds = self.settings.limits.timeout_ms / 1000
        end = time.monotonic() + seconds
        with self.running.begin() as call, telemetry.asking() as ending, paying(run.payer):
            try:
                async with call.cancellable(), asyncio.timeout(seconds):
                    with call_limits.limited(seconds, run.caller):
                        answer = run.told(await answer_it(run))
            except errors.BadAsk:
                ending.kind = errors.BadAsk.kind
                raise
            except BaseException as error:
                failure = run.fail(error, self.settings.limits.timeout_ms)
                ending.kind = failure.kind
                await record(run, self.log, self.settings, self.setup, end)
                if isinstance(error, asyncio.CancelledError):
                    raise
                raise failure from None
            await record(run, self.log, self.settings, self.setup, end)
        await run.emit(Answered(answer))  # by now nothing of the database is needed
        return answer

    async def explain(self, ask: Ask, caller: Caller) -> dict[str, object]:
        """What `ask` would do, without doing it, in the time of an ask."""
        check_caller(caller)
        async with self.running.timed(self.settings.limits.timeout_ms, caller):
            return await self._explain(ask, caller)

    async def _explain(self, ask: Ask, caller: Caller) -> dict[str, object]:
        await self._judge(caller)  # whoever is named wrongly is told of now
        plan = self._plan(ask, caller)
        step = plan[0]
        asked = ask.question
        with paying(Payer(caller)):
            ask, found = await self.threads.hop(self._find_by_rule, ask, caller)
        provider = await self.opened.open(step)
        can = capabilities.of(step.provider, self.settings.capabilities)
        settled = self._settle_knobs(ask, found, can)
        return explain.plan(
            question=asked,
            mode=self._mode(step.provider, ask).effective,
            provider=provider.name,
            model=provider.model,
            capabilities=can,
            knobs=as_sent(provider, settled),
            retrieval=found.hits.retrieval,
            sources=found.hits.fused[: len(found.sources)],
            depth=ask.depth,
            limit=ask.limit,
            k_constant=fusion.K,
            prompt_tokens=found.size.prompt_tokens,
            max_completion_tokens=self.settings.limits.max_completion_tokens,
            query=self.writer.shown(found.query, self._writers(found, plan, caller)),
        )

    async def _answer(self, run: AskState) -> Answer:
        plan = await self._begun(run)
        if whole := await self.followups.understood(run, plan):
            run.understand(whole)
            run.tries(plan[0].provider, plan[0].model or "", self._mode(plan[0].provider, run.ask))
        found, first = await self.threads.hop(self._find_and_recall, run, plan[0])
        writers = self._writers(found, plan, run.caller)
        if writers:
            found, first = await self._with_statement(run, writers), None
        run.by_model = bool(writers)
        run.found(found)
        return await self._answered(run, found, plan, first)

    async def _answer_from(self, found: Findings, run: AskState) -> Answer:
        plan = await self._begun(run)
        run.found(found)
        return await self._answered(run, found, plan, None)

    async def _begun(self, run: AskState) -> tuple[failover.Step, ...]:
        """Who judges and who may answer; the row names the first of them."""
        run.judge = await self._judge(run.caller)
        plan = self._plan(run.ask, run.caller)
        run.tries(plan[0].provider, plan[0].model or "", self._mode(plan[0].provider, run.ask))
        return plan

    async def _answered(
        self,
        run: AskState,
        found: Findings,
        plan: Sequence[failover.Step],
        first: ProviderTurn | None,
    ) -> Answer:
        """What the providers of the plan make of what was found."""
        await run.emit(SourcesFound(found.sources))
        if found.sources and not found.refusal:
            return await self._walk(run, found, plan, first)
        run.model = (await self.opened.open(plan[0])).model
        said = found.refusal or _NOTHING_FOUND
        run.answer, run.validation_ok = said.text, True
        await run.emit(AnswerToken(said.text))
        warnings = (*found.warnings, said.warning)
        return run.finish(found.sources, Validation(True, (), warnings))

    def _find_by_rule(self, ask: Ask, caller: Caller) -> tuple[Ask, Findings]:
        """What EXPLAIN finds: nobody is called to make a question whole."""
        ask, _ = by_rule(ask)
        return ask, self.finder.find(ask, caller)

    async def _with_statement(self, run: AskState, writers: Sequence[failover.Step]) -> Findings:
        """What a statement by a model gives, where the planner was not certain."""
        computed = await self.writer.write(run, writers)
        return await self.threads.hop(self.finder.find_with, computed, run.ask, run.caller)

    def _find_and_recall(
        self, run: AskState, step: failover.Step
    ) -> tuple[Findings, ProviderTurn | None]:
        """Both in one trip to a thread, if the first provider is open already."""
        found = self.finder.find(run.ask, run.caller)
        provider = self.opened.known(step)
        if provider is None or not found.sources or found.refusal:
            return found, None
        return found, self._turn(run, found, step, provider)

    def _turn(
        self, run: AskState, found: Findings, step: failover.Step, provider: Provider
    ) -> ProviderTurn:
        """What a provider would be asked with, and what it answered to just that before."""
        mode = self._mode(step.provider, run.ask)
        can = capabilities.of(step.provider, self.settings.capabilities)
        knobs = self._settle_knobs(run.ask, found, can)
        kept = self.recall.place(
            run.ask,
            run.caller,
            provider,
            in_force=mode.in_force,
            knobs=knobs,
            prompt=found.prompt,
            fingerprint=found.fingerprint,
            judge=run.judge,
        )
        return ProviderTurn(provider, mode, knobs, kept, kept.look_up())

    async def _walk(
        self,
        run: AskState,
        found: Findings,
        plan: Sequence[failover.Step],
        turn: ProviderTurn | None,
    ) -> Answer:
        """Ask one provider after the other until one answers or a failure stops the walk."""
        for left, step in zip(range(len(plan), 0, -1), plan, strict=True):
            if turn is None:
                provider = await self.opened.open(step)
                turn = await self.workers.hop(self._turn, run, found, step, provider)
            provider, kept, settled = turn.provider, turn.kept, turn.knobs
            run.tries(provider.name, provider.model, turn.mode)
            if turn.hit:
                return await run.serve(turn.hit.answer, turn.hit.examined, settled)
            turn = None
            try:
                call = ProviderCall(provider, found.prompt, settled, left)
                answer = await self._attempt(run, found, call)
            except errors.ProviderFailed as failure:
                run.failures.append(failure)
                if isinstance(failover.after(failure), failover.Stop):
                    raise
                await run.reset("failover")
                continue
            run.reasons = failover.trail(run.failures)
            if kept.in_use:
                await self.workers.hop(kept.fill, answer)
            return answer
        raise errors.ProvidersExhausted(tuple(run.failures))

    async def _attempt(self, run: AskState, found: Findings, call: ProviderCall) -> Answer:
        """ProviderCall until the answer is accepted or the ASK's one retry is used up."""
        while True:
            stream = AnswerStream(run, found.sources, self.threads.hop, self.finder.examine)
            own = await self._call(run, found, call, stream)
            examined = await stream.examined()
            run.markers = distinct(examined)
            verdict = validation.judge(examined, run.in_force, run.attempt)
            if isinstance(verdict, validation.Accept):
                examined, told = await self.judge.judged(run, found.sources, examined)
                own = (*own, *told)
                verdict = validation.judge(examined, run.in_force, run.attempt)
            match verdict:
                case validation.Accept(warnings):
                    await stream.accept()
                    run.validation_ok = True
                    notes = (*run.notes, *found.warnings, *own, *warnings)
                    accepted = Validation(True, (), notes)
                    return run.finish(found.sources, accepted, examined.findings)
                case validation.Retry(hint):
                    run.attempt = validation.Attempt.RETRY
                    call = replace(call, prompt=prompt.with_hint(found.prompt, hint))
                    await run.reset("retry")
                case validation.GiveUp(reasons) as refusal:
                    raise errors.Ungrounded(refusal.message, reasons)
                case other:
                    assert_never(other)

    async def _call(
        self, run: AskState, found: Findings, call: ProviderCall, stream: AnswerStream
    ) -> tuple[Notice, ...]:
        """One provider call within the limits. → warnings: an estimate, a refusal …"""
        hint = token_count.estimate(call.prompt.user.removesuffix(found.prompt.user))
        size = replace(found.size, prompt_tokens=found.size.prompt_tokens + hint)
        try:
            completion, estimated = await self.calls.complete(run, size, call, stream.take)
        except errors.Ungrounded:  # a sentence stopped the stream, and `stream` knows why
            return ()
        said = completion.warnings
        await stream.complete(completion.text, refuses=refused_answers.is_refusal(said))
        return (*estimated, *said, *refused_answers.by_model(stream.text, run.ask.question))

    # --- choices of the settings ---------------------------------------------------------

    def strictness(self, ask: Ask) -> Strictness:
        """The strictness that the first provider's answer is held to."""
        return self._mode(self._walk_of(ask, self._keyed())[0].provider, ask).in_force

    async def _judge(self, caller: Caller) -> Provider | None:
        return await self.judge.open(partial(self._may_use, caller))

    async def judge_name(self, caller: Caller) -> str:
        """Who would judge the claims, with the model; nobody is called. Empty for nobody."""
        judge = await self._judge(caller)
        return f"{judge.name} {judge.model}" if judge else ""

    def _requested(self, ask: Ask) -> Strictness:
        return capabilities.requested(ask.strict, self.settings.strict)

    def _mode(self, provider: str, ask: Ask) -> capabilities.Settled:
        return capabilities.mode_for(provider, self._requested(ask), self.settings.capabilities)

    def _plan(self, ask: Ask, caller: Caller) -> tuple[failover.Step, ...]:
        """The walk of a caller: nobody is on it whom the caller's role may not use."""
        keyed = [name for name in self._keyed() if self._may_use(caller, failover.Step(name, None))]
        walk = self._walk_of(ask, keyed)
        return provider_access.admitted(
            walk, caller.role, self.settings.allow, self._model, named=bool(ask.using)
        )

    def _walk_of(self, ask: Ask, configured: Sequence[str]) -> tuple[failover.Step, ...]:
        return failover.plan(
            using=ask.using,
            model=ask.model,
            fallback=self.settings.fallback,
            default=self.settings.default_provider,
            configured=configured,
            known=self.providers,
        )

    def _keyed(self) -> list[str]:
        """The providers that have a key, and the package they need."""
        endpoints = self.settings.endpoints
        return [name for name in endpoints if endpoints[name].api_key and name in self.installed]

    def _may_use(self, caller: Caller, step: failover.Step) -> bool:
        return provider_access.may_use(caller.role, step, self.settings.allow, self._model)

    def _model(self, step: failover.Step) -> str:
        """The model of a step, by its name, though the provider is not open."""
        endpoint, row = self.settings.endpoints.get(step.provider), PROVIDERS.get(step.provider)
        return step.model or (endpoint and endpoint.model) or (row.model if row else "")

    def _writers(
        self, found: Findings, plan: Sequence[failover.Step], caller: Caller
    ) -> tuple[failover.Step, ...]:
        """Who would write the statement that the planner is not certain of; mostly nobody."""
        if not found.refusal or found.is_final:
            return ()
        return self.writer.steps(plan, self.providers, partial(self._may_use, caller))

    def _settle_knobs(self, ask: Ask, found: Findings, can: Capabilities) -> Knobs:
        return determinism.effective_knobs(
            ask.question,
            found.fingerprint,
            can,
            temperature=ask.temperature,
            seed=ask.seed,
            default_temperature=self.settings.default_temperature,
        )
