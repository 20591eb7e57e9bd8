"""What the data says about a question: `find` the sources a caller may read, best first.

Search the three buckets, read what was found through the store (which shows a caller only
what that caller may see), drop the rest before anything is ranked, and fuse. When a policy
hid some, the buckets are searched deeper until the limit is filled or nothing is left.
Both ASK and plain search come through here.

`find_for_provider` is the same for ASK and EXPLAIN, with what the settings redact taken out:
prompt, response, fingerprint, hashes and limits all see the redacted payloads. A plain search
hands rows to those who may read them, as SELECT does, and redacts nothing.

Warnings say which words were read as others (`taken_for`), and why little was found in another
language than the data's (`other_language`). The vector bucket is empty when there is no embedder,
when the vectors are of another model, or when question or data are in a language it does not know;
then its `left_out` says why.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from redask.core import text
from redask.core.access import redaction
from redask.core.errors import Denied
from redask.core.model import Ask, Caller, Notice, Source
from redask.core.ports import Found, Index, Query, Store, StoreView
from redask.core.rules import explain, fusion, terms
from redask.core.rules.auditing.provenance import DataState
from redask.core.rules.search import bucket_weights
from redask.core.settings import Settings
from redask.core.text import lower
from redask.embedding.stage import EmbeddingStage
from redask.engine import call_limits, telemetry

SMALLEST_TOP_K = 20
WEAK = 0.25  # of the greatest possible score of words: below, little was found


@dataclass(frozen=True, slots=True)
class Hits:
    """The fused ranking with its sources, and the buckets it was made of."""

    fused: tuple[fusion.Fused, ...]
    sources: tuple[Source, ...]
    buckets: tuple[Found, ...]
    retrieval: tuple[explain.Retrieval, ...]
    state: DataState = field(repr=False)  # what it was found in; nobody who asks is shown it
    warnings: tuple[Notice, ...] = ()
    redacted: tuple[Mapping[str, int], ...] = ()  # for each source, how many of which kind

    def notices(self, kept: int) -> tuple[Notice, ...]:
        """What there is to say about the first so many sources."""
        return redaction.notice(self.redacted[:kept])

    def read_as(self, question: str) -> str:
        """The question as it was searched for; empty if no word of it was read otherwise.

        A word that a source holds, if only in the name of a field or collection, is not misspelt.
        """
        taken = [pair for bucket in self.buckets for pair in bucket.taken_for]
        if not taken:
            return ""
        held = lower("\n".join(f"{source.urn} {source.payload}" for source in self.sources))
        read, end = [], 0
        for typed, word in taken:
            if lower(typed) in held:
                continue
            at = question.find(typed, end)
            read += [question[end:at], word]
            end = at + len(typed)
        return "".join([*read, question[end:]]) if read else ""


class _Ranking(NamedTuple):
    """What was fused, and how each bucket was searched."""

    fused: tuple[fusion.Fused, ...]
    steps: tuple[explain.Retrieval, ...]


@dataclass(frozen=True, slots=True)
class Retriever:
    """Where to search and how."""

    store: Store
    index: Index
    embedding: EmbeddingStage | None
    settings: Settings

    def find(self, ask: Ask, caller: Caller) -> Hits:
        """The best `ask.limit` sources for the question."""
        view = self.store.view(caller)
        _check_open(ask, caller, view)
        top_k = max(SMALLEST_TOP_K, ask.limit)
        wanted = terms.extract(ask.question)
        warnings = self.embedding.warnings(caller, view) if self.embedding else ()
        vector, languages, forbidden = self._embed(ask.question, view)
        warnings = (*warnings, *forbidden)
        query = Query(
            *(ask.question, wanted, vector, ask.collections, top_k, ask.depth, languages),
            cancelled=call_limits.current(),
        )
        found, ranking, readable = self._search(query, ask, caller, view)
        warnings = (*warnings, *_said(found))
        return Hits(
            ranking.fused,
            tuple(readable[item.urn] for item in ranking.fused),
            found,
            ranking.steps,
            self._state(view),
            warnings,
        )

    def find_for_provider(self, ask: Ask, caller: Caller) -> Hits:
        """The same, as it may leave for a provider."""
        return self.redacted(self.find(ask, caller))

    def entered(self, ask: Ask, caller: Caller) -> DataState:
        """The data as the caller stands before it, for what is not searched.

        `Denied` if the ASK names a collection that is not open to the caller.
        """
        view = self.store.view(caller)
        _check_open(ask, caller, view)
        return DataState(view.visibility.identity, view.watermark, view.history)

    def redacted(self, hits: Hits) -> Hits:
        """The hits with what the settings redact taken out."""
        redactor = redaction.Redactor(self.settings.redact_secrets, self.settings.redact_personal)
        if redactor.is_idle:
            return hits
        with telemetry.step("redact"):
            done = [redactor.redact(source.payload) for source in hits.sources]
        shown = (
            Source(source.urn, payload)
            for source, (payload, _) in zip(hits.sources, done, strict=True)
        )
        return replace(hits, sources=tuple(shown), redacted=tuple(counts for _, counts in done))

    def _state(self, view: StoreView) -> DataState:
        stage, told = self.embedding, (view.visibility.identity, view.watermark, view.history)
        embedder = ""
        if stage is not None and (view.space is None or stage.fits(view.space)):
            embedder = f"{stage.embedder.model} {stage.embedder.dimensions}"
        return DataState(*told, self.index.layout, embedder)

    def _embed(
        self, question: str, view: StoreView
    ) -> tuple[tuple[float, ...] | None, frozenset[str], tuple[Notice, ...]]:
        """The question's vector, if there are any to compare it with, and what it is good for.

        None, with a warning, if the caller may not use the embedder.
        """
        if self.embedding is None or not self.embedding.fits(view.space):
            return None, frozenset(), ()
        embedder = self.embedding.embedder
        try:
            with telemetry.step("embed"):
                return embedder.embed([question])[0], embedder.languages, ()
        except Denied as denied:
            detail = f"{denied.message}: it was searched by words and links only"
            return None, frozenset(), (Notice("embedder_denied", detail),)

    def _search(
        self, query: Query, ask: Ask, caller: Caller, view: StoreView
    ) -> tuple[tuple[Found, ...], _Ranking, dict[str, Source]]:
        """The buckets without what the caller may not read, their fusion, and what it says.

        Who reads everything finds nothing that cannot be read: only what was fused is read then,
        and all of it only if some of that went meanwhile.
        """
        limit, top_k = ask.limit, query.top_k
        while True:
            with telemetry.step("search"):
                found = self.index.search(query, caller, view)
            if view.visibility.projections is None:
                ranking = self._fused(found, top_k, ask)
                readable = self._read([item.urn for item in ranking.fused], caller)
                if len(readable) == len(ranking.fused):
                    return found, ranking, readable
            urns = dict.fromkeys(urn for bucket in found for urn, _ in bucket.candidates)
            readable = self._read([*urns], caller)
            deeper = any(len(bucket.candidates) >= query.top_k for bucket in found)
            if len(readable) == len(urns) or len(readable) >= limit or not deeper:
                break
            query = replace(query, top_k=query.top_k * 2)
        visible = tuple(
            replace(bucket, candidates=tuple(i for i in bucket.candidates if i[0] in readable))
            for bucket in found
        )
        return visible, self._fused(visible, top_k, ask), readable

    def _read(self, urns: Sequence[str], caller: Caller) -> dict[str, Source]:
        with telemetry.step("read"):
            return {source.urn: source for source in self.store.read(urns, caller)}

    def _fused(self, found: tuple[Found, ...], top_k: int, ask: Ask) -> _Ranking:
        steps = self._buckets(found, top_k, ask)
        buckets = [
            fusion.Bucket(bucket.candidates, step.min_score, step.weight)
            for bucket, step in zip(found, steps, strict=True)
        ]
        return _Ranking(tuple(fusion.fuse(buckets, fusion.K, ask.limit)), steps)

    def _buckets(
        self, found: tuple[Found, ...], top_k: int, ask: Ask
    ) -> tuple[explain.Retrieval, ...]:
        """How each bucket was searched, and what it weighs for this question."""
        chosen = self.settings.buckets
        fixed = {name: each.weight for name, each in chosen.items()}
        floors = [
            chosen[each.bucket].min_score if ask.min_score is None else ask.min_score
            for each in found
        ]
        words, vectors, graph = (
            [one for one in each.candidates if one[1] >= floor]
            for each, floor in zip(found, floors, strict=True)
        )
        decided = bucket_weights.decide(words, vectors, graph, found[2].named, fixed)
        weights = [decided[each.bucket] for each in found]
        return tuple(
            explain.Retrieval(each.bucket, top_k, floor, weight.weight, weight.reason)
            for each, floor, weight in zip(found, floors, weights, strict=True)
        )


def _said(found: tuple[Found, ...]) -> Iterator[Notice]:
    """What a person must know to judge what was found: words read otherwise, and little found."""
    words, vectors, _ = found
    for typed, read in words.taken_for:
        if read.replace(" ", "") == typed.replace(" ", "").lower():
            continue  # the same letters, in one word or two
        detail = f"no source that may be read holds {typed!r}: it was taken for {read!r}"
        yield Notice("taken_for", detail)
    if vectors.left_out and (not words.candidates or words.candidates[0][1] < WEAK):
        detail = f"little was found by words, and the search by meaning was {vectors.left_out}"
        yield Notice("other_language", detail)


def _check_open(ask: Ask, caller: Caller, view: StoreView) -> None:
    for name in ask.collections:
        if text.lower(name).startswith("red_"):
            raise Denied(f"{name} is a system collection, which is never a source")
        if name in view.visibility.denied:
            raise Denied(f"the collection {name} is not open to the role {caller.role}")
