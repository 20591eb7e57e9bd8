"""The bucket graph: `traverse` from what the question names, along edges and mentions.

    seeds    entities whose name, or one of whose literals, is in the question: 1
             the best hits of the buckets bm25 and vector: their own score. If the question names
             an entity, hits are only expanded, and returned only when reached from a name;
             otherwise they are returned too, ahead of their neighbours
    links    an edge, in either direction; a name in the entity's text, to its owners
                                                                       OUTGOING_WEIGHT
             the entity's name in another text                         INCOMING_WEIGHT
             of n > UNDAMPED_FAN_OUT links of one sort, each weight is multiplied by
             UNDAMPED_FAN_OUT / n
    names    one whose words are each in more than EVERYWHERE of all entities, its owners apart, and
             in more than UNDAMPED_FAN_OUT, is none: a product's in its own documentation
    score    score at the start of the link × weight × (1 + similarity) / 2, the maximum over all
             paths; a traversed edge: (1 + 3 × similarity) / 4 of the score at its far end
    hops     `depth` of them; the first from the MAX_SEEDS best seeds of each sort, every other
             from the BEAM_WIDTH best of those that the hop before it reached first

Similarity is the normalised BM25 score, from 0 to 1, for the question without the names found in
it: the neighbours of a name have that in common, the rest of the question distinguishes them. The
similarity of an edge is the fraction of these words in its relation; its far end has at least that
similarity.

If the question names an entity, what is reached by mentions only and scores less than MIN_SHARE of
the best is left out: it would displace what the other buckets found.

Not followed, because it would cost much and distinguish little: a name whose words are in more
than MAX_DOCUMENT_FREQUENCY entities (incoming mentions, and outgoing ones of a single word); a
name of more than `MAX_OWNERS` owners; the edges of a seed with more than MAX_SEED_DEGREE, or of
another entity with more than MAX_DEGREE. Such a name leads to no text of its own, but is still a
mention in the texts that the other seeds' names lead to: these are at hand anyway, and whose names
lead there depends on the content alone.

Everything, limits included, is counted over what the caller may see, and depends on the content
alone: ties by URN, never by key. `collections` restrict the results, not the traversal.

On 2wiki_101, bm25 and graph fused, all evidence is in the top 8 for 0.95 of the questions (bm25
alone: 0.35), and 0.93 or more with all other values of the constants that were tried.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from heapq import nlargest
from itertools import chain
from math import inf
from typing import NamedTuple

import numpy as np

from redask.core import languages
from redask.core.ports import Query
from redask.index.analysis import analyzer
from redask.index.analysis.analyzer import AnalysedQuery, Term
from redask.index.analysis.vocabulary import hash64, stem_hash, vocabulary
from redask.index.graph import mentions
from redask.index.graph.graph_entities import with_owners
from redask.index.graph.graph_reader import GraphReader
from redask.index.graph.mentions import Mention

OUTGOING_WEIGHT = 0.7
INCOMING_WEIGHT = 0.35
UNDAMPED_FAN_OUT = 20
EVERYWHERE = 0.1
MIN_SHARE = 0.12  # of the best score: what is left after two links without similarity
MAX_SEEDS = 10
BEAM_WIDTH = 5
MAX_DOCUMENT_FREQUENCY = 100
MAX_DEGREE = 100
MAX_SEED_DEGREE = 10_000


class _MentionLinks(NamedTuple):
    """Links by mentions of one name, all of the same weight."""

    keys: Collection[int]
    weight: float


class _EdgeLink(NamedTuple):
    """A link by an edge; `similarity` is that of its relation."""

    key: int
    weight: float
    similarity: float
    edge: str
    collection: str


class Traversed(NamedTuple):
    """The entities and edges linked to the question: at most `top_k`, best first, ties by URN.

    `named` is how many entities the question names.
    """

    candidates: list[tuple[str, float]]
    named: int


def traverse(query: Query, hits: Sequence[tuple[str, float]], reader: GraphReader) -> Traversed:
    """What is linked to the question and to the best hits of the other buckets."""
    traversal = _Traversal(query, reader)
    named = traversal.named_seeds()
    hit_seeds = traversal.hit_seeds(hits)
    found = dict(named or (hit_seeds if query.depth else {}))
    _keep_max(found, traversal.expand(named, query.depth))
    others = {key: score for key, score in hit_seeds.items() if key not in named}
    around = traversal.expand(others, query.depth)
    _keep_max(found, {key: score for key, score in around.items() if key not in hit_seeds})
    if named:
        found = traversal.without_weak(found)
    return Traversed(traversal.ranked(found), len(named))


class _Traversal:
    """One traversal: the entities loaded so far, and the question without its names."""

    def __init__(self, query: Query, reader: GraphReader) -> None:
        self._query = query
        self._reader = reader
        self._mention_links: dict[int, list[_MentionLinks]] = {}
        self._edges: dict[str, tuple[float, str]] = {}
        self._edge_ends: set[int] = set()
        self._relation_similarities: dict[str, float] = {}
        self._common: dict[int, bool] = {}
        self._holders: dict[str, list[int] | None] = {}
        self._entities = reader.entities()
        self._question_names, self._residual = self._analyse_question()
        self._entities.compare_with(reader.terms.similarity(self._residual))
        self._similarities: dict[int, float] = {}  # of the entities loaded so far

    # --- seeds -----------------------------------------------------------------------------

    def named_seeds(self) -> dict[int, float]:
        """The entities that the question names, with their scores."""
        seeds: dict[int, float] = {}
        literals = [term for group in self._residual.groups for term in group if term.literal]
        matches = [
            self._reader.terms.matching_all([term], MAX_DOCUMENT_FREQUENCY) for term in literals
        ]
        for keys in [self._entities.owners(name) for name in self._question_names] + matches:
            _keep_max(seeds, dict.fromkeys(keys or (), _damping(keys)))
        self._load(seeds)
        return {
            key: score * (1 + self._similarities[key]) / 2
            for key, score in seeds.items()
            if key in self._similarities
        }

    def hit_seeds(self, hits: Sequence[tuple[str, float]]) -> dict[int, float]:
        """The keys of the hits, with their scores; none where nothing is followed from them."""
        if not self._query.depth:
            return {}
        keys = self._reader.forward.keys((urn for urn, _ in hits), self._reader.projection_keys)
        self._load(keys.values())
        seeds: dict[int, float] = {}
        for urn, score in hits:
            if keys.get(urn) in self._similarities:
                _keep_max(seeds, {keys[urn]: score})
        return seeds

    def _analyse_question(self) -> tuple[list[int], AnalysedQuery]:
        """The hashes of the names in the question, and the question without them.

        The whole question if nothing but stop words would be left.
        """
        question = self._query.question
        words = analyzer.words(question)
        language = languages.detect_question(question, words, self._reader.languages)
        stop = languages.STOP_WORDS.get(language, frozenset())
        content = {position for position, word in enumerate(words) if word not in stop}
        names: dict[int, None] = {}
        covered: set[int] = set()
        versions = {_hashes(question, code)[0] for code in self._reader.languages}
        texts = [np.array(one, np.uint32) for one in sorted(versions)]
        possible = mentions.candidates(texts, self._reader.bloom_filter)
        for found in with_owners(possible, self._entities):
            for mention in found:
                span = range(mention.start, mention.start + mention.size)
                if not content.isdisjoint(span) and not self._is_everywhere(mention, words):
                    names[mention.name_hash] = None
                    covered.update(span)
        rest = " ".join(word for position, word in enumerate(words) if position not in covered)
        text = rest if content - covered else question
        analysed = analyzer.question(text, self._query.terms.literals, self._reader.languages)
        return list(names), replace(analysed, phrases=())

    def _is_everywhere(self, mention: Mention, words: Sequence[str]) -> bool:
        """Whether the words of a name are in so many entities that they tell none apart."""
        most = max(UNDAMPED_FAN_OUT, EVERYWHERE * self._reader.terms.entities)
        most += len(self._entities.owners(mention.name_hash) or ())
        known = tuple(self._reader.languages)
        named = words[mention.start : mention.start + mention.size]
        groups = (analyzer.alternatives(word, known) for word in named)
        return all(self._reader.terms.row_count(group) > most for group in groups)

    # --- hops ------------------------------------------------------------------------------

    def expand(self, seeds: dict[int, float], depth: int) -> dict[int, float]:
        """The entities reached from seeds, with their best scores; traversed edges are recorded."""
        reached: dict[int, float] = {}
        visited = set(seeds)
        frontier = seeds
        for hop in range(depth):
            if not frontier:
                break
            scores: dict[int, float] = {}
            width, max_degree = (BEAM_WIDTH, MAX_DEGREE) if hop else (MAX_SEEDS, MAX_SEED_DEGREE)
            order = self._best(frontier, width)
            for origin, by_mention, by_edge in self._links(order, max_degree):
                self._follow_mentions(origin, frontier[origin], by_mention, scores)
                self._follow_edges(origin, frontier[origin], by_edge, scores)
            _keep_max(reached, scores)
            frontier = {key: score for key, score in scores.items() if key not in visited}
            visited.update(frontier)
        return reached

    def _best(self, scores: dict[int, float], count: int) -> list[int]:
        """The entities with the best scores, ties by URN, which is read where it may decide."""
        keys = list(scores)
        if len(keys) > count:
            least = nlargest(count, scores.values())[-1] if count else inf
            keys = [key for key in keys if scores[key] >= least]
        if len({scores[key] for key in keys}) == len(keys):
            return sorted(keys, key=scores.__getitem__, reverse=True)
        return sorted(keys, key=lambda key: (-scores[key], self._entities.urn(key)))[:count]

    def _follow_mentions(
        self, origin: int, start: float, links: Iterable[_MentionLinks], scores: dict[int, float]
    ) -> None:
        """Raise the scores of the loaded entities at the other ends of mentions."""
        similarities = self._similarities
        for keys, weight in links:
            reaching = start * weight
            for key in keys:
                if key not in similarities or key == origin:
                    continue
                score = reaching * (1 + similarities[key]) / 2
                if score > scores.get(key, 0.0):
                    scores[key] = score

    def _follow_edges(
        self, origin: int, start: float, links: Iterable[_EdgeLink], scores: dict[int, float]
    ) -> None:
        """Raise the scores of the loaded entities at the other ends of edges, and of the edges."""
        for key, weight, similarity, edge, collection in links:
            if key not in self._similarities or key == origin:
                continue
            self._edge_ends.add(key)
            score = start * weight * (1 + max(self._similarities[key], similarity)) / 2
            if score > scores.get(key, 0.0):
                scores[key] = score
            own = (score * (1 + 3 * similarity) / 4, collection)
            self._edges[edge] = max(own, self._edges.get(edge, own))

    def without_weak(self, found: dict[int, float]) -> dict[int, float]:
        """What scores at least MIN_SHARE of the best, or is the end of an edge."""
        least = MIN_SHARE * max(found.values())
        return {
            key: score for key, score in found.items() if score >= least or key in self._edge_ends
        }

    def ranked(self, found: dict[int, float]) -> list[tuple[str, float]]:
        """The `top_k` best entities and edges of the query's collections."""
        only, top_k = self._query.collections, self._query.top_k
        if only:
            found = {k: score for k, score in found.items() if self._entities.collection(k) in only}
        every = [(self._entities.urn(key), found[key]) for key in self._best(found, top_k)]
        every += [
            (urn, score)
            for urn, (score, collection) in self._edges.items()
            if not only or collection in only
        ]
        return sorted(every, key=lambda one: (-one[1], one[0]))[:top_k]

    # --- links -----------------------------------------------------------------------------

    def _links(
        self, keys: Sequence[int], max_degree: int
    ) -> Iterator[tuple[int, list[_MentionLinks], list[_EdgeLink]]]:
        """The links of each of these entities, once the entities at their other ends are loaded."""
        new = [key for key in keys if key not in self._mention_links]
        for key, found in zip(new, self._entities.mentions_in(new), strict=True):
            self._mention_links[key] = self._outgoing_mentions(found)
        for key, incoming in self._incoming_mentions(self._entities.shortest_names(new)).items():
            self._mention_links[key].append(incoming)
        edges = {key: self._edge_links(key, max_degree) for key in keys}
        ends = {link.key for links in edges.values() for link in links}
        self._load(ends.union(*(link.keys for key in new for link in self._mention_links[key])))
        for key in keys:
            yield key, self._mention_links[key], edges[key]

    def _outgoing_mentions(self, found: Sequence[Mention]) -> list[_MentionLinks]:
        """Links to the owners of the names in a text."""
        links = []
        for name, size in dict.fromkeys((one.name_hash, one.size) for one in found):
            owners = self._entities.owners(name) or []
            if size > 1 or not self._is_common(name):
                links.append(_MentionLinks(owners, OUTGOING_WEIGHT * _damping(owners)))
        return links

    def _incoming_mentions(self, names: dict[int, tuple[int, str]]) -> dict[int, _MentionLinks]:
        """Links to the entities whose text mentions a name, among those with all its words."""
        matches = [self._matching_name(stems) or [] for _, stems in names.values()]
        every = sorted(set(chain(*matches)))
        sized = [(name, len(stems.split())) for name, stems in names.values()]
        links = {}
        for key, found in zip(names, self._entities.mentioning(sized, every), strict=True):
            found.discard(key)
            links[key] = _MentionLinks(found, INCOMING_WEIGHT * _damping(found))
        return links

    def _edge_links(self, key: int, max_degree: int) -> list[_EdgeLink]:
        """Links to the other ends of explicit edges; none above the maximum degree."""
        found = self._reader.adjacency.neighbours(self._entities.urn(key), max_degree) or []
        weight = OUTGOING_WEIGHT * _damping(found)
        return [
            _EdgeLink(one.key, weight, self._in_relation(one.relation), one.urn, one.collection)
            for one in found
        ]

    # --- reading ---------------------------------------------------------------------------

    def _load(self, keys: Iterable[int]) -> None:
        """Load the entities that are not loaded yet and that the caller may see."""
        new = [key for key in keys if key not in self._similarities]
        if new:
            self._similarities.update(self._entities.similarities(new))

    def _in_relation(self, relation: str) -> float:
        """The fraction of the words of the question, without its names, that are in a relation."""
        if relation not in self._relation_similarities:
            stems = {one for code in self._reader.languages for one in _hashes(relation, code)[1]}
            groups = self._residual.groups
            count = sum(any(term.token_hash in stems for term in group) for group in groups)
            self._relation_similarities[relation] = count / max(1, len(groups))
        return self._relation_similarities[relation]

    def _is_common(self, name: int) -> bool:
        """Whether a name of one word exceeds MAX_DOCUMENT_FREQUENCY."""
        if name not in self._common:
            spellings = sorted(self._entities.spellings(name))
            self._common[name] = any(self._matching_name(one) is None for one in spellings)
        return self._common[name]

    def _matching_name(self, name_stems: str) -> list[int] | None:
        """The entities with all words of a name; None above MAX_DOCUMENT_FREQUENCY."""
        if name_stems not in self._holders:
            stems = sorted(set(name_stems.split()))
            terms = [Term(stem, stem_hash(stem)) for stem in stems]
            found = self._reader.terms.matching_all(terms, MAX_DOCUMENT_FREQUENCY)
            self._holders[name_stems] = found
        return self._holders[name_stems]


def _damping(links: Collection[object] | None) -> float:
    """The factor of each link's weight, by how many there are."""
    return min(1.0, UNDAMPED_FAN_OUT / len(links)) if links else 1.0


def _keep_max(scores: dict[int, float], others: dict[int, float]) -> None:
    """Merge scores, keeping the greater of two."""
    if not scores:
        scores.update(others)
        return
    for key, score in others.items():
        if score > scores.get(key, -1.0):
            scores[key] = score


@lru_cache(512)
def _hashes(text: str, language: str) -> tuple[tuple[int, ...], frozenset[int]]:
    """The hashes of a text's surfaces, in order, and of its stems, as in the forward index."""
    pairs = [vocabulary(language).stem(word) for word in analyzer.words(text)]
    surfaces = tuple(hash64(surface) & 0xFFFFFFFF for surface, _ in pairs)
    return surfaces, frozenset(hash64(stem) & 0xFFFFFFFF for _, stem in pairs)
