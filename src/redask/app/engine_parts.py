"""The engine of an open database: `make_engine`."""

from collections.abc import Mapping

from redask import __version__
from redask.app.parts import AskParts
from redask.core import provider_table
from redask.core.ports import Provider
from redask.engine import telemetry
from redask.engine.ask import Engine
from redask.engine.auditing.ask_recording import setup_of
from redask.engine.auditing.audit_writer import AuditWriter
from redask.engine.budget import Budget
from redask.engine.caching.answer_cache import AnswerCaching
from redask.engine.opened_providers import OpenedProviders
from redask.engine.provider_calls import ProviderCalls
from redask.engine.running_calls import RunningCalls
from redask.engine.workers import Workers
from redask.engine.writers.claim_judge import ClaimJudge
from redask.engine.writers.followup_reader import FollowupReader
from redask.engine.writers.model_replies import ModelReplies
from redask.engine.writers.statement_writer import StatementWriter
from redask.providers.registry import is_installed
from redask.stores.backend import Backend


def make_engine(
    backend: Backend,
    asking: AskParts,
    opened: OpenedProviders,
    workers: Workers,
    *,
    audit: AuditWriter,
    running: RunningCalls,
    budget: Budget,
    providers: Mapping[str, Provider],
    serving: bool,
) -> Engine:
    """The engine over what is open already; `providers` stand beside our rows."""
    if serving:
        telemetry.metrics()  # a scrape before the first ask shows them, too
    computing, chosen = asking.computing, asking.computing.settings
    clock = budget.clock
    recall = AnswerCaching(backend.answers, chosen, clock)
    calls = ProviderCalls(budget, chosen, workers)
    replies = ModelReplies(calls, recall, opened)
    known = provider_table.rows(for_tests=chosen.testing_providers or not serving)
    return Engine(
        finder=asking.finder,
        log=audit,
        recall=recall,
        calls=calls,
        writer=StatementWriter(computing, replies),
        followups=FollowupReader(replies, chosen.followups_by_model),
        judge=ClaimJudge(calls, opened, {*known, *providers}),
        providers=frozenset({*known, *providers}),
        installed=frozenset({*filter(is_installed, known), *providers}),
        opened=opened,
        settings=chosen,
        clock=clock,
        running=running,
        workers=workers,
        threads=opened.workers,
        setup=setup_of(chosen, computing.sources.words, __version__),
    )
