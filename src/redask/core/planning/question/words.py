"""Words of questions and of identifiers: tokens with their places, and stems.

    token kind   what it is
    word         letters, with inner apostrophes and hyphens
    number       digits with separators, a decimal part, `%`
    date         `2019-03-12`, `12/03/2019`
    quoted       what stands between quotation marks
    mark         one of , . ; : ? ! ( ) & = < > and combinations of the last three

`stem` maps the forms of an English word to one key (students → student, opened → open). Keys are
compared with each other and never shown. `identifier_words` splits CamelCase, underscores and
digits, and writes out abbreviations. Everything is linear in the length of the text.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    r"""(?P<quoted>["“”«»](?P<inner>[^"“”«»]{1,200})["“”«»]
        |(?<![\w])['‘’`](?P<single>[^'‘’`"]{1,200})['‘’`](?!\w))
    |(?P<date>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?![0-9])|[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}(?![0-9]))
    |(?P<number>-?[0-9]++(?:,[0-9]{3})*+(?:\.[0-9]++)?(?![A-Za-z])%?)
    |(?P<word>\w++(?:['’.&-](?=\w)\w++)*+)
    |(?P<mark><=|>=|!=|<>|[,.;:?!()&=<>])""",
    re.VERBOSE,
)
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_IRREGULAR = {
    "people": "person",
    "persons": "person",
    "children": "child",
    "men": "man",
    "women": "woman",
    "lives": "live",
    "series": "series",
    "species": "species",
    "feet": "foot",
    "wives": "wife",
    "countries": "country",
    "movies": "movie",
    "movie": "movie",
    "data": "data",
    "held": "hold",
    "taught": "teach",
    "gave": "give",
    "given": "give",
    "taken": "take",
    "took": "take",
    "won": "win",
    "paid": "pay",
    "payed": "pay",
    "bought": "buy",
    "sold": "sell",
    "made": "make",
    "born": "birth",
    "birthday": "birth",
    "lengths": "length",
    "addresses": "address",
    "address": "address",
    "bus": "bus",
    "gas": "gas",
    "status": "status",
    "statuses": "status",
    "campus": "campus",
    "campuses": "campus",
    "analysis": "analysis",
    "branches": "branch",
    "licence": "license",
    "has": "have",
    "had": "have",
    "does": "do",
    "did": "do",
}
_ABBREVIATIONS = {
    "fname": ("first", "name"),
    "lname": ("last", "name"),
    "num": ("number",),
    "no": ("number",),
    "nbr": ("number",),
    "qty": ("quantity",),
    "dob": ("date", "birth"),
    "addr": ("address",),
    "dept": ("department",),
    "emp": ("employee",),
    "stu": ("student",),
    "avg": ("average",),
    "amt": ("amount",),
    "desc": ("description",),
    "tel": ("telephone",),
    "lat": ("latitude",),
    "long": ("longitude",),
    "lng": ("longitude",),
    "min": ("minimum",),
    "max": ("maximum",),
    "tot": ("total",),
    "cred": ("credit",),
    "prereq": ("prerequisite",),
    "bday": ("birth",),
    "ids": ("id",),
}
_INITIALS = {"f": "first", "l": "last", "m": "middle"}


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """A piece of a question: `text` as written, or what a quotation holds."""

    kind: str
    text: str
    low: str
    stem: str
    start: int
    end: int


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """The key under which the forms of a word are equal."""
    low = word.lower().removesuffix("'s").removesuffix("’s").rstrip("'’")
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if len(low) > 3:
        low = _without_plural(low)
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if len(low) > 5 and low.endswith("ing"):
        low = _undouble(low[:-3])
    elif len(low) > 4 and low.endswith("ed") and not low.endswith("eed"):
        low = _undouble(low[:-2])
    return low[:-1] if len(low) > 3 and low.endswith("e") else low


def _without_plural(low: str) -> str:
    if low.endswith("ies"):
        return low[:-3] + "y"
    if low.endswith(("sses", "ches", "shes", "xes", "zes")):
        return low[:-2]
    if low.endswith("s") and not low.endswith(("ss", "us", "is")):
        return low[:-1]
    return low


def _undouble(low: str) -> str:
    if len(low) > 3 and low[-1] == low[-2] and low[-1] not in "lsz":
        return low[:-1]
    return low


def tokens(text: str) -> tuple[QuestionWord, ...]:
    """The tokens of a question in text order."""
    found = []
    for match in _TOKEN.finditer(text):
        kind = str(match.lastgroup)
        if match["quoted"] is not None:
            kind, inner = "quoted", (match["inner"] or match["single"] or "").strip()
        else:
            inner = match.group()
        low = inner.lower().replace("’", "'")
        found.append(QuestionWord(kind, inner, low, stem(low), match.start(), match.end()))
    return tuple(found)


def identifier_words(name: str) -> tuple[str, ...]:
    """The stems of the words in an identifier: `CustomerID` → customer, id."""
    parts: list[str] = []
    for match in _PART.finditer(name):
        low = match.group().lower()
        if low == "name" and parts and parts[-1] in _INITIALS:
            parts[-1] = _INITIALS[parts[-1]]
        parts += _ABBREVIATIONS.get(low, (low,))
    return tuple(stem(part) for part in parts)


def spoken_stem(word: str) -> str:
    """The stem of a word of a question, abbreviations written out where that is one word."""
    whole = _ABBREVIATIONS.get(word.lower(), (word,))
    return stem(whole[0]) if len(whole) == 1 else stem(word)
