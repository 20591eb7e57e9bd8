"""The answerer without a model: it quotes the sentences that answer, and cites each.

    0  a first source that is a statement's result is the answer: it is told   `result_text`
    1  split every source into excerpts: a line, and the code, list or table that it introduces
                                                         `excerpts`, `sentences`, `text_blocks`
    2  score every excerpt by the question's words                       `relevance`
       with an embedder also by vectors: the best RERANKED excerpts gain COSINE_WEIGHT · the
       cosine of the question and "name of the source: line", and all gain RANK_WEIGHT · 10 /
       (9 + number of the source) in place of the source's BM25 score: the search rank is better
       then; not where the best excerpt is a record: fields and identifiers embed badly
    3  choose which are quoted                                     `choosing`, `hops`, `joins`
    4  refuse, if they do not hold what is asked for                              `refusing`
       where another source gives another value, both are quoted                 `conflicts`
    5  write each: with the name that it stands for (`naming`), or the fields that are asked for
       (`record_fields`), with what it introduces if that is asked for, or if it ends in a colon,
       citing every source that holds it (`quotation`); what exceeds `max_tokens` is left out or cut

Deterministic, without key, network, clock or randomness. MODEL is bumped whenever an answer could
change: it is part of the audit row and of the cache key, together with the embedder's model.
Between sources other tasks may run; lines are embedded in a thread.
"""

import asyncio
import bisect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from redask.core import token_count
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.rules import capabilities, determinism
from redask.core.rules.grounding import refused_answers
from redask.core.rules.grounding.refused_answers import Refusal
from redask.providers.extractive import choosing, excerpts, quotation, result_text
from redask.providers.extractive.expected_answer import AnswerShape
from redask.providers.extractive.joins import JoinGraph
from redask.providers.extractive.quotation import Quotation
from redask.providers.extractive.refusals import conflicts, empty_fields, refusing, typed_words
from redask.providers.extractive.refusals.answerability import HighestCosines
from redask.providers.extractive.relevance import ExcerptRanker, ScoredExcerpt

NAME = "extractive"
MODEL = "extractive-10"

RERANKED = 16
COSINE_WEIGHT = 1.3
RANK_WEIGHT = 0.5
_MAX_MARKERS = 3


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
        lines = result_text.told(prompt.sources)
        if lines:
            return await self._completed(_fit_lines(lines, max_tokens), emit)
        question = prompt.read_as or prompt.question
        ranker = ExcerptRanker(question, prompt.weights)
        joins = JoinGraph(question)
        passages: dict[int, excerpts.QuotableSource] = {}
        for number, source in enumerate(prompt.sources, start=1):
            passage = passages[number] = excerpts.read(source)
            ranker.add(number, passage)
            joins.add(number, source, passage)
            await asyncio.sleep(0)
        scored = ranker.rank()
        if self._cosines is not None and scored and not scored[0].excerpt.fields:
            scored = await asyncio.to_thread(_reranked, self._cosines, scored, ranker)
        chosen = choosing.choose(scored, joins, ranker)
        refusal = await self._refusal(question, ranker, passages, scored, chosen)
        if refusal is not None:
            if prompt.read_as:
                refusal = typed_words.as_typed(refusal, prompt.question, prompt.read_as)
            near = chosen[:1] if refusal.near else []
            nearest = [quotation.cite(ranker.line(one), _holders(one, scored)) for one in near]
            said = refusing.told(refusal, nearest, max_tokens)
            return replace(
                await self._completed([said] if said else [], None), warnings=(refusal.warning,)
            )
        conflict = conflicts.find(question, chosen[0], scored)
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
        scored: Sequence[ScoredExcerpt],
        chosen: Sequence[ScoredExcerpt],
    ) -> Refusal | None:
        """Why not to quote these excerpts, if there is a reason.

        A higher cosine never speaks for a refusal, so the other lines are compared only where the
        first alone would be refused.
        """
        unmentioned = ranker.unmentioned()
        refusal: Refusal | None = None
        quoted = [one.number for one in chosen]
        empty = empty_fields.find(question, passages, quoted, ranker.tokens) if chosen else None
        if empty is not None:
            return refused_answers.attribute_missing([empty.name], empty.subject)
        for lines in (chosen[:1], chosen):
            compared = await self._highest_cosines(question, scored, lines)
            refusal = refusing.decide(question, passages, chosen, unmentioned, compared)
            if refusal is None or compared is None or len(chosen) == 1:
                break
        return refusal

    async def _highest_cosines(
        self, question: str, scored: Sequence[ScoredExcerpt], quoted: Sequence[ScoredExcerpt]
    ) -> HighestCosines | None:
        """How near the lines are that were compared, and these to quote; None if none were."""
        if self._cosines is None or not quoted or not quoted[0].cosine:
            return None
        lines = [one.excerpt.text for one in quoted]
        bare = await asyncio.to_thread(self._cosines, question, lines)
        highest = max(one.cosine for one in scored)
        return HighestCosines(highest, max(bare)) if bare else None

    async def _completed(
        self, pieces: list[str], emit: Callable[[str], Awaitable[None]] | None
    ) -> Completion:
        if emit is not None:
            for piece in pieces:
                await emit(piece)
        return Completion("".join(pieces), self.model, prompt_tokens=0, completion_tokens=0)


def _reranked(
    cosines: LineCosines, scored: list[ScoredExcerpt], ranker: ExcerptRanker
) -> list[ScoredExcerpt]:
    """The same excerpts, the best of them ordered by their words and their vectors."""
    by_rank = [replace(one, score=one.score - one.source_score + _prior(one)) for one in scored]
    by_rank.sort(key=lambda one: (-one.score, one.number, one.position))
    best, others = by_rank[:RERANKED], by_rank[RERANKED:]
    found = cosines(ranker.spelt(), [ranker.in_context(one) for one in best])
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
) -> list[Quotation]:
    """What is quoted, each with the numbers of the sources that hold it."""
    quotations: list[Quotation] = []
    known: set[int] = set()
    for one in chosen:
        if not any(one.excerpt.text in each.line for each in quotations):
            whole = ranker.whole_list(one, scored)
            numbers = [part.number for part in whole] if len(whole) > 1 else _holders(one, scored)
            quoted = _quotation(one, ranker, sorted(numbers), one.number in known)
            below = "\n".join(part.excerpt.below for part in whole)
            quotations.append(replace(quoted, below=below) if len(whole) > 1 else quoted)
            known |= {part.number for part in whole}
    return quotations


def _quotation(
    one: ScoredExcerpt, ranker: ExcerptRanker, holders: Sequence[int], is_named: bool
) -> Quotation:
    excerpt = one.excerpt
    line = excerpt.text if is_named and not excerpt.fields else ranker.line(one)
    is_code = excerpt.below.startswith("```")
    is_asked = ranker.shape is AnswerShape.STEPS or (ranker.shape is not None and not is_code)
    below = excerpt.below if excerpt.leads or is_asked else ""
    if below and excerpt.leader:
        line = f"{line} {excerpt.leader}"
    return Quotation(line, tuple(holders), below, excerpt.header)


def _holders(one: ScoredExcerpt, scored: list[ScoredExcerpt]) -> list[int]:
    """Sources that hold the same line, at most _MAX_MARKERS, its own among them."""
    same = {other.number for other in scored if other.excerpt.text == one.excerpt.text}
    others = sorted(same - {one.number})[: _MAX_MARKERS - 1]
    return sorted([one.number, *others])


def _fit(quotes: list[Quotation], max_tokens: int) -> list[str]:
    """The pieces of the answer, within the budget."""
    pieces: list[str] = []
    for each in quotes:
        piece = "\n" * bool(pieces) + quotation.write(each)
        if token_count.estimate(piece) > max_tokens:
            bare = replace(each, below="", header="")
            piece = "\n" * bool(pieces) + quotation.write(bare)
        if token_count.estimate(piece) > max_tokens:
            if not pieces:
                pieces += _cut(each.line, each.numbers, max_tokens)
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


def _cut(line: str, numbers: Sequence[int], max_tokens: int) -> list[str]:
    """The longest prefix of the line that fits, cut at a space if there is one; nothing if none."""

    def shown(length: int) -> str:
        whole_words = line[:length].rpartition(" ")[0]
        return quotation.cite(f"{whole_words or line[:length]} …", numbers)

    fits = bisect.bisect_right(
        range(1, len(line)), max_tokens, key=lambda length: token_count.estimate(shown(length))
    )
    return [shown(fits)] if fits else []
