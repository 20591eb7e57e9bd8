"""The name that a quotation stands for: `named` gives the line with what it needs to be understood.

    the line                                              becomes
    opens with a pronoun (he, it, this …), the sentence   both sentences
    before it holds the name, and is not long
    opens with a pronoun or "the battle" of the title     [title] line
    lacks question words that the title or a heading      [that title or heading] line
    has; lacks the date or version that is asked for,
    and a heading has it
    has few words, says "this setting", or opens with     [last heading] line; after the former, if
    a verb ("Provides …")                                 that is another one: [title > heading]

A record, an edge or a row of a table tells what it is about. The name is a field of the same
source, so that the line is still supported. Only the first quotation of a source needs a name.
"""

import math
import re
from collections.abc import Callable, Mapping

from redask.core.rules import terms
from redask.core.text import compiled_later
from redask.providers.extractive.excerpts import Excerpt, QuotableSource

MIN_GAIN = 0.12
_MAX_NAME = 80
_MAX_BEFORE = 220
_FEW_WORDS = 8
_PRONOUN = re.compile(
    r"\W{0,4}(?:it|its|he|his|she|her|they|their|this|these|that|those|such|both)\b", re.IGNORECASE
)
_DEFINITE = re.compile(r"\W{0,4}(?:the|this|that|these|those) (\w{2,32})", re.IGNORECASE)
_THIS_KIND = re.compile(
    r"\bthis (?:argument|class|command|extension|flag|function|hook|library|method|module|option"
    r"|package|parameter|plugin|property|setting|variable)\b",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"(?:Adds|Allows|Applies|Causes|Contains|Controls|Converts|Creates|Defines|Determines|Disables"
    r"|Displays|Enables|Forces|Gets|Gives|Indicates|Limits|Lists|Lets|Loads|Makes|Prevents|Prints"
    r"|Provides|Removes|Returns|Runs|Sets|Shows|Specifies|Stores|Takes|Tells|Uses)\b"
)
_DECLARED = re.compile(r"--?\w[\w-]{0,60}|[A-Za-z]\w{0,60}(?:[_.:]{1,2}\w{1,60}){1,8}(?:\(\))?")
_ENDS = compiled_later(r"[.!?…][\"'”’»)\]]{0,4}$")
_INNER_END = re.compile(r"[.!?…。！？](?:\s|$)")
_DATED = re.compile(r"\b(?:1[0-9]|20)[0-9]{2}\b|\b[0-9]{1,4}\.[0-9]{1,4}")
_ASKS_WHEN = re.compile(r"\b(?:when|version|release|year|date|since)\b", re.IGNORECASE)


def opens_with_pronoun(text: str) -> bool:
    """Whether a line stands for something that was named before it."""
    return _PRONOUN.match(text) is not None


def named(
    passage: QuotableSource,
    position: int,
    question: str,
    missing: Mapping[str, float],
    tokens: Callable[[str], list[str]],
) -> str:
    """The line at this position; `missing` are the question words that it lacks."""
    excerpt = passage.excerpts[position]
    line = excerpt.text
    if excerpt.fields or excerpt.header or passage.ends or line in passage.headings:
        return line
    headings = [each for each in (*passage.headings, excerpt.heading) if each and each != line]
    known = [each for each in (passage.name, *headings) if _is_name(each)]
    pronoun = opens_with_pronoun(line)
    if pronoun and position:
        before = passage.excerpts[position - 1]
        if _is_antecedent(before, excerpt, passage, tokens):
            return f"{before.text} {line}"
    if _ASKS_WHEN.search(question) and not _is_dated(line, question):
        dated = [each for each in known if _DATED.search(each)]
        if dated:
            return f"[{dated[-1]}] {line}"
    held = frozenset(tokens(line))
    gains = [_gain(frozenset(tokens(each)), held, missing) for each in known]
    best = max(gains, default=0.0)
    path = [known[gains.index(best)]] if best >= MIN_GAIN else []
    needs_heading = (
        line.count(" ") < _FEW_WORDS - 1
        or _THIS_KIND.search(line)
        or _VERB.match(line)
        or (headings and _is_declared(headings[-1], line))
    )
    if needs_heading and headings and _is_name(headings[-1]):
        path.append(headings[-1])
    if path:
        return f"[{' > '.join(dict.fromkeys(path))}] {line}"
    if _is_name(passage.name) and (pronoun or _is_part_of_name(line, passage.name)):
        return f"[{passage.name}] {line}"
    return line


def _is_declared(heading: str, line: str) -> bool:
    """Whether a heading is an identifier, which a line below is about, and does not name."""
    names = heading.split(", ")
    return all(map(_DECLARED.fullmatch, names)) and not any(each in line for each in names)


def _is_dated(line: str, question: str) -> bool:
    """Whether a line has a date or version that the question does not have."""
    return any(each not in question for each in _DATED.findall(line))


def _is_name(text: str) -> bool:
    """Whether it can stand in brackets: short, and not a sentence that ends inside them."""
    return 0 < len(text) <= _MAX_NAME and not _INNER_END.search(text) and "]" not in text


def _gain(name: frozenset[str], held: frozenset[str], missing: Mapping[str, float]) -> float:
    """What a name adds of the question; nothing if the line has half of it, perhaps respelt."""
    if 2 * len(name & held) >= len(name):
        return 0.0
    return math.fsum(missing.get(token, 0.0) for token in name)


def _is_antecedent(
    before: Excerpt, excerpt: Excerpt, passage: QuotableSource, tokens: Callable[[str], list[str]]
) -> bool:
    """Whether a pronoun stands for a name of this sentence."""
    if (
        before.fields
        or before.heading != excerpt.heading
        or before.text in (*passage.headings, before.heading)
        or len(before.text) > _MAX_BEFORE
        or opens_with_pronoun(before.text)
        or not _ENDS.search(before.text)
    ):
        return False
    name = frozenset(tokens(passage.name))
    return not name or not name.isdisjoint(tokens(before.text))


def _is_part_of_name(line: str, name: str) -> bool:
    """Whether the line opens with "the battle" and the name is "Battle of …"."""
    opening = _DEFINITE.match(line)
    if opening is None or opening[1] != opening[1].lower():
        return False
    words = [word for word in terms.words(name) if word not in terms.ENGLISH]
    return opening[1].lower() in words and not set(words) <= set(terms.words(line))
