"""The stage after writing: embed every entity, in batches, by one process at a time.

Writing never waits for a model: an entity is stored without a vector, and `finish` embeds the
pending entities, oldest change first. Call it after writing to search by vector at once.

    interrupted, killed     finished batches stay; the next `finish` continues from there
    another process embeds  wait for it, unless it is dead or its lease has expired
    changed meanwhile       the vector is not set; the entity is pending again, with its new text
    another model           refused: `reembed` drops all vectors and embeds everything again
    no text                 the entity is skipped, and is not pending

The lease is taken for more than one batch only: it avoids duplicate work and protects no data (see
`VectorStore.set_vectors`), and a single row should cost one commit, not three.
"""

import os
import platform
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from redask.core.errors import Misconfigured
from redask.core.model import Caller, Notice
from redask.core.ports import Embedder, Entity, StoreView, Unembedded, VectorStore

BATCH = 64
LEASE_SECONDS = 120
_POLL_SECONDS = 0.1
_MAX_CACHED = 1000

EmbeddingProgress = Callable[[int, int], None]
EmbeddedText = Callable[[str, frozenset[str]], str]  # of a payload and its hidden columns


@dataclass(slots=True)
class EmbeddingStage:
    """Embeds pending entities; `text(payload, hidden)` is the text that is embedded of one."""

    store: VectorStore
    embedder: Embedder
    text: EmbeddedText
    clock: Callable[[], float] = time.time
    _embedding_lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _pending_cache: dict[Caller, tuple[tuple[int, int], bool]] = field(default_factory=dict)

    def finish(self, tenant: str, progress: EmbeddingProgress | None = None) -> int:
        """Embed until nothing is pending. → how many vectors were set here"""
        self._check(self._view(tenant).space)
        done = 0
        total = self.store.count_unembedded(tenant) if progress else 0
        holder = f"{platform.node()}:{os.getpid()}:{secrets.token_hex(4)}"
        leased = False
        try:
            while not self._stopped.is_set():
                with self._embedding_lock:  # threads of one process share the model and its cores
                    seen = self._view(tenant).watermark
                    waiting = self.store.unembedded(tenant, BATCH)
                    may_embed = len(waiting) < BATCH or (leased := self._claim(tenant, holder))
                    done += self._embed(waiting, tenant, seen) if may_embed else 0
                if not may_embed:
                    self._stopped.wait(_POLL_SECONDS)
                    continue
                if progress:
                    progress(done, max(total, done))
                if len(waiting) < BATCH:
                    break
        finally:
            if leased:
                self.store.release_embedding(tenant, holder)
        return done

    def reembed(self, tenant: str, progress: EmbeddingProgress | None = None) -> int:
        """Drop every vector and embed everything with this embedder. → how many"""
        self.store.drop_vectors(tenant)
        return self.finish(tenant, progress)

    def stop(self) -> None:
        """Make a running `finish` return after its batch, and later ones at once."""
        self._stopped.set()

    def warnings(self, caller: Caller, view: StoreView) -> tuple[Notice, ...]:
        """`embedding_pending`, if an entity that the caller may see is not embedded."""
        if not self.fits(view.space):
            return (Notice("embedding_pending", self._mismatch(view.space)),)
        state = view.watermark, view.visibility.version
        cached = self._pending_cache.get(caller)
        if cached is None or cached[0] != state or cached[1]:
            if len(self._pending_cache) >= _MAX_CACHED:
                self._pending_cache.clear()
            cached = self._pending_cache[caller] = state, self.store.is_embedding_pending(caller)
        detail = "some of the data is not embedded yet: it is found by words and links only"
        return (Notice("embedding_pending", detail),) if cached[1] else ()

    def fits(self, space: tuple[str, int] | None) -> bool:
        """Whether a tenant's vectors, if it has any, are of this embedder's model."""
        return space is None or space[0] == self.embedder.model

    def _view(self, tenant: str) -> StoreView:
        return self.store.view(Caller(tenant=tenant))

    def _check(self, space: tuple[str, int] | None) -> None:
        if not self.fits(space):
            raise Misconfigured(self._mismatch(space), detail="embedder.name")

    def _mismatch(self, space: tuple[str, int] | None) -> str:
        model = (space or ("none",))[0]
        return (
            f"embedding model mismatch: the stored vectors are of {model}, "
            f"the embedder is {self.embedder.model}: `redask reembed` embeds everything again"
        )

    def _embed(self, waiting: list[Unembedded], tenant: str, seen: int) -> int:
        """One batch, all or nothing. → how many got a vector"""
        texts = [self.text(each.payload, each.hidden) for each in waiting]
        with_text = [each for each, text in zip(waiting, texts, strict=True) if text.strip()]
        vectors = self.embedder.embed([text for text in texts if text.strip()])
        self.store.set_vectors(
            [
                Entity(each.urn, each.payload, vector=vector)
                for each, vector in zip(with_text, vectors, strict=True)
                if any(vector)  # a zero vector has no cosine
            ],
            tenant,
            model=self.embedder.model,
            through=seen if len(waiting) < BATCH else waiting[-1].seq,
        )
        return len(with_text)

    def _claim(self, tenant: str, holder: str) -> bool:
        """Take or extend the lease; that of a dead process of this machine is released first."""
        now = int(self.clock())
        owner = self.store.claim_embedding(tenant, holder, now, now + LEASE_SECONDS)
        if owner != holder and _is_dead(owner):
            self.store.release_embedding(tenant, owner)
            owner = self.store.claim_embedding(tenant, holder, now, now + LEASE_SECONDS)
        return owner == holder


def _is_dead(owner: str) -> bool:
    """Whether a lease holder was a process of this machine that has ended."""
    machine, pid = owner.rsplit(":", 2)[:2] if owner.count(":") >= 2 else ("", "")
    if machine != platform.node() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
