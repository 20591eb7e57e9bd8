"""The composition root: settings and a location become a running App.

The only file that knows every adapter. Nothing here decides anything about an answer.
"""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from redask.app.parts import (
    embedded_text,
    embedder_of,
    open_backend,
    quoting_provider,
    record_reader,
    selector_of,
    signing_in,
)
from redask.core import provider_table, synonyms
from redask.core import settings as choices
from redask.core.access.policy import must_audit, must_own
from redask.core.errors import BadAsk
from redask.core.model import Caller, IngestProgress, IngestReport, Kind, Terms
from redask.core.ports import Cancellation, Provider, Query, Selector
from redask.core.rules.audit_chain import Broken, Intact
from redask.embedding.stage import EmbeddingProgress, EmbeddingStage
from redask.engine.access.signing_in import SigningIn
from redask.engine.answer_cache import AnswerCaching
from redask.engine.ask import Engine
from redask.engine.audit_writer import AuditWriter
from redask.engine.budget import Budget, spending_report
from redask.engine.computing import Computing
from redask.engine.findings import SourceFinder
from redask.engine.opened_providers import OpenedProviders
from redask.engine.plan_sources import PlanSources
from redask.engine.processes.process_selector import ProcessSelector
from redask.engine.processes.result_spool import ResultSpool
from redask.engine.provider_calls import ProviderCalls
from redask.engine.retrieval import Retriever
from redask.engine.running_calls import RunningCalls
from redask.engine.workers import Workers
from redask.engine.writers.claim_judge import ClaimJudge
from redask.engine.writers.followup_reader import FollowupReader
from redask.engine.writers.model_replies import ModelReplies
from redask.engine.writers.statement_writer import StatementWriter
from redask.index import SearchIndex
from redask.ingest import pipeline
from redask.providers import operator_choices
from redask.providers.pool import ProviderPool
from redask.providers.registry import is_installed
from redask.stores.backend import Backend
from redask.stores.backends import backend_for
from redask.stores.entity_rows import collection_fault, entities, entity, link

_log = logging.getLogger("redask.providers")
_T = TypeVar("_T")
_P = ParamSpec("_P")
_THREADS, _SELECT_THREADS = 8, 128
CONFIGURATION = "redask.toml"


@dataclass(slots=True)
class App:
    """Everything that is open for one database."""

    backend: Backend
    signing_in: SigningIn
    selector: Selector
    spool: ResultSpool
    computing: Computing
    plan_sources: PlanSources
    index: SearchIndex
    retriever: Retriever
    audit: AuditWriter
    engine: Engine
    opener: ProviderPool
    running: RunningCalls
    workers: Workers
    select_threads: Workers  # SELECTs that wait leave the others theirs
    clock: Callable[[], int]
    settings: choices.Settings
    directory: Path

    def put(
        self,
        collection: str,
        rows: Sequence[Mapping[str, object]],
        kind: str,
        caller: Caller,
        *,
        wait: bool = True,
    ) -> list[str]:
        """Write user rows, and wait until they are embedded. → their URNs."""
        must_own(caller)  # before anything is embedded
        try:
            chosen = Kind(kind)
        except ValueError:
            raise BadAsk(f"{kind!a} is no kind of entity", detail="kind") from None
        made = entities(collection, rows, kind=chosen)
        self.backend.store.put(made, caller)
        if wait:
            self.embed(caller)
        return [each.urn for each in made]

    def embed(
        self, caller: Caller, *, anew: bool = False, progress: EmbeddingProgress | None = None
    ) -> int:
        """Embed what waits for it, or everything anew; nothing without an embedder. → how many"""
        must_own(caller)
        stage = self.retriever.embedding
        if stage is None:
            return 0
        work = stage.reembed if anew else stage.finish
        return work(caller.tenant, progress)

    def set_policy(self, collection: str, document: object | None, caller: Caller) -> None:
        """Put a collection under a policy, or under none; what must be embedded anew, is."""
        self.backend.store.set_policy(collection, document, caller)
        self.embed(caller)

    def link(self, source: str, label: str, target: str, caller: Caller) -> str:
        """Write one edge. → its URN."""
        edge = link(source, label, target, self.backend.store.edge_key)
        self.backend.store.put([edge], caller)
        return edge.urn

    def ingest(
        self,
        paths: Sequence[str],
        collection: str | None,
        caller: Caller,
        progress: Callable[[IngestProgress], None],
        stop: Cancellation,
        *,
        isolated: bool = False,
        follow_symlinks: bool = False,
    ) -> IngestReport:
        """Bring the database up to date with files and folders. → what was done."""
        must_own(caller)
        fault = None if collection is None else collection_fault(collection)
        if fault:
            raise BadAsk(f"the collection name {collection!a} {fault}", detail="collection")
        with record_reader(self.settings, isolated, stop) as records:
            context = pipeline.IngestContext(
                manifest=self.backend.manifest,
                caller=caller,
                records=records,
                entity=entity,
                edge=partial(link, key=self.backend.store.edge_key),
                write=lambda loads: self.backend.manifest.load(loads, caller, self.clock()),
                avoid=frozenset({os.path.realpath(self.directory)}),
                progress=progress,
                stopped=stop.is_set,
                follow_symlinks=follow_symlinks,
            )
            return pipeline.run(paths, collection, context)

    def spending(self, caller: Caller, days: int) -> list[dict[str, object]]:
        """US dollars by day, tenant and provider, newest first, today and the days before.

        The owner of an embedded database sees every tenant; others who may audit, their own.
        """
        must_audit(caller)
        tenant = None if caller == Caller() else caller.tenant
        return spending_report(self.backend.ledger, tenant, self.engine.clock(), days)

    def doctor(self, caller: Caller, rebuild_index: bool) -> dict[str, object]:
        """What is there, what is pending, what is wrong."""
        must_own(caller)
        if rebuild_index:
            self.index.rebuild(caller.tenant)
        store, index = self.backend.store.statistics(caller), self.index.health(caller.tenant)
        problems = self.backend.store.check()
        verdict = self.backend.audit.verify()
        if isinstance(verdict, Broken):
            problems.append(f"audit log: {verdict.reason}")
        return {
            "store": {
                "watermark": store.watermark,
                "collections": len(store.collections),
                "entities": store.entities,
                "edges": store.edges,
                "vectors": store.vectors,
            },
            "index": {
                "watermark": index.watermark,
                "pending": index.pending,
                "entities": index.entities,
            },
            "embedding": self._embedding(caller),
            "audit": {"rows": verdict.rows if isinstance(verdict, Intact) else 0},
            "files": _with_index(self.backend.files(), index.bytes),
            "problems": problems,
            "warnings": [
                *self.opener.passed_over(),
                *self.plan_sources.warnings(caller),
                *self.backend.store.policy_faults(caller),
            ],
        }

    def verify_audit(self, caller: Caller) -> Intact | Broken:
        """Whether the audit log is what was written; for those who may read all of it."""
        must_audit(caller)
        return self.backend.audit.verify()

    def catch_up(self, caller: Caller) -> None:
        """Bring the caller's index up to date."""
        self.index.search(Query("", Terms((), ()), top_k=1, depth=0), caller)

    def _embedding(self, caller: Caller) -> dict[str, object]:
        """Who makes vectors, who made those there are, and how many entities wait for one."""
        stage, space = self.retriever.embedding, self.backend.store.view(caller).space
        return {
            "embedder": stage.embedder.model if stage else "none",
            "model": space[0] if space else "none",
            "pending": self.backend.store.count_unembedded(caller.tenant) if stage else 0,
        }

    async def in_thread(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Run synchronous work without holding up the loop."""
        with self.running.begin():
            return await self.workers.run(partial(work, *args, **kwargs))

    async def aclose(self) -> None:
        """Cancel what runs, see its audit rows written, then let go of every file."""
        if self.retriever.embedding:
            self.retriever.embedding.stop()
        await self.running.close()
        await asyncio.to_thread(self.close)
        await self.opener.aclose()

    def close(self) -> None:
        """Finish what threads do, then let go of every file."""
        self.workers.close()
        self.select_threads.close()
        self.audit.close()
        self.index.close()
        self.selector.close()
        self.backend.close()


def build(
    location: str | Path,
    *,
    settings: choices.Settings | None = None,
    embedder: str | None = None,
    clock: Callable[[], int] = time.time_ns,
    providers: Mapping[str, Provider] = MappingProxyType({}),
    serving: bool = False,
) -> App:
    """Open everything at a location; `serving` others runs SELECTs in processes of their own.

    Settings come from `redask.toml` there and the environment, unless given; `embedder` is a
    row's name, in place of the settings'. `providers` stand beside or in place of our rows.
    """
    row = backend_for(str(location))
    directory = row.directory(str(location))
    chosen, words = settings or load_settings(location), load_synonyms(location)
    maker = embedder_of(chosen.embedder, embedder)
    backend = open_backend(row, str(location), chosen)
    index = SearchIndex(directory / "index", backend.store)
    stage = EmbeddingStage(backend.store, maker, embedded_text(maker, chosen)) if maker else None
    retriever = Retriever(backend.store, index, stage, chosen)
    opener = ProviderPool(chosen, {**quoting_provider(maker), **providers})
    for warning in opener.passed_over():
        _log.warning(warning)
    running, workers = RunningCalls(), Workers(_THREADS, "redask")
    audit = AuditWriter(backend.audit, chosen.audit_retention_days)
    selector = selector_of(str(location), chosen, serving)
    asks = selector.for_asks() if isinstance(selector, ProcessSelector) else selector
    plan_sources = PlanSources(asks, words)
    computing = Computing(asks, plan_sources, backend.store, chosen)
    engine = _engine(
        backend,
        SourceFinder(retriever, computing, chosen.limits, clock),
        OpenedProviders(opener, workers),
        audit=audit,
        running=running,
        clock=clock,
        providers=providers,
        serving=serving,
    )
    return App(
        backend=backend,
        signing_in=signing_in(backend, chosen),
        selector=selector,
        spool=ResultSpool(directory, chosen.select_spool_bytes),
        computing=computing,
        plan_sources=plan_sources,
        index=index,
        retriever=retriever,
        audit=audit,
        engine=engine,
        opener=opener,
        running=running,
        workers=workers,
        select_threads=Workers(_SELECT_THREADS, "redask-select"),
        clock=clock,
        settings=chosen,
        directory=directory,
    )


def _engine(
    backend: Backend,
    finder: SourceFinder,
    opened: OpenedProviders,
    *,
    audit: AuditWriter,
    running: RunningCalls,
    clock: Callable[[], int],
    providers: Mapping[str, Provider],
    serving: bool,
) -> Engine:
    """The engine over what is open already; `providers` stand beside our rows."""
    computing, workers, chosen = finder.computing, opened.workers, finder.computing.settings
    recall = AnswerCaching(backend.answers, chosen, clock)
    calls = ProviderCalls(
        Budget(chosen.limits, backend.ledger, clock, chosen.budget), chosen, workers
    )
    replies = ModelReplies(calls, recall, opened)
    known = provider_table.rows(for_tests=chosen.testing_providers or not serving)
    return Engine(
        finder=finder,
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
    )


def _with_index(files: Mapping[str, int], size: int) -> dict[str, int]:
    """The files as `doctor` lists them: the data, the index, then what calls left."""
    *listed, last = files.items()
    return dict([*listed, ("index", size), last])


def is_database(location: str) -> bool:
    """Whether there is a database at a location; nothing is made."""
    return backend_for(location).exists(location)


def load_settings(location: str | Path) -> choices.Settings:
    """The settings that the location's file, the environment and the operator's file say."""
    directory = backend_for(str(location)).directory(str(location))
    return choices.load(
        operator_choices.written(directory / CONFIGURATION),
        operator_choices.with_secrets(os.environ),
        operator_choices.configuration(os.environ),
    )


def load_synonyms(location: str | Path) -> synonyms.Synonyms:
    """The user's words for tables, columns and values at a location."""
    directory = backend_for(str(location)).directory(str(location))
    return synonyms.read(operator_choices.written(directory / synonyms.FILE))
