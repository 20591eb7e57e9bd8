"""The stage after writing: embed every entity, in batches, by one process at a time.

Writing never waits for a model: an entity is stored without a vector, and `finish` embeds the
pending entities, oldest change first. Call it after writing to search by vector at once.

    interrupted, killed     finished batches stay; the next `finish` continues from there
    another process embeds  wait for it, unless it is dead or gives no sign of life for too long
    changed meanwhile       the vector is not set; the entity is pending again, with its new text
    another model           refused: `reembed` drops all vectors and embeds everything again
    no text                 the entity is skipped, and is not pending

The lease is taken for more than one batch only: it avoids duplicate work and protects no data (see
`VectorStore.set_vectors`), and a single row should cost one commit, not three. It is renewed with
each batch; how long that was not done is measured by the monotonic clock of who waits, so that a
wall clock that jumps, here or on another machine, neither ends a lease nor keeps it for ever.
"""

import os
import platform
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from redask.core.errors import Misconfigured, StoreFailed
from redask.core.model import Caller, Notice
from redask.core.ports import Embedder, EmbeddingLease, Entity, StoreView, Unembedded, VectorStore

BATCH = 64
LEASE_SECONDS = 30.0  # without a sign of life; a process that was stopped delays nobody for longer
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
    monotonic: Callable[[], float] = time.monotonic
    _embedding_lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _pending_cache: dict[Caller, tuple[tuple[int, str, int], bool]] = field(default_factory=dict)

    def finish(self, tenant: str, progress: EmbeddingProgress | None = None) -> int:
        """Embed until nothing is pending. → how many vectors were set here"""
        self._check(self._view(tenant).space)
        done = 0
        total = self.store.count_unembedded(tenant) if progress else 0
        lease = _Lease(self.store, tenant, self.monotonic)
        try:
            while not self._stopped.is_set():
                with self._embedding_lock:  # threads of one process share the model and its cores
                    seen = self._view(tenant).watermark
                    waiting = self.store.unembedded(tenant, BATCH)
                    may_embed = len(waiting) < BATCH or lease.claim()
                    done += self._embed(waiting, tenant, seen) if may_embed else 0
                if not may_embed:
                    self._stopped.wait(_POLL_SECONDS)
                    continue
                if progress:
                    progress(done, max(total, done))
                if len(waiting) < BATCH:
                    break
        except StoreFailed as error:
            written = f"{done} vectors were written before, the others are pending"
            raise error.after(written) from error
        finally:
            lease.release()
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
        state = view.watermark, view.history, view.visibility.version
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


class _Lease:
    """The lease of one `finish`, and what it saw of others' leases."""

    def __init__(self, store: VectorStore, tenant: str, monotonic: Callable[[], float]) -> None:
        self._store = store
        self._tenant = tenant
        self._monotonic = monotonic
        self._mine = EmbeddingLease(
            f"{platform.node()}:{os.getpid()}:{secrets.token_hex(4)}", secrets.randbits(32)
        )
        self._held = False
        self._seen: tuple[EmbeddingLease, float] | None = None  # another's, and since when

    def claim(self) -> bool:
        """Take or renew the lease. → False while somebody else is at work"""
        self._mine = replace(self._mine, beat=self._mine.beat + 1)
        found = self._store.claim_embedding(self._tenant, self._mine)
        if found != self._mine and self._is_over(found):
            found = self._store.claim_embedding(self._tenant, self._mine, over=found)
        self._held = found == self._mine
        return self._held

    def release(self) -> None:
        """Give it back, if it is held."""
        if self._held:
            self._store.release_embedding(self._tenant, self._mine.holder)

    def _is_over(self, other: EmbeddingLease) -> bool:
        now = self._monotonic()
        if self._seen is None or self._seen[0] != other:
            self._seen = other, now
        return _is_dead(other.holder) or now - self._seen[1] >= LEASE_SECONDS


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
