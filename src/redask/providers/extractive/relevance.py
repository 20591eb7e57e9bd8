"""Ranks excerpts by a question: `ExcerptRanker` takes passages, `rank` orders their excerpts.

A question word counts its share of the question's weight, by where it occurs:

    in the excerpt                                1        or a word of the same prefix: 0.6
    in the sentence before                        0.4; 0.7 if the excerpt opens with it, he, this …
    in the source's name, or the heading above    0.4

The sum is `coverage`. The score adds to it

    + 0.5 · the share of adjacent question words that are within two words of each other here
    + 0.5 · the share of its identifiers and quoted phrases that occur here literally
    + 0.5 · the BM25 score of the whole source, divided by that of the best source
    + 0.1 · 10 / (9 + number of the source): a prior for the search rank
    + 0.2 if the excerpt has the expected answer type (a name, a date, a number)
    − 0.3 · the part that is missing to eight words: headings and fragments are no sentences

An excerpt without a question word in itself, in the sentence before or in its source's context is
no candidate. Ties go to the lower source number, then to the earlier position.

Word weights come with the prompt; a word without one gets its IDF over the sources, with
BACKGROUND_SOURCES further sources assumed to lack it (or a single source would make each of its
words common). Sums run in the order of the question: the same in every process.
"""

import difflib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, pairwise

from redask.core.rules import terms
from redask.providers.extractive import expected_answer
from redask.providers.extractive.excerpts import Excerpt, QuotableSource
from redask.providers.extractive.word_forms import Tokenizer

SAME_PREFIX = 0.6
SENTENCE_BEFORE = 0.4
SENTENCE_BEFORE_PRONOUN = 0.7
CONTEXT = 0.4
PROXIMITY = 0.5
LITERALS = 0.5
SOURCE_SCORE = 0.5
RANK_PRIOR = 0.1
ANSWER_TYPE = 0.2
SHORT = 0.3
BACKGROUND_SOURCES = 200

_K1, _B = 1.2, 0.75
_PREFIX = 5
_MIN_SIMILARITY = 0.75
_MAX_NAMES = 20
_SENTENCE_WORDS = 8
_MAX_NAME = 200
_PRONOUN = re.compile(
    r"\W{0,4}(?:it|its|he|his|she|her|they|their|this|these|that|those|such|both|there)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ScoredExcerpt:
    """An excerpt of a source, its score, and the question words in it with their shares.

    `source_score` is the part of the score that its whole source earned, `cosine` that of its
    vector and the question's, where it was computed.
    """

    number: int
    position: int
    excerpt: Excerpt
    score: float
    coverage: float
    matched: Mapping[str, float]
    source_score: float
    cosine: float = 0.0


@dataclass(frozen=True, slots=True)
class _TokenizedPassage:
    """A passage as tokens."""

    number: int
    passage: QuotableSource
    about: frozenset[str]
    tokens: tuple[list[str], ...]


class ExcerptRanker:
    """One question over the passages that were added."""

    def __init__(self, question: str, weights: Mapping[str, float]) -> None:
        self._question = question
        asked = terms.extract(question)
        words = [word for word in asked.words if word in weights] or list(asked.words)
        for literal in asked.literals:
            words += [word for word in terms.words(literal) if word not in terms.ENGLISH]
        only_stop_words = not terms.ENGLISH.isdisjoint(words)
        self._tokenizer = Tokenizer(frozenset() if only_stop_words else terms.ENGLISH)
        self._words = tuple(dict.fromkeys(words))
        self._weights = weights
        self._literals = asked.literals
        self._question_words = frozenset(terms.words(question))
        self._answer_type = expected_answer.of(question)
        self._order = self._tokenizer.tokens(question)
        self._passages: list[_TokenizedPassage] = []
        self._names: dict[int, str] = {}

    def add(self, number: int, passage: QuotableSource) -> None:
        """Add a passage; `number` is its source's."""
        tokens = self._tokenizer.tokens
        tokenized = tuple([tokens(excerpt.text) for excerpt in passage.excerpts])
        self._names[number] = passage.name[:_MAX_NAME]
        about = frozenset(tokens(passage.about))
        self._passages.append(_TokenizedPassage(number, passage, about, tokenized))

    def rank(self) -> list[ScoredExcerpt]:
        """Every candidate, the best first."""
        query = _WeightedQuery(self._shares(), self._order)
        source_scores = self._source_scores(query)
        scored = [
            one
            for passage, source_score in zip(self._passages, source_scores, strict=True)
            for one in self._score(passage, query, source_score)
        ]
        scored.sort(key=lambda one: (-one.score, one.number, one.position))
        return scored

    def unmentioned(self) -> list[str]:
        """The names and numbers in the question that no passage has, not even misspelt."""
        held = set().union(*(each.about.union(*each.tokens) for each in self._passages))
        prefixes = {token[:_PREFIX] for token in held if len(token) >= _PREFIX}
        return [
            name
            for name in expected_answer.names(self._question)[:_MAX_NAMES]
            for token in self._tokenizer.tokens(name)
            if token not in held
            and token[:_PREFIX] not in prefixes
            and not _has_similar(token, held)
        ]

    def in_context(self, scored: ScoredExcerpt) -> str:
        """The excerpt's line after the name of its source, which "it" or "he" may refer to."""
        name = self._names[scored.number]
        return f"{name}: {scored.excerpt.text}" if name else scored.excerpt.text

    def shorten(self, scored: ScoredExcerpt, length: int) -> str:
        """The excerpt's line; of a long record the fields with question words, then others."""
        fields = scored.excerpt.fields
        if not fields or len(scored.excerpt.text) <= length:
            return scored.excerpt.text
        tokens = self._tokenizer.tokens
        is_match = [not scored.matched.keys().isdisjoint(tokens(field)) for field in fields]
        chosen: set[int] = set()
        for index in sorted(range(len(fields)), key=lambda index: (not is_match[index], index)):
            length -= len(fields[index]) + 2
            if length < 0 and chosen:
                break
            chosen.add(index)
        return ", ".join(fields[index] for index in sorted(chosen))

    def _shares(self) -> dict[str, float]:
        """The tokens of the question, each with its share of the question's weight."""
        sources = [each.about.union(*each.tokens) for each in self._passages]
        count = len(sources) + BACKGROUND_SOURCES
        weights: dict[str, float] = {}
        for word in self._words:
            tokens = self._tokenizer.tokens(word)
            for token in tokens:
                weight = self._weights.get(word) if len(tokens) == 1 else None
                if weight is None:
                    holding = sum(token in source for source in sources)
                    weight = math.log(1 + (count - holding + 0.5) / (holding + 0.5))
                    if len(tokens) > 1 and not holding:
                        weight = 0.0  # a pair of characters across two words is no word
                weights.setdefault(token, weight if 0.0 < weight < math.inf else 0.0)
        total = sum(weights.values())
        return {token: weight / total for token, weight in weights.items()} if total > 0 else {}

    def _source_scores(self, query: "_WeightedQuery") -> list[float]:
        """The BM25 score of each source as a whole, divided by the best."""
        lengths = [len(each.about) + sum(map(len, each.tokens)) for each in self._passages]
        average = sum(lengths) / max(1, len(lengths)) or 1.0
        scores = [
            query.bm25([*each.about, *chain.from_iterable(each.tokens)], length / average)
            for each, length in zip(self._passages, lengths, strict=True)
        ]
        best = max(scores, default=0.0) or 1.0
        return [score / best for score in scores]

    def _score(
        self, passage: _TokenizedPassage, query: "_WeightedQuery", source_score: float
    ) -> list[ScoredExcerpt]:
        scored: list[ScoredExcerpt] = []
        before: frozenset[str] = frozenset()
        headings: dict[str, frozenset[str]] = {"": frozenset()}
        prior = SOURCE_SCORE * source_score + RANK_PRIOR * 10 / (9 + passage.number)
        is_about = query.intersects(passage.about)
        for position, excerpt in enumerate(passage.passage.excerpts):
            tokens = passage.tokens[position]
            matched = query.matched_by(tokens)
            same_prefix = query.same_prefix(tokens)
            if not (matched or same_prefix or before or is_about):
                continue
            if excerpt.heading not in headings:
                headings[excerpt.heading] = frozenset(self._tokenizer.tokens(excerpt.heading))
            credit = dict.fromkeys(passage.about | headings[excerpt.heading], CONTEXT)
            if not excerpt.fields:
                opens_with_pronoun = _PRONOUN.match(excerpt.text)
                credit_before = SENTENCE_BEFORE_PRONOUN if opens_with_pronoun else SENTENCE_BEFORE
                credit.update(dict.fromkeys(before, credit_before))
            coverage = query.coverage(credit, matched, same_prefix)
            proximity = PROXIMITY * query.proximity(tokens)
            scored.append(
                ScoredExcerpt(
                    passage.number,
                    position,
                    excerpt,
                    coverage + proximity + prior + self._adjustment(excerpt),
                    coverage,
                    matched,
                    SOURCE_SCORE * source_score,
                )
            )
            before = frozenset() if excerpt.fields else frozenset(matched)
        return scored

    def _adjustment(self, excerpt: Excerpt) -> float:
        """The part of a score that does not depend on word weights."""
        found = expected_answer.found(self._answer_type, excerpt.text, self._question_words)
        adjustment = ANSWER_TYPE * found
        if self._literals:
            literal_matches = sum(literal in excerpt.text for literal in self._literals)
            adjustment += LITERALS * literal_matches / len(self._literals)
        if not excerpt.fields:
            missing = max(0, _SENTENCE_WORDS - 1 - excerpt.text.count(" "))
            adjustment -= SHORT * missing / _SENTENCE_WORDS
        return adjustment


class _WeightedQuery:
    """The question's tokens with their shares, and which of them are adjacent."""

    def __init__(self, shares: dict[str, float], order: list[str]) -> None:
        self._shares = shares
        self._position = {token: position for position, token in enumerate(shares)}
        self._by_prefix: dict[str, list[str]] = {}
        for token in shares:
            if len(token) >= _PREFIX:
                self._by_prefix.setdefault(token[:_PREFIX], []).append(token)
        asked = [token for token in order if token in shares]
        self._pairs = {
            frozenset(pair): min(shares[pair[0]], shares[pair[1]])
            for pair in pairwise(asked)
            if pair[0] != pair[1]
        }

    def matched_by(self, tokens: list[str]) -> dict[str, float]:
        """The tokens of the question among these with their shares, in the question's order."""
        found = sorted(self._shares.keys() & tokens, key=self._position.__getitem__)
        return {token: self._shares[token] for token in found}

    def intersects(self, tokens: frozenset[str]) -> bool:
        """Whether a token of the question is among these."""
        return not tokens.isdisjoint(self._shares)

    def same_prefix(self, tokens: list[str]) -> list[str]:
        """The tokens of the question that have the prefix of one of these."""
        return [other for token in tokens for other in self._by_prefix.get(token[:_PREFIX], ())]

    def coverage(
        self, credit: dict[str, float], matched: Mapping[str, float], same_prefix: list[str]
    ) -> float:
        """The share of the question that is covered; `credit` has the weights of context words."""
        for token in same_prefix:
            credit[token] = max(SAME_PREFIX, credit.get(token, 0.0))
        credit.update(dict.fromkeys(matched, 1.0))
        found = sorted(self._position.keys() & credit.keys(), key=self._position.__getitem__)
        return sum(self._shares[token] * credit[token] for token in found)

    def bm25(self, tokens: Iterable[str], length: float) -> float:
        """The BM25 score of a text; `length` is relative to the average."""
        counts = Counter(token for token in tokens if token in self._shares)
        saturation = _K1 * (1 - _B + _B * length)
        return sum(
            share * counts[token] * (_K1 + 1) / (counts[token] + saturation)
            for token, share in self._shares.items()
            if token in counts
        )

    def proximity(self, tokens: list[str]) -> float:
        """The share of the question's adjacent word pairs that are within two tokens here."""
        positions = [position for position, token in enumerate(tokens) if token in self._shares]
        found: dict[frozenset[str], float] = {}
        for start, position in enumerate(positions):
            for other in positions[start + 1 : start + 3]:
                pair = frozenset((tokens[position], tokens[other]))
                if other - position <= 2 and pair in self._pairs:
                    found[pair] = self._pairs[pair]
        return math.fsum(found.values())


def _has_similar(token: str, held: set[str]) -> bool:
    """Whether there is a similar word with the same first letter and about the same length."""
    if token.isdigit():
        return False
    candidates = [one for one in held if one[:1] == token[:1] and abs(len(one) - len(token)) <= 2]
    return bool(difflib.get_close_matches(token, candidates, 1, _MIN_SIMILARITY))
