"""Worker processes of a server: SELECTs and asks that can be ended. See `parts`, which calls it.

A file of its own, because a command that asks one question needs none of what it imports.
"""

from collections.abc import Callable, Mapping

from redask.app import worker_service
from redask.app.worker_service import EmbedderFacts
from redask.core.access.worker_shares import WorkerQuota
from redask.core.ports import Embedder, Provider, Selector
from redask.core.settings import Settings
from redask.core.synonyms import Synonyms
from redask.engine.processes.parent_threads import ParentThreads
from redask.engine.processes.process_finder import ProcessFinder, ProcessQuoting
from redask.engine.processes.process_selector import ProcessSelector
from redask.engine.workers import Workers

_SERVICE = "redask.app.worker_service:make"


def process_selector(
    location: str,
    chosen: Settings,
    words: Synonyms,
    embedder: Embedder | None,
    *,
    processes: int,
    work: Mapping[str, Callable[..., object]],
    gives_way: bool,
) -> ProcessSelector:
    """SELECT in processes that can be ended; `work` is what they ask of this one.

    It `gives_way` to other calls where it takes this machine's processor.
    """
    quota = WorkerQuota(
        user_seconds=chosen.select_user_seconds, tenant_seconds=chosen.select_tenant_seconds
    )
    arguments = (location, worker_service.sent(chosen), words, EmbedderFacts.of(embedder))
    return ProcessSelector(
        *(_SERVICE, arguments),
        processes=processes,
        quota=quota,
        service=True,
        parent_work=work,
        parent_threads=ParentThreads() if gives_way else None,
    ).warm()


def process_work(
    selector: Selector,
    answerer: Provider,
    clock: Callable[[], int],
    chosen: Settings,
    threads: Workers,
) -> tuple[Selector, ProcessFinder, ProcessQuoting]:
    """What asks compute with, search with and quote with, in the processes of a selector."""
    assert isinstance(selector, ProcessSelector)
    far = ProcessFinder(selector, clock, chosen.limits.timeout_ms)
    return selector.for_asks(), far, ProcessQuoting(answerer, far, threads)
