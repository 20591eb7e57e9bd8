"""What the last turns were about: `meant(kind, turns)` is what a pronoun of a kind stands for.

    thing     the answer's name, where the question asked for one ("which company …", "what is the
              capital of …"); else the first name of the question, else the noun it is about, else
              the answer's name
    person    whom a question about a name names ("who is …", "did Ada …"); else the answer's name
              to a question that asked who; else as a thing
    several   what the question counts or lists, with what it says of it ("the orders that are
              late"); else the names of the answer, the name or the plural of the question
    place     the answer's name, where the question asked where or for a place; else the question's
    time      the last year of the answer, else of the question

The last turn goes first; an earlier one is looked at only if the later ones name nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from redask.core.rules.followups import spoken_words
from redask.core.rules.followups.leaning import AnaphorKind
from redask.core.rules.followups.spoken_words import AUXILIARIES, PREPOSITIONS
from redask.core.text import compiled_later


@dataclass(frozen=True, slots=True)
class WholeTurn:
    """A turn whose question was made whole."""

    question: str
    answer: str


_PLACE_HEADS = r"capital|city|country|town|state|region|location|headquarters|birthplace"
_PERSON_HEADS = (
    r"author|boss|ceo|cfo|chair|coach|contact|cto|designer|director|editor|founder|head|inventor|"
    r"king|leader|manager|mayor|owner|president|queen|singer|supervisor|winner|wife|husband"
)
_THING_HEADS = (
    r"company|parent|publisher|supplier|product|album|book|film|movie|song|river|mountain|"
    r"manufacturer|label|team|customer|vendor|project|successor|predecessor"
)
_ATTRIBUTE = r"(?:what|who|where)(?: is|'s| was| are| were) (?:the )?(?:\w+ ){{0,3}}(?:{})\b"
_ASKS_PLACE = compiled_later(
    rf"where\b|{_ATTRIBUTE.format(_PLACE_HEADS)}|(?:which|what) (?:{_PLACE_HEADS})\b"
)
_ASKS_PERSON = compiled_later(
    rf"who(?:m|se)?\b|{_ATTRIBUTE.format(_PERSON_HEADS)}|(?:which|what) (?:person|employee)\b"
)
_NAMED_HEADS = f"{_PLACE_HEADS}|{_THING_HEADS}"
_ASKS_THING = compiled_later(
    rf"{_ATTRIBUTE.format(_NAMED_HEADS)}|which\b|what (?:{_NAMED_HEADS})\b"
)
_ABOUT_A_NAME = re.compile(
    r"who(?: is|'s| was) (?!the |a |an |in )|(?:who|what|when|where|why|how) (?:did|does|do) "
)
_SET = re.compile(
    r"(?:and |so )?(?:which|what|how many|list|show|show me|name|give me|find|count|tell me)"
    r"(?: me)?(?: all)?(?: of)?(?: the| our| my)? (?P<rest>.{1,400})",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\w.])(?:1[5-9]|20)[0-9]{2}(?![\w]|\.[0-9])")
_BEFORE_VERBS = frozenset("i one to we what who you".split())
_WAY = re.compile(r"\b(?:the|a|an|our) ((?:[a-z-]{1,30} )?[a-z-]{1,30} (?:to|from)) $")
_DOING = frozenset("do does did".split())
_MOST_NAMES = 4
_MOST_NOUN = 4


def meant(kind: AnaphorKind, turns: Sequence[WholeTurn]) -> str | None:
    """What a pronoun of this kind stands for, by the last turn that tells."""
    find = {
        AnaphorKind.PERSON: _person,
        AnaphorKind.THING: thing,
        AnaphorKind.PLURAL: several,
        AnaphorKind.PLACE: _place,
        AnaphorKind.TIME: _time,
    }[kind]
    return next((found for turn in reversed(turns) if (found := find(turn))), None)


def thing(turn: WholeTurn) -> str | None:
    """The one thing a turn is about."""
    asked = turn.question.lower()
    named, said = spoken_words.names(turn.question), _new_names(turn)
    if said and _ASKS_THING.match(asked):
        return said[0]
    if named:
        return _way(turn.question, named[0]) or named[0]
    if asked.startswith(("which ", "what ")) and (one := _described(turn.question)):
        return one
    return noun(turn.question) or (said[0] if said else None)


def _way(question: str, name: str) -> str | None:
    """ "the ferry to Amrum": what leads to or from a name, rather than the name."""
    found = _WAY.search(question[: question.find(name)])
    return f"the {found[1]} {name}" if found else None


def several(turn: WholeTurn) -> str | None:
    """The several things a turn is about."""
    if counted := counted_set(turn.question):
        head, rest = counted
        return _with_rest(head, rest)
    named, said = spoken_words.names(turn.question), _new_names(turn)
    if 1 < len(said) <= _MOST_NAMES and _ASKS_PERSON.match(turn.question.lower()):
        return f"{', '.join(said[:-1])} and {said[-1]}"
    if named:
        return named[0]
    words = spoken_words.read(turn.question)
    plurals = [
        word.text
        for before, word in pairwise(words)
        if before.low not in ("who", "what")  # what follows is a verb
        and spoken_words.is_content(word)
        and spoken_words.is_plural(word.text)
    ]
    if plurals:
        return plurals[-1]
    return said[0] if said else None


def counted_set(question: str) -> tuple[str, str] | None:
    """What a question counts or lists, as (noun, what it says of it): ("orders", "are late")."""
    found = _SET.match(question.strip())
    if found is None:
        return None
    rest = found["rest"].rstrip("?!. ")
    for number, word in enumerate(spoken_words.read(rest)):
        if word.low in AUXILIARIES | PREPOSITIONS or number > _MOST_NOUN:
            return None
        if spoken_words.is_content(word) and spoken_words.is_plural(word.text):
            return rest[: word.end], rest[word.end :].strip()
    return None


def noun(question: str) -> str | None:
    """The noun that a question without a name is about: behind `the`, else its last words."""
    words = spoken_words.read(question)
    runs: list[tuple[int, int]] = []  # of content words, by their numbers
    for at, word in enumerate(words):
        if not spoken_words.is_content(word):
            continue
        if runs and runs[-1][1] == at:
            runs[-1] = runs[-1][0], at + 1
        else:
            runs.append((at, at + 1))
    for first, end in runs:
        if first and words[first - 1].low in ("the", "a", "an", "our", "my"):
            doing = first > 1 and words[first - 2].low in _DOING
            stop = end - 1 if doing and _has_verb(runs, first, end) else end
            last = words[min(stop, first + _MOST_NOUN) - 1]
            return question[words[first - 1].start : last.end]
    if not runs:
        return None
    first, end = runs[-1]
    if end - first > 1 and first and words[first - 1].low in _BEFORE_VERBS:
        first += 1  # the verb
    return question[words[first].start : words[min(end, first + _MOST_NOUN) - 1].end]


def _has_verb(runs: Sequence[tuple[int, int]], first: int, end: int) -> bool:
    """Whether the words behind "does the" end in its verb: ferry leave, not ferry to Rab leave."""
    return end - first > 1 and not any(at >= end and stop - at > 1 for at, stop in runs)


def _described(question: str) -> str | None:
    """ "the order that is the largest" of "Which order is the largest?"."""
    words = spoken_words.read(question)
    if len(words) < 4 or not spoken_words.is_content(words[1]) or words[0].low != "which":
        return None
    head, rest = words[1], question[words[1].end :].strip().rstrip("?!. ")
    return _with_rest(head.text, rest)


def _with_rest(head: str, rest: str) -> str:
    first = rest.split(" ", 1)[0].lower()
    if not rest:
        return f"the {head}"
    if first in ("are", "were") and len(rest.split()) == 2 and rest.split()[1].isalpha():
        return f"the {rest.split()[1]} {head}"
    if first in PREPOSITIONS or first in ("that", "which", "who", "with"):
        return f"the {head} {rest}"
    if first in ("do", "does", "did"):  # which albums did … make
        rest = rest[len(first) :].strip()
    return f"the {head} that {rest}"


def _person(turn: WholeTurn) -> str | None:
    asked = turn.question.lower()
    named, said = spoken_words.names(turn.question), _new_names(turn)
    if named and _ABOUT_A_NAME.match(asked):
        return named[0]
    if said and _ASKS_PERSON.match(asked):
        return said[0]
    if named or said:
        return named[0] if named else said[0]
    return noun(turn.question) if _ASKS_PERSON.match(asked) else None


def _place(turn: WholeTurn) -> str | None:
    named, said = spoken_words.names(turn.question), _new_names(turn)
    if said and _ASKS_PLACE.match(turn.question.lower()):
        return said[-1] if turn.question.lower().startswith("where") else said[0]
    if named:
        return named[-1]
    return said[0] if said else None


def _time(turn: WholeTurn) -> str | None:
    years = _YEAR.findall(spoken_words.plain(turn.answer)) or _YEAR.findall(turn.question)
    return years[-1] if years else None


def _new_names(turn: WholeTurn) -> list[str]:
    """The names of an answer that its question does not name."""
    asked = turn.question.lower()
    return [name for name in spoken_words.said_names(turn.answer) if name.lower() not in asked]
