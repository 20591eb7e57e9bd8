"""The answerer without a model: it quotes the sentences that answer, and cites each.

    1  every source becomes lines to quote                               `excerpts`, `sentences`
    2  every line is rated by the question's words                       `relevance`
       with an embedder also by meaning: the best LOOKED_AT lines gain LIKE · the cosine of the
       question and "name of the source: line", and all RANKED · 10 / (9 + number of the source),
       for then search ranks better than the source's words, which no longer count; not where the
       best line is a record: columns and identifiers have words, and no meaning
    3  NO_ANSWER and no citation, if the best line covers less than REFUSE_BELOW of the question
       (and is not LIKE_ENOUGH), or no source mentions a name or number that the question is about
    4  the best line is quoted; with it the rows that it leads to and that are asked for `joining`;
       then, of those that cover at least SECOND of what it covers, the one that is best when the
       question words it adds count ADDED more: another answer, or the second hop; then a third
       that is hardly worse than the best (THIRD), if all three are short (LONGEST_OF_THREE)
    5  a quotation stands on a line of its own and cites every source that holds it; what would
       be too long for `max_tokens` is left out or cut

Deterministic, without key, network, clock or chance. MODEL is bumped whenever an answer could
change: it is part of the audit row and of the cache key, and with it the embedder's model.
Between sources other tasks get a turn; lines are embedded in a thread.
"""

import asyncio
import bisect
import math
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace

from redask.core import token_count
from redask.core.model import Knobs, Prompt
from redask.core.ports import Completion
from redask.core.rules import capabilities, determinism
from redask.providers.extractive import excerpts, quotation
from redask.providers.extractive.joins import Joining
from redask.providers.extractive.relevance import Rated, SourceReading

NAME = "extractive"
MODEL = "extractive-2"
NO_ANSWER = "The data does not hold an answer to this question."

REFUSE_BELOW = 0.25
LOOKED_AT = 16
LIKE = 1.3
LIKE_ENOUGH = 0.6
RANKED = 0.5
QUOTES = 3
SECOND = 0.3
ADDED = 0.7
THIRD = 0.3
LONGEST_OF_THREE = 500
_MOST_MARKERS = 3
_LONGEST_RECORD = 300


Alike = Callable[[str, Sequence[str]], list[float] | None]


class Extractive:
    """A provider that quotes instead of writing.

    `alike` gives the cosines of lines to a question, `embedder` names the model they come from.
    """

    name = NAME
    capabilities = capabilities.of(NAME)

    def __init__(self, alike: Alike | None = None, embedder: str = "") -> None:
        self._alike = alike
        self.model = f"{MODEL}+{embedder}" if alike else MODEL

    def narrow(self, seed: int) -> int:
        """No seed is ever sent; a wire of signed 64 bits could carry this."""
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
        """Quote what answers the question, line by line."""
        reading = SourceReading(prompt.question, prompt.weights)
        joining = Joining(prompt.question)
        for number, source in enumerate(prompt.sources, start=1):
            passage = excerpts.read(source)
            reading.take(number, passage)
            joining.take(number, source, passage)
            await asyncio.sleep(0)
        rated = reading.rank()
        if self._alike is not None and rated and not rated[0].excerpt.fields:
            rated = await asyncio.to_thread(
                _by_meaning, self._alike, prompt.question, rated, reading
            )
        pieces = _fit(_answer(reading, joining, rated), max_tokens)
        if emit is not None:
            for piece in pieces:
                await emit(piece)
        return Completion("".join(pieces), self.model, prompt_tokens=0, completion_tokens=0)


def _by_meaning(
    alike: Alike, question: str, rated: list[Rated], reading: SourceReading
) -> list[Rated]:
    """The same lines, the best of them in the order of their words and their meaning."""
    placed = [replace(one, score=one.score - one.matches + _rank(one)) for one in rated]
    placed.sort(key=lambda one: (-one.score, one.number, one.position))
    best, others = placed[:LOOKED_AT], placed[LOOKED_AT:]
    cosines = alike(question, [reading.in_context(one) for one in best])
    if cosines is None:
        return rated
    best = [
        replace(one, score=one.score + LIKE * cosine, like=cosine)
        for one, cosine in zip(best, cosines, strict=True)
    ]
    best.sort(key=lambda one: (-one.score, one.number, one.position))
    return best + others


def _rank(one: Rated) -> float:
    return RANKED * 10 / (9 + one.number)


def _answer(
    reading: SourceReading, joining: Joining, rated: list[Rated]
) -> list[tuple[str, list[int]]]:
    """The lines to quote, each with the numbers of the sources that hold it."""
    chosen = [] if reading.unmentioned() else _choose(rated, joining)
    return [(reading.shorten(one, _LONGEST_RECORD), _holders(one, rated)) for one in chosen]


def _choose(rated: list[Rated], joining: Joining) -> list[Rated]:
    """The best excerpts, no two of them alike; none when even the best covers too little."""
    if not rated or (rated[0].near < REFUSE_BELOW and rated[0].like < LIKE_ENOUGH):
        return []
    chosen = [rated[0]]
    joined = 0
    while len(chosen) < QUOTES:
        following = _joined(chosen, rated, joining)
        joined += following is not None
        following = following or _other(chosen, rated, joined)
        if following is None:
            break
        chosen.append(following)
    return chosen


def _joined(chosen: list[Rated], rated: list[Rated], joining: Joining) -> Rated | None:
    """The best record that a chosen one leads to, and the question asks for.

    Not one that has no more than question words that are quoted already.
    """
    asked = joining.asked([one.number for one in chosen])
    covered = {token for one in chosen for token in one.holds}
    for one in rated:
        repeats = bool(one.holds) and one.holds.keys() <= covered
        if one.number in asked and one.excerpt.fields and not repeats:
            return one
    return None


def _other(chosen: list[Rated], rated: list[Rated], joined: int) -> Rated | None:
    """Another answer, or what those that are chosen lack; of three rows, the last must add."""
    texts = {one.excerpt.text for one in chosen}
    covered = {token for one in chosen for token in one.holds}
    is_third = len(chosen) - joined > 1
    must_add = joined or (is_third and chosen[0].excerpt.fields)
    room = LONGEST_OF_THREE - sum(map(len, texts)) if is_third else math.inf

    def merit(one: Rated) -> float:
        return one.score + ADDED * _adds(one, covered)

    others = [
        one
        for one in rated
        if one.near >= SECOND * chosen[0].near
        and one.excerpt.text not in texts
        and len(one.excerpt.text) <= room
        and (not must_add or not one.holds.keys() <= covered)
    ]
    # `max` keeps the first of equals, which is the one that ranks higher.
    best = max(others, key=merit, default=None)
    if best is None or (is_third and merit(best) < chosen[0].score - THIRD):
        return None
    return best


def _adds(one: Rated, covered: Collection[str]) -> float:
    """The share of the question that this excerpt holds and those before it do not."""
    return sum(share for token, share in one.holds.items() if token not in covered)


def _holders(one: Rated, rated: list[Rated]) -> list[int]:
    """The sources that hold the same line, a few of them, its own among them."""
    same = {other.number for other in rated if other.excerpt.text == one.excerpt.text}
    others = sorted(same - {one.number})[: _MOST_MARKERS - 1]
    return sorted([one.number, *others])


def _fit(quotes: list[tuple[str, list[int]]], max_tokens: int) -> list[str]:
    """The pieces of the answer, within the budget."""
    if not quotes:
        return [NO_ANSWER] if token_count.estimate(NO_ANSWER) <= max_tokens else []
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


def _cut(line: str, numbers: list[int], max_tokens: int) -> list[str]:
    """As much of the line as fits, at a space if there is one, and not less than one character."""

    def shown(length: int) -> str:
        whole_words = line[:length].rpartition(" ")[0]
        return quotation.cite(f"{whole_words or line[:length]} …", numbers)

    fits = bisect.bisect_right(
        range(1, len(line)), max_tokens, key=lambda length: token_count.estimate(shown(length))
    )
    return [shown(fits)] if fits else []
