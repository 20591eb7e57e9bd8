"""What waits for a vector is embedded by a server on its own: `EmbeddingThread`.

An ingest that was interrupted, or told not to wait, leaves data that is found by words and links
only. Who writes to a server waits for the vectors in any case, so it finds something to do after
its start, and when another process has written and went. Between the processes of a directory, and
nodes of one PostgreSQL, the lease of the stage decides who embeds.

What leaves this machine and costs money is embedded for who asks for it, and never here.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack

from redask.core import settings as choices
from redask.core.errors import AskError
from redask.core.model import Caller
from redask.embedding.models import REMOTE
from redask.embedding.stage import EmbeddingStage
from redask.stores.backend import Backend

_LOOK_EVERY = 2.0  # seconds
_log = logging.getLogger("redask.embedding")


class EmbeddingThread:
    """Embeds what is pending of these tenants, until it is closed."""

    def __init__(self, stage: EmbeddingStage, tenants: Callable[[], Iterable[str]]) -> None:
        self._stage = stage
        self._tenants = tenants
        self._settled: dict[str, tuple[int, str]] = {}  # tenants that had nothing to do, and when
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._work, name="redask-embed", daemon=True)
        self._thread.start()

    def close(self, end: float) -> bool:
        """Stop after the batch that is being embedded. → whether it ended until then"""
        self._closed.set()
        self._stage.stop()
        self._thread.join(max(0.0, end - time.monotonic()))
        return not self._thread.is_alive()

    def _work(self) -> None:
        said = ""
        while not self._closed.is_set():
            try:
                for tenant in self._tenants():
                    self._embed(tenant)
                said = ""
            except AskError as error:
                if error.message != said:  # once, and not every few seconds
                    _log.warning("not everything is embedded yet: %s", error.message)
                said = error.message
            self._closed.wait(_LOOK_EVERY)

    def _embed(self, tenant: str) -> None:
        view = self._stage.store.view(Caller(tenant=tenant))
        now = view.watermark, view.history
        if self._closed.is_set() or self._settled.get(tenant) == now:
            return
        if not self._stage.fits(view.space):
            return  # vectors of another model: `reembed` is for the operator to begin
        if self._stage.is_pending(tenant):
            _log.info("embedding what waits for it")
            _log.info("%d embedded", self._stage.finish(tenant))
        else:
            self._settled[tenant] = now


def embedding_in_background(
    backend: Backend,
    stage: EmbeddingStage | None,
    opened: ExitStack,
    chosen: choices.Settings | None,
) -> EmbeddingThread | None:
    """Who embeds in a server with these settings; None without settings, and where nobody can."""
    if stage is None or chosen is None or backend.read_only or isinstance(stage.embedder, REMOTE):
        return None
    serves = chosen.serving.serves
    made = EmbeddingThread(
        stage, lambda: [each for each in backend.store.tenants() if serves(each)]
    )
    opened.callback(made.close, 0.0)
    return made
