"""The stage after writing: give every entity its vector, in batches, by one process at a time.

Writing never waits for a model: an entity is stored without a vector, and `finish` embeds what
waits, oldest change first. Whoever wants to search for it at once calls `finish` after writing.

    interrupted, killed     what was embedded stays; the next `finish` goes on from there
    another one at work     wait for it, unless its process is dead or its lease is over
    changed meanwhile       the vector is not set; the entity waits again, with its new text
    another model           refused: `anew` drops the vectors there are and makes them all again
    nothing to embed        an entity without text is passed over, and does not wait for ever

The lease is taken for more than one batch only: it saves work and guards nothing (see
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
_REMEMBERED = 1000

EmbeddingProgress = Callable[[int, int], None]


@dataclass(slots=True)
class EmbeddingStage:
    """Embeds what waits. `text` says which words of a payload without hidden columns are told."""

    store: VectorStore
    embedder: Embedder
    text: Callable[[str, frozenset[str]], str]
    clock: Callable[[], float] = time.time
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _known: dict[Caller, tuple[tuple[int, int], bool]] = field(default_factory=dict)

    def finish(self, tenant: str, progress: EmbeddingProgress | None = None) -> int:
        """Embed all that waits; returns when nothing does. → how many vectors were set here"""
        self._check(self._view(tenant).space)
        done = 0
        total = self.store.count_unembedded(tenant) if progress else 0
        holder = f"{platform.node()}:{os.getpid()}:{secrets.token_hex(4)}"
        leased = False
        try:
            while not self._stopped.is_set():
                with self._turn:  # threads of one process share the model and its cores
                    seen = self._view(tenant).watermark
                    waiting = self.store.unembedded(tenant, BATCH)
                    alone = len(waiting) < BATCH or (leased := self._claim(tenant, holder))
                    done += self._embed(waiting, tenant, seen) if alone else 0
                if not alone:
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

    def anew(self, tenant: str, progress: EmbeddingProgress | None = None) -> int:
        """Forget every vector and embed everything with this embedder. → how many"""
        self.store.drop_vectors(tenant)
        return self.finish(tenant, progress)

    def stop(self) -> None:
        """Let a running `finish` end after its batch; none begins again."""
        self._stopped.set()

    def warnings(self, caller: Caller, view: StoreView) -> tuple[Notice, ...]:
        """`embedding_pending`, if something the caller may read has no vector to be found by."""
        if not self.fits(view.space):
            return (Notice("embedding_pending", self._mismatch(view.space)),)
        state = view.watermark, view.visibility.version
        known = self._known.get(caller)
        if known is None or known[0] != state or known[1]:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[caller] = state, self.store.is_embedding_pending(caller)
        detail = "some of the data is not embedded yet: it is found by words and links only"
        return (Notice("embedding_pending", detail),) if known[1] else ()

    def fits(self, space: tuple[str, int] | None) -> bool:
        """Whether a tenant's vectors, if it has any, can be compared with this embedder's."""
        return space is None or space[0] == self.embedder.model

    def _view(self, tenant: str) -> StoreView:
        return self.store.view(Caller(tenant=tenant))

    def _check(self, space: tuple[str, int] | None) -> None:
        if not self.fits(space):
            raise Misconfigured(self._mismatch(space), detail="embedder.name")

    def _mismatch(self, space: tuple[str, int] | None) -> str:
        model = (space or ("none",))[0]
        return (
            f"the vectors here are of {model}, the embedder is {self.embedder.model}: "
            "`redask reembed` makes them anew"
        )

    def _embed(self, waiting: list[Unembedded], tenant: str, seen: int) -> int:
        """One batch, all or nothing. → how many got a vector"""
        texts = [self.text(each.payload, each.hidden) for each in waiting]
        told = [each for each, text in zip(waiting, texts, strict=True) if text.strip()]
        vectors = self.embedder.embed([text for text in texts if text.strip()])
        self.store.set_vectors(
            [
                Entity(each.urn, each.payload, vector=vector)
                for each, vector in zip(told, vectors, strict=True)
                if any(vector)  # no direction, nothing to be near to
            ],
            tenant,
            model=self.embedder.model,
            through=seen if len(waiting) < BATCH else waiting[-1].seq,
        )
        return len(told)

    def _claim(self, tenant: str, holder: str) -> bool:
        """Take or keep the lease; that of a dead process of this machine counts for nothing."""
        now = int(self.clock())
        owner = self.store.claim_embedding(tenant, holder, now, now + LEASE_SECONDS)
        if owner != holder and _is_dead(owner):
            self.store.release_embedding(tenant, owner)
            owner = self.store.claim_embedding(tenant, holder, now, now + LEASE_SECONDS)
        return owner == holder


def _is_dead(owner: str) -> bool:
    """Whether a holder was a process of this machine that is gone."""
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
