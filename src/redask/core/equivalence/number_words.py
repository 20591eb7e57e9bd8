"""Numbers in English words: `read(text, position)` reads the longest one that starts there.

    cardinal    zero … nineteen · twenty … ninety (-one) · N hundred (and N) · N thousand, million …
                a dozen, a hundred: `a` counts as one before hundred, thousand, dozen …
    ordinal     first … · twenty-first · hundredth
    fraction    half a, half of, half the · one third, two-thirds, three quarters · two and a half

The text is lower case; words are joined by a space, a hyphen, ` - `, or ` and ` after hundred and
above. `one` alone reads as a number unless the words around it make it a pronoun (no one, one of).
Plural magnitudes (thousands of) say no number.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from redask.core.text import compiled_later

_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
    fifteen sixteen seventeen eighteen nineteen""".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINAL_ONES = """zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh
    twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth""".split()
_DENOMINATORS = {
    "half": 2,
    "halves": 2,
    "quarter": 4,
    "quarters": 4,
    **{word: n for n, word in enumerate(_ORDINAL_ONES) if 3 <= n <= 20},
    **{f"{word}s": n for n, word in enumerate(_ORDINAL_ONES) if 3 <= n <= 20},
}

CARDINALS: dict[str, int] = {
    **{word: n for n, word in enumerate(_ONES)},
    **{word: 10 * n for n, word in enumerate(_TENS, 2)},
}
ORDINALS: dict[str, int] = {
    **{word: n for n, word in enumerate(_ORDINAL_ONES)},
    **{f"{word[:-1]}ieth": 10 * n for n, word in enumerate(_TENS, 2)},
    "hundredth": 100,
    "thousandth": 1000,
    "millionth": 10**6,
}
_MULTIPLIERS = {"dozen": 12, "hundred": 100, **_SCALES}


_WORD = compiled_later(r"(?P<join> and | ?[-‐‑] ?| )?(?P<word>[a-z]{1,12})(?![a-z])")
_PRONOUN_BEFORE = re.compile(
    r"(?<![a-z])(?:no|any|every|each|some|the|this|that|which|another|either"
    r"|neither|only|last)[ -]\Z"
)
_PRONOUN_AFTER = compiled_later(
    r" (?:of|another|or|who|that|which|can|could|should|must|may|might|would|has|is|to|day|by one"
    r"|and the same|and only|such|side|'s)(?![a-z])|['’.,;:)]"
)
_OF_A_WHOLE = re.compile(r" (?:of|the|a|an|its|their|his|her|all)(?![a-z])")


@dataclass(frozen=True, slots=True)
class SpeltNumber:
    """A number in words: where it ends, its value, and which of three kinds it is."""

    end: int
    value: Fraction
    ordinal: bool = False
    fraction: bool = False


def read(text: str, position: int) -> SpeltNumber | None:
    """The number in words that starts at `position` of lower-case text, or None."""
    first = _WORD.match(text, position)
    if first is None:
        return None
    word, end = first["word"], first.end()
    if word == "half":
        return (
            SpeltNumber(end, Fraction(1, 2), fraction=True)
            if _OF_A_WHOLE.match(text, end)
            else None
        )
    if word in ("a", "an"):
        return _after_article(text, end)
    if word in ORDINALS:
        return SpeltNumber(end, Fraction(ORDINALS[word]), ordinal=True)
    if word not in CARDINALS:
        return None
    number = _cardinal(text, end, CARDINALS[word])
    if number.end == end and word == "one" and not number.fraction and _is_pronoun(text, first):
        return None
    return number


def _is_pronoun(text: str, one: re.Match[str]) -> bool:
    start = one.start("word")
    before = _PRONOUN_BEFORE.search(text, max(0, start - 10), start)
    return before is not None or _PRONOUN_AFTER.match(text, one.end()) is not None


def _after_article(text: str, end: int) -> SpeltNumber | None:
    following = _WORD.match(text, end)
    if following is None or following["join"] != " ":
        return None
    word, after = following["word"], following.end()
    if word in _MULTIPLIERS:
        return _cardinal(text, after, 1, word)
    if word in ("third", "quarter", "fifth", "tenth", "half") and text.startswith(" of ", after):
        return SpeltNumber(after, Fraction(1, _DENOMINATORS[word]), fraction=True)
    return None


def _cardinal(text: str, end: int, current: int, word: str = "") -> SpeltNumber:
    """Words are added while they can belong to one number: `current` is below the last scale."""
    total, scale = 0, 10**15
    if word:
        current, total, scale = _multiplied(current, total, scale, word)
    while (found := _WORD.match(text, end)) is not None and found["join"]:
        word, joined_by_and = found["word"], found["join"] == " and "
        if joined_by_and and (word == "a" or not _round(current)):
            return _and_a_half(text, found, end, total + current)
        if word in _MULTIPLIERS and not joined_by_and and _multiplies(current, word, scale):
            current, total, scale = _multiplied(current, total, scale, word)
        elif (value := CARDINALS.get(word, 0)) and _adds(current, value):
            current += value
        elif (value := ORDINALS.get(word, 0)) and _adds(current, value) and total + current:
            return SpeltNumber(found.end(), Fraction(total + current + value), ordinal=True)
        elif _divides(total + current, word):
            value = _DENOMINATORS[word]
            return SpeltNumber(found.end(), Fraction(total + current, value), fraction=True)
        else:
            break
        end = found.end()
    return SpeltNumber(end, Fraction(total + current))


def _round(current: int) -> bool:
    return current % 100 == 0


def _adds(current: int, value: int) -> bool:
    """Whether `value` can follow: tens and ones after hundreds, ones after tens."""
    if value >= 100:
        return False
    return current % 100 == 0 or (value < 10 and current % 10 == 0 and current % 100 >= 20)


def _multiplies(current: int, word: str, scale: int) -> bool:
    if word in _SCALES:
        return current > 0 and _SCALES[word] < scale
    return 0 < current < 100


def _multiplied(current: int, total: int, scale: int, word: str) -> tuple[int, int, int]:
    if word in _SCALES:
        return 0, total + current * _SCALES[word], _SCALES[word]
    return current * _MULTIPLIERS[word], total, scale


def _divides(number: int, word: str) -> bool:
    """One third, two thirds: the denominator has the number's number."""
    return word in _DENOMINATORS and 0 < number < 100 and word.endswith("s") == (number > 1)


def _and_a_half(text: str, found: re.Match[str], end: int, number: int) -> SpeltNumber:
    part = _WORD.match(text, found.end()) if found["word"] in ("a", "one") else None
    if part is not None and part["word"] in ("half", "quarter", "third"):
        value = number + Fraction(1, _DENOMINATORS[part["word"]])
        return SpeltNumber(part.end(), value, fraction=True)
    return SpeltNumber(end, Fraction(number))
