"""Parts that `app.build` puts together: selectors, embedders, readers of files, by the settings."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from redask.core import settings as choices
from redask.core.access.redaction import Redactor
from redask.core.access.worker_shares import WorkerQuota
from redask.core.ports import Cancellation, Embedder, Provider, Selector
from redask.embedding.embedding_text import embedding_text
from redask.embedding.models import REMOTE, RemoteModel
from redask.embedding.models import make as make_embedder
from redask.embedding.similarity import Similarity
from redask.embedding.stage import EmbeddedText
from redask.engine.access.signing_in import SigningIn
from redask.engine.processes.process_selector import ProcessSelector
from redask.engine.processes.worker_messages import WorkerLimits
from redask.engine.processes.worker_processes import WorkerProcesses
from redask.index.analysis import analyzer, languages
from redask.ingest.process_reading import READING_SERVICE, RecordReader, in_process, in_worker
from redask.providers.extractive.answerer import NAME as EXTRACTIVE
from redask.providers.extractive.answerer import Extractive
from redask.providers.identity.jwt_signatures import JwtSignatures
from redask.stores.backend import Backend
from redask.stores.backends import BackendRow
from redask.stores.entity_rows import entity
from redask.stores.selectors import open_selector

_SERVING_WORKERS = 2
_SELECTOR = "redask.stores.selectors:open_selector"


def open_backend(row: BackendRow, location: str, chosen: choices.Settings) -> Backend:
    """The backend at a location, as the settings have it."""
    return row.open_checked(
        location,
        modes=chosen.check_modes,
        closed=chosen.access_closed,
        keyed=chosen.edge_ids_keyed,
    )


def signing_in(backend: Backend, chosen: choices.Settings) -> SigningIn:
    """Who a token is of: ours, and those of the company's identity provider."""
    claims = JwtSignatures(chosen.sign_in).claims if chosen.sign_in.issuer else None
    return SigningIn(backend.users, claims, chosen.sign_in)


def selector_of(location: str, chosen: choices.Settings, serving: bool) -> Selector:
    """SELECT in this process, or in processes that can be ended."""
    workers, closed = chosen.select_workers, chosen.access_closed
    processes = (_SERVING_WORKERS if serving else 0) if workers is None else workers
    if not processes:
        return open_selector(location, closed)
    quota = WorkerQuota(
        user_seconds=chosen.select_user_seconds, tenant_seconds=chosen.select_tenant_seconds
    )
    return ProcessSelector(_SELECTOR, (location, closed), processes=processes, quota=quota).warm()


def embedder_of(chosen: choices.EmbedderSettings, name: str | None) -> Embedder | None:
    at = chosen.endpoint
    remote = RemoteModel(at.base_url, at.model, at.api_key, chosen.dimensions)
    return make_embedder(chosen.name if name is None else name, remote)


def embedded_text(embedder: Embedder, chosen: choices.Settings) -> EmbeddedText:
    """What is embedded of a payload; what leaves for another machine is redacted first."""
    redactor = Redactor(chosen.redact_secrets, chosen.redact_personal)
    if redactor.is_idle or not isinstance(embedder, REMOTE):
        return embedding_text
    return lambda payload, hidden: embedding_text(redactor.redact(payload)[0], hidden)


def quoting_provider(embedder: Embedder | None) -> dict[str, Provider]:
    """`extractive` with the embedder, so that it quotes by meaning, too."""
    if embedder is None:
        return {}

    def language_of(question: str) -> str:
        return languages.detect_question(question, analyzer.words(question), ())

    return {EXTRACTIVE: Extractive(Similarity(embedder, language_of), embedder.model)}


@contextmanager
def record_reader(
    chosen: choices.Settings, isolated: bool, stop: Cancellation
) -> Iterator[RecordReader]:
    """Files are read here, or in a process that can be ended."""
    seconds = chosen.ingest_file_seconds
    if not isolated:
        yield in_process(seconds)
        return
    limits = WorkerLimits(memory_bytes=chosen.ingest_file_memory_mb * 2**20)
    pool = WorkerProcesses(READING_SERVICE, (entity,), size=1, limits=limits)
    with closing(pool):
        yield in_worker(pool.stream, seconds, stop)
