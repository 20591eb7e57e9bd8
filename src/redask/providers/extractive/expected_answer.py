"""What kind of thing a question asks for: `of` it, and whether a text has one: `found`.

    who, whom, whose, where, which country …       NAME     a capitalised word inside the text
    when, what year, which century …               DATE     a year, a month, 19th, century
                                                            (any other number is half a date)
    how many, how old, what percentage …           NUMBER   digits, or a number word
    everything else, other languages too           nothing, and nothing is found

The first question word decides. What stands in the question itself is not what it asks for.

`names` are what a question is about beyond doubt: numbers of three digits and more and, if it is
asked in English (others capitalise any noun), words with a capital but for the first.
"""

import re
from collections.abc import Collection
from enum import StrEnum

from redask.core.rules import terms


class Sought(StrEnum):
    """The kinds of answers that can be told by their looks."""

    NAME = "name"
    DATE = "date"
    NUMBER = "number"


_ASKS = re.compile(
    r"\b(?:(who|whom|whose|where)|(when)|(how)|(?:what|which)|why)\b(?:\W{1,4}(\w{1,32}))?",
    re.IGNORECASE,
)
_MEASURES = frozenset(
    "many much old long far tall high big large fast often deep wide heavy".split()
)
_NOUNS = {
    **dict.fromkeys("century date day decade month period time year years".split(), Sought.DATE),
    **dict.fromkeys(
        "age amount cost number percent percentage population price rate share size".split(),
        Sought.NUMBER,
    ),
    **dict.fromkeys(
        "city company country people person place region state team".split(), Sought.NAME
    ),
}
_DATE = re.compile(
    r"\b(?:1[0-9]{3}s?|20[0-9]{2}s?|[0-9]{1,2}(?:st|nd|rd|th)|centur(?:y|ies)|decades?"
    r"|January|February|March|April|May|June|July|August|September|October|November|December)\b"
)
_NUMBER = re.compile(
    r"[0-9][0-9.,]{0,32}|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|twenty|thirty|forty|fifty|hundred|thousand|million|billion|half|third|quarter|dozen|once"
    r"|twice)\b"
)
_LONG_NUMBER = re.compile(r"(?<![\w.,])[0-9]{3,64}(?![\w]|[.,][0-9])")
_NAME = re.compile(r"(?<=\W)[^\W\d_a-z][\w'-]{0,64}")


def of(question: str) -> Sought | None:
    """What the question asks for, if its first question word tells."""
    asks = _ASKS.search(question)
    if asks is None:
        return None
    named, dated, measured, following = asks.groups(default="")
    if named or dated:
        return Sought.NAME if named else Sought.DATE
    if measured:
        return Sought.NUMBER if following.lower() in _MEASURES else None
    return _NOUNS.get(following.lower())


def found(sought: Sought | None, text: str, said: Collection[str]) -> float:
    """From 0 to 1: whether the text has what is sought, and `said` does not hold it."""
    if sought is Sought.NAME:
        return float(_has(_NAME, text, said, terms.ENGLISH))
    if sought is Sought.NUMBER:
        return float(_has(_NUMBER, text, said))
    if sought is Sought.DATE:
        return 1.0 if _has(_DATE, text, said) else 0.5 * _has(_NUMBER, text, said)
    return 0.0


def names(question: str) -> list[str]:
    """The names and numbers a question asks about, in order."""
    found = [(one.start(), one[0]) for one in _LONG_NUMBER.finditer(question)]
    if _ASKS.search(question):
        capitalised = [(one.start(), one[0]) for one in _NAME.finditer(question.lstrip(" \"'“‘("))]
        found += [one for one in capitalised if one[1].lower() not in terms.ENGLISH]
    return [name for _, name in sorted(found)]


def _has(pattern: re.Pattern[str], text: str, *known: Collection[str]) -> bool:
    for one in pattern.finditer(text):
        word = one[0].rstrip(".,").lower()
        if not any(word in words for words in known):
            return True
    return False
