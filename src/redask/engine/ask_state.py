"""One ASK while it runs: what is known so far, from which its audit row is made.

The engine moves it forward; whatever happens, `row` tells what was true at that moment.

    ended by             answer hashed        citations     errors
    an accepted answer   the answer           its markers   the failover trail, mostly empty
    Ungrounded           the rejected one     its markers   trail, what is wrong with it
    a caller who left    what was sent        none          trail, cancelled
    anything else        the empty text       none          trail, and the limit's name or the kind
"""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from redask.core import errors
from redask.core.model import (
    Answer,
    AnswerReset,
    AnswerToken,
    Ask,
    Caller,
    Emit,
    Event,
    Footnote,
    Knobs,
    Mode,
    Notice,
    Source,
    Strictness,
    Usage,
    Validation,
)
from redask.core.ports import Provider
from redask.core.rules import audit, failover
from redask.core.rules.auditing import ask_outcomes
from redask.core.rules.auditing.provenance import (
    AnswerSetup,
    Provenance,
    SourceFacts,
    options_of,
)
from redask.core.rules.capabilities import MODE_FALLBACK, Settled, mode_of
from redask.core.rules.followups.whole_question import UNDERSTOOD_AS
from redask.core.rules.grounding import evidence
from redask.core.rules.grounding.check import Finding
from redask.core.rules.validation import Attempt, Examined
from redask.engine.findings import Findings
from redask.engine.spending.payers import Payer

_log = logging.getLogger("redask.engine.ask")


@dataclass(slots=True)
class AskState:
    """The state of one ASK."""

    ask: Ask
    caller: Caller
    listener: Emit | None
    started: int
    requested: Strictness
    provider: str = ""
    model: str = ""
    knobs: Knobs = field(default=Knobs(None, None))
    urns: tuple[str, ...] = ()
    answer: str = ""
    sent: list[str] = field(default_factory=list)
    markers: tuple[int, ...] = ()
    used: Usage = field(default_factory=Usage)
    cache_hit: bool = False
    validation_ok: bool = False
    attempt: Attempt = Attempt.FIRST
    notes: tuple[Notice, ...] = ()
    build: str = ""
    understood: str = ""  # the question as it is meant, where that is not how it was asked
    today: str = ""  # the date that the prompt told
    refused: str = ""  # why the answer says no, if it does
    facts: SourceFacts | None = None  # what was found, in hashes
    by_model: bool = False  # a model was asked for the statement
    replays: int = 0  # the row that is replayed
    failures: list[errors.ProviderFailed] = field(default_factory=list)
    reasons: tuple[Notice, ...] = ()
    judge: Provider | None = None  # who judges the claims, if anybody
    in_force: Strictness = field(init=False)
    question: str = field(init=False)
    payer: Payer = field(init=False)  # what was embedded elsewhere

    def __post_init__(self) -> None:
        self.in_force = self.requested  # until it is known who answers
        self.question = self.ask.question
        self.payer = Payer(self.caller)

    @property
    def mode(self) -> Mode:
        """The effective mode."""
        return mode_of(self.in_force)

    @property
    def cost_usd(self) -> float:
        """What the ASK cost, as far as prices are known."""
        return (self.used.cost_usd or 0.0) + self.payer.usd

    @property
    def listened(self) -> bool:
        """Whether somebody wants the tokens as they come."""
        return self.listener is not None

    @property
    def retry_count(self) -> int:
        return 0 if self.cache_hit or self.attempt is Attempt.FIRST else 1

    async def emit(self, event: Event) -> None:
        """Tell the listener, if there is one."""
        if self.listener is not None:
            await self.listener(event)

    async def token(self, piece: str) -> None:
        """Send a piece of the answer."""
        if piece:
            self.sent.append(piece)
            await self.emit(AnswerToken(piece))

    async def reset(self, reason: str) -> None:
        """Void the answer so far; the listener hears of it only if it heard of the answer."""
        self.answer = ""
        if self.sent:
            self.sent.clear()
            await self.emit(AnswerReset(reason))

    def understand(self, whole: str) -> None:
        """From now on, this is the question; the row keeps the one that was asked."""
        self.understood, self.ask = whole, replace(self.ask, question=whole)

    def found(self, findings: Findings) -> None:
        """From now on, these are the sources."""
        self.urns = tuple(source.urn for source in findings.sources)
        self.today, self.facts = findings.today, findings.facts

    def told(self, answer: Answer) -> Answer:
        """The answer with what no cache keeps: how it was understood, what has no price.

        From now on it is known whether it refuses.
        """
        self.refused = ask_outcomes.reason_of(answer.validation.warnings)
        own = (Notice(UNDERSTOOD_AS, self.understood),) if self.understood else ()
        notes = *own, *answer.validation.warnings, *self.payer.notices
        if not own and not self.payer.notices:
            return answer
        return replace(answer, validation=replace(answer.validation, warnings=notes))

    def tries(self, provider: str, model: str, mode: Settled) -> None:
        """From now on, this is the provider the row names."""
        self.provider, self.model, self.in_force = provider, model, mode.in_force
        self.notes = () if mode.warning is None else (mode.warning,)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """A call beside the answer that is there: the row goes on telling of that one."""
        before = self.provider, self.model, self.knobs, self.answer, self.build
        try:
            yield
        finally:
            self.provider, self.model, self.knobs, self.answer, self.build = before

    def spend(self, used: Usage) -> None:
        """Add one call to the totals."""
        self.used = Usage(
            prompt_tokens=self.used.prompt_tokens + used.prompt_tokens,
            completion_tokens=self.used.completion_tokens + used.completion_tokens,
            cost_usd=(self.used.cost_usd or 0.0) + (used.cost_usd or 0.0),
        )

    def finish(
        self, sources: tuple[Source, ...], verdict: Validation, findings: tuple[Finding, ...] = ()
    ) -> Answer:
        """The answer, as it stands; `findings` are those of its claims."""
        cited = sorted(marker for marker in self.markers if marker <= len(sources))
        return Answer(
            answer=self.answer,
            citations=tuple(Footnote(marker, sources[marker - 1].urn) for marker in cited),
            sources_flat=sources,
            validation=verdict,
            provider=self.provider,
            model=self.model,
            mode=self.mode,
            prompt_tokens=self.used.prompt_tokens,
            completion_tokens=self.used.completion_tokens,
            cost_usd=self.cost_usd,
            cache_hit=False,
            retry_count=self.retry_count,
            evidence=evidence.of(findings, sources) if self.ask.evidence else None,
        )

    async def serve(self, cached: Answer, examined: Examined, settled: Knobs) -> Answer:
        """The answer from the cache: as it was, in this call's mode; its completion is free.

        That SUPPORTED was asked for and is not enforced is said, whatever was asked for first.
        """
        self.cache_hit = self.validation_ok = True
        self.knobs = settled
        self.markers, self.answer = distinct(examined), cached.answer
        await self.token(cached.answer)
        verdict = cached.validation
        if self.requested is Strictness.SUPPORTED:
            kept = (each for each in verdict.warnings if each.kind != MODE_FALLBACK)
            verdict = replace(verdict, warnings=(*self.notes, *kept))
        shown = evidence.of(examined.findings, cached.sources_flat) if self.ask.evidence else None
        return replace(
            cached,
            mode=self.mode,
            validation=verdict,
            evidence=shown,
            cache_hit=True,
            prompt_tokens=0,
            completion_tokens=0,
            cost_usd=self.cost_usd,
            retry_count=0,
        )

    def fail(self, error: BaseException, timeout_ms: int) -> errors.AskError:
        """Note how the ASK failed. → the error the caller gets."""
        failure = _as_ours(error, timeout_ms)
        own: tuple[Notice, ...] = (Notice(failure.kind, failure.message),)
        if isinstance(failure, errors.Ungrounded):
            own = failure.errors
        elif isinstance(failure, errors.LimitExceeded):
            own = (Notice(failure.limit, failure.message),)
        elif isinstance(failure, errors.ProviderFailed):
            own = ()  # the trail ends with it
        self.reasons = (*failover.trail(self.failures), *own)
        self.validation_ok = False
        if not isinstance(failure, errors.Ungrounded):
            self.markers = ()
            cancelled = isinstance(failure, errors.Cancelled)
            self.answer = "".join(self.sent) if cancelled else ""
        return failure

    def row(self, *, include_answer: bool, hash_question: bool) -> dict[str, object]:
        """The audit row of what is known now."""
        return audit.record(
            ts=self.started,
            tenant=self.caller.tenant,
            user=self.caller.user,
            role=self.caller.role,
            question=self.question,
            sources_urns=self.urns,
            provider=self.provider,
            model=self.model,
            prompt_tokens=self.used.prompt_tokens,
            completion_tokens=self.used.completion_tokens,
            cost_usd=self.cost_usd,
            answer=self.answer,
            citations=self.markers,
            cache_hit=self.cache_hit,
            mode=self.mode,
            temperature=self.knobs.temperature,
            seed=self.knobs.seed,
            validation_ok=self.validation_ok,
            retry_count=self.retry_count,
            errors=self.reasons,
            include_answer=include_answer,
            hash_question=hash_question,
        )

    def readings(self, *, hash_question: bool) -> dict[str, str]:
        """How the question was read and refused, beside the row; of most questions nothing."""
        understood = self.understood
        if understood and hash_question:
            understood = f"sha256:{audit.answer_hash(understood)}"
        told = {"understood": understood, "today": self.today, "refused": self.refused}
        return {name: value for name, value in told.items() if value}

    def provenance(self, setup: AnswerSetup, *, hash_question: bool) -> dict[str, object]:
        """What made the answer, to be kept beside the row."""
        return Provenance(
            setup,
            options_of(self.ask),
            self.facts,
            self.caller.attributes,
            by_model=self.by_model,
            hashed=hash_question,
            replays=self.replays,
        ).plain()


def distinct(examined: Examined) -> tuple[int, ...]:
    """The markers of an answer, each once, in order of first appearance."""
    return tuple(dict.fromkeys(citation.marker for citation in examined.citations))


def _as_ours(error: BaseException, timeout_ms: int) -> errors.AskError:
    error = errors.of_the_machine(error)
    if isinstance(error, errors.AskError):
        return error
    if isinstance(error, asyncio.CancelledError):
        return errors.Cancelled("cancelled by the caller before the answer was complete")
    if isinstance(error, TimeoutError):
        message = f"ask.timeout_ms allows {timeout_ms}, and that has passed"
        return errors.DeadlineExceeded("timeout_ms", message)
    _log.error("internal error", exc_info=error)
    return errors.AskError("internal error")
