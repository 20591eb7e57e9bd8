"""The composition root: settings and a location become a running App.

The only file that knows every adapter. Nothing here decides anything about an answer.
"""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from redask.core import settings as choices
from redask.core import synonyms
from redask.core.access.policy import AUDITORS, must_own
from redask.core.errors import BadAsk, Denied, Misconfigured
from redask.core.model import Caller, IngestProgress, IngestReport, Kind, Terms
from redask.core.ports import Embedder, Provider, Query, Selector
from redask.core.provider_table import PROVIDERS
from redask.core.rules import cost
from redask.core.rules.audit_chain import Broken, Intact
from redask.embedding.embedding_text import embedding_text
from redask.embedding.models import RemoteModel
from redask.embedding.models import make as make_embedder
from redask.embedding.similarity import Similarity
from redask.embedding.stage import EmbeddingProgress, EmbeddingStage
from redask.engine.answer_cache import AnswerCaching
from redask.engine.ask import Engine
from redask.engine.audit_writer import AuditWriter
from redask.engine.budget import Budget
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
from redask.engine.writers.followup_reader import FollowupReader
from redask.engine.writers.model_replies import ModelReplies
from redask.engine.writers.statement_writer import StatementWriter
from redask.index import SearchIndex
from redask.index.analysis import analyzer, languages
from redask.ingest import pipeline
from redask.providers.extractive.answerer import NAME as EXTRACTIVE
from redask.providers.extractive.answerer import Extractive
from redask.providers.pool import ProviderPool
from redask.providers.registry import installed
from redask.stores.backend import Backend
from redask.stores.backends import backend_for
from redask.stores.entity_rows import collection_fault, entities, entity, link
from redask.stores.selectors import open_selector

_log = logging.getLogger("redask.providers")
_T = TypeVar("_T")
_P = ParamSpec("_P")
_THREADS, _SELECT_THREADS, _SERVING_WORKERS = 8, 32, 2
_SELECTOR = "redask.stores.selectors:open_selector"
CONFIGURATION = "redask.toml"


@dataclass(slots=True)
class App:
    """Everything that is open for one database."""

    backend: Backend
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
        edge = link(source, label, target)
        self.backend.store.put([edge], caller)
        return edge.urn

    def ingest(
        self,
        paths: Sequence[str],
        collection: str | None,
        caller: Caller,
        progress: Callable[[IngestProgress], None],
        stopped: Callable[[], bool],
    ) -> IngestReport:
        """Bring the database up to date with files and folders. → what was done."""
        must_own(caller)
        fault = None if collection is None else collection_fault(collection)
        if fault:
            raise BadAsk(f"the collection name {collection!a} {fault}", detail="collection")
        desk = pipeline.IngestContext(
            manifest=self.backend.manifest,
            caller=caller,
            entity=entity,
            edge=link,
            write=lambda loads: self.backend.manifest.load(loads, caller, self.clock()),
            avoid=frozenset({os.path.realpath(self.directory)}),
            progress=progress,
            stopped=stopped,
        )
        return pipeline.run(paths, collection, desk)

    def spending(self, caller: Caller, days: int) -> list[dict[str, object]]:
        """US dollars by day, tenant and provider, newest first, today and the days before.

        The owner of an embedded database sees every tenant; others who may audit, their own.
        """
        _must_audit(caller)
        since = cost.day_of(self.engine.clock()) - days + 1
        tenant = None if caller == Caller() else caller.tenant
        return [
            {
                "day": (date(1970, 1, 1) + timedelta(line.account.day)).isoformat(),
                "provider": line.account.provider,
                "reserved_usd": line.reserved,
                "spent_usd": line.spent,
                "tenant": line.account.tenant,
            }
            for line in self.backend.ledger.report(since, tenant)
        ]

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
            "warnings": [*self.opener.passed_over(), *self.plan_sources.warnings(caller)],
        }

    def verify_audit(self, caller: Caller) -> Intact | Broken:
        """Whether the audit log is what was written; for those who may read all of it."""
        _must_audit(caller)
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
    maker = _embedder(chosen.embedder, embedder)
    backend = row.open(str(location))
    index = SearchIndex(directory / "index", backend.store)
    stage = EmbeddingStage(backend.store, maker, embedding_text) if maker else None
    retriever = Retriever(backend.store, index, stage, chosen)
    opener = ProviderPool(chosen, {**_quoting(maker), **providers})
    for warning in opener.passed_over():
        _log.warning(warning)
    running, workers = RunningCalls(), Workers(_THREADS, "redask")
    audit = AuditWriter(backend.audit, chosen.audit_retention_days)
    selector = _selector(str(location), chosen.select_workers, serving)
    plan_sources = PlanSources(selector, words)
    computing = Computing(selector, plan_sources, backend.store, chosen)
    engine = _engine(
        backend,
        SourceFinder(retriever, computing, chosen.limits, clock),
        OpenedProviders(opener, workers),
        audit=audit,
        running=running,
        clock=clock,
        providers=providers,
    )
    return App(
        backend=backend,
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
) -> Engine:
    """The engine over what is open already; `providers` stand beside our rows."""
    computing, workers = finder.computing, opened.workers
    chosen = computing.settings
    recall = AnswerCaching(backend.answers, chosen, clock)
    calls = ProviderCalls(Budget(chosen.limits, backend.ledger, clock), chosen, workers)
    replies = ModelReplies(calls, recall, opened)
    rows = (name for name, row in PROVIDERS.items() if installed(row))
    return Engine(
        finder=finder,
        log=audit,
        recall=recall,
        calls=calls,
        writer=StatementWriter(computing, replies),
        followups=FollowupReader(replies, chosen.followups_by_model),
        providers=frozenset({*PROVIDERS, *providers}),
        installed=frozenset({*rows, *providers}),
        opened=opened,
        settings=chosen,
        clock=clock,
        running=running,
        workers=workers,
    )


def _selector(location: str, workers: int | None, serving: bool) -> Selector:
    """SELECT in this process, or in processes that can be ended."""
    processes = (_SERVING_WORKERS if serving else 0) if workers is None else workers
    if not processes:
        return open_selector(location)
    return ProcessSelector(_SELECTOR, (location,), processes=processes).warm()


def _embedder(chosen: choices.EmbedderSettings, name: str | None) -> Embedder | None:
    at = chosen.endpoint
    remote = RemoteModel(at.base_url, at.model, at.api_key, chosen.dimensions)
    return make_embedder(chosen.name if name is None else name, remote)


def _quoting(embedder: Embedder | None) -> dict[str, Provider]:
    """`extractive` with the embedder, so that it quotes by meaning, too."""
    if embedder is None:
        return {}

    def language_of(question: str) -> str:
        return languages.detect_question(question, analyzer.words(question), ())

    return {EXTRACTIVE: Extractive(Similarity(embedder, language_of), embedder.model)}


def _with_index(files: Mapping[str, int], size: int) -> dict[str, int]:
    """The files as `doctor` lists them: the data, the index, then what calls left."""
    *listed, last = files.items()
    return dict([*listed, ("index", size), last])


def _must_audit(caller: Caller) -> None:
    if caller.role not in AUDITORS:
        raise Denied(f"the role {caller.role!a} may not look at what others asked and spent")


def is_database(location: str) -> bool:
    """Whether there is a database at a location; nothing is made."""
    return backend_for(location).exists(location)


def load_settings(location: str | Path) -> choices.Settings:
    """The settings that the location's configuration file and the environment say."""
    directory = backend_for(str(location)).directory(str(location))
    return choices.load(_written(directory / CONFIGURATION), os.environ)


def load_synonyms(location: str | Path) -> synonyms.Synonyms:
    """The user's words for tables, columns and values at a location."""
    directory = backend_for(str(location)).directory(str(location))
    return synonyms.read(_written(directory / synonyms.FILE))


def _written(file: Path) -> str:
    """What a file of the user's says; nothing when there is none."""
    try:
        return file.read_text(encoding="utf-8") if file.is_file() else ""
    except (OSError, UnicodeDecodeError) as error:
        raise Misconfigured(f"{file} cannot be read: {error}") from None
