"""Whether a text says something in words, so that a vector of it means something: `has_words`.

    a word                                              ferry · Straße · AC-Schiene · HARBOUR · 海港
    none: digits, dates, times, codes, keys, addresses  12.50 · 2009-01-05T10:00 · FDD-12316 · EUR
    of the net, what stands for yes, no and nothing     a1b2c3 · me@example.org · true · n/a

A word is two letters or more in a row between white space or punctuation, not joined to a digit or
an underscore. Capitals alone are a word from five letters on: shorter ones are codes (`EUR`, `NEW`,
`USA`). Scripts without spaces need two characters in a row, wherever they stand.

An embedding model gives every text a vector, and those of texts without a word lie near each other
and near nothing that is asked; such values are found by their words and by SELECT. What follows
from it is decided in `embedding.embedding_text`. It takes linear time on any text.
"""

import re

from redask.core.text import compiled_later

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_LETTER = rf"[^\W\d_{_UNSPACED}]"
_TOKEN = re.compile(r"\S+")
_CODE_SIGN = re.compile(r"[\d_@\\]|://")
_RUN = compiled_later(rf"[{_UNSPACED}]{{2}}")
_LETTERS = compiled_later(rf"{_LETTER}{{2,}}")
_CAPITALS = 5
_LONGEST = 40  # letters of one word; longer runs are keys
_NO_WORDS = frozenset("true false yes no null none nil nan na".split())


def has_words(text: str) -> bool:
    """Whether there is a word in a text."""
    return any(map(_is_worded, _TOKEN.finditer(text)))


def _is_worded(token: re.Match[str]) -> bool:
    """Whether what stands between white space holds a word."""
    said = token[0]
    if _RUN.search(said):
        return True
    if _CODE_SIGN.search(said):
        return False
    return any(map(_is_word, _LETTERS.findall(said)))


def _is_word(letters: str) -> bool:
    if len(letters) > _LONGEST or letters.lower() in _NO_WORDS:
        return False
    return len(letters) >= _CAPITALS or not letters.isupper()
