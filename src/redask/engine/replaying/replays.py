"""Asking again what was asked before: `Replays(…).replay(seq, caller)` → `ReplayReport`.

The sources are found again as the principal of the row, in the data of now; the prompt is built,
and compared with what is kept of then (`rules.auditing.replay_verdict`). The date that a prompt
tells is that of then. A statement that a model wrote is run again, and not written anew. With
`live` the provider of then is asked with the prompt of now: an ask of whoever replays, within
their limits, with an audit row.

Whoever may see a row may replay it. An owner and the principal see what differs; somebody who may
audit sees the verdict, what became of the sources that the row names, and of new ones those that
they may read themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from redask.core.access.policy import OWNER
from redask.core.errors import BadAsk, Denied, LimitExceeded, SqlError
from redask.core.model import Answer, Ask, Caller
from redask.core.ports import AuditEntry, AuditLog, TracedEntry
from redask.core.rules import audit, caching, capabilities, determinism
from redask.core.rules.auditing.provenance import (
    Provenance,
    SourceFacts,
    ask_of,
    read_provenance,
)
from redask.core.rules.auditing.replay_report import (
    ReplayedAnswer,
    ReplayedSource,
    ReplayReport,
    payload_diff,
    reasons,
    text_diff,
)
from redask.core.rules.auditing.replay_verdict import (
    Made,
    ReplayVerdict,
    SourceChange,
    differences,
    drifted,
    source_changes,
    verdict_of,
)
from redask.core.rules.failover import Step
from redask.core.rules.grounding import refused_answers
from redask.core.wire import query_source
from redask.engine.ask import Engine
from redask.engine.computing import Computed, QueryPlan, Uncomputed
from redask.engine.findings import Findings
from redask.engine.replaying.past_principals import PastPrincipals, was_not_run
from redask.engine.spending.payers import Payer, paying
from redask.engine.writers.statement_writer import BY_A_MODEL


@dataclass(frozen=True, slots=True)
class PastAsk:
    """A row that can be replayed: what is kept of it, and the ask that it was."""

    entry: AuditEntry
    made: Provenance
    found: SourceFacts
    ask: Ask

    @property
    def row(self) -> Mapping[str, Any]:
        """The audit row."""
        return self.entry.row

    @property
    def urns(self) -> tuple[str, ...]:
        """The sources of then."""
        return tuple(self.row["sources_urns"])

    def moment(self) -> int:
        """When it was asked (epoch ns), as far as its prompt told."""
        if not self.entry.today:
            return int(self.row["ts"])
        return int(datetime.fromisoformat(self.entry.today).replace(tzinfo=UTC).timestamp()) * 10**9


@dataclass(frozen=True, slots=True)
class Replays:
    """See the module."""

    engine: Engine
    log: AuditLog
    principals: PastPrincipals

    async def replay(self, seq: int, caller: Caller, *, live: bool = False) -> ReplayReport:
        """Ask again what the row of this number asked; `live`: its provider, too."""
        if not isinstance(seq, int) or isinstance(seq, bool) or seq < 1:
            raise BadAsk("the number of an audit row is a whole number from 1", detail="seq")
        engine = self.engine
        async with engine.running.timed(engine.settings.limits.timeout_ms, caller):
            past = await engine.threads.hop(self._past, seq, caller)
            if isinstance(past, ReplayReport):
                return past
            if live and not _sees_all(past, caller):
                raise Denied("only the owner and whoever asked may ask the provider again")
            found, report = await engine.threads.hop(self._compared, past, caller)
        if not live or found is None:
            return report
        return await self._live(past, found, report, caller)

    def _past(self, seq: int, caller: Caller) -> PastAsk | ReplayReport:
        """What is kept of the row, or why it cannot be replayed."""
        found = self.log.traced(caller, limit=1, before=seq + 1)
        if not found or found[0].entry.seq != seq:
            raise BadAsk(f"there is no audit row {seq}", detail="seq")
        [traced] = found
        why = _obstacle(traced)
        if why is not None:
            return ReplayReport(seq, ReplayVerdict.NOT_REPLAYABLE, reasons=(why,))
        made = read_provenance(traced.provenance or {})
        if made.found is None:
            kinds = ", ".join(each["kind"] for each in _listed(traced.entry.row, "errors"))
            why = f"it ended before its sources were found: {kinds}"
            return ReplayReport(seq, ReplayVerdict.NOT_REPLAYABLE, reasons=(why,))
        question = traced.entry.understood or str(traced.entry.row["question"])
        return PastAsk(traced.entry, made, made.found, ask_of(question, made.options))

    def _compared(self, past: PastAsk, caller: Caller) -> tuple[Findings | None, ReplayReport]:
        """Find again, and compare; no findings where the principal may not ask any more."""
        seq, row = past.entry.seq, past.row
        principal = self.principals.now(row, past.made, caller)
        policy = (ReplayVerdict.POLICY,)
        if principal is None:
            why = f"there is no user {row['user']} any more"
            return None, ReplayReport(seq, ReplayVerdict.POLICY, policy, (why,))
        try:
            with paying(Payer(caller)):
                found = self._found(past, principal)
        except Denied as denied:
            return None, ReplayReport(seq, ReplayVerdict.POLICY, policy, (denied.message,))
        then = Made(str(row["role"]), past.urns, past.found, past.made.setup)
        urns = tuple(source.urn for source in found.sources)
        now = Made(principal.role, urns, found.facts, self.engine.setup)
        changes = differences(then, now)
        gone = [
            (urn, version)
            for urn, version in zip(past.urns, past.found.read, strict=True)
            if urn not in urns
        ]
        present = self.principals.versions(gone, principal)
        sources = source_changes(then, now, present)
        shown = self._told(past, sources, found, caller, with_diffs=policy[0] not in changes)
        return found, ReplayReport(
            seq,
            verdict_of(changes),
            changes,
            reasons(then, now, changes, str(row["user"])),
            past.found.prompt == found.facts.prompt,
            shown,
            len(sources) - len(shown),
        )

    def _found(self, past: PastAsk, principal: Caller) -> Findings:
        """What the principal's ask finds now."""
        finder = self.engine.finder.at(past.moment())
        if not past.made.by_model:
            return finder.find(past.ask, principal)
        return finder.find_with(self._by_model(past, principal), past.ask, principal)

    def _by_model(self, past: PastAsk, principal: Caller) -> Computed | Uncomputed | None:
        """What the statements of then give now; None: the model had written none."""
        listed = zip(past.urns, past.found.read, strict=True)
        written = [
            (sql, was_not_run(urn, version))
            for urn, version in listed
            if (sql := query_source.statement_of(urn)) is not None
        ]
        if not written:
            return None
        sql, only_shown = written[0]
        failure = "it was not run"
        if not only_shown:
            try:
                results = [self.principals.computing.result(each, principal) for each, _ in written]
                return Computed(QueryPlan(BY_A_MODEL, 1.0, sql), tuple(results))
            except (SqlError, LimitExceeded) as error:
                failure = error.message
        refusal = refused_answers.failed(failure, sql)
        query = QueryPlan(BY_A_MODEL, 0.0, None)
        return Uncomputed(refusal, query, (query_source.not_run(sql),), final=True)

    def _told(
        self,
        past: PastAsk,
        sources: Sequence[tuple[str, SourceChange]],
        found: Findings,
        caller: Caller,
        *,
        with_diffs: bool,
    ) -> tuple[ReplayedSource, ...]:
        """What of the changes whoever replays may see, and how the payloads differ."""
        if not _sees_all(past, caller):
            new = [urn for urn, change in sources if change is SourceChange.ADDED]
            plain = [urn for urn in new if query_source.statement_of(urn) is None]
            own = {source.urn for source in self.principals.store.read(plain, caller)}
            hidden = {urn for urn in new if urn not in own}
            return tuple(ReplayedSource(*each) for each in sources if each[0] not in hidden)
        kept = self._kept_answer(past) if with_diffs else None
        before = {each.urn: each.payload for each in kept.sources_flat} if kept else {}
        after = {each.urn: each.payload for each in found.sources}
        return tuple(
            ReplayedSource(urn, change, payload_diff(before[urn], after[urn]))
            if change is SourceChange.CHANGED and urn in before and urn in after
            else ReplayedSource(urn, change)
            for urn, change in sources
        )

    def _kept_answer(self, past: PastAsk) -> Answer | None:
        """The answer of then, if the cache still has it; one that was judged is not looked for."""
        row, engine, ask = past.row, self.engine, past.ask
        can = capabilities.of(str(row["provider"]), engine.settings.capabilities)
        knobs = determinism.effective_knobs(
            *(ask.question, past.found.fingerprint, can),
            temperature=ask.temperature,
            seed=ask.seed,
            default_temperature=engine.settings.default_temperature,
        )
        key = caching.key(
            tenant=str(row["tenant"]),
            user=str(row["user"]),
            question=ask.question,
            provider=str(row["provider"]),
            model=str(row["model"]),
            temperature=knobs.temperature,
            seed=knobs.seed,
            fingerprint=past.found.fingerprint,
        )
        kept = engine.recall.cache.get(key)
        return kept.answer if kept and kept.prompt_hash == past.found.prompt else None

    async def _live(
        self, past: PastAsk, found: Findings, report: ReplayReport, caller: Caller
    ) -> ReplayReport:
        """The report with what the provider of then answers now."""
        row, engine = past.row, self.engine
        if not row["validation_ok"]:
            why = "there was no answer to compare one with"
            return replace(report, reasons=(*report.reasons, why))
        provider = str(row["provider"])
        usual = await engine.opened.open(Step(provider, None))
        model = None if usual.model == row["model"] else str(row["model"])
        asked = replace(past.ask, question=str(row["question"]), using=(provider,), model=model)
        run = engine.begin(asked, caller)
        run.replays, run.by_model = past.entry.seq, past.made.by_model
        if past.entry.understood:
            run.understand(past.entry.understood)
        answer = (await engine.answer_again(run, found)).answer
        hashes = (str(row["answer_hash"]), audit.answer_hash(answer))
        then = await engine.threads.hop(self._answer_then, past)
        diff = "" if then is None or hashes[0] == hashes[1] else text_diff(then, answer)
        told = ReplayedAnswer(hashes[0] == hashes[1], answer, diff)
        report = replace(report, answer=told)
        if not drifted(report.same_prompt, hashes):
            return report
        changes = (*report.changes, ReplayVerdict.DRIFT)
        why = f"{provider} {run.model} answers the same prompt otherwise"
        told_why = (*report.reasons, why)
        return replace(report, changes=changes, reasons=told_why, verdict=verdict_of(changes))

    def _answer_then(self, past: PastAsk) -> str | None:
        """The text of the answer of then, where it is kept."""
        if "answer" in past.row:
            return str(past.row["answer"])
        kept = self._kept_answer(past)
        return kept.answer if kept else None


def _sees_all(past: PastAsk, caller: Caller) -> bool:
    """Whether whoever replays may see all that the principal may."""
    return caller.role == OWNER or caller.user == past.row["user"]


def _obstacle(traced: TracedEntry) -> str | None:
    """Why a row cannot be replayed, if so."""
    if traced.entry.erased:
        return "a part of the row was erased"
    if traced.is_pruned:
        return "what made it is not kept any more: ask.audit.provenance_days have passed"
    if traced.provenance is None:
        return "it was made before redask kept what made an answer"
    if traced.provenance.get("hashed"):
        return "its question is kept as a hash only: ask.audit.question"
    return None


def _listed(row: Mapping[str, Any], name: str) -> list[Any]:
    return list(row.get(name, ()))
