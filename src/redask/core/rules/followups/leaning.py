"""What of a question leans on an earlier one: `anaphors` in a sentence, or a `fragment` of one.

    a pronoun      it its he she him her his they them their, there, that and this and their plurals
                   with or without a noun, one and ones behind which; not where the question itself
                   names what is meant ("which products exceed their stock"), where `it` means
                   nothing ("is it possible to …"), in quotes, or in capitals (IT)
    a fragment     `and …`, `what about …`, `how about …`, `same for …` without a verb; a question
                   word alone ("When?"); `how many` or `which` without a noun ("How many are open?")

Everything else stands alone, and so does a question of more than LONGEST characters. Of each kind
the first is given: what follows leans on that.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from redask.core.rules.followups import spoken_words
from redask.core.rules.followups.spoken_words import (
    AUXILIARIES,
    CLAUSE_WORDS,
    DETERMINERS,
    PREPOSITIONS,
    QUESTION_WORDS,
    SpokenWord,
)
from redask.core.text import compiled_later


class AnaphorKind(Enum):
    """What is meant: a person, a thing, several, a place or a time."""

    PERSON = "person"
    THING = "thing"
    PLURAL = "plural"
    PLACE = "place"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Anaphor:
    """A word, or a demonstrative and its noun, that stands for something said earlier."""

    kind: AnaphorKind
    start: int
    end: int
    possessive: bool = False
    noun: str = ""


class FragmentKind(Enum):
    """How a fragment is made whole: another value, a question word, a count without a noun."""

    INSTEAD = "instead"
    WORD = "word"
    COUNT = "count"


@dataclass(frozen=True, slots=True)
class Fragment:
    """A question without a verb or noun of its own; `text` is what it brings."""

    kind: FragmentKind
    text: str


_PERSONS = {"he": False, "she": False, "him": False, "his": True, "her": False}
_THINGS = {"it": False, "its": True}
_PLURALS = {"they": False, "them": False, "their": True}
_SUBJECTS = frozenset("he she they".split())
_TIMES = frozenset("date day decade month period quarter time week year".split())
_UNITS = frozenset("afternoon evening month morning quarter season semester time week year".split())
_PERSONAL = frozenset("employee guy lady man person woman".split())
_PLACES = frozenset("area city country location place region state town".split())
_THINGS_NAMED = frozenset(
    """album article author band book case city company contract country customer document employee
    event feature file film guy incident invoice issue item lady man movie order organisation
    organization paper person place product project release report song state supplier team
    ticket tool town track vendor version woman""".split()
)
_BEHIND_A_DEMONSTRATIVE = frozenset(
    "apply mean means work works happen happened include included start started end ended".split()
)
_EXPLETIVE = compiled_later(
    r"\b(?:time|day|date) is it\b"
    r"|\bit (?:is |be |was |also |really )?(?:possible|true|ok|okay|allowed|legal|necessary|safe|"
    r"better|best|normal|worth|common|mandatory|required|correct|likely|raining|snowing|cold|hot|"
    r"too late|important|good|bad|easy|hard|difficult|wise)\b"
    r"|\bit (?:takes?|took|costs?|means?|matters?|helps?|makes? sense|seems?|appears?|happens?) "
    r"(?:me |us |you )?(?:to|that|if|whether|when|for)\b"
)
_INSTEAD = compiled_later(
    r"(?:(?:and|or|but|so|ok|okay|then)[, ]{1,2})?"
    r"(?:what|how) about (?P<about>.{1,200}?)|(?:and |the )?same for (?P<same>.{1,200}?)"
    r"|(?:and|or|also|but)[, ]{1,2}(?P<and>.{1,200}?)",
    re.IGNORECASE,
)
_WORD_ALONE = compiled_later(
    r"(?:(?:and|but|so)[, ]{1,2})?(?P<word>why|when|where|how|how many|how much|which|which ones|"
    r"which one|since when|by whom|until when|how often|how long|where to|where from|to where|"
    r"from where|from when|with whom|for whom|at what time)(?: exactly| precisely)?",
    re.IGNORECASE,
)
_COUNT = compiled_later(
    r"(?:(?:and|but|so)[, ]{1,2})?(?P<count>how many|which) "
    r"(?P<rest>(?:are|were|is|was|have|had|has|do|did|will) .{1,300})",
    re.IGNORECASE,
)
_MOST_FRAGMENT = 8
LONGEST = 500


def leans(question: str) -> bool:
    """Whether a question leans on an earlier one."""
    return fragment(question) is not None or bool(anaphors(question))


def fragment(question: str) -> Fragment | None:
    """What a fragment brings; None for a sentence."""
    if len(question) > LONGEST:
        return None
    asked = question.strip().rstrip("?!. ")
    if found := _WORD_ALONE.fullmatch(asked):
        return Fragment(FragmentKind.WORD, found["word"].lower())
    if found := _COUNT.fullmatch(asked):
        return Fragment(FragmentKind.COUNT, found["rest"])
    found = _INSTEAD.fullmatch(asked)
    if found is None:
        return None
    brought = (found["about"] or found["same"] or found["and"]).strip()
    words = [word.low for word in spoken_words.read(brought)]
    spoken = bool(found["and"]) and any(word in AUXILIARIES | QUESTION_WORDS for word in words)
    if spoken or len(words) > _MOST_FRAGMENT or not brought:
        return None
    return Fragment(FragmentKind.INSTEAD, brought)


def anaphors(question: str) -> list[Anaphor]:
    """What stands for something that the question does not name, the first of each kind."""
    if len(question) > LONGEST:
        return []
    words, named = spoken_words.read(question), spoken_words.name_spans(question)
    clauses = [_clause_start(question, words, at) for at in range(len(words))]
    expletive = [found.span() for found in _EXPLETIVE.finditer(question.lower())]
    found: dict[AnaphorKind, Anaphor] = {}
    for at, word in enumerate(words):
        if any(start <= word.start < end for start, end in expletive):
            continue
        each = _pronoun(words, at) or _demonstrative(words, at) or _place(words, at)
        if each is not None and not _has_antecedent(words, at, each, clauses[at], named):
            found.setdefault(each.kind, each)
    return sorted(found.values(), key=lambda each: each.start)


def _pronoun(words: Sequence[SpokenWord], at: int) -> Anaphor | None:
    word = words[at]
    if word.text.isupper() and len(word.text) > 1:
        return None
    for kind, known in (
        (AnaphorKind.PERSON, _PERSONS),
        (AnaphorKind.THING, _THINGS),
        (AnaphorKind.PLURAL, _PLURALS),
    ):
        if word.low in known:
            possessive = known[word.low]
            if word.low == "her":
                possessive = at + 1 < len(words) and spoken_words.is_content(words[at + 1])
            return Anaphor(kind, word.start, word.end, possessive)
    if word.low in ("one", "ones") and at and words[at - 1].low == "which":
        return Anaphor(AnaphorKind.PLURAL, word.start, word.end)
    return None


def _demonstrative(words: Sequence[SpokenWord], at: int) -> Anaphor | None:
    word, before = words[at], words[at - 1] if at else None
    if word.low not in ("that", "this", "those", "these"):
        return None
    kind = AnaphorKind.PLURAL if word.low in ("those", "these") else AnaphorKind.THING
    behind = words[at + 1] if at + 1 < len(words) else None
    relative = before is not None and spoken_words.is_content(before)
    if behind is None or behind.low in AUXILIARIES | PREPOSITIONS | _BEHIND_A_DEMONSTRATIVE:
        spoken = behind is None or (before is not None and before.low in AUXILIARIES)
        spoken = spoken or (before is not None and before.low in QUESTION_WORDS and not relative)
        return Anaphor(kind, word.start, word.end) if spoken else None
    if word.low == "this" and behind.low in _UNITS:
        return None
    noun = behind.low
    if noun in _TIMES:
        return None if relative and noun == "time" else _noun(AnaphorKind.TIME, word, behind)
    several = kind is AnaphorKind.PLURAL
    known = noun.removesuffix("s") in _THINGS_NAMED and spoken_words.is_plural(noun) is several
    if not spoken_words.is_content(behind) or (relative and not known):
        return None
    if noun in _PERSONAL:
        kind = AnaphorKind.PERSON
    elif noun in _PLACES:
        kind = AnaphorKind.PLACE
    return _noun(kind, word, behind)


def _noun(kind: AnaphorKind, word: SpokenWord, behind: SpokenWord) -> Anaphor:
    return Anaphor(kind, word.start, behind.end, noun=behind.low)


def _place(words: Sequence[SpokenWord], at: int) -> Anaphor | None:
    if words[at].low != "there" or not at:
        return None
    around = {words[at - 1].low, words[at + 1].low if at + 1 < len(words) else ""}
    if around & (AUXILIARIES | {"be", "been", "being", "not"}):
        return None
    return Anaphor(AnaphorKind.PLACE, words[at].start, words[at].end)


def _has_antecedent(
    words: Sequence[SpokenWord],
    at: int,
    it: Anaphor,
    clause: int,
    named: Sequence[tuple[int, int]],
) -> bool:
    """Whether the question names before it what a pronoun stands for.

    A possessive or a subject may mean anything before it; an object only what an earlier clause
    names, for "Did Acme buy it?" is about something else.
    """
    if it.noun:
        return False
    anything = it.possessive or words[at].low in _SUBJECTS
    earlier = _before_its_noun(words, at) if anything else clause
    if earlier and any(end <= words[earlier - 1].end for _, end in named):
        return True
    for index in range(1, earlier):
        word, before = words[index], words[index - 1].low
        if not spoken_words.is_content(word) or before in PREPOSITIONS:
            continue
        introduced = before in DETERMINERS or (
            index > 1
            and spoken_words.is_content(words[index - 1])
            and words[index - 2].low in DETERMINERS
        )
        several = it.kind is AnaphorKind.PLURAL and spoken_words.is_plural(word.text)
        if introduced or several:
            return True
    return False


def _before_its_noun(words: Sequence[SpokenWord], at: int) -> int:
    """The number of words before "the name of" in "the name of its owner"."""
    if at < 2 or words[at - 1].low != "of":
        return at
    first = at - 1
    while first and spoken_words.is_content(words[first - 1]):
        first -= 1
    return first


def _clause_start(question: str, words: Sequence[SpokenWord], at: int) -> int:
    """The number of the first word of the clause that a word stands in."""
    for index in range(at, 0, -1):
        between = question[words[index - 1].end : words[index].start]
        if any(mark in between for mark in ",;:.?!—("):
            return index
        if words[index].low in CLAUSE_WORDS and index < at:
            return index
    return 0
