"""Parts that `app.build` puts together: selectors, embedders, readers of files, by the settings."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from redask.app.attached.attached_parts import AttachedSync, AttachedTables
from redask.app.background.embedding_thread import EmbeddingThread, embedding_in_background
from redask.app.background.following_thread import FollowingThread
from redask.app.background.relabelling_thread import RelabellingThread
from redask.app.background.shared_index import keeping_of
from redask.app.background.snapshot_thread import SnapshotThread
from redask.app.settling import Settling
from redask.core import languages
from redask.core import settings as choices
from redask.core.access.redaction import Redactor
from redask.core.model import Caller, Terms
from redask.core.ports import Cancellation, Embedder, Provider, Query, Selector
from redask.core.ports.entities import EmbeddedText
from redask.core.rules.auditing.lived_time import DAY_NS
from redask.core.rules.failover import Step
from redask.core.synonyms import Synonyms
from redask.embedding.embedding_text import embedding_text
from redask.embedding.models import REMOTE, RemoteModel
from redask.embedding.models import make as make_embedder
from redask.embedding.similarity import Similarity
from redask.embedding.stage import EmbeddingStage
from redask.engine.access.page_sign_in import PageSignIn
from redask.engine.access.signing_in import SigningIn
from redask.engine.auditing.access_recorder import AccessRecorder
from redask.engine.auditing.audit_upkeep import AuditUpkeep
from redask.engine.auditing.audit_writer import AuditWriter
from redask.engine.auditing.log_writers import LogWriters
from redask.engine.auditing.sealing import CheckpointSigner, CheckpointSink, Sealing
from redask.engine.auditing.sealing_thread import SealingThread
from redask.engine.budget import Budget
from redask.engine.caching.remembered_findings import RememberedFindings
from redask.engine.computing import Computing
from redask.engine.findings import AskWork, SourceFinder
from redask.engine.plan_sources import PlanSources
from redask.engine.retrieval import Retriever
from redask.engine.spending.embedding_meter import LedgerMeter
from redask.engine.workers import Workers
from redask.index import SearchIndex
from redask.index.analysis import analyzer
from redask.providers.extractive.answerer import NAME as EXTRACTIVE
from redask.providers.extractive.answerer import Extractive
from redask.providers.identity.authorization_server import AuthorizationServer
from redask.providers.identity.jwt_signatures import JwtSignatures
from redask.providers.pool import ProviderPool
from redask.providers.sealing.checkpoint_sinks import CommandSink, FileSink, UrlSink
from redask.providers.sealing.ed25519_keys import KeyFile, public_key, signature_check
from redask.providers.sealing.operator_commands import SignerCommand
from redask.providers.vendors.pricing import pricer
from redask.stores.backend import Backend
from redask.stores.backends import BackendRow
from redask.stores.entity_rows import entity
from redask.stores.selectors import open_selector

if TYPE_CHECKING:
    from redask.ingest.process_reading import RecordReader

_log = logging.getLogger("redask.providers")
WAITING_THREADS = 128  # of asks, and of SELECTs, that wait for a process
_SERVING_WORKERS = 2


def provider_pool(chosen: choices.Settings, own: Mapping[str, Provider]) -> ProviderPool:
    """The providers of the settings, with our own beside them; what is passed over is logged."""
    opener = ProviderPool(chosen, own)
    for warning in opener.passed_over():
        _log.warning(warning)
    return opener


def open_backend(row: BackendRow, location: str, chosen: choices.Settings) -> Backend:
    """The backend at a location, as the settings have it."""
    return row.open_checked(
        location,
        modes=chosen.check_modes,
        closed=chosen.access_closed,
        keyed=chosen.edge_ids_keyed,
    )


def log_writers(
    backend: Backend,
    chosen: choices.Settings,
    clock: Callable[[], int],
    sealing: Sealing,
    opened: ExitStack,
    *,
    serving: bool,
) -> LogWriters:
    """Who writes to the logs, lets the store remember them, takes what was kept for long enough.

    And, in a server, seals them.
    """
    days, made, thread = chosen.audit_retention_days, chosen.audit_provenance_days, None
    if serving and sealing.signer is not None:
        sealing.signer()  # a key that cannot be used is told before anything is served
        thread = SealingThread(sealing.seal_and_deliver, chosen.sealing.every)
        opened.callback(thread.close)

    def work() -> None:
        backend.anchor()
        backend.sealed.grow()
        for log in (backend.audit, backend.access):
            log.prune(days * DAY_NS, f"ask.audit.retention_days = {days}")
        rule = f"ask.audit.provenance_days = {made}"
        backend.audit.prune_provenance(made * DAY_NS, rule)

    upkeep = AuditUpkeep(work)
    opened.callback(upkeep.close)
    writers = []
    for log in (backend.audit, backend.access):
        writers.append(AuditWriter(log, upkeep.wrote))
        opened.callback(writers[-1].close)
    asks, accesses = writers
    recorder = AccessRecorder(accesses, chosen, clock)
    return LogWriters(asks, accesses, recorder, upkeep, thread, lambda: backend.read_only)


def sealing_of(backend: Backend, chosen: choices.Settings, clock: Callable[[], int]) -> Sealing:
    """Who signs checkpoints of the logs, and where they go."""
    by = chosen.sealing
    sinks: list[CheckpointSink] = []
    sinks += [FileSink(by.file)] if by.file else []
    sinks += [CommandSink(by.command)] if by.command else []
    sinks += [UrlSink(by.url)] if by.url else []
    return Sealing(backend.sealed, signer_of(chosen), sinks, signature_check, clock)


def signer_of(chosen: choices.Settings) -> Callable[[], CheckpointSigner] | None:
    """Who signs, made when something is to be signed; None where nobody does."""
    by = chosen.sealing
    if by.key:
        return partial(KeyFile, Path(by.key))
    command, public = by.signer, by.public_key
    return (lambda: SignerCommand(command, public_key(public))) if command and public else None


def signing_in(backend: Backend, chosen: choices.Settings) -> SigningIn:
    """Who a token is of: ours, and those of the company's identity provider."""
    by = chosen.sign_in
    claims = JwtSignatures(by).claims if by.issuer else None
    page = None
    if claims is not None and by.client_id is not None:
        page = PageSignIn(AuthorizationServer(by), claims, by.client_id)
    return SigningIn(backend.users, claims, by, page)


def catch_index_up(index: SearchIndex, tenant: str) -> None:
    """Bring a tenant's index up to date."""
    index.search(Query("", Terms((), ()), top_k=1, depth=0), Caller(tenant=tenant))


def relabelling_of(backend: Backend, index: SearchIndex, *, serving: bool) -> RelabellingThread:
    """Who applies policies in the background; in a server also those that others have set."""

    made = RelabellingThread(backend.store, partial(catch_index_up, index))
    made.start(stay=serving)
    return made


def sync_of(backend: Backend, stage: EmbeddingStage | None, *, serving: bool) -> AttachedSync:
    """Who looks for changes of attached tables; nobody does but in a server."""
    made = AttachedSync(backend, stage.finish if stage else lambda _: None)
    if serving:
        made.start()
    return made


def background_of(
    backend: Backend,
    selector: Selector,
    index: SearchIndex,
    opened: ExitStack,
    chosen: choices.Settings,
    *,
    stage: EmbeddingStage | None,
    leads: bool,
) -> tuple[
    RelabellingThread, tuple[FollowingThread | EmbeddingThread | SnapshotThread | None, ...]
]:
    """What a server does on its own, in the process that leads."""
    relabelling = opened.enter_context(closing(relabelling_of(backend, index, serving=leads)))
    led = chosen if leads else None
    followed = following_of(backend, selector, index, opened, led)
    embedding = embedding_in_background(backend, stage, opened, led)
    return relabelling, (followed, embedding, keeping_of(backend, index, opened, led))


def settling_of(
    backend: Backend,
    index: SearchIndex,
    audit: AuditWriter,
    stage: EmbeddingStage | None,
    chosen: choices.Settings,
) -> Settling:
    """Who looks what a database is busy with."""
    serves = chosen.serving.serves
    return Settling(backend, index, audit, is_pending=pending_of(stage), serves=serves)


def following_of(
    backend: Backend,
    selector: Selector,
    index: SearchIndex,
    opened: ExitStack,
    chosen: choices.Settings | None,
) -> FollowingThread | None:
    """Who follows the writes of other machines, in a server with these settings.

    None where there can be none, and in what is no server.
    """
    feed = backend.change_feed() if chosen is not None else None
    if chosen is None or feed is None:
        return None
    serves, processes = chosen.serving.serves, processes_of(chosen, serving=True)

    def catch_up(tenant: str) -> None:
        if serves(tenant):
            selector.catch_up(Caller(tenant=tenant))  # in a process: the index, too
            if not processes:
                catch_index_up(index, tenant)

    made = FollowingThread(feed, catch_up)
    opened.callback(made.close, 0.0)
    return made


def processes_of(chosen: choices.Settings, serving: bool) -> int:
    """How many worker processes one user's work has; none: it is done in this process."""
    workers = chosen.select_workers
    return (_SERVING_WORKERS if serving else 0) if workers is None else workers


def selector_of(
    location: str,
    chosen: choices.Settings,
    words: Synonyms,
    embedder: Embedder | None,
    opened: ExitStack,
    *,
    serving: bool,
) -> Selector:
    """SELECT in this process, or in processes that can be ended, which work for asks, too."""
    processes = processes_of(chosen, serving)
    if not processes:
        return opened.enter_context(closing(open_selector(location, chosen.access_closed)))
    from redask.app.process_parts import process_selector

    work: dict[str, Callable[..., object]] = {}
    if embedder is not None:
        work = {"embed": embedder.embed, "cosines": similarity(embedder)}
    made = process_selector(
        *(location, chosen, words, embedder),
        processes=processes,
        work=work,
        gives_way=not isinstance(embedder, REMOTE),
    )
    return opened.enter_context(closing(made))


@dataclass(frozen=True, slots=True)
class AskParts:
    """What asks are answered with, and the threads that wait for it."""

    computing: Computing
    finder: AskWork
    quoting: dict[str, Provider]
    threads: Workers


def ask_parts(
    selector: Selector,
    retriever: Retriever,
    words: Synonyms,
    clock: Callable[[], int],
    workers: Workers,
    *,
    backend: Backend,
    serving: bool,
) -> AskParts:
    """Where SELECTs run, sources are found and the built-in answerer answers."""
    store, chosen, stage = retriever.store, retriever.settings, retriever.embedding
    quoting = quoting_provider(stage.embedder if stage else None)
    if processes_of(chosen, serving):
        from redask.app.process_parts import process_work

        threads = Workers(WAITING_THREADS, "redask-ask")
        answerer = quoting.get(EXTRACTIVE) or Extractive()
        asks, far, quotes = process_work(selector, answerer, clock, chosen, threads)
        attached = AttachedTables(backend, asks)
        computing = Computing(asks, PlanSources(asks, words), store, chosen, attached)
        finder = RememberedFindings(far, store.view)
        return AskParts(computing, finder, {EXTRACTIVE: quotes}, threads)
    attached = AttachedTables(backend, selector)
    computing = Computing(selector, PlanSources(selector, words), store, chosen, attached)
    here = SourceFinder(retriever, computing, chosen.limits, clock)
    return AskParts(computing, RememberedFindings(here, store.view), quoting, workers)


def embedder_of(chosen: choices.Settings, name: str | None, budget: Budget) -> Embedder | None:
    """The embedder; one elsewhere is allowed, capped and booked as completions are."""
    own = chosen.embedder
    at = own.endpoint
    remote = RemoteModel(at.base_url, at.model, at.api_key, own.dimensions)
    made = make_embedder(own.name if name is None else name, remote)
    if isinstance(made, REMOTE):
        provider, model = made.price_name
        price = pricer(provider, model, chosen.prices.get(provider, {}))
        made.meter = LedgerMeter(budget, Step(provider, model), price, chosen.allow)
    return made


def embedded_text(embedder: Embedder, chosen: choices.Settings) -> EmbeddedText:
    """What is embedded of a payload; what leaves for another machine is redacted first."""
    redactor = Redactor(chosen.redact_secrets, chosen.redact_personal)
    if redactor.is_idle or not isinstance(embedder, REMOTE):
        return embedding_text
    return lambda payload, hidden: embedding_text(redactor.redact(payload)[0], hidden)


def pending_of(stage: EmbeddingStage | None) -> Callable[[str], bool]:
    """Whether something of a tenant waits for its vector."""
    return stage.is_pending if stage is not None else lambda _: False


def quoting_provider(embedder: Embedder | None) -> dict[str, Provider]:
    """`extractive` with the embedder, so that it quotes by meaning, too."""
    if embedder is None:
        return {}
    return {EXTRACTIVE: Extractive(similarity(embedder), embedder.model)}


def similarity(embedder: Embedder) -> Similarity:
    """What compares lines with a question."""

    def language_of(question: str) -> str:
        return languages.detect_question(question, analyzer.words(question), ())

    return Similarity(embedder, language_of)


@contextmanager
def record_reader(
    chosen: choices.Settings, isolated: bool, stop: Cancellation
) -> "Iterator[RecordReader]":
    """Files are read here, or in a process that can be ended."""
    from redask.engine.processes.worker_messages import WorkerLimits
    from redask.engine.processes.worker_processes import WorkerProcesses
    from redask.ingest.process_reading import READING_SERVICE, in_process, in_worker

    seconds = chosen.ingest_file_seconds
    if not isolated:
        yield in_process(seconds)
        return
    limits = WorkerLimits(memory_bytes=chosen.ingest_file_memory_mb * 2**20)
    pool = WorkerProcesses(READING_SERVICE, (entity,), size=1, limits=limits)
    with closing(pool):
        yield in_worker(pool.stream, seconds, stop)
