"""The stage after writing: embed what has words, in batches, by as many processes as there are.

Writing never waits for a model: an entity is stored without a vector, and `finish` embeds the
pending entities, oldest change first. Call it after writing to search by vector at once.

    interrupted, killed     finished batches stay; the next `finish` continues from there
    others embed, too       each process leases a page of changes, embeds it, and leases the next;
                            who finds none free waits for the others, and takes the page of one
                            that is dead or gives no sign of life for too long
    changed meanwhile       the vector is not set; the entity is pending again, with its new text
    another model           refused: `reembed` drops all vectors and embeds everything again
    no text                 the entity is skipped, and is not pending: see `embedding_text`
    equal texts             of a batch are embedded once

A lease is taken for more than one batch only: it avoids duplicate work and protects no data (see
`VectorStore.set_vectors`), and a single row should cost one commit, not three. It is renewed with
each batch; how long that was not done is measured by the monotonic clock of who waits, so that a
wall clock that jumps, here or on another machine, neither ends a lease nor keeps it for ever.
"""

import os
import platform
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from redask.core.errors import Misconfigured, StoreFailed
from redask.core.model import Caller, Notice
from redask.core.ports import Embedder, EmbeddingLease, Entity, StoreView, Unembedded, VectorStore
from redask.core.ports.entities import EmbeddedText

BATCH = 64
PAGE = 256  # entities that are looked at for the texts of a batch
COUNTED = 20_000  # entities whose text is looked at to count those that are pending
LEASE_SECONDS = 30.0  # without a sign of life; a process that was stopped delays nobody for longer
_POLL_SECONDS = 0.1
_MAX_CACHED = 1000

EmbeddingProgress = Callable[[int, int], None]


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

    def finish(
        self,
        tenant: str,
        progress: EmbeddingProgress | None = None,
        by: Embedder | None = None,
    ) -> int:
        """Embed until nothing is pending. → how many vectors were set here

        `by` an embedder of the same model, which may know some vectors already.
        """
        self._check(self._view(tenant).space)
        done = 0
        total = self.pending(tenant) if progress else 0
        lease = _Lease(self.store, tenant, self.monotonic)
        try:
            while not self._stopped.is_set():
                with self._embedding_lock:  # threads of one process share the model and its cores
                    batch, mine = self._next(tenant, lease)
                    embedded = self._embed(batch, tenant, mine, by) if batch else 0
                    if batch and mine:
                        lease.worked(batch.through)
                if batch is None:
                    self._stopped.wait(_POLL_SECONDS)
                    continue
                done += embedded
                if progress and (embedded or not done):
                    progress(done, max(total, done))
                if mine is None:
                    break
        except StoreFailed as error:
            written = f"{done} vectors were written before, the others are pending"
            raise error.after(written) from error
        finally:
            lease.release()
        return done

    def _next(
        self, tenant: str, lease: "_Lease"
    ) -> tuple["_TextBatch | None", EmbeddingLease | None]:
        """What to embed now: of a lease, or without one the last there is; None: wait for others"""
        seen = self._view(tenant).watermark
        if not lease.is_used:
            batch = self._batch(self.store.unembedded(tenant, PAGE), seen)
            if batch.is_last:
                return batch, None
        mine = lease.claim()
        if mine is not None:
            return self._batch(self.store.unembedded(tenant, PAGE, mine), mine.through), mine
        if lease.is_waiting:
            return None, None
        batch = self._batch(self.store.unembedded(tenant, PAGE), seen)  # what is left has no words
        return (batch if batch.is_last else None), None

    def pending(self, tenant: str) -> int:
        """How many entities wait for a vector; of very many that were not looked at yet, all."""
        waiting = self.store.unembedded(tenant, COUNTED)
        if len(waiting) == COUNTED:
            return self.store.count_unembedded(tenant)
        return sum(map(self._has_text, waiting))

    def is_pending(self, tenant: str) -> bool:
        """Whether any entity waits for a vector, or may: quick at any size."""
        waiting = self.store.unembedded(tenant, PAGE)
        return len(waiting) == PAGE or any(map(self._has_text, waiting))

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
            pending = self.store.is_embedding_pending(caller, self.text)
            cached = self._pending_cache[caller] = state, pending
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

    def _has_text(self, waiting: Unembedded) -> bool:
        return bool(self.text(waiting.payload, waiting.hidden).strip())

    def _batch(self, waiting: Sequence[Unembedded], end: int) -> "_TextBatch":
        """The next entities up to the last whose text belongs into one batch, or to the end."""
        texts: list[tuple[Unembedded, str]] = []
        for each in waiting:
            text = self.text(each.payload, each.hidden)
            if text.strip():
                texts.append((each, text))
            if len(texts) == BATCH:
                return _TextBatch(texts, through=each.seq, is_last=False)
        if len(waiting) == PAGE:
            return _TextBatch(texts, through=waiting[-1].seq, is_last=False)
        return _TextBatch(texts, through=end, is_last=True)

    def _embed(
        self,
        batch: "_TextBatch",
        tenant: str,
        lease: EmbeddingLease | None = None,
        by: Embedder | None = None,
    ) -> int:
        """One batch, all or nothing. → how many got a vector"""
        embedder = by or self.embedder
        distinct = list(dict.fromkeys(text for _, text in batch.texts))
        vectors = dict(zip(distinct, embedder.embed(distinct), strict=True))
        self.store.set_vectors(
            [
                Entity(each.urn, each.payload, vector=vectors[text])
                for each, text in batch.texts
                if any(vectors[text])  # a zero vector has no cosine
            ],
            tenant,
            model=embedder.model,
            through=batch.through,
            lease=lease,
        )
        return len(batch.texts)


@dataclass(frozen=True, slots=True)
class _TextBatch:
    """Entities with their texts; all up to `through` has been looked at then."""

    texts: list[tuple[Unembedded, str]]
    through: int
    is_last: bool


class _Lease:
    """The leases of one `finish`, one after the other, and what it saw of others' leases."""

    def __init__(self, store: VectorStore, tenant: str, monotonic: Callable[[], float]) -> None:
        self._store = store
        self._tenant = tenant
        self._monotonic = monotonic
        self._holder = f"{platform.node()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._beat = secrets.randbits(32)
        self._held: EmbeddingLease | None = None
        self._seen: dict[str, tuple[EmbeddingLease, float]] = {}  # others', and since when
        self.is_used = False  # there is more than one batch
        self.is_waiting = False  # others are at work on all that is left

    def claim(self) -> EmbeddingLease | None:
        """A lease with something to do. → None while others are at work on all that is left"""
        self._beat, self.is_used = self._beat + 1, True
        mine = EmbeddingLease(self._holder, self._beat)
        if self._held is None:
            leases = self._store.claim_embedding(self._tenant, mine, PAGE)
            over = () if self._own(leases) else tuple(filter(self._is_over, leases))
            if over:
                leases = self._store.claim_embedding(self._tenant, mine, PAGE, over)
            self._held = self._own(leases)
            self.is_waiting = self._held is None and bool(leases)
        else:
            self._held = replace(self._held, beat=self._beat)
        return self._held

    def worked(self, through: int) -> None:
        """What was leased is done up to a change."""
        assert self._held is not None
        is_done = through >= self._held.through
        self._held = None if is_done else replace(self._held, after=through)

    def release(self) -> None:
        """Give it back, if one is held."""
        if self._held is not None:
            self._store.release_embedding(self._tenant, self._holder)

    def _own(self, leases: Sequence[EmbeddingLease]) -> EmbeddingLease | None:
        return next((each for each in leases if each.holder == self._holder), None)

    def _is_over(self, other: EmbeddingLease) -> bool:
        now = self._monotonic()
        if other.holder not in self._seen or self._seen[other.holder][0] != other:
            self._seen[other.holder] = other, now
        return _is_dead(other.holder) or now - self._seen[other.holder][1] >= LEASE_SECONDS


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
