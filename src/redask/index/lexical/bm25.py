"""The bucket bm25: tantivy proposes, we score.

    score   = Σ over terms  idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / average))
              k1 1.2, b 0.75; idf = ln(1 + (N − n + ½) / (n + ½)); terms added in a fixed order
    reported  score ÷ (Σ over words of the question: idf · (k1 + 1)), at most 1: the share of
              what an entity could reach at best. Ties by URN.

N, n, lengths and average are live and taken over what the caller may read (the classes),
whatever tantivy has not forgotten yet, and whatever the caller may not see. A filter on
collections narrows what is found, not the statistics: an entity's score does not depend on it.

A word of the question has one term for each language present; it counts in the denominator
with the best of them that occurs, a word that occurs nowhere with the weight of a term nobody
holds. A quoted phrase adds the weights of its words once more, with its own frequency, which
is counted in the text as written; so an entity's score is at most (1 + phrases) times what
its words alone make it.

What changed since tantivy's last commit (the tail) is scored directly; tantivy's counts are
corrected by what it still holds of it. Proposals are read on until no entity left out can
reach the last place: see `tantivy_words` for the bound. So the result depends on the content
alone, not on how it got there.

Tables are full of equals: 300,000 rows that say "open" as often and in as many words. When
thousands of proposals in a row have the score of the last place, those left out are taken to
tie at best, and the first by URN are found by walking through the entities in that order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from redask.index.analysis.analyzer import Term, Wanted
from redask.index.forward.entries import Classes, Rows, Sequences, Tail
from redask.index.forward.forward_index import Snapshot
from redask.index.lexical.scoring import K1, Hit, Matches, ReadTexts, Scorer, Weighing, frequencies
from redask.index.lexical.tantivy_terms import View, idf

PLATEAU = 4_096  # so many proposals in a row with one and the same score
WALK = 65_536  # entities looked at, in the order of their URNs, to find the first of many equals


@dataclass(frozen=True, slots=True)
class Totals:
    """How many entities the caller may read, and how many tokens they have."""

    entities: int
    tokens: int

    @property
    def average(self) -> float:
        return self.tokens / self.entities if self.tokens else 1.0


class Lexical:
    """One state of the words, for one caller."""

    def __init__(
        self, view: View, snapshot: Snapshot, tail: Tail, readable: Classes, totals: Totals
    ) -> None:
        self._view = view
        self._snapshot = snapshot
        self._tail = tail
        self._readable = readable
        self._totals = totals

    def search(self, wanted: Wanted, limit: int, among: Classes, read: ReadTexts) -> list[Hit]:
        """The best `limit` entities of some readable classes for a question."""
        weighing = self._weigh(wanted)
        if not weighing.terms or limit < 1:
            return []
        scorer = Scorer(weighing, self._totals.average, read)
        texts = [term.text for term in weighing.terms]
        weights = list(zip(texts, weighing.weights, strict=True))
        found = scorer.score(self._tail.rows, _among(self._tail.rows.classes(), among))
        seen = set(self._tail.keys)
        size = limit + 12
        while True:
            proposal = self._view.propose(weights, self._totals.average, among, size)
            fresh = [key for key in proposal.keys if key not in seen]
            seen.update(fresh)
            more = scorer.score(self._snapshot.sequences(fresh), None)
            found = _best(found + more, limit)
            last = found[-1].score if len(found) == limit else 0.0
            if proposal.rest * (1 + len(weighing.phrases)) < last or not proposal.rest:
                break
            tied = len(more) > PLATEAU and all(hit.score == last for hit in more)
            if tied and not weighing.phrases:
                better = [hit for hit in found if hit.score > last]
                ties = self._first_urns(scorer, among, last, limit - len(better))
                if ties is not None:
                    found = better + ties
                    break
            size *= 4
        return [replace(hit, score=min(1.0, hit.score / weighing.perfect)) for hit in found]

    def _first_urns(
        self, scorer: Scorer, among: Classes, score: float, count: int
    ) -> list[Hit] | None:
        """The first so many entities by URN with this score; None when they are too far apart."""
        found: list[Hit] = []
        for rows in self._snapshot.walk(WALK):
            hits = scorer.score(rows, _among(rows.classes(), among))
            found += sorted((hit for hit in hits if hit.score == score), key=lambda hit: hit.urn)
            if len(found) >= count:
                return found[:count]
        return None

    def similarity(self, wanted: Wanted) -> Callable[[Rows], Sequence[float]]:
        """How much of what is wanted each row says, as a reported score, without phrases."""
        weighing = self._weigh(replace(wanted, phrases=()))
        return Scorer(weighing, self._totals.average, lambda _: {}).shares

    def holding(self, terms: Sequence[Term], limit: int) -> list[int] | None:
        """The keys of all entities that hold every one of the terms; None if more than `limit`.

        Of what the caller may see, in all collections.
        """
        among = self._readable
        texts = [term.text for term in terms]
        keys = self._view.holding(texts, among, limit + len(self._tail.keys)) if texts else []
        if keys is None:
            return None
        if not self._tail.keys:  # the usual case, and a walk asks for twenty names
            return sorted(keys) if len(keys) <= limit else None
        keys = [key for key in keys if key not in self._tail.keys]
        rows = self._tail.rows
        held = _among(rows.classes(), among) & bool(texts)
        held &= (frequencies(rows, terms) > 0).all(0)
        keys += [rows.keys[place] for place in np.flatnonzero(held).tolist()]
        return sorted(keys) if len(keys) <= limit else None

    def _weigh(self, wanted: Wanted) -> Weighing:
        """Live weights of the terms; those nobody holds are left out."""
        entities = self._totals.entities
        terms = {term.text: term for group in wanted.groups for term in group}
        ordered = [terms[text] for text in sorted(terms)]
        counts = zip(ordered, self._counts(ordered), strict=True)
        weights = {term.text: idf(entities, count) for term, count in counts if count}
        known = [[weights[t.text] for t in group if t.text in weights] for group in wanted.groups]
        place = {text: place for place, text in enumerate(weights)}
        unknown = idf(entities, 0)
        perfect = sum(max(some, default=unknown) for some in known)
        phrases = []
        for phrase in wanted.phrases:
            members = [known[member] for member in phrase.members]
            if members and all(members):
                weight = sum(map(min, members))
                perfect += weight
                groups = [wanted.groups[member] for member in phrase.members]
                held = tuple(tuple(place[t.text] for t in g if t.text in place) for g in groups)
                phrases.append((phrase, weight, held))
        held_terms = tuple(terms[text] for text in weights)
        return Weighing(held_terms, tuple(weights.values()), tuple(phrases), perfect * (K1 + 1))

    def _counts(self, terms: Sequence[Term]) -> list[int]:
        """How many entities the caller may read hold each term."""
        counts = [self._view.count(term.text, self._readable) for term in terms]
        tail = self._tail
        if tail.keys:
            more = _holders(tail.rows, tail.rows.classes(), terms, self._readable)
            less = _holders(tail.held, tail.held_classes, terms, self._readable)
            counts = [count + m - n for count, m, n in zip(counts, more, less, strict=True)]
        return counts


def _holders(
    rows: Sequences, classes: Sequence[str], terms: Sequence[Term], among: Classes
) -> list[int]:
    """How many rows of these classes hold each term."""
    held = frequencies(rows, terms) > 0
    counts: list[int] = (held & _among(classes, among)).sum(1).tolist()
    return counts


def _among(classes: Sequence[str], among: Classes) -> Matches:
    return np.array([among is None or each in among for each in classes], np.bool_)


def _best(hits: list[Hit], limit: int) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.urn))[:limit]
