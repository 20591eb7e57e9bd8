"""The bucket bm25: candidates from tantivy, scored exactly.

    score   = Σ over terms  idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average))
              k1 1.2, b 0.75; idf = ln(1 + (N − n + ½) / (n + ½)); terms added in a fixed order
    reported  score ÷ (Σ over words of the question: idf · (k1 + 1)), at most 1: the score
              divided by the greatest possible one. Ties by URN.

N, n, lengths and average are taken over the live rows that the caller may see: neither deleted
rows that tantivy still counts nor rows hidden from the caller influence a score. A filter on
collections restricts the results, not the statistics.

A word of the question has one term for each language present. It counts in the denominator with
the greatest weight of those that occur, and with the weight of document frequency 0 if none does.
A quoted phrase adds the weights of its words once more, with its own frequency in the text as
written; so a score is at most (1 + number of phrases) times the score of the words alone.

The tail (rows changed since tantivy's last commit) is scored directly, and tantivy's document
frequencies are corrected by the stale versions it still counts. More candidates are fetched until
no other row can reach the top k: see `tantivy_terms` for the bound. So the result depends on the
content alone, not on its history.

Tables have many ties: 300,000 rows with "open" at the same frequency and length. When more than
MIN_TIED_RUN candidates in succession tie with the k-th, the rest are taken to tie at best, and
the first by URN are found by a scan in that order.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from redask.index.analysis.analyzer import AnalysedQuery, Term
from redask.index.forward.entries import (
    FilterKeys,
    GroupStatistics,
    HashedRows,
    Tail,
    TokenSequences,
)
from redask.index.forward.forward_index import Snapshot
from redask.index.graph.column_entities import ChangedRows
from redask.index.lexical.scoring import (
    K1,
    Hit,
    Matches,
    ReadTexts,
    Scorer,
    WeightedQuery,
)
from redask.index.lexical.tantivy_terms import TermSearcher, idf
from redask.index.lexical.term_counts import frequencies

MIN_TIED_RUN = 4_096  # candidates in succession with the same score
URN_SCAN_LIMIT = 65_536  # rows scanned in the order of their URNs


@dataclass(frozen=True, slots=True)
class CorpusStatistics:
    """The number of entities that the caller may see, and of their tokens."""

    entities: int
    tokens: int

    @classmethod
    def of(cls, groups: Sequence[GroupStatistics]) -> Self:
        """The sums over groups of the forward index."""
        return cls(sum(group.entities for group in groups), sum(group.tokens for group in groups))

    @property
    def average_length(self) -> float:
        return self.tokens / self.entities if self.tokens else 1.0


class LexicalSearcher:
    """Searches one state of the index for one caller; `readable` is what the caller may see."""

    def __init__(
        self,
        searcher: TermSearcher,
        snapshot: Snapshot,
        tail: Tail,
        readable: FilterKeys,
        statistics: CorpusStatistics,
        *,
        changed: ChangedRows | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._searcher = searcher
        self._snapshot = snapshot
        self._tail = tail
        self._readable = readable
        self._statistics = statistics
        self._changed = changed
        self._check = check  # called where a search may be long; what it raises ends it

    def search(
        self, query: AnalysedQuery, limit: int, allowed: FilterKeys, read: ReadTexts
    ) -> list[Hit]:
        """The `limit` best entities with allowed filter keys, a subset of the readable ones."""
        weighted = self._weighted(query)
        if not weighted.terms or limit < 1:
            return []
        scorer = Scorer(weighted, self._statistics.average_length, read)
        texts = [term.text for term in weighted.terms]
        weights = list(zip(texts, weighted.weights, strict=True))
        found = scorer.score(self._tail.rows, _allowed_mask(self._tail.rows.filter_keys(), allowed))
        seen = set(self._tail.keys)
        size = limit + 12
        while True:
            self._check()
            candidates = self._searcher.candidates(
                weights, self._statistics.average_length, allowed, size
            )
            fresh = [key for key in candidates.keys if key not in seen]
            seen.update(fresh)
            more = [hit for rows in self._sequences(fresh) for hit in scorer.score(rows, None)]
            found = _best(found + more, limit)
            last = found[-1].score if len(found) == limit else 0.0
            if candidates.bound * (1 + len(weighted.phrases)) < last or not candidates.bound:
                break
            tied = len(more) > MIN_TIED_RUN and all(hit.score == last for hit in more)
            if tied and not weighted.phrases:
                better = [hit for hit in found if hit.score > last]
                ties = self._ties_by_urn(scorer, allowed, last, limit - len(better))
                if ties is not None:
                    found = better + ties
                    break
            size *= 4
        return [replace(hit, score=min(1.0, hit.score / weighted.max_score)) for hit in found]

    def _sequences(self, keys: Sequence[int]) -> Iterator[HashedRows]:
        """The rows with these keys: from arrays, as far as these tell of them."""
        others = keys
        if self._changed is not None:
            same, others = self._changed.split(keys)
            columns = self._changed.columns
            rows = columns.rows_of(np.array(same, np.int64))
            yield columns.sequences(rows[rows >= 0])
        if others:
            yield self._snapshot.token_sequences(others)

    def _ties_by_urn(
        self, scorer: Scorer, allowed: FilterKeys, score: float, count: int
    ) -> list[Hit] | None:
        """The first `count` entities by URN with this score; None when the scan finds too few."""
        found: list[Hit] = []
        for rows in self._snapshot.scan_by_urn(URN_SCAN_LIMIT):
            self._check()
            hits = scorer.score(rows, _allowed_mask(rows.filter_keys(), allowed))
            found += sorted((hit for hit in hits if hit.score == score), key=lambda hit: hit.urn)
            if len(found) >= count:
                return found[:count]
        return None

    @property
    def entities(self) -> int:
        """How many rows are readable."""
        return self._statistics.entities

    def row_count(self, group: Sequence[Term]) -> int:
        """How many readable rows have a term of a group, at most; 0 if none has."""
        return sum(self._document_frequencies(group))

    def holds(self, group: tuple[Term, ...], surface: int, limit: int) -> bool:
        """Whether one of the `limit` best readable rows by a group has a word with this hash."""
        hits = self.search(AnalysedQuery((group,)), limit, self._readable, lambda _: {})
        rows = self._snapshot.token_sequences(hit.key for hit in hits)
        return bool((rows.tokens.view(np.uint32)[::2] == surface).any())

    def similarity(self, query: AnalysedQuery) -> Callable[[HashedRows], Sequence[float]]:
        """A function from rows to their reported scores for a query, without phrases."""
        weighted = self._weighted(replace(query, phrases=()))
        return Scorer(weighted, self._statistics.average_length, lambda _: {}).normalised_scores

    def matching_all(self, terms: Sequence[Term], limit: int) -> list[int] | None:
        """The keys of all readable rows that have every term; None if more than `limit`."""
        self._check()
        allowed, tail = self._readable, self._tail
        texts = [term.text for term in terms]
        keys = self._searcher.matching_all(texts, allowed, limit + len(tail.keys)) if texts else []
        if keys is None:
            return None
        if not tail.keys:  # the usual case, and a traversal calls this for twenty names
            return sorted(keys) if len(keys) <= limit else None
        keys = [key for key in keys if key not in tail.keys]
        matching = _allowed_mask(tail.rows.filter_keys(), allowed) & bool(texts)
        matching &= (frequencies(tail.rows, terms) > 0).all(0)
        keys += [tail.rows.keys[position] for position in np.flatnonzero(matching).tolist()]
        return sorted(keys) if len(keys) <= limit else None

    def _weighted(self, query: AnalysedQuery) -> WeightedQuery:
        """The query with the weights of its terms; those of document frequency 0 are left out."""
        entities = self._statistics.entities
        terms = {term.text: term for group in query.groups for term in group}
        ordered = [terms[text] for text in sorted(terms)]
        counted = zip(ordered, self._document_frequencies(ordered), strict=True)
        weights = {term.text: idf(entities, count) for term, count in counted if count}
        known = [[weights[t.text] for t in group if t.text in weights] for group in query.groups]
        positions = {text: position for position, text in enumerate(weights)}
        unknown = idf(entities, 0)
        max_score = sum(max(some, default=unknown) for some in known)
        phrases = []
        for phrase in query.phrases:
            members = [known[member] for member in phrase.members]
            if members and all(members):
                weight = sum(map(min, members))
                max_score += weight
                groups = [query.groups[member] for member in phrase.members]
                words = tuple(
                    tuple(positions[t.text] for t in group if t.text in positions)
                    for group in groups
                )
                phrases.append((phrase, weight, words))
        present = tuple(terms[text] for text in weights)
        return WeightedQuery(present, tuple(weights.values()), tuple(phrases), max_score * (K1 + 1))

    def _document_frequencies(self, terms: Sequence[Term]) -> list[int]:
        """How many readable rows have each term."""
        self._check()
        readable, tail = self._readable, self._tail
        counts = [self._searcher.document_frequency(term.text, readable) for term in terms]
        if tail.keys:
            more = _tail_frequencies(tail.rows, tail.rows.filter_keys(), terms, readable)
            less = _tail_frequencies(tail.stale, tail.stale_filter_keys, terms, readable)
            counts = [count + m - n for count, m, n in zip(counts, more, less, strict=True)]
        return counts


def _tail_frequencies(
    rows: TokenSequences, filter_keys: Sequence[str], terms: Sequence[Term], allowed: FilterKeys
) -> list[int]:
    """How many of these rows are allowed and have each term."""
    matching = frequencies(rows, terms) > 0
    counts: list[int] = (matching & _allowed_mask(filter_keys, allowed)).sum(1).tolist()
    return counts


def _allowed_mask(filter_keys: Sequence[str], allowed: FilterKeys) -> Matches:
    return np.array([allowed is None or each in allowed for each in filter_keys], np.bool_)


def _best(hits: list[Hit], limit: int) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.urn))[:limit]
