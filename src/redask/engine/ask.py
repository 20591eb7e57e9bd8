"""One ASK, top to bottom: the only place that orders I/O.

    find         1 terms · 2 search, read · 3 fuse, trim, fingerprint · 4 prompt
    _walk          for each provider of the plan:
    _turn        5   mode, knobs · 7 cache (the first one's in the same thread as find)
    _attempt         for what is left of FIRST, RETRY:
    _call        8     limits, reserve · 9 call, settle, sending what may be sent by then
                10     examine · 11 judge: Accept · Retry · GiveUp
                12   fill the cache
    ask         13 the audit row: answered, failed and cancelled alike, before anybody sees a thing
    explain        stops after 5: no call, no limit, no row, nothing cached

`emit` gets the events while it runs; a plain call is the same path with nobody listening.
`BadAsk` means that nothing was asked: it leaves no row. Without its row there is no answer
(`AuditUnavailable`). Time is the injected clock's, in epoch nanoseconds.
"""

import asyncio
import contextvars
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ParamSpec, TypeVar, assert_never

from redask.core import errors, text, token_count
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
    Prompt,
    SourcesFound,
    Strictness,
    Usage,
    Validation,
)
from redask.core.ports import Provider
from redask.core.rules import (
    capabilities,
    determinism,
    explain,
    failover,
    fusion,
    prompt,
    validation,
)
from redask.core.settings import Settings
from redask.engine import telemetry
from redask.engine.answer_cache import AnswerCaching, ProviderTurn
from redask.engine.ask_state import AskState, distinct
from redask.engine.audit_writer import AuditSink
from redask.engine.budget import Budget, billed, reported
from redask.engine.findings import Findings, SourceFinder
from redask.engine.running_calls import RunningCalls
from redask.engine.streaming import AnswerStream
from redask.engine.workers import Workers

NO_SOURCES = "I found nothing in the data that answers this question."
_T = TypeVar("_T")
_P = ParamSpec("_P")


@dataclass(frozen=True, slots=True)
class ProviderCall:
    """What one provider is asked: the prompt, the settled knobs, and who may still follow."""

    provider: Provider
    prompt: Prompt
    knobs: Knobs
    providers_left: int


@dataclass(slots=True)
class Engine:
    """Everything an ASK needs, handed in once."""

    finder: SourceFinder
    log: AuditSink
    recall: AnswerCaching
    budget: Budget
    providers: frozenset[str]
    installed: frozenset[str]
    open_provider: Callable[[str, str | None], Provider]
    settings: Settings
    clock: Callable[[], int]
    running: RunningCalls
    workers: Workers
    _opened: dict[failover.Step, Provider] = field(default_factory=dict)

    async def ask(self, ask: Ask, caller: Caller, emit: Emit | None = None) -> Answer:
        """Answer one question or raise an `AskError`; either way there is an audit row."""
        _check_caller(caller)
        run = AskState(ask, caller, emit, self.clock(), self._requested(ask))
        seconds = self.settings.limits.timeout_ms / 1000
        with self.running.begin() as call, telemetry.asking() as ending:
            try:
                async with call.cancellable(), asyncio.timeout(seconds):
                    answer = await self._answer(run)
            except errors.BadAsk:
                ending.kind = errors.BadAsk.kind
                raise
            except BaseException as error:
                failure = run.fail(error, self.settings.limits.timeout_ms)
                ending.kind = failure.kind
                await self._record(run)
                if isinstance(error, asyncio.CancelledError):
                    raise
                raise failure from None
            await self._record(run)
        await run.emit(Answered(answer))  # by now nothing of the database is needed
        return answer

    async def explain(self, ask: Ask, caller: Caller) -> dict[str, object]:
        """What `ask` would do, without doing it."""
        _check_caller(caller)
        step = self._plan(ask)[0]
        found = await self._hop(self.finder.find, ask, caller)
        provider = await self._open(step)
        can = capabilities.of(step.provider, self.settings.capabilities)
        settled = self._settle_knobs(ask, found, can)
        return explain.plan(
            question=ask.question,
            mode=self._mode(step.provider, ask).effective,
            provider=provider.name,
            model=provider.model,
            capabilities=can,
            knobs=_as_sent(provider, settled),
            retrieval=found.hits.retrieval,
            sources=found.hits.fused[: len(found.sources)],
            depth=ask.depth,
            limit=ask.limit,
            k_constant=fusion.K,
            prompt_tokens=found.size.prompt_tokens,
            max_completion_tokens=self.settings.limits.max_completion_tokens,
        )

    async def _answer(self, run: AskState) -> Answer:
        plan = self._plan(run.ask)
        run.tries(plan[0].provider, plan[0].model or "", self._mode(plan[0].provider, run.ask))
        found, first = await self._hop(self._find_and_recall, run.ask, run.caller, plan[0])
        run.urns = tuple(source.urn for source in found.sources)
        await run.emit(SourcesFound(found.sources))
        if found.sources:
            return await self._walk(run, found, plan, first)
        run.model = (await self._open(plan[0])).model
        run.answer, run.validation_ok = NO_SOURCES, True
        await run.emit(AnswerToken(NO_SOURCES))
        warning = Notice("no_sources", "nothing in the data matches the question")
        return run.finish((), Validation(True, (), (*found.warnings, warning)))

    def _find_and_recall(
        self, ask: Ask, caller: Caller, step: failover.Step
    ) -> tuple[Findings, ProviderTurn | None]:
        """Both in one trip to a thread, if the first provider is open already."""
        found = self.finder.find(ask, caller)
        provider = self._opened.get(step)
        if provider is None or not found.sources:
            return found, None
        return found, self._turn(ask, caller, found, step, provider)

    def _turn(
        self, ask: Ask, caller: Caller, found: Findings, step: failover.Step, provider: Provider
    ) -> ProviderTurn:
        """What a provider would be asked with, and what it answered to just that before."""
        mode = self._mode(step.provider, ask)
        can = capabilities.of(step.provider, self.settings.capabilities)
        knobs = self._settle_knobs(ask, found, can)
        kept = self.recall.place(
            ask,
            caller,
            provider,
            in_force=mode.in_force,
            knobs=knobs,
            prompt=found.prompt,
            fingerprint=found.fingerprint,
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
                provider = await self._open(step)
                turn = await self._hop(self._turn, run.ask, run.caller, found, step, provider)
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
                await self._hop(kept.fill, answer)
            return answer
        raise errors.ProvidersExhausted(tuple(run.failures))

    async def _attempt(self, run: AskState, found: Findings, call: ProviderCall) -> Answer:
        """ProviderCall until the answer is accepted or the ASK's one retry is used up."""
        while True:
            stream = AnswerStream(run, found.sources, self._hop)
            estimated = await self._call(run, found, call, stream)
            examined = await stream.examined()
            run.markers = distinct(examined)
            match validation.judge(examined, run.in_force, run.attempt):
                case validation.Accept(warnings):
                    await stream.accept()
                    run.validation_ok = True
                    notes = (*run.notes, *found.warnings, *estimated, *warnings)
                    verdict = Validation(True, (), notes)
                    return run.finish(found.sources, verdict, examined.findings)
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
        """One provider call within the limits. → the warning if its usage is an estimate."""
        provider, budget = call.provider, self.budget
        hint = token_count.estimate(call.prompt.user.removesuffix(found.prompt.user))
        size = replace(found.size, prompt_tokens=found.size.prompt_tokens + hint)
        budget.check(run, size)
        booking = budget.booking(run, provider)
        if budget.capped:
            booking = await self._hop(budget.reserve, run, size, call.prompt, provider)
        run.knobs, run.answer, run.build = _as_sent(provider, call.knobs), "", ""
        can = capabilities.of(provider.name, self.settings.capabilities)
        used, streamed = Usage(), 0

        async def take(piece: str) -> None:
            nonlocal streamed
            streamed += token_count.estimate(piece)
            budget.check(run, replace(size, completion_tokens=streamed))
            await stream.take(piece)

        try:
            with telemetry.step("provider"):
                async with asyncio.timeout(budget.share(run, call.providers_left)):
                    completion = await provider.complete(
                        call.prompt,
                        run.knobs,
                        max_tokens=self.settings.limits.max_completion_tokens,
                        emit=take if run.listened and can.supports_streaming else None,
                    )
            used, estimated = reported(completion, size, provider)
        except BaseException as error:
            used = billed(error, replace(size, completion_tokens=streamed), provider)
            if isinstance(error, errors.Ungrounded):  # a sentence stopped the stream
                return ()
            if not isinstance(error, TimeoutError):
                raise
            message = "no answer within its share of the time"
            raise errors.ProviderFailed(provider.name, errors.Failure.TIMEOUT, message) from None
        finally:
            run.spend(used)
            if booking.reservation or used.cost_usd:
                await self._hop(budget.settle, booking, used)
        run.model, run.build = completion.model, completion.build
        await stream.complete(completion.text)
        budget.check(run, replace(size, completion_tokens=used.completion_tokens))
        return estimated

    # --- choices of the settings ---------------------------------------------------------

    def strictness(self, ask: Ask) -> Strictness:
        """The strictness that the first provider's answer is held to."""
        return self._mode(self._plan(ask)[0].provider, ask).in_force

    def _requested(self, ask: Ask) -> Strictness:
        return capabilities.requested(ask.strict, self.settings.strict)

    def _mode(self, provider: str, ask: Ask) -> capabilities.Settled:
        return capabilities.mode_for(provider, self._requested(ask), self.settings.capabilities)

    def _plan(self, ask: Ask) -> tuple[failover.Step, ...]:
        endpoints = self.settings.endpoints
        return failover.plan(
            using=ask.using,
            model=ask.model,
            fallback=self.settings.fallback,
            default=self.settings.default_provider,
            configured=[
                name for name in endpoints if endpoints[name].api_key and name in self.installed
            ],
            known=self.providers,
        )

    def _settle_knobs(self, ask: Ask, found: Findings, can: Capabilities) -> Knobs:
        return determinism.effective_knobs(
            ask.question,
            found.fingerprint,
            can,
            temperature=ask.temperature,
            seed=ask.seed,
            default_temperature=self.settings.default_temperature,
        )

    # --- the shell -----------------------------------------------------------------------

    async def _record(self, run: AskState) -> None:
        """Write the audit row; a caller who leaves meanwhile does not stop it."""
        row = run.row(
            include_answer=self.settings.audit_include_answer,
            hash_question=self.settings.audit_hash_question,
        )
        writing = asyncio.ensure_future(self.log.append(row, run.build))
        with telemetry.step("audit"):
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                await asyncio.wait([writing])
                raise

    async def _hop(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Run synchronous work in a thread, with this task's context."""
        bound = partial(contextvars.copy_context().run, work, *args, **kwargs)
        return await self.workers.run(bound)

    async def _open(self, step: failover.Step) -> Provider:
        """The provider of a step; the first time an SDK is imported, and that in a thread."""
        found = self._opened.get(step)
        if found is None:
            if len(self._opened) >= 64:  # models are named by callers
                self._opened.clear()
            found = await self._hop(self.open_provider, step.provider, step.model)
            self._opened[step] = found
        return found


def _as_sent(provider: Provider, settled: Knobs) -> Knobs:
    seed = None if settled.seed is None else provider.narrow(settled.seed)
    return Knobs(settled.temperature, seed)


def _check_caller(caller: Caller) -> None:
    for name, value in (("tenant", caller.tenant), ("user", caller.user), ("role", caller.role)):
        fault = text.name_fault(value) if value or name != "role" else None
        if fault:
            raise errors.BadAsk(f"the {name} {fault}", detail=name)
