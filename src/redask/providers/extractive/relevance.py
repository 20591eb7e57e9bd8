"""How well each excerpt answers a question: `SourceReading` takes passages in, `rank` orders them.

A question word counts its share of the question's weight, by how near it stands:

    in the excerpt                                1        or a word that begins alike: 0.6
    in the sentence before                        0.4; 0.7 if the excerpt opens with it, he, this …
    in the source's name, or the heading above    0.4

The sum is `near`. The score adds to it

    + 0.5 · the share of neighbouring question words that are neighbours here, too
    + 0.5 · the share of its identifiers and quoted phrases that stand here as written
    + 0.5 · how well the whole source matches: BM25 over the sources, the best of them 1
    + 0.1 · 10 / (9 + number of the source): what search found first is a little better
    + 0.2 if what the question asks for (a name, a date, a number) stands here
    − 0.3 · how much is missing to eight words: headings and fragments are no sentences

An excerpt without a question word in itself, in the sentence before or in what its source is
about is no candidate. Ties go to the lower source number, then to the earlier place.

Word weights come with the prompt; a word without one weighs the more the fewer of the sources
hold it, with BACKGROUND sources imagined that hold none (so that one source alone does not make
every word of it common). Sums run in the order of the question: the same in every process.
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
from redask.providers.extractive.excerpts import Excerpt, Passage
from redask.providers.extractive.word_forms import Wording

ALIKE = 0.6
BEFORE = 0.4
BEFORE_A_PRONOUN = 0.7
ABOUT = 0.4
NEIGHBOURS = 0.5
LITERALS = 0.5
MATCH = 0.5
PRIOR = 0.1
SOUGHT = 0.2
SHORT = 0.3
BACKGROUND = 200

_K1, _B = 1.2, 0.75
_PREFIX = 5
_LIKE = 0.75
_MOST_NAMES = 20
_ENOUGH_WORDS = 8
_LONGEST_NAME = 200
_PRONOUN = re.compile(
    r"\W{0,4}(?:it|its|he|his|she|her|they|their|this|these|that|those|such|both|there)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rated:
    """An excerpt of a source, its score, and the share of the question that each word holds.

    `matches` is what it earned by its whole source, `like` its cosine to the question, where
    somebody measured it.
    """

    number: int
    position: int
    excerpt: Excerpt
    score: float
    near: float
    holds: Mapping[str, float]
    matches: float
    like: float = 0.0


@dataclass(frozen=True, slots=True)
class _Page:
    """A passage as tokens."""

    number: int
    passage: Passage
    about: frozenset[str]
    tokens: tuple[list[str], ...]


class SourceReading:
    """One question over the passages that were taken in."""

    def __init__(self, question: str, weights: Mapping[str, float]) -> None:
        self._question = question
        asked = terms.extract(question)
        words = [word for word in asked.words if word in weights] or list(asked.words)
        for literal in asked.literals:
            words += [word for word in terms.words(literal) if word not in terms.ENGLISH]
        only_stop_words = not terms.ENGLISH.isdisjoint(words)
        self._wording = Wording(frozenset() if only_stop_words else terms.ENGLISH)
        self._words = tuple(dict.fromkeys(words))
        self._weights = weights
        self._literals = asked.literals
        self._said = frozenset(terms.words(question))
        self._sought = expected_answer.of(question)
        self._order = self._wording.tokens(question)
        self._pages: list[_Page] = []
        self._names: dict[int, str] = {}

    def take(self, number: int, passage: Passage) -> None:
        """Read a passage; `number` is its source's."""
        tokens = self._wording.tokens
        every = tuple([tokens(excerpt.text) for excerpt in passage.excerpts])
        self._names[number] = passage.name[:_LONGEST_NAME]
        self._pages.append(_Page(number, passage, frozenset(tokens(passage.about)), every))

    def rank(self) -> list[Rated]:
        """Every excerpt, the best first."""
        question = _Question(self._shares(), self._order)
        matches = self._matches(question)
        rated = [
            one
            for page, match in zip(self._pages, matches, strict=True)
            for one in self._rate(page, question, match)
        ]
        rated.sort(key=lambda one: (-one.score, one.number, one.position))
        return rated

    def unmentioned(self) -> list[str]:
        """Which of the question's first names and numbers no passage holds, not even misspelt."""
        held = set().union(*(page.about.union(*page.tokens) for page in self._pages))
        prefixes = {token[:_PREFIX] for token in held if len(token) >= _PREFIX}
        return [
            name
            for name in expected_answer.names(self._question)[:_MOST_NAMES]
            for token in self._wording.tokens(name)
            if token not in held and token[:_PREFIX] not in prefixes and not _like(token, held)
        ]

    def in_context(self, rated: Rated) -> str:
        """The excerpt's line behind the name of its source: what "it" is, "he", or "the battle"."""
        name = self._names[rated.number]
        return f"{name}: {rated.excerpt.text}" if name else rated.excerpt.text

    def shorten(self, rated: Rated, length: int) -> str:
        """The excerpt's line; of a long record the fields that hold question words, then others."""
        fields = rated.excerpt.fields
        if not fields or len(rated.excerpt.text) <= length:
            return rated.excerpt.text
        telling = [not rated.holds.keys().isdisjoint(self._wording.tokens(one)) for one in fields]
        chosen: set[int] = set()
        for place in sorted(range(len(fields)), key=lambda place: (not telling[place], place)):
            length -= len(fields[place]) + 2
            if length < 0 and chosen:
                break
            chosen.add(place)
        return ", ".join(fields[place] for place in sorted(chosen))

    def _shares(self) -> dict[str, float]:
        """The tokens of the question, each with its share of the question's weight."""
        sources = [page.about.union(*page.tokens) for page in self._pages]
        count = len(sources) + BACKGROUND
        weights: dict[str, float] = {}
        for word in self._words:
            tokens = self._wording.tokens(word)
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

    def _matches(self, question: "_Question") -> list[float]:
        """How well each source as a whole matches, by BM25; the best is 1."""
        lengths = [len(page.about) + sum(map(len, page.tokens)) for page in self._pages]
        usual = sum(lengths) / max(1, len(lengths)) or 1.0
        scores = [
            question.bm25([*page.about, *chain.from_iterable(page.tokens)], length / usual)
            for page, length in zip(self._pages, lengths, strict=True)
        ]
        best = max(scores, default=0.0) or 1.0
        return [score / best for score in scores]

    def _rate(self, page: _Page, question: "_Question", match: float) -> list[Rated]:
        rated: list[Rated] = []
        before: frozenset[str] = frozenset()
        headings: dict[str, frozenset[str]] = {"": frozenset()}
        prior = MATCH * match + PRIOR * 10 / (9 + page.number)
        is_about = question.asks_for(page.about)
        for position, excerpt in enumerate(page.passage.excerpts):
            tokens = page.tokens[position]
            holds = question.held_by(tokens)
            alike = question.alike(tokens)
            if not (holds or alike or before or is_about):
                continue
            if excerpt.heading not in headings:
                headings[excerpt.heading] = frozenset(self._wording.tokens(excerpt.heading))
            credit = dict.fromkeys(page.about | headings[excerpt.heading], ABOUT)
            if not excerpt.fields:
                opens_with_pronoun = _PRONOUN.match(excerpt.text)
                nearby = BEFORE_A_PRONOUN if opens_with_pronoun else BEFORE
                credit.update(dict.fromkeys(before, nearby))
            near = question.near(credit, holds, alike)
            score = near + NEIGHBOURS * question.neighbours(tokens) + prior + self._extras(excerpt)
            rated.append(Rated(page.number, position, excerpt, score, near, holds, MATCH * match))
            before = frozenset() if excerpt.fields else frozenset(holds)
        return rated

    def _extras(self, excerpt: Excerpt) -> float:
        """What an excerpt earns or loses whatever its words weigh."""
        extras = SOUGHT * expected_answer.found(self._sought, excerpt.text, self._said)
        if self._literals:
            written = sum(literal in excerpt.text for literal in self._literals)
            extras += LITERALS * written / len(self._literals)
        if not excerpt.fields:
            missing = max(0, _ENOUGH_WORDS - 1 - excerpt.text.count(" "))
            extras -= SHORT * missing / _ENOUGH_WORDS
        return extras


class _Question:
    """The question's tokens with their shares, and which of them are neighbours."""

    def __init__(self, shares: dict[str, float], order: list[str]) -> None:
        self._shares = shares
        self._place = {token: place for place, token in enumerate(shares)}
        self._alike: dict[str, list[str]] = {}
        for token in shares:
            if len(token) >= _PREFIX:
                self._alike.setdefault(token[:_PREFIX], []).append(token)
        asked = [token for token in order if token in shares]
        self._pairs = {
            frozenset(pair): min(shares[pair[0]], shares[pair[1]])
            for pair in pairwise(asked)
            if pair[0] != pair[1]
        }

    def held_by(self, tokens: list[str]) -> dict[str, float]:
        """Which tokens of the question stand here, in the question's order."""
        found = self._shares.keys() & tokens
        return {token: self._shares[token] for token in sorted(found, key=self._place.__getitem__)}

    def asks_for(self, tokens: frozenset[str]) -> bool:
        """Whether a token of the question is among these."""
        return not tokens.isdisjoint(self._shares)

    def alike(self, tokens: list[str]) -> list[str]:
        """Which tokens of the question begin like one that stands here."""
        return [like for token in tokens for like in self._alike.get(token[:_PREFIX], ())]

    def near(self, credit: dict[str, float], holds: Mapping[str, float], alike: list[str]) -> float:
        """The share of the question that stands here or nearby; `credit` is for nearby words."""
        for token in alike:
            credit[token] = max(ALIKE, credit.get(token, 0.0))
        credit.update(dict.fromkeys(holds, 1.0))
        found = sorted(self._place.keys() & credit.keys(), key=self._place.__getitem__)
        return sum(self._shares[token] * credit[token] for token in found)

    def bm25(self, tokens: Iterable[str], length: float) -> float:
        """The BM25 score of a text, its length given in units of the usual one."""
        counts = Counter(token for token in tokens if token in self._shares)
        saturation = _K1 * (1 - _B + _B * length)
        return sum(
            share * counts[token] * (_K1 + 1) / (counts[token] + saturation)
            for token, share in self._shares.items()
            if token in counts
        )

    def neighbours(self, tokens: list[str]) -> float:
        """The share of the question's neighbouring words that stand within two places here."""
        places = [place for place, token in enumerate(tokens) if token in self._shares]
        found: dict[frozenset[str], float] = {}
        for start, place in enumerate(places):
            for other in places[start + 1 : start + 3]:
                pair = frozenset((tokens[place], tokens[other]))
                if other - place <= 2 and pair in self._pairs:
                    found[pair] = self._pairs[pair]
        return math.fsum(found.values())


def _like(token: str, held: set[str]) -> bool:
    """Whether a word of the same first letter and about the same length is written much alike."""
    if token.isdigit():
        return False
    candidates = [one for one in held if one[:1] == token[:1] and abs(len(one) - len(token)) <= 2]
    return bool(difflib.get_close_matches(token, candidates, 1, _LIKE))
