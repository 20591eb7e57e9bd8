"""Forms of a word: the parts of CamelCase, and how far apart two spellings are.

    parts      "HTTPTransport" → http, transport: before a capital after a small letter or digit,
               and before the last of several capitals that two small letters follow. A part of
               one letter belongs to its neighbour, so "iPhone" and "PhD" have no parts.
    folded     lower case, without accents: what spellings are compared by ("señal", "senal")
    distance   insertions, deletions, replacements and swaps of neighbouring letters, of folded
               spellings (optimal string alignment), at most a limit
    tolerance  the greatest distance at which one word is taken for another: none below five
               letters or with a digit, 1 below nine ("director" is no misspelt "directed"), else 2

Pure functions of the words.
"""

import re
import unicodedata
from functools import lru_cache

_CLASSES = bytes(
    ord("U") if 65 <= byte <= 90 else ord("l") if 97 <= byte <= 122 or 48 <= byte <= 57 else 32
    for byte in range(256)
)
_WORD = re.compile(r"[A-Za-z0-9]+")
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
MAX_LETTERS = 100  # a longer word is no word that somebody typed


def parts(text: str) -> list[str]:
    """The parts of the words of a text that are in mixed case, lower-cased, each once, in order."""
    classes = text.encode(errors="replace").translate(_CLASSES)
    if b"lU" not in classes and b"UUll" not in classes:  # nearly every text
        return []
    words = dict.fromkeys(_WORD.findall(text))
    return list(dict.fromkeys(part for word in words for part in split(word)))


def split(word: str) -> list[str]:
    """The parts of one word, lower-cased; none if it is in one piece."""
    if len(word) > MAX_LETTERS:
        return []
    found: list[str] = []
    for piece in _BOUNDARY.split(word):
        if found and (len(piece) == 1 or len(found[-1]) == 1):
            found[-1] += piece
        else:
            found.append(piece)
    return [piece.lower() for piece in found] if len(found) > 1 else []


def tolerance(word: str) -> int:
    """At which distance another word may be meant."""
    if not word.isalpha() or not 5 <= len(word) <= MAX_LETTERS:
        return 0
    return 1 if len(word) < 9 else 2


@lru_cache(4096)
def folded(word: str) -> str:
    """A word without case and accents."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word)
    return "".join(letter for letter in plain if not unicodedata.combining(letter)).lower()


def distance(one: str, other: str, limit: int) -> int:
    """The distance of two folded words; `limit` + 1 if it is greater than the limit."""
    if abs(len(one) - len(other)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, start=1):
        older, before, row = before, row, [at]
        for to, against in enumerate(other, start=1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != against))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == against:
                cost = min(cost, older[to - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)
