"""Answer metrics: does an answer contain a gold answer, and does it cite the gold passages?

    contains_gold      it has a gold sentence whole, or of questions without those a gold answer
    gold_words         the share of a gold answer's words that it has, of the one it has most of:
                       says more of a long one
    cites_gold         it cites a gold passage; cites_all_gold: each of them, as several hops need
    gold_precision     cited passages that are gold, of all that are cited
    characters         of the answer

Texts are compared word by word after SQuAD's normalisation: lower case, punctuation and the
articles a, an, the left out. Unlike SQuAD's script, punctuation separates words instead of
joining them ("1169-1171" contains 1169), and a gold answer must match whole words ("4" is not in
"1943"). Footnote markers of the answer do not count as text, nor does the backslash that
escapes one in a quotation. A gold answer without a word is contained in nothing.
"""

import re
from collections.abc import Collection, Iterable

from redask.core.rules import citations

_WORD = re.compile(r"\w+")
_ARTICLES = frozenset(("a", "an", "the"))


def contains_answer(answer: str, gold: Iterable[str]) -> bool:
    """Whether the answer contains one of the gold answers."""
    text = f" {normalise(_without_markers(answer))} "
    return any(wanted and f" {wanted} " in text for wanted in map(normalise, gold))


def contains_sentence(answer: str, gold: Iterable[str]) -> bool:
    """Whether the answer contains one of the gold sentences, whole."""
    return contains_answer(answer, gold)


def gold_words(answer: str, gold: Iterable[str]) -> float:
    """The largest share of a gold answer's distinct words that the answer has."""
    said = frozenset(normalise(_without_markers(answer)).split())
    wanted = (frozenset(normalise(each).split()) for each in gold)
    return max((len(words & said) / len(words) for words in wanted if words), default=0.0)


def cites(cited: Collection[str], gold: Iterable[str]) -> bool:
    """Whether one of the gold passages is among those the answer cites."""
    return any(passage in cited for passage in gold)


def cites_all(cited: Collection[str], gold: Collection[str]) -> bool:
    """Whether each of the gold passages, of which there are some, is among those cited."""
    return bool(gold) and all(passage in cited for passage in gold)


def normalise(text: str) -> str:
    """The words of a text, lower-cased, without articles, one space between them."""
    return " ".join(word for word in _WORD.findall(text.lower()) if word not in _ARTICLES)


def _without_markers(answer: str) -> str:
    start, kept = 0, []
    for citation in citations.parse(answer, 0).citations:
        kept.append(answer[start : citation.span[0]])
        start = citation.span[1]
    return " ".join((*kept, answer[start:])).replace("\\[^", "[^")
