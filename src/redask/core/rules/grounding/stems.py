"""Words as claims and sources are compared: `words` of a text, and the `stem` of each.

A word is a run of letters and digits, lower-cased, accents removed, `'s` cut off; "n't" stays
with its verb. `stem` takes off the endings of English inflection and little more (studies,
studied → study; houses, housing → hous): equal stems are the same word in another form. A stop
word is its own stem; CONTENT is what `content` keeps: neither stop words, nor digits, nor single
letters. Stems are for comparison only, never shown.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from redask.core.rules.terms import ENGLISH

_WORD = re.compile(r"[^\W_]+(?:['’ʼ][^\W_]+)*")
_MAX_LETTERS = 64
_KEPT = 1 << 15
STOP_WORDS = ENGLISH | frozenset("also may might upon us via within without yet".split())


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return _WORD.findall(fold(text))


def fold(text: str) -> str:
    """A text in lower case, without accents, apostrophes as '; the same length is not kept."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.replace("’", "'").replace("ʼ", "'"))
    return "".join([letter for letter in apart if not unicodedata.combining(letter)]).lower()


@lru_cache(_KEPT)
def stem(word: str) -> str:
    """The word without its inflection."""
    word = word[:_MAX_LETTERS].removesuffix("'s")
    if word in STOP_WORDS or len(word) < 4 or not word.isalpha():
        return word
    for ending, instead, least in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aelos":
        word = word[:-1]  # planned, planning: plan
    return word[:-1] if len(word) > 4 and word[-1] == "e" else word


_ENDINGS = (
    ("iness", "y", 3),
    ("ies", "y", 2),
    ("ied", "y", 2),
    ("ily", "y", 3),
    ("sses", "ss", 1),
    ("ness", "", 3),
    ("ings", "", 3),
    ("ing", "", 3),
    ("edly", "", 3),
    ("ed", "", 3),
    ("ers", "er", 3),
    ("ly", "", 4),
    ("es", "e", 3),
    ("ss", "ss", 1),
    ("us", "us", 1),
    ("is", "is", 1),
    ("s", "", 3),
)


def content(stems: Iterable[str]) -> list[str]:
    """The stems that carry meaning, each once, in order."""
    return [
        each
        for each in dict.fromkeys(stems)
        if each not in STOP_WORDS and len(each) > 1 and not each.isdigit()
    ]
