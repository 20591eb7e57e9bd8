"""The three buckets of one search, over one state of a partition.

    bm25     `lexical`: BM25 score divided by the greatest possible one
    vector   max(0, cosine); empty without a query vector, and left out when question or data are
             in a language that the embedding model does not support
    graph    `graph`: traversal from the names in the question and from the best hits of the others

Each has at most `top_k` candidates, best first, ties by URN. `collections` of the query restrict
the results of every bucket and change no score.
"""

from collections.abc import Sequence
from dataclasses import replace

from redask.core import languages
from redask.core.ports import Found, Query, Visibility
from redask.index.analysis import analyzer
from redask.index.forward.entries import FilterKeys, GroupStatistics, filter_key
from redask.index.generation import Generation, State, filter_key_hash
from redask.index.graph import traversal
from redask.index.graph.graph_reader import GraphReader
from redask.index.lexical.bm25 import CorpusStatistics, LexicalSearcher
from redask.index.lexical.corrections import Corrector
from redask.index.lexical.scoring import ReadTexts
from redask.index.lexical.word_list import WordList

SEEDS = 5  # hits of each of bm25 and vector that the traversal starts from
VECTOR_SEED_WEIGHT = 0.5  # of the best vector hit, relative to the best bm25 hit

Candidates = list[tuple[str, float]]


def search(
    generation: Generation, state: State, query: Query, visibility: Visibility, read: ReadTexts
) -> tuple[Found, ...]:
    """The buckets over the rows of a visibility; `read` gives their texts by URN."""
    projections = visibility.projections
    projection_keys = None if projections is None else frozenset(projections)
    groups = [
        group
        for group in state.statistics
        if projection_keys is None or group.projection_key in projection_keys
        if (group.projection_key, group.collection) not in visibility.withheld
    ]
    statistics = CorpusStatistics.of(groups)
    readable = None if projection_keys is None else frozenset(map(_filter_key, groups))
    allowed = readable
    if query.collections:
        allowed = frozenset(_filter_key(g) for g in groups if g.collection in query.collections)
    lexical = LexicalSearcher(
        *(state.searcher, state.snapshot, state.tail, readable, statistics),
        changed=state.changed,
        check=query.check,
    )

    present = sorted({group.language for group in groups})

    def word_list() -> WordList:
        generation.word_list.catch_up(state.snapshot.words_since)
        return generation.word_list

    corrector = Corrector(lexical, word_list, tuple(present))
    read_as, taken_for = corrector.read(query.question, query.terms.literals)
    left_out = _unsupported_language(query, present)
    query = replace(query, question=read_as)
    analysed = analyzer.question(query.question, query.terms.literals, present)
    hits = lexical.search(analysed, query.top_k, allowed, read)
    words = [(hit.urn, hit.score) for hit in hits]
    vector_filter = _vector_filter(visibility, groups, query.collections)
    vectors = [] if left_out else _nearest(generation, state, query, vector_filter)
    generation.bloom_filter.catch_up(state.snapshot.name_hashes_since, state.watermark)
    reader = GraphReader(
        forward=state.snapshot,
        adjacency=state.snapshot.adjacency(projection_keys, visibility.withheld),
        terms=lexical,
        bloom_filter=generation.bloom_filter,
        projection_keys=projection_keys,
        withheld=visibility.withheld,
        languages=present,
        changed=state.changed,
    )
    linked, named = traversal.traverse(query, _seeds(words[:SEEDS], vectors[:SEEDS]), reader)
    return (
        Found("bm25", tuple(words), taken_for=taken_for),
        Found("vector", tuple(vectors), left_out),
        Found("graph", tuple(linked), named=named),
    )


def _vector_filter(
    visibility: Visibility, groups: Sequence[GroupStatistics], only: Sequence[str]
) -> FilterKeys:
    """The filter keys of the entities themselves: one vector serves all projections."""
    if visibility.projections is None and not only:
        return None
    own = visibility.projections or {}
    return frozenset(
        filter_key(own.get(group.projection_key, group.projection_key), group.collection)
        for group in groups
        if not only or group.collection in only
    )


def _filter_key(group: GroupStatistics) -> str:
    return filter_key(group.projection_key, group.collection)


def _seeds(words: Candidates, vectors: Candidates) -> Candidates:
    """The best hits of bm25 and vector on one scale; a hit of both has the sum of its scores.

    A cosine is greater than a BM25 score whatever the match is worth. Unscaled, the graph only
    repeats the vector bucket where the question names nothing: nDCG@10 of this bucket on squad2
    was 0.82 so, and is 0.88 (bm25 alone: 0.88); on scifact 0.66 and is 0.69.
    """
    scaled = words and vectors and vectors[0][1]
    scale = VECTOR_SEED_WEIGHT * words[0][1] / vectors[0][1] if scaled else 1.0
    found = dict(words)
    for urn, cosine in vectors:
        found[urn] = found.get(urn, 0.0) + scale * cosine
    return sorted(found.items(), key=lambda seed: (-seed[1], seed[0]))


def _unsupported_language(query: Query, present: Sequence[str]) -> str:
    """Why the vector bucket is left out: the model does not know the question's or data's language.

    Empty when it does.
    """
    supported = query.vector_languages
    if not supported or not query.vector:
        return ""
    listed = ", ".join(sorted(supported))
    asked = languages.detect_question(query.question, analyzer.words(query.question), present)
    if asked not in supported:
        return f"left out, for the question is in {asked} and the embedder knows {listed}"
    if present and supported.isdisjoint(present):
        return f"left out, for the data is in {', '.join(present)} and the embedder knows {listed}"
    return ""


def _nearest(generation: Generation, state: State, query: Query, allowed: FilterKeys) -> Candidates:
    index = generation.vectors(len(query.vector)) if query.vector else None
    if index is None or not query.vector or not any(query.vector):
        return []
    filter_keys = None if allowed is None else set(map(filter_key_hash, allowed))
    found = index.search(query.vector, query.top_k, filter_keys)
    urns = state.snapshot.urns_of(key for key, _ in found)
    ranked = [(urns[key], max(0.0, cosine)) for key, cosine in found if key in urns]
    return sorted(ranked, key=lambda candidate: (-candidate[1], candidate[0]))[: query.top_k]
