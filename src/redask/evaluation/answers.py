"""How good an answer is, by what is known to be right: does it contain the gold, and cite it?

Texts are compared word by word after SQuAD's normalisation: lower case, punctuation and the
articles a, an, the left out. Unlike SQuAD's script, punctuation parts words instead of gluing
them ("1169-1171" holds 1169), and a gold answer must stand there as whole words ("4" is not in
"1943"). Footnote markers of the answer do not count as text, nor does the backslash that
escapes one in a quotation. A gold answer without a word is contained in nothing.
"""

import re
from collections.abc import Collection, Iterable

from redask.core.rules import citations

_WORD = re.compile(r"\w+")
_ARTICLES = frozenset(("a", "an", "the"))


def contains_answer(answer: str, gold: Iterable[str]) -> bool:
    """Whether one of the gold answers stands in the answer."""
    said = f" {normalise(_without_markers(answer))} "
    return any(wanted and f" {wanted} " in said for wanted in map(normalise, gold))


def contains_sentence(answer: str, gold: Iterable[str]) -> bool:
    """Whether one of the gold sentences stands in the answer, whole."""
    return contains_answer(answer, gold)


def cites(cited: Collection[str], gold: Iterable[str]) -> bool:
    """Whether one of the gold passages is among those the answer cites."""
    return any(passage in cited for passage in gold)


def normalise(text: str) -> str:
    """The words of a text, lower-cased, without articles, one space between them."""
    return " ".join(word for word in _WORD.findall(text.lower()) if word not in _ARTICLES)


def _without_markers(answer: str) -> str:
    start, kept = 0, []
    for citation in citations.parse(answer, 0).citations:
        kept.append(answer[start : citation.span[0]])
        start = citation.span[1]
    return " ".join((*kept, answer[start:])).replace("\\[^", "[^")
