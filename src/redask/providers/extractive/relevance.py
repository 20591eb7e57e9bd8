"""Ranks excerpts by a question: `ExcerptRanker` takes passages, `rank` orders their excerpts.

A question word counts its share of the question's weight, by where it occurs:

    in the excerpt                                1        or a word of the same prefix: 0.6
    in the sentence before                        0.4; 0.7 if the excerpt opens with it, he, this …
    in the source's name, or the heading above    0.4
    in the line that introduces its list, or      0.4
    in the code, list or table that it introduces

The sum is `coverage`. The score adds to it

    + 0.5 · the share of adjacent question words that are within two words of each other here
    + 0.5 · the BM25 score of the whole source, divided by that of the best source
    + 0.1 · 10 / (9 + number of the source): a prior for the search rank
    + 0.3 if the question has the whole name of the source
    + 0.6 · how far the heading right above says what the question says, no less and no more, if
      steps are asked for; 0.3 of a heading further above, or of the source's name
    + what speaks for it beside words                                      `merits/line_merits`

An excerpt without a question word in itself, in the sentence before or in its source's context is
no candidate, unless it introduces something: it may be a step of others. Ties go to the lower
source number, then to the earlier position.

Word weights come with the prompt; a word without one gets its IDF over the sources, with
BACKGROUND_SOURCES further sources assumed to lack it (or a single source would make each of its
words common). A word that all sources are about, as the name of their collection, counts a quarter.
A word that no source has is taken for a similar one, if there is one: a typing error. Sums run in
the order of the question: the same in every process.
"""

import difflib
import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain

from redask.core.rules import terms
from redask.providers.extractive import expected_answer, naming, record_fields
from redask.providers.extractive.excerpts import Excerpt, QuotableSource
from redask.providers.extractive.expected_answer import AnswerShape
from redask.providers.extractive.merits import line_merits
from redask.providers.extractive.merits.line_merits import LineMerits
from redask.providers.extractive.merits.weighted_query import PREFIX, QuestionShares
from redask.providers.extractive.source_names import SourceNames
from redask.providers.extractive.word_forms import Tokenizer

SENTENCE_BEFORE = 0.4
SENTENCE_BEFORE_PRONOUN = 0.7
CONTEXT = 0.4
PROXIMITY = 0.5
NAMED = 0.3
SOURCE_SCORE = 0.5
RANK_PRIOR = 0.1
BACKGROUND_SOURCES = 200
EVERYWHERE = 0.25
SAME_TASK = 0.8
HEADED = 0.6
HEADED_ABOVE = 0.3

_MIN_SIMILARITY = 0.75
_MIN_TYPO = 5
_MIN_LOWER = 3  # of a word that is no name: "mok" is read as "mock"
_MIN_TYPO_SIMILARITY = 0.8
_MAX_NAMES = 20
_SEVERAL = 3
_MAX_NAME = 200
_ITEMS = ("- ", "* ", "+ ", "1. ", "1) ")
_LOWER_WORD = re.compile(r"(?<!\w)[a-z]{3,40}(?!\w)")
_CAPITALS = re.compile(r"(?<!\w)[A-Z]{2,6}(?!\w)")
_LINK_TARGET = re.compile(r"\]\([^()\s]{1,500}\)")


@dataclass(frozen=True, slots=True)
class ScoredExcerpt:
    """An excerpt of a source, its score, and the question words in it with their shares.

    `source_score` is the part of the score that its whole source earned, `literals` how many of the
    question's are in it or above it, `cosine` that of its vector and the question's, where it was
    computed.
    """

    number: int
    position: int
    excerpt: Excerpt
    score: float
    coverage: float
    matched: Mapping[str, float]
    source_score: float
    literals: int = 0
    cosine: float = 0.0


@dataclass(frozen=True, slots=True)
class _TokenizedPassage:
    """A passage as tokens."""

    number: int
    passage: QuotableSource
    about: frozenset[str]
    tokens: tuple[list[str], ...]
    below: Mapping[str, tuple[str, ...]]

    def all_tokens(self) -> Iterable[str]:
        """The tokens of its context, of its lines and of what is below them."""
        return chain(self.about, *self.tokens, *self.below.values())


class ExcerptRanker:
    """One question over the passages that were added."""

    def __init__(self, question: str, weights: Mapping[str, float]) -> None:
        self.question = question
        asked = terms.extract(question)
        words = [word for word in asked.words if word in weights] or list(asked.words)
        for literal in asked.literals:
            words += [word for word in terms.words(literal) if word not in terms.ENGLISH]
        only_stop_words = not terms.ENGLISH.isdisjoint(words)
        self._tokenizer = Tokenizer(frozenset() if only_stop_words else terms.ENGLISH)
        self.tokens = self._tokenizer.tokens
        self._tokenizer.join(question)
        self._words = tuple(dict.fromkeys(words))
        self._weights = weights
        self._capitals = _capitals(question)
        self._merits = LineMerits(question, (*asked.literals, *self._capitals))
        self._order = Tokenizer().tokens(question)
        self._read: frozenset[str] = frozenset()
        self._passages: dict[int, _TokenizedPassage] = {}
        self.names = SourceNames()
        self.shape = self._merits.shape
        self._asks_how = self.shape is AnswerShape.STEPS

    def add(self, number: int, passage: QuotableSource) -> None:
        """Add a passage; `number` is its source's."""
        tokens = self._tokenizer.tokens
        texts = [_LINK_TARGET.sub("]", excerpt.text) for excerpt in passage.excerpts]
        tokenized = tuple(map(tokens, texts))
        self.names.add(number, passage.name)
        about = frozenset(tokens(passage.about))
        below = {each.below: () for each in passage.excerpts if each.below}
        blocks = {block: tuple(tokens(block)) for block in below}
        self._passages[number] = _TokenizedPassage(number, passage, about, tokenized, blocks)

    def rank(self) -> list[ScoredExcerpt]:
        """Every candidate, the best first."""
        self._read = self._tokenizer.known()
        query = QuestionShares(self._shares(), self._order)
        source_scores = self._source_scores(query)
        named = frozenset(self.names.named_in(self.question))
        scored = [
            one
            for passage, source_score in zip(self._passages.values(), source_scores, strict=True)
            for one in self._score(passage, query, source_score, NAMED * (passage.number in named))
        ]
        scored.sort(key=lambda one: (-one.score, one.number, one.position))
        return scored

    def unmentioned(self) -> list[str]:
        """The names and numbers in the question that no passage has, not even misspelt."""
        held = set().union(*(each.all_tokens() for each in self._passages.values()))
        prefixes = {token[:PREFIX] for token in held if len(token) >= PREFIX}
        return [
            name
            for name in expected_answer.names(self.question)[:_MAX_NAMES]
            for token in self._tokenizer.tokens(name)
            if token not in held
            and token[:PREFIX] not in prefixes
            and not _similar(token, held, _MIN_SIMILARITY)
        ]

    def spelt(self) -> str:
        """The ranked question with its typing errors mended, as vectors compare it."""
        mended = cache(self._mended)
        return _LOWER_WORD.sub(lambda found: mended(found[0]), self.question)

    def _mended(self, word: str) -> str:
        """A word that no source has as one that is like it, and of the same or a similar stem."""
        if word in self._read:
            return word
        token = (self._tokenizer.tokens(word) or [word])[0]
        likely = [
            one for one in self._read if one[:1] == word[:1] and abs(len(one) - len(word)) <= 2
        ]
        near = difflib.get_close_matches(word, sorted(likely), 1, _MIN_TYPO_SIMILARITY)
        same_stem = [one for one in likely if token in self._tokenizer.tokens(one)]
        return (_similar(word, same_stem, _MIN_TYPO_SIMILARITY) or near or [word])[0]

    def in_context(self, scored: ScoredExcerpt) -> str:
        """The excerpt's line after the name of its source, which "it" or "he" may refer to.

        Where steps are asked for, the heading stands between them: it says what they are for.
        """
        name = self._passages[scored.number].passage.name[:_MAX_NAME]
        heading = self.heading(scored) if self.shape is AnswerShape.STEPS else ""
        above = dict.fromkeys(each for each in (name, heading) if each)
        return ": ".join((*above, scored.excerpt.text))

    def heading(self, scored: ScoredExcerpt) -> str:
        """The heading right above an excerpt."""
        headings = self._passages[scored.number].passage.headings
        return scored.excerpt.heading or (headings[-1] if headings else "")

    def is_headed_by_task(self, scored: ScoredExcerpt) -> bool:
        """Whether the heading right above an excerpt says what the question says."""
        query = QuestionShares(self._shares(), self._order)
        return query.agreement(frozenset(self.tokens(self.heading(scored)))) >= SAME_TASK

    def defines(self, scored: ScoredExcerpt) -> bool:
        """Whether an excerpt stands below the name of what the question asks about."""
        passage = self._passages[scored.number].passage
        return line_merits.defines(self.question, scored.excerpt, passage)

    def whole_list(
        self, one: ScoredExcerpt, scored: Iterable[ScoredExcerpt]
    ) -> list[ScoredExcerpt]:
        """What introduces a list that is asked for, once for each chunk of a file that it is in."""
        if self.shape is not AnswerShape.LIST or not one.excerpt.below.startswith(_ITEMS):
            return [one]
        place = self._passages[one.number].passage
        parts: dict[int, ScoredExcerpt] = {}
        for each in scored:
            other = self._passages[each.number].passage
            if (other.path, other.headings) == (place.path, place.headings) and (
                each.excerpt.text == one.excerpt.text and each.excerpt.below.startswith(_ITEMS)
            ):
                parts.setdefault(other.part, each)
        first = list(range(min(parts), min(parts) + len(parts)))
        return [parts[part] for part in sorted(parts)] if sorted(parts) == first else [one]

    def is_below(self, scored: ScoredExcerpt, other: ScoredExcerpt) -> bool:
        """Whether an excerpt stands in the section of another one, or in a part of it."""
        own, wider = (self._passages[each.number].passage for each in (scored, other))
        length = len(wider.headings)
        return bool(length) and own.path == wider.path and own.headings[:length] == wider.headings

    def line(self, scored: ScoredExcerpt) -> str:
        """The excerpt's line: with the name that it stands for, or the fields of a record."""
        if scored.excerpt.fields:
            tokens = self._tokenizer.tokens
            asked = frozenset(self._order)
            return record_fields.shown(scored.excerpt.fields, asked, tokens, self._capitals)
        missing = {token: s for token, s in self._shares().items() if token not in scored.matched}
        passage = self._passages[scored.number].passage
        return naming.named(
            passage, scored.position, self.question, missing, self._tokenizer.tokens
        )

    def _shares(self) -> dict[str, float]:
        """The tokens of the question, each with its share of the question's weight."""
        sources = [frozenset(each.all_tokens()) for each in self._passages.values()]
        count = len(sources) + BACKGROUND_SOURCES
        weights: dict[str, float] = {}
        held = frozenset().union(*sources)
        everywhere = self._everywhere()
        for word in self._words:
            tokens = self._tokenizer.tokens(word)
            is_long = len(word) >= _MIN_TYPO or (len(word) >= _MIN_LOWER and word in self.question)
            if len(tokens) == 1 and tokens[0] not in held and is_long:
                tokens = _similar(tokens[0], held, _MIN_TYPO_SIMILARITY) or tokens
            for token in tokens:
                weight = self._weights.get(word) if len(tokens) == 1 else None
                if weight is None:
                    holding = sum(token in source for source in sources)
                    weight = math.log(1 + (count - holding + 0.5) / (holding + 0.5))
                    if len(tokens) > 1 and not holding:
                        weight = 0.0  # a pair of characters across two words is no word
                if token in everywhere:
                    weight *= EVERYWHERE
                weights.setdefault(token, weight if 0.0 < weight < math.inf else 0.0)
        total = sum(weights.values())
        return {token: weight / total for token, weight in weights.items()} if total > 0 else {}

    def _everywhere(self) -> frozenset[str]:
        """The words that all sources are about, as is the name of their collection."""
        about = [each.about for each in self._passages.values()]
        return about[0].intersection(*about) if len(about) >= _SEVERAL else frozenset()

    def _source_scores(self, query: QuestionShares) -> list[float]:
        """The BM25 score of each source as a whole, divided by the best."""
        texts = [[*each.all_tokens()] for each in self._passages.values()]
        lengths = [len(text) for text in texts]
        average = sum(lengths) / max(1, len(lengths)) or 1.0
        scores = [
            query.bm25(text, length / average) for text, length in zip(texts, lengths, strict=True)
        ]
        best = max(scores, default=0.0) or 1.0
        return [score / best for score in scores]

    def _score(
        self,
        passage: _TokenizedPassage,
        query: QuestionShares,
        source_score: float,
        named: float,
    ) -> list[ScoredExcerpt]:
        scored: list[ScoredExcerpt] = []
        before: frozenset[str] = frozenset()
        headings: dict[str, frozenset[str]] = {"": frozenset()}
        prior = SOURCE_SCORE * source_score + RANK_PRIOR * 10 / (9 + passage.number) + named
        is_about = query.intersects(passage.about)
        opened: set[str] = set()
        headed = self._headed(passage.passage, query)
        for position, excerpt in enumerate(passage.passage.excerpts):
            is_heading = excerpt.text in passage.passage.headings and not excerpt.below
            if is_heading and not self._merits.may_answer(excerpt):
                continue
            opens = excerpt.heading not in opened and line_merits.opens_section(excerpt.text)
            opened |= {excerpt.heading} if opens else set()
            tokens = passage.tokens[position]
            matched = query.matched_by(tokens)
            same_prefix = query.same_prefix(tokens)
            if not (matched or same_prefix or before or is_about or excerpt.below):
                continue
            if excerpt.heading not in headings:
                headings[excerpt.heading] = frozenset(self._tokenizer.tokens(excerpt.heading))
            credit = dict.fromkeys(passage.about | headings[excerpt.heading], CONTEXT)
            credit.update(dict.fromkeys(passage.below.get(excerpt.below, ()), CONTEXT))
            if excerpt.lead:
                credit.update(dict.fromkeys(self._tokenizer.tokens(excerpt.lead), CONTEXT))
            if not excerpt.fields:
                opens_with_pronoun = naming.opens_with_pronoun(excerpt.text)
                credit_before = SENTENCE_BEFORE_PRONOUN if opens_with_pronoun else SENTENCE_BEFORE
                credit.update(dict.fromkeys(before, credit_before))
            coverage = query.coverage(credit, matched, same_prefix)
            proximity = PROXIMITY * query.proximity(tokens)
            task = max(headed, HEADED * query.agreement(headings[excerpt.heading]) * self._asks_how)
            scored.append(
                ScoredExcerpt(
                    passage.number,
                    position,
                    excerpt,
                    coverage
                    + proximity
                    + prior
                    + task
                    + self._merits.of(excerpt, passage.passage, opens),
                    coverage,
                    matched,
                    SOURCE_SCORE * source_score,
                    sum(self._merits.literals(excerpt, passage.passage)),
                )
            )
            before = frozenset() if excerpt.fields else frozenset(matched)
        return scored

    def _headed(self, passage: QuotableSource, query: QuestionShares) -> float:
        """What the headings above a source, and its name, have of the steps that are asked for."""
        if not self._asks_how:
            return 0.0
        above = [query.agreement(frozenset(self.tokens(each))) for each in passage.headings]
        named = query.agreement(frozenset(self.tokens(passage.name)))
        last = above.pop() if above else 0.0
        return max(HEADED * last, *(HEADED_ABOVE * each for each in (*above, named)))


def _capitals(question: str) -> tuple[str, ...]:
    """Words in capitals that are stop words in small letters: IT, US. They name something."""
    found = _CAPITALS.findall(question) if question.upper() != question else []
    return tuple(dict.fromkeys(word for word in found if word.lower() in terms.ENGLISH))


def _similar(token: str, held: Collection[str], least: float) -> list[str]:
    """The most similar word with the same first letter and about the same length, if any."""
    if token.isdigit():
        return []
    candidates = [one for one in held if one[:1] == token[:1] and abs(len(one) - len(token)) <= 2]
    swapped = [one for one in candidates if sorted(one) == sorted(token)]
    if swapped:
        return [min(swapped)]
    return difflib.get_close_matches(token, sorted(candidates), 1, least)
