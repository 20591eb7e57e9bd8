"""The composition root: settings and a location become a running App.

The only file that knows every adapter. Nothing here decides anything about an answer.
"""

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from weakref import finalize

from redask.app.background.relabelling_thread import RelabellingThread, RelabelProgress
from redask.app.background.shared_index import index_of
from redask.app.engine_parts import make_engine
from redask.app.open_parts import CLOSE_SECONDS, OpenParts, distinct
from redask.app.parts import (
    WAITING_THREADS,
    ask_parts,
    background_of,
    catch_index_up,
    embedded_text,
    embedder_of,
    log_writers,
    open_backend,
    provider_pool,
    record_reader,
    sealing_of,
    selector_of,
    settling_of,
    signing_in,
    sync_of,
)
from redask.app.settling import Settling
from redask.core import settings as choices
from redask.core import synonyms
from redask.core.access.policy import must_audit, must_own
from redask.core.errors import BadAsk, of_the_machine
from redask.core.model import Ask, Caller, IngestProgress, IngestReport, Kind
from redask.core.ports import AuditLog, Cancellation, Provider, Selector
from redask.core.rules.audit_chain import Broken, Intact
from redask.core.serving_limits import ALONE, ProcessPlace
from redask.embedding.stage import EmbeddingProgress, EmbeddingStage
from redask.engine.access.signing_in import SigningIn
from redask.engine.ask import Engine
from redask.engine.auditing.log_writers import LogWriters
from redask.engine.auditing.sealing import Sealing
from redask.engine.budget import Budget, spending_report
from redask.engine.computing import Computing
from redask.engine.findings import AskWork
from redask.engine.opened_providers import OpenedProviders
from redask.engine.plan_sources import PlanSources
from redask.engine.processes.result_spool import ResultSpool
from redask.engine.retrieval import Hits, Retriever
from redask.engine.running_calls import RunningCalls
from redask.engine.spending.payers import Payer, paying
from redask.engine.workers import Workers
from redask.index import SearchIndex
from redask.providers import operator_choices
from redask.providers.pool import ProviderPool
from redask.stores.auditing.audit_rows import ACCESSES, ASKS
from redask.stores.backend import Backend
from redask.stores.backends import backend_for
from redask.stores.entity_rows import collection_fault, entities, entity, link
from redask.stores.write_rules import check_collection

if TYPE_CHECKING:  # a question needs none of it, and importing takes a while
    from redask.engine.replaying.past_principals import PastPrincipals
    from redask.engine.replaying.replays import Replays
    from redask.engine.replaying.stale_answers import StaleAnswers

_T = TypeVar("_T")
_P = ParamSpec("_P")
_THREADS = 8
CONFIGURATION = "redask.toml"


@dataclass(slots=True, weakref_slot=True)
class App:
    """Everything that is open for one database."""

    backend: Backend
    signing_in: SigningIn
    selector: Selector
    spool: ResultSpool
    computing: Computing
    finder: AskWork
    plan_sources: PlanSources
    index: SearchIndex
    retriever: Retriever
    logs: LogWriters
    sealing: Sealing
    engine: Engine
    opener: ProviderPool
    relabelling: RelabellingThread
    settling: Settling
    running: RunningCalls
    workers: Workers  # for what is short, and for owners
    ask_threads: Workers  # asks and SELECTs that wait for a process leave the others theirs
    select_threads: Workers
    clock: Callable[[], int]
    settings: choices.Settings
    directory: Path
    parts: OpenParts
    uploading: asyncio.Lock = field(default_factory=asyncio.Lock)  # one sent file at a time

    def __post_init__(self) -> None:
        finalize(self, self.parts.let_go).atexit = False

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
        with paying(Payer(caller)):
            return work(caller.tenant, progress)

    def find(self, ask: Ask, caller: Caller) -> Hits:
        """What the data holds on a question, best first."""
        with paying(Payer(caller)):
            return self.finder.search(ask, caller)

    def set_policy(
        self,
        collection: str,
        document: object | None,
        caller: Caller,
        *,
        wait: bool = True,
        progress: RelabelProgress | None = None,
    ) -> None:
        """Put a collection under a policy, or under none; what must be embedded anew, is.

        With `wait=False` a large one is classified, and embedded, in the background.
        """
        must_own(caller)  # who may not is told nothing of names
        check_collection(collection)
        self.backend.store.set_policy(collection, document, caller, finish=False)
        if not wait:
            self.relabelling.start()
            return
        self.relabelling.finish(caller.tenant, collection, progress)
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
        from redask.ingest import pipeline

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

    def verify_audit(self, caller: Caller, log: str = ASKS) -> Intact | Broken:
        """Whether a log is what was written; for those who may read all of it.

        The owner of an embedded database hears of every tenant's; others who may audit, of theirs.
        """
        must_audit(caller)
        return self.log(log).verify(None if caller == Caller() else caller.tenant)

    @property
    def replays(self) -> "Replays":
        """Asking again what was asked before."""
        from redask.engine.replaying.replays import Replays

        return Replays(self.engine, self.backend.audit, self._principals)

    @property
    def stale_answers(self) -> "StaleAnswers":
        """Answers whose cited sources are not what they were."""
        from redask.engine.replaying.stale_answers import StaleAnswers

        return StaleAnswers(self.backend.audit, self._principals)

    @property
    def _principals(self) -> "PastPrincipals":
        from redask.engine.replaying.past_principals import PastPrincipals

        return PastPrincipals(self.backend.users, self.backend.store, self.computing)

    def log(self, name: str) -> AuditLog:
        """The log of this name: `ask` or `access`."""
        logs = {ASKS: self.backend.audit, ACCESSES: self.backend.access}
        if name not in logs:
            raise BadAsk("a log is ask or access", detail="log")
        return logs[name]

    def catch_up(self, caller: Caller) -> None:
        """Bring the caller's index up to date."""
        catch_index_up(self.index, caller.tenant)
        self.index.finish(caller.tenant)

    async def in_thread(self, work: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Run synchronous work without holding up the loop; closing waits for it, for a time."""
        with self.running.begin() as call:
            async with call.finishing():
                return await self.workers.run(partial(work, *args, **kwargs))

    async def in_ask_thread(self, work: Callable[[Caller], _T], caller: Caller) -> _T:
        """Run what may be long for a caller, within the time of an ask."""
        async with self.running.timed(self.settings.limits.timeout_ms, caller):
            return await self.ask_threads.hop(work, caller)

    async def aclose(self) -> None:
        """Cancel what runs, see its audit rows written, then let go of every file: `open_parts`."""
        if not self.running.owner.is_this:
            return
        if self.retriever.embedding:
            self.retriever.embedding.stop()
        if not await self.running.close(CLOSE_SECONDS):
            self.backend.interrupt()
        await asyncio.to_thread(self.close)
        await self.opener.aclose()

    def close(self) -> None:
        """Finish what threads do, then let go of every file; see `open_parts`."""
        self.parts.close(0.0 if self.running.abandoned else CLOSE_SECONDS)


def build(
    location: str | Path,
    *,
    settings: choices.Settings | None = None,
    embedder: str | None = None,
    clock: Callable[[], int] = time.time_ns,
    providers: Mapping[str, Provider] = MappingProxyType({}),
    serving: bool = False,
    place: ProcessPlace = ALONE,
) -> App:
    """Open everything at a location; `serving` others works for them in processes of its own.

    `place` is which of the processes of one server this is. Settings come from `redask.toml` there
    and the environment, unless given; `embedder` is a row's name, in place of the settings'.
    `providers` stand beside or in place of our rows.
    """
    with ExitStack() as opened:  # what was opened is closed if the rest fails
        try:
            app = _build(
                *(location, opened),
                chosen=(settings or load_settings(location)).in_process(place),
                embedder=embedder,
                clock=clock,
                providers=providers,
                serving=serving,
                leads=serving and place.is_first,
            )
        except (RuntimeError, MemoryError) as error:
            raise of_the_machine(error) from error
        opened.pop_all()
    return app


def _build(
    location: str | Path,
    opened: ExitStack,
    *,
    chosen: choices.Settings,
    embedder: str | None,
    clock: Callable[[], int],
    providers: Mapping[str, Provider],
    serving: bool,
    leads: bool,  # does what one of the processes of a server does for all
) -> App:
    words, row = load_synonyms(location), backend_for(str(location))
    directory = row.directory(str(location))
    backend = opened.enter_context(closing(open_backend(row, str(location), chosen)))
    budget = Budget(chosen.limits, backend.ledger, clock, chosen.budget)
    maker = embedder_of(chosen, embedder, budget)
    index = index_of(directory, backend, chosen, serving=serving)
    stage = EmbeddingStage(backend.store, maker, embedded_text(maker, chosen)) if maker else None
    retriever = Retriever(backend.store, index, stage, chosen)
    workers, selects = Workers(_THREADS, "redask"), Workers(WAITING_THREADS, "redask-select")
    made = selector_of(str(location), chosen, words, maker, opened, serving=serving)
    asking = ask_parts(made, retriever, words, clock, workers, backend=backend, serving=serving)
    opener = provider_pool(chosen, {**asking.quoting, **providers})
    sealing, attached = sealing_of(backend, chosen, clock), sync_of(backend, stage, serving=leads)
    logs = log_writers(backend, chosen, clock, sealing, opened, serving=leads)
    relabelling, own = background_of(backend, made, index, opened, chosen, stage=stage, leads=leads)
    threads = distinct(*own, asking.threads, workers, selects)
    engine = make_engine(
        *(backend, asking, OpenedProviders(opener, asking.threads), workers),
        audit=logs.asks,
        running=(running := RunningCalls()),
        budget=budget,
        providers=providers,
        serving=serving,
    )
    return App(
        backend=backend,
        signing_in=signing_in(backend, chosen),
        selector=made,
        spool=ResultSpool(directory, chosen.select_spool_bytes),
        computing=asking.computing,
        finder=asking.finder,
        plan_sources=asking.computing.sources,
        index=index,
        retriever=retriever,
        logs=logs,
        sealing=sealing,
        engine=engine,
        opener=opener,
        relabelling=relabelling,
        settling=settling_of(backend, index, logs.asks, stage, chosen),
        running=running,
        workers=workers,
        ask_threads=asking.threads,
        select_threads=selects,
        clock=clock,
        settings=chosen,
        directory=directory,
        parts=OpenParts(backend, index, made, logs, relabelling, threads, attached),
    )


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
