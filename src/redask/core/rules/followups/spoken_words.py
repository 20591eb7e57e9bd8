"""The words of a question or an answer, and those that make one lean on another.

`read` gives the words with their places; `names` the proper names, quoted phrases and identifiers,
in order, without days and months; `plain` an answer without its markers. The lists are English: a
question in another language holds none of these words, so it stands alone.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from redask.core.rules import terms
from redask.core.rules.grounding import names as proper_names
from redask.core.rules.grounding import stems
from redask.core.text import compiled_later

_WORD = compiled_later(r"[^\W_]++(?:['’.\-][^\W_]++)*+")
_QUOTED = compiled_later(
    r'"[^"\n]{1,200}"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|`[^`\n]{1,200}`|(?<!\w)\'[^\'\n]{2,200}\'(?!\w)'
)
_MARKER = re.compile(r"\s?\[\^[0-9]{1,10}\]")
_NUMBER_BEHIND = re.compile(r" (?:#|No\.? )?[0-9][0-9A-Za-z.\-]{0,30}(?<![.\-])")
_JOINS = re.compile(r" (?:of|of the|de|van|von|for) ")
_LABELLED = re.compile(
    r"(?:^|[,;|\n(]\s?|\*\*)(?:full )?(?:name|title)(?:\*\*)?: ?([^,;|\n]{1,80})"
)
_NEAR = 40
_LEADS = frozenset(
    """according although after as at based because before both by during each every first for from
    here if in its last most no none nothing on one only our some that the there these this those to
    two under unfortunately we when while with yes""".split()
)

DETERMINERS = frozenset(
    "a all an any each every many most my no one our some the two what whatever which your".split()
)
AUXILIARIES = frozenset(
    """am are can could did do does had has have is may might must shall should was were will would
    isn't aren't wasn't weren't don't doesn't didn't can't won't""".split()
)
QUESTION_WORDS = frozenset("how what when where which who whom whose why".split())
PREPOSITIONS = frozenset(
    """about after at before between by during for from in into of on over per since through to
    under until with within without""".split()
)
CLAUSE_WORDS = frozenset(
    "and because but how if or than that what when where which while who whose why".split()
)
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_TIME_WORDS = frozenset(
    """january february march april may june july august september october november december jan feb
    mar apr jun jul aug sep sept oct nov dec today tomorrow yesterday q1 q2 q3 q4""".split()
    + [day + ending for day in _DAYS for ending in ("", "s")]
)
_EMPTY = _TIME_WORDS | frozenset("else exactly many much one ones please".split())
_PLURALS = frozenset("children men people staff women data criteria".split())


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """A word as it stands in a text, and in lower case."""

    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        return self.text.lower().replace("’", "'")


def read(text: str) -> list[SpokenWord]:
    """The words of a text, but for those in quotes."""
    quoted = [found.span() for found in _QUOTED.finditer(text)]
    words, at = [], 0
    for found in _WORD.finditer(text):
        while at < len(quoted) and quoted[at][1] <= found.start():
            at += 1
        if at == len(quoted) or found.start() < quoted[at][0]:
            words.append(SpokenWord(found[0], *found.span()))
    return words


def is_time(word: str) -> bool:
    """Whether a word names a day, days of the week, a month or a quarter."""
    return word.lower() in _TIME_WORDS


def is_plural(word: str) -> bool:
    """Whether a word looks like the plural of a noun."""
    low = word.lower()
    return low in _PLURALS or (len(low) > 3 and low.endswith("s") and low[-2] not in "suia'")


def is_content(word: SpokenWord) -> bool:
    """Whether a word carries meaning by itself."""
    return stems.has_meaning(stems.form(word.text)) and word.low not in _EMPTY


def plain(answer: str) -> str:
    """An answer without its markers."""
    return _MARKER.sub("", answer).strip()


def names(text: str) -> list[str]:
    """The names of a question."""
    return list(dict.fromkeys(text[start:end] for start, end in name_spans(text)))


def said_names(answer: str) -> list[str]:
    """The names of an answer: what is labelled a name, else those in its sentences."""
    text = plain(answer)
    if labelled := [found[1].strip() for found in _LABELLED.finditer(text)]:
        return list(dict.fromkeys(labelled))
    return list(dict.fromkeys(text[start:end] for start, end in name_spans(text, said=True)))


def name_spans(text: str, *, said: bool = False) -> list[tuple[int, int]]:
    """Where the names of a text stand; with `said`, the first word of a sentence may be one."""
    spans = sorted({*_quoted(text), *_identifiers(text), *_proper(text, said)})
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        elif merged and _joined(text, merged[-1], (start, end)):
            merged[-1] = merged[-1][0], end
        else:
            merged.append((start, end))
    return merged


def _quoted(text: str) -> Iterator[tuple[int, int]]:
    return (found.span() for found in _QUOTED.finditer(text))


def _identifiers(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for literal in terms.literals(text):
        start = text.find(literal, at)
        if start >= 0 and not is_time(literal):
            at = start + len(literal)
            yield start, at


def _proper(text: str, said: bool) -> Iterator[tuple[int, int]]:
    spans = stems.spans(text)
    forms = [stems.form(text[start:end]) for start, end in spans]
    for name in proper_names.find(text, spans, forms):
        start, end = spans[name.first][0], spans[name.end - 1][1]
        shown = text[start:end]
        if is_time(shown) or not (name.sure or _is_subject(text, start, end, said)):
            continue
        end -= 2 * shown.endswith(("'s", "’s"))
        behind = _NUMBER_BEHIND.match(text, end)
        yield start, behind.end() if behind else end


def _is_subject(text: str, start: int, end: int, said: bool) -> bool:
    """Whether a first word that is capitalised is a name all the same."""
    shown = text[start:end]
    if shown.endswith(("'s", "’s")):
        return True
    if not said or shown.lower() in _LEADS:
        return False
    rest = text[end : end + _NEAR].lstrip(" ")
    following = _WORD.match(rest)
    if following is None:
        return not rest.strip(" .!\n") or rest.startswith(",")
    return following[0].lower() in AUXILIARIES | {"and"}


def _joined(text: str, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two names are one: University of Oxford; not CEO of Acme."""
    between = text[one[1] : other[0]]
    return _JOINS.fullmatch(between) is not None and not text[slice(*one)].isupper()
