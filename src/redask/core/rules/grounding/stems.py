"""Words as claims and sources are compared: the `forms` of a text, and the `spans` of its words.

    a word    a run of letters and digits with the apostrophes inside it; in scripts without
              spaces, one character
    a form    the word in lower case, without accents and `'s`, and without the endings of English
              inflection (studies, studied: study; plans, planned, planning: plan)

    a root    the first ROOT letters of a form (inhibits, inhibition, inhibitor: inhibi)

Stop words, numbers and words of up to three letters have no ending taken off. Equal forms are the
same word, equal roots are related ones. `content` keeps the roots of what carries meaning: no stop
words, digits or single Latin letters. Forms are for comparison only, never shown.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from redask.core.rules.terms import ENGLISH
from redask.core.text import compiled_later

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
_ASCII = re.compile(r"[A-Za-z0-9]++(?:'[A-Za-z0-9]++)*+")
_LETTERS = rf"(?:(?![{_UNSPACED}])[^\W_][\u0300-\u036f]*+)++"
_ANY = compiled_later(rf"[{_UNSPACED}]|{_LETTERS}(?:['’ʼ]{_LETTERS})*+")
ROOT = 6
_LONGEST = 64
_KEPT = 1 << 15
STOP_WORDS = ENGLISH | frozenset(
    "also may might upon us via within without yet lrb rrb lsb rsb".split()
)
# an ending, what takes its place, and how many letters must be left before it
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
    ("ly", "", 4),
    ("es", "e", 3),
    ("ss", "ss", 1),
    ("us", "us", 1),
    ("is", "is", 1),
    ("s", "", 3),
)


def forms(text: str) -> list[str]:
    """The forms of a text's words, in order."""
    return list(map(form, _pattern(text).findall(text)))


def spans(text: str) -> list[tuple[int, int]]:
    """The spans of a text's words, in order."""
    return [found.span() for found in _pattern(text).finditer(text)]


def content(found: Iterable[str]) -> list[str]:
    """The roots of the forms that carry meaning, each once, in order."""
    return list(dict.fromkeys([each[:ROOT] for each in found if has_meaning(each)]))


@lru_cache(_KEPT)
def form(word: str) -> str:
    """The form of a word."""
    word = _fold(word[:_LONGEST]).removesuffix("'s")
    if word in STOP_WORDS or len(word) < 4 or not word.isalpha():
        return word
    for ending, instead, least in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= least:
            word = word[: len(word) - len(ending)] + instead
            break
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aelos":
        word = word[:-1]
    return word[:-1] if len(word) > 4 and word[-1] == "e" else word


def _fold(word: str) -> str:
    if word.isascii():
        return word.lower()
    apart = unicodedata.normalize("NFKD", word.replace("’", "'").replace("ʼ", "'"))
    return "".join([letter for letter in apart if not unicodedata.combining(letter)]).lower()


@lru_cache(_KEPT)
def has_meaning(each: str) -> bool:
    """Whether a form is more than a stop word, a number or a letter."""
    if each in STOP_WORDS or each.isdigit():
        return False
    return len(each) > 1 or not each.isascii()


def _pattern(text: str) -> re.Pattern[str]:
    return _ASCII if text.isascii() else _ANY
