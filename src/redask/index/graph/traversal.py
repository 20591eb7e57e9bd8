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
name of more than MAX_OWNERS owners; the edges of a seed with more than MAX_SEED_DEGREE, or of
another entity with more than MAX_DEGREE.

Everything, limits included, is counted over what the caller may see, and depends on the content
alone: ties by URN, never by key. `collections` restrict the results, not the traversal.

On 2wiki_101, bm25 and graph fused, all evidence is in the top 8 for 0.95 of the questions (bm25
alone: 0.35), and 0.93 or more with all other values of the constants that were tried.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from redask.core.ports import Query
from redask.index.analysis import analyzer, languages
from redask.index.analysis.analyzer import AnalysedQuery, Term
from redask.index.analysis.vocabulary import hash64, stem_hash, vocabulary
from redask.index.forward.entries import U32, Rows
from redask.index.graph import mentions
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
MAX_OWNERS = 10_000
MAX_SEED_DEGREE = 10_000


class _Entity(NamedTuple):  # a traversal loads hundreds, and a named tuple is cheap to create
    """A loaded entity, with its similarity to the question without its names."""

    urn: str
    collection: str
    name_stems: str
    similarity: float
    rows: Rows
    row: int

    @property
    def surfaces(self) -> U32:
        return self.rows.surfaces(self.row)


class _MentionLinks(NamedTuple):
    """Links by mentions of one name, all of the same weight."""

    keys: Sequence[int]
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
        self._entities: dict[int, _Entity] = {}
        self._owners: dict[int, list[int] | None] = {}
        self._mention_links: dict[int, list[_MentionLinks]] = {}
        self._edges: dict[str, tuple[float, str]] = {}
        self._edge_ends: set[int] = set()
        self._relation_similarities: dict[str, float] = {}
        self._common: dict[int, bool] = {}
        self._question_names, self._residual = self._analyse_question()
        self._similarity = reader.terms.similarity(self._residual)

    # --- seeds -----------------------------------------------------------------------------

    def named_seeds(self) -> dict[int, float]:
        """The entities that the question names, with their scores."""
        seeds: dict[int, float] = {}
        literals = [term for group in self._residual.groups for term in group if term.literal]
        matches = [
            self._reader.terms.matching_all([term], MAX_DOCUMENT_FREQUENCY) for term in literals
        ]
        for keys in [self._owners[name] for name in self._question_names] + matches:
            _keep_max(seeds, dict.fromkeys(keys or (), _damping(keys)))
        self._load(seeds)
        return {
            key: score * (1 + self._entities[key].similarity) / 2
            for key, score in seeds.items()
            if key in self._entities
        }

    def hit_seeds(self, hits: Sequence[tuple[str, float]]) -> dict[int, float]:
        """The keys of the hits, with their scores."""
        keys = self._reader.forward.keys((urn for urn, _ in hits), self._reader.projection_keys)
        self._load(keys.values())
        seeds: dict[int, float] = {}
        for urn, score in hits:
            if keys.get(urn) in self._entities:
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
        for found in self._names_in([np.array(one, np.uint32) for one in sorted(versions)]):
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
        most += len(self._owners_of(mention.name_hash))
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
            order = sorted(frontier, key=lambda key: (-frontier[key], self._entities[key].urn))
            width, max_degree = (BEAM_WIDTH, MAX_DEGREE) if hop else (MAX_SEEDS, MAX_SEED_DEGREE)
            for origin, by_mention, by_edge in self._links(order[:width], max_degree):
                self._follow_mentions(origin, frontier[origin], by_mention, scores)
                self._follow_edges(origin, frontier[origin], by_edge, scores)
            _keep_max(reached, scores)
            frontier = {key: score for key, score in scores.items() if key not in visited}
            visited.update(frontier)
        return reached

    def _follow_mentions(
        self, origin: int, start: float, links: Iterable[_MentionLinks], scores: dict[int, float]
    ) -> None:
        """Raise the scores of the loaded entities at the other ends of mentions."""
        for keys, weight in links:
            for key in keys:
                entity = self._entities.get(key)
                if entity is None or key == origin:
                    continue
                score = start * weight * (1 + entity.similarity) / 2
                if score > scores.get(key, 0.0):
                    scores[key] = score

    def _follow_edges(
        self, origin: int, start: float, links: Iterable[_EdgeLink], scores: dict[int, float]
    ) -> None:
        """Raise the scores of the loaded entities at the other ends of edges, and of the edges."""
        for key, weight, similarity, edge, collection in links:
            entity = self._entities.get(key)
            if entity is None or key == origin:
                continue
            self._edge_ends.add(key)
            score = start * weight * (1 + max(entity.similarity, similarity)) / 2
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
        only = self._query.collections
        loaded = self._entities
        every = [(loaded[k].urn, score, loaded[k].collection) for k, score in found.items()]
        every += [(urn, score, collection) for urn, (score, collection) in self._edges.items()]
        kept = [(urn, score) for urn, score, collection in every if not only or collection in only]
        return sorted(kept, key=lambda one: (-one[1], one[0]))[: self._query.top_k]

    # --- links -----------------------------------------------------------------------------

    def _links(
        self, keys: Sequence[int], max_degree: int
    ) -> Iterator[tuple[int, list[_MentionLinks], list[_EdgeLink]]]:
        """The links of each of these entities, once the entities at their other ends are loaded."""
        new = [key for key in keys if key not in self._mention_links]
        mentioned = self._names_in([self._entities[key].surfaces for key in new])
        names = self._reader.adjacency.shortest_names(new)
        matches = {key: self._matching_name(self._entities[key].name_stems) or [] for key in names}
        edges = {key: self._edge_links(key, max_degree) for key in keys}
        ends = [link.key for links in edges.values() for link in links]
        ends += [
            owner
            for found in mentioned
            for mention in found
            for owner in self._owners_of(mention.name_hash)
        ]
        self._load(chain(ends, *matches.values()))
        for key, found in zip(new, mentioned, strict=True):
            self._mention_links[key] = self._outgoing_mentions(found)
        for key, incoming in self._incoming_mentions(names, matches).items():
            self._mention_links[key].append(incoming)
        for key in keys:
            yield key, self._mention_links[key], edges[key]

    def _outgoing_mentions(self, found: Sequence[Mention]) -> list[_MentionLinks]:
        """Links to the owners of the names in a text."""
        links = []
        for name, size in dict.fromkeys((one.name_hash, one.size) for one in found):
            owners = self._owners_of(name)
            if size > 1 or not self._is_common(name):
                links.append(_MentionLinks(owners, OUTGOING_WEIGHT * _damping(owners)))
        return links

    def _incoming_mentions(
        self, names: dict[int, int], matches: dict[int, list[int]]
    ) -> dict[int, _MentionLinks]:
        """Links to the entities whose text mentions a name, among those with all its words."""
        every = [key for key in set(chain(*matches.values())) if key in self._entities]
        sized = [(name, len(self._entities[key].name_stems.split())) for key, name in names.items()]
        found = mentions.texts_mentioning([self._entities[key].surfaces for key in every], sized)
        links = {}
        for key, positions in zip(names, found, strict=True):
            sources = [every[position] for position in positions if every[position] != key]
            links[key] = _MentionLinks(sources, INCOMING_WEIGHT * _damping(sources))
        return links

    def _edge_links(self, key: int, max_degree: int) -> list[_EdgeLink]:
        """Links to the other ends of explicit edges; none above the maximum degree."""
        found = self._reader.adjacency.neighbours(self._entities[key].urn, max_degree) or []
        weight = OUTGOING_WEIGHT * _damping(found)
        return [
            _EdgeLink(one.key, weight, self._in_relation(one.relation), one.urn, one.collection)
            for one in found
        ]

    # --- reading ---------------------------------------------------------------------------

    def _load(self, keys: Iterable[int]) -> None:
        """Load the entities that are not loaded yet and that the caller may see."""
        new = {key for key in keys if key not in self._entities}
        if not new:
            return
        rows = self._reader.forward.fetch(new)
        similarities = self._similarity(rows)
        for row, key in enumerate(rows.keys):
            if self._reader.may_see(rows.projection_keys[row], rows.collections[row]):
                self._entities[key] = _Entity(
                    rows.urns[row],
                    rows.collections[row],
                    rows.name_stems[row],
                    float(similarities[row]),
                    rows,
                    row,
                )

    def _in_relation(self, relation: str) -> float:
        """The fraction of the words of the question, without its names, that are in a relation."""
        if relation not in self._relation_similarities:
            stems = {one for code in self._reader.languages for one in _hashes(relation, code)[1]}
            groups = self._residual.groups
            count = sum(any(term.token_hash in stems for term in group) for group in groups)
            self._relation_similarities[relation] = count / max(1, len(groups))
        return self._relation_similarities[relation]

    def _names_in(self, texts: Sequence[U32]) -> list[list[Mention]]:
        """The mentions in each text of entities that the caller may see."""
        found = mentions.candidates(texts, self._reader.bloom_filter)
        for name in {one.name_hash for some in found for one in some} - self._owners.keys():
            self._owners[name] = self._reader.adjacency.owners(name, MAX_OWNERS)
        known = {name for name, owners in self._owners.items() if owners != []}
        return [mentions.longest_mentions(some, known) for some in found]

    def _owners_of(self, name: int) -> list[int]:
        """The entities with a name; none above MAX_OWNERS."""
        return self._owners[name] or []

    def _is_common(self, name: int) -> bool:
        """Whether a name of one word exceeds MAX_DOCUMENT_FREQUENCY."""
        if name not in self._common:
            loaded = [self._entities[key] for key in self._owners_of(name) if key in self._entities]
            spellings = sorted({entity.name_stems for entity in loaded})
            self._common[name] = any(self._matching_name(one) is None for one in spellings)
        return self._common[name]

    def _matching_name(self, name_stems: str) -> list[int] | None:
        """The entities with all words of a name; None above MAX_DOCUMENT_FREQUENCY."""
        stems = sorted(set(name_stems.split()))
        terms = [Term(stem, stem_hash(stem)) for stem in stems]
        return self._reader.terms.matching_all(terms, MAX_DOCUMENT_FREQUENCY)


def _damping(links: Collection[object] | None) -> float:
    """The factor of each link's weight, by how many there are."""
    return min(1.0, UNDAMPED_FAN_OUT / len(links)) if links else 1.0


def _keep_max(scores: dict[int, float], others: dict[int, float]) -> None:
    """Merge scores, keeping the greater of two."""
    for key, score in others.items():
        scores[key] = max(score, scores.get(key, 0.0))


@lru_cache(512)
def _hashes(text: str, language: str) -> tuple[tuple[int, ...], frozenset[int]]:
    """The hashes of a text's surfaces, in order, and of its stems, as in the forward index."""
    pairs = [vocabulary(language).stem(word) for word in analyzer.words(text)]
    surfaces = tuple(hash64(surface) & 0xFFFFFFFF for surface, _ in pairs)
    return surfaces, frozenset(hash64(stem) & 0xFFFFFFFF for _, stem in pairs)
