"""The answerer without a model: it quotes the sentences that answer, and cites each.

    0  a first source that is a statement's result is the answer: it is told   `result_text`
    1  split every source into excerpts, one line each                   `excerpts`, `sentences`
    2  score every excerpt by the question's words                       `relevance`
       with an embedder also by vectors: the best RERANKED excerpts gain COSINE_WEIGHT · the
       cosine of the question and "name of the source: line", and all gain RANK_WEIGHT · 10 /
       (9 + number of the source) in place of the source's BM25 score: the search rank is better
       then; not where the best excerpt is a record: fields and identifiers embed badly
    3  choose none, if the best excerpt covers less than MIN_COVERAGE of the question (and its
       cosine is below MIN_COSINE); refuse, if what is chosen does not hold what is asked
       for                                                                          `refusing`
       where another source gives another value, both are quoted                   `conflicts`
    4  quote the best excerpt, and rows joined to it that the question asks for          `joins`;
       then, of those with at least SECOND_COVERAGE of its coverage, the best one when question
       words that it adds count NOVELTY more: another answer, or the second hop; then a third
       whose score is at most THIRD_GAP below the best, if all three fit LENGTH_OF_THREE
    5  each quotation is one line and cites every source that holds it; what exceeds `max_tokens`
       is left out or cut

Deterministic, without key, network, clock or randomness. MODEL is bumped whenever an answer could
change: it is part of the audit row and of the cache key, together with the embedder's model.
Between sources other tasks may run; lines are embedded in a thread.
"""

import asyncio
import bisect
import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace

from redask.core import token_count
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.rules import capabilities, determinism
from redask.core.rules.grounding.refused_answers import Refusal
from redask.providers.extractive import conflicts, excerpts, quotation, refusing, result_text
from redask.providers.extractive.joins import JoinGraph
from redask.providers.extractive.relevance import ExcerptRanker, ScoredExcerpt

NAME = "extractive"
MODEL = "extractive-4"

MIN_COVERAGE = 0.25
RERANKED = 16
COSINE_WEIGHT = 1.3
MIN_COSINE = 0.6
RANK_WEIGHT = 0.5
MAX_QUOTES = 3
SECOND_COVERAGE = 0.3
NOVELTY = 0.7
THIRD_GAP = 0.3
LENGTH_OF_THREE = 500
_MAX_MARKERS = 3
_MAX_RECORD = 300


LineCosines = Callable[[str, Sequence[str]], list[float] | None]


class Extractive:
    """A provider that quotes sources instead of generating text.

    `cosines` compares lines with a question, `embedder` names the model that it uses.
    """

    name = NAME
    capabilities = capabilities.of(NAME)

    def __init__(self, cosines: LineCosines | None = None, embedder: str = "") -> None:
        self._cosines = cosines
        self.model = f"{MODEL}+{embedder}" if cosines else MODEL

    def narrow(self, seed: int) -> int:
        """Signed 64 bits; no seed is ever sent."""
        return determinism.narrow_to_signed(seed)

    def price(self, prompt_tokens: int, completion_tokens: int) -> float | None:  # noqa: ARG002
        """Quoting costs nothing."""
        return 0.0

    async def complete(
        self,
        prompt: Prompt,
        knobs: Knobs,  # noqa: ARG002
        *,
        max_tokens: int,
        emit: Callable[[str], Awaitable[None]] | None = None,
    ) -> Completion:
        """Quote the excerpts that answer the question, line by line; or tell a result."""
        told = result_text.read(prompt.sources[0]) if prompt.sources else None
        if told is not None:
            lines = result_text.tell(told, range(2, len(prompt.sources) + 1))
            return await self._completed(_fit_lines(lines, max_tokens), emit)
        ranker = ExcerptRanker(prompt.question, prompt.weights)
        joins = JoinGraph(prompt.question)
        passages: dict[int, excerpts.QuotableSource] = {}
        for number, source in enumerate(prompt.sources, start=1):
            passage = passages[number] = excerpts.read(source)
            ranker.add(number, passage)
            joins.add(number, source, passage)
            await asyncio.sleep(0)
        scored = ranker.rank()
        if self._cosines is not None and scored and not scored[0].excerpt.fields:
            scored = await asyncio.to_thread(
                _reranked, self._cosines, prompt.question, scored, ranker
            )
        chosen = _choose(scored, joins)
        refusal = await self._refusal(prompt.question, ranker, passages, chosen)
        if refusal is not None:
            nearest = _quotations(ranker, chosen[:1] if refusal.near else [], scored)
            said = refusing.told(refusal, [quotation.cite(*one) for one in nearest], max_tokens)
            return replace(
                await self._completed([said] if said else [], None), warnings=(refusal.warning,)
            )
        conflict = conflicts.find(prompt.question, chosen[0], scored)
        if conflict is not None and conflict.other not in chosen:
            chosen = [chosen[0], conflict.other]
        pieces = _fit(_quotations(ranker, chosen, scored), max_tokens)
        completed = await self._completed(pieces, emit)
        return completed if conflict is None else replace(completed, warnings=(conflict.warning,))

    async def _refusal(
        self,
        question: str,
        ranker: ExcerptRanker,
        passages: Mapping[int, excerpts.QuotableSource],
        chosen: list[ScoredExcerpt],
    ) -> Refusal | None:
        """Why not to quote these excerpts, if there is a reason."""
        bare = None
        if self._cosines is not None and chosen and chosen[0].cosine:
            found = await asyncio.to_thread(self._cosines, question, [chosen[0].excerpt.text])
            bare = found[0] if found else None
        return refusing.decide(question, passages, chosen, ranker.unmentioned(), bare)

    async def _completed(
        self, pieces: list[str], emit: Callable[[str], Awaitable[None]] | None
    ) -> Completion:
        if emit is not None:
            for piece in pieces:
                await emit(piece)
        return Completion("".join(pieces), self.model, prompt_tokens=0, completion_tokens=0)


def _reranked(
    cosines: LineCosines, question: str, scored: list[ScoredExcerpt], ranker: ExcerptRanker
) -> list[ScoredExcerpt]:
    """The same excerpts, the best of them ordered by their words and their vectors."""
    by_rank = [replace(one, score=one.score - one.source_score + _prior(one)) for one in scored]
    by_rank.sort(key=lambda one: (-one.score, one.number, one.position))
    best, others = by_rank[:RERANKED], by_rank[RERANKED:]
    found = cosines(question, [ranker.in_context(one) for one in best])
    if found is None:
        return scored
    best = [
        replace(one, score=one.score + COSINE_WEIGHT * cosine, cosine=cosine)
        for one, cosine in zip(best, found, strict=True)
    ]
    best.sort(key=lambda one: (-one.score, one.number, one.position))
    return best + others


def _prior(one: ScoredExcerpt) -> float:
    return RANK_WEIGHT * 10 / (9 + one.number)


def _quotations(
    ranker: ExcerptRanker, chosen: list[ScoredExcerpt], scored: list[ScoredExcerpt]
) -> list[tuple[str, list[int]]]:
    """The lines to quote, each with the numbers of the sources that hold it."""
    return [(ranker.shorten(one, _MAX_RECORD), _holders(one, scored)) for one in chosen]


def _choose(scored: list[ScoredExcerpt], joins: JoinGraph) -> list[ScoredExcerpt]:
    """The best excerpts, without duplicates; none when even the best covers too little."""
    if not scored or (scored[0].coverage < MIN_COVERAGE and scored[0].cosine < MIN_COSINE):
        return []
    chosen = [scored[0]]
    joined = 0
    while len(chosen) < MAX_QUOTES:
        following = _joined(chosen, scored, joins)
        joined += following is not None
        following = following or _other(chosen, scored, joined)
        if following is None:
            break
        chosen.append(following)
    return chosen


def _joined(
    chosen: list[ScoredExcerpt], scored: list[ScoredExcerpt], joins: JoinGraph
) -> ScoredExcerpt | None:
    """The best record that is joined to a chosen one, and that the question asks for.

    A record whose question words are all quoted already does not count.
    """
    requested = joins.requested([one.number for one in chosen])
    covered = {token for one in chosen for token in one.matched}
    for one in scored:
        repeats = bool(one.matched) and one.matched.keys() <= covered
        if one.number in requested and one.excerpt.fields and not repeats:
            return one
    return None


def _other(
    chosen: list[ScoredExcerpt], scored: list[ScoredExcerpt], joined: int
) -> ScoredExcerpt | None:
    """Another answer, or one with further question words; a third record must have some."""
    texts = {one.excerpt.text for one in chosen}
    covered = {token for one in chosen for token in one.matched}
    is_third = len(chosen) - joined > 1
    must_add = joined or (is_third and chosen[0].excerpt.fields)
    max_length = LENGTH_OF_THREE - sum(map(len, texts)) if is_third else math.inf

    def merit(one: ScoredExcerpt) -> float:
        return one.score + NOVELTY * _novelty(one, covered)

    others = [
        one
        for one in scored
        if one.coverage >= SECOND_COVERAGE * chosen[0].coverage
        and one.excerpt.text not in texts
        and len(one.excerpt.text) <= max_length
        and (not must_add or not one.matched.keys() <= covered)
    ]
    # `max` keeps the first of equals, which is the one that ranks higher.
    best = max(others, key=merit, default=None)
    if best is None or (is_third and merit(best) < chosen[0].score - THIRD_GAP):
        return None
    return best


def _novelty(one: ScoredExcerpt, covered: Collection[str]) -> float:
    """The share of the question that this excerpt has and the chosen ones lack."""
    return sum(share for token, share in one.matched.items() if token not in covered)


def _holders(one: ScoredExcerpt, scored: list[ScoredExcerpt]) -> list[int]:
    """Sources that hold the same line, at most _MAX_MARKERS, its own among them."""
    same = {other.number for other in scored if other.excerpt.text == one.excerpt.text}
    others = sorted(same - {one.number})[: _MAX_MARKERS - 1]
    return sorted([one.number, *others])


def _fit(quotes: list[tuple[str, list[int]]], max_tokens: int) -> list[str]:
    """The pieces of the answer, within the budget."""
    pieces: list[str] = []
    for line, numbers in quotes:
        piece = "\n" * bool(pieces) + quotation.cite(line, numbers)
        if token_count.estimate(piece) > max_tokens:
            if not pieces:
                pieces += _cut(line, numbers, max_tokens)
            break
        pieces.append(piece)
        max_tokens -= token_count.estimate(piece)
    return pieces


def _fit_lines(lines: list[str], max_tokens: int) -> list[str]:
    """The first lines, as many as fit; what is left out is counted."""
    pieces: list[str] = []
    for place, line in enumerate(lines):
        piece = "\n" * bool(pieces) + line
        left = f"\n… and {len(lines) - place} more"
        max_tokens -= token_count.estimate(piece)
        if max_tokens < token_count.estimate(left) and place + 1 < len(lines):
            return [*pieces, left] if pieces else []
        pieces.append(piece)
    return pieces


def _cut(line: str, numbers: list[int], max_tokens: int) -> list[str]:
    """The longest prefix of the line that fits, cut at a space if there is one; nothing if none."""

    def shown(length: int) -> str:
        whole_words = line[:length].rpartition(" ")[0]
        return quotation.cite(f"{whole_words or line[:length]} …", numbers)

    fits = bisect.bisect_right(
        range(1, len(line)), max_tokens, key=lambda length: token_count.estimate(shown(length))
    )
    return [shown(fits)] if fits else []
