"""A question that leans on earlier ones, made whole: `understood(question, turns)`.

    And its phone number?                What is the phone number of Acme?
    What about Brazil?                   the question before, with Brazil in place of its country
    And the jib?                         the question before, with it in place of "the sail"
    And a standard customer?             the question before, with it in place of "a gold customer"
    And in 2019?                         the question before, with that year, or with it behind
    When?                                When did …? of "Did …?"; else "…, and when?"
    How many are open?                   How many orders are open?
    a pronoun in a sentence              what it stands for: see `antecedents`

None where the question stands alone, or nothing said earlier makes it whole: then it is asked as
it is. Earlier questions that leaned are made whole first, so that a topic lives on. Words of the
history only: nothing is read for it. The result is a question within the bounds of one.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from redask.core.model import Ask, Notice, Turn
from redask.core.rules.followups import antecedents, leaning, spoken_words
from redask.core.rules.followups.antecedents import WholeTurn
from redask.core.rules.followups.leaning import (
    LONGEST,
    Anaphor,
    AnaphorKind,
    Fragment,
    FragmentKind,
)
from redask.core.rules.followups.spoken_words import AUXILIARIES, PREPOSITIONS
from redask.core.text import question_fault

UNDERSTOOD_AS = "understood_as"
_POSSESSIVE = re.compile(r"(?:the|its|his|her|their|our|a|an) ", re.IGNORECASE)
_NOUN_PHRASE = re.compile(
    r"(?P<article>(?:the|an?) )?(?:[\w\-]{1,30} ){1,3}(?P<noun>[\w\-]{1,30})", re.IGNORECASE
)
_YEAR = re.compile(r"(?<![\w.])(?:1[5-9]|20)[0-9]{2}(?!\w)")
_NUMBER = re.compile(r"(?<![\w.])[0-9][0-9.,]*(?!\w)")
_OF = re.compile(
    r"(?P<head>.{0,60}?\b(?:is|are|was|were|'s) )(?P<the>the )?(?P<what>[\w \-]{1,60}?)"
    r"(?P<of> (?:of|for) .{1,300})"
)
_GENITIVE = re.compile(r"(?P<head>.{0,200}?['’]s? )(?P<what>[\w \-]{1,60})")
_PREDICATE = re.compile(r"(?P<head>.{1,300} (?:are|were|is|was) )(?P<what>[\w\-]{1,40})")
_WHOSE = {
    "its": AnaphorKind.THING,
    "his": AnaphorKind.PERSON,
    "her": AnaphorKind.PERSON,
    "their": AnaphorKind.PLURAL,
}
_DOES = re.compile(r"\b(?:do|does|did) $", re.IGNORECASE)
_LONG = 4


def understood(question: str, turns: Sequence[Turn]) -> str | None:
    """The question as it is meant after these turns; None if that is how it stands."""
    if not turns or not leaning.leans(question):
        return None
    before: list[WholeTurn] = []
    for turn in turns:
        before.append(WholeTurn(_whole(turn.question, before) or turn.question, turn.answer))
    whole = _whole(question, before)
    if whole is None or whole == question or question_fault(whole):
        return None
    return whole


def by_rule(ask: Ask) -> tuple[Ask, tuple[Notice, ...]]:
    """The ASK with its question made whole, and the warning that says so."""
    whole = understood(ask.question, ask.history)
    if whole is None:
        return ask, ()
    return replace(ask, question=whole), (Notice(UNDERSTOOD_AS, whole),)


def _whole(question: str, before: Sequence[WholeTurn]) -> str | None:
    if not before:
        return None
    if brought := leaning.fragment(question):
        return _completed(brought, before) if len(before[-1].question) <= LONGEST else None
    return _substituted(question, leaning.anaphors(question), before)


def _substituted(
    question: str, found: Sequence[Anaphor], before: Sequence[WholeTurn]
) -> str | None:
    """The question with what its pronouns stand for; None if one of them is not known."""
    made, at = [], 0
    for each in found:
        meant = antecedents.meant(each.kind, before)
        if meant is None:
            return None
        start, end, put = _placed(question, each, meant)
        made += [question[at:start], put]
        at = end
    return _opened("".join([*made, question[at:]])) if made else None


def _placed(question: str, it: Anaphor, meant: str) -> tuple[int, int, str]:
    """What is to be replaced by what."""
    before, end = question[: it.start], it.end
    if it.kind is AnaphorKind.TIME:
        return it.start, end, meant if before.rstrip().lower().endswith("in") else f"in {meant}"
    if it.kind is AnaphorKind.PLACE and not it.noun:
        return it.start, end, f"in {meant}"
    if not it.possessive:
        last = before.rstrip().rsplit(" ", 1)[-1].lower()
        ones = question[it.start : end].lower() in ("one", "ones")
        return it.start, end, f"of {meant}" if ones and last == "which" else meant
    if len(meant.split()) <= _LONG and not meant.startswith("the "):
        return it.start, end, f"{meant}'s"
    owned = _owned(question, end)
    if not owned:
        return it.start, end, meant
    return it.start, end + owned, f"the{question[end : end + owned]} of {meant}"


def _owned(question: str, start: int) -> int:
    """How long the words behind a possessive are that belong to it."""
    length = 0
    for word in spoken_words.read(question[start:]):
        if not spoken_words.is_content(word) or question[start:][length : word.start].strip():
            break
        length = word.end
    return length


def _completed(brought: Fragment, before: Sequence[WholeTurn]) -> str | None:
    last = before[-1].question.strip().rstrip("?!. ")
    match brought.kind:
        case FragmentKind.WORD:
            return _with_word(brought.text, last)
        case FragmentKind.COUNT:
            counted = next(
                (
                    got
                    for turn in reversed(before)
                    if (got := antecedents.counted_set(turn.question))
                ),
                None,
            )
            return f"How many {counted[0]} {brought.text}?" if counted else None
        case _:
            return _instead(brought.text, last, before)


def _with_word(word: str, last: str) -> str | None:
    first = last.split(" ", 1)[0].lower()
    if word in ("how many", "which", "which ones", "which one"):
        counted = antecedents.counted_set(last)
        asks = "How many" if word == "how many" else "Which"
        return f"{asks} {' '.join(filter(None, counted))}?" if counted else None
    if first in AUXILIARIES:
        return f"{word.capitalize()} {last[0].lower()}{last[1:]}?"
    return f"{last}, and {word}?"


def _instead(text: str, last: str, before: Sequence[WholeTurn]) -> str | None:
    """The question before about something else, or an attribute of what it was about."""
    first, _, rest = text.partition(" ")
    if first.lower() in PREPOSITIONS and rest:
        return _with_phrase(first.lower(), rest, last)
    if (other := _same_noun(text, last)) is not None:
        return f"{last[: other[0]]}{text}{last[other[1] :]}?"
    if _POSSESSIVE.match(text):
        return _attribute(_POSSESSIVE.sub("", text, count=1), text, last, before)
    if (slot := _slot(text, last)) is not None:
        return f"{last[: slot[0]]}{text}{last[slot[1] :]}?"
    if text[0].islower() and (found := _PREDICATE.fullmatch(last)) and " " not in text:
        return f"{found['head']}{text}?"
    if text[0].islower():
        return _attribute(text, f"the {text}", last, before)
    return None


def _slot(text: str, last: str) -> tuple[int, int] | None:
    """Where the last question has something of the same type."""
    for pattern in (_YEAR, _NUMBER):
        if pattern.fullmatch(text):
            return next((each.span() for each in reversed([*pattern.finditer(last)])), None)
    if spoken_words.is_time(text.split(" ", 1)[0]):
        words = [each for each in spoken_words.read(last) if spoken_words.is_time(each.text)]
        return (words[-1].start, words[-1].end) if words else None
    if not text[0].isupper() and text[0] not in "\"'“«`":
        return None
    spans = spoken_words.name_spans(last)
    return spans[-1] if spans else None


def _same_noun(text: str, last: str) -> tuple[int, int] | None:
    """Where the last question has the noun of a phrase like "a standard customer", otherwise."""
    said = _NOUN_PHRASE.fullmatch(text)
    if said is None:
        return None
    lead = (
        r"(?:the|an?|each|every) (?:[\w\-]{1,30} ){1,3}?" if said["article"] else r"[\w\-]{1,30} "
    )
    noun = re.escape(said["noun"])
    found = [*re.finditer(rf"(?<!\w){lead}{noun}(?!\w)", last, re.IGNORECASE)]
    return found[0].span() if len(found) == 1 else None


def _with_phrase(preposition: str, rest: str, last: str) -> str:
    """The last question with another phrase of this preposition, or with it behind."""
    slot = _slot(rest, last)
    if slot is None:
        return f"{last} {preposition} {rest}?"
    before = last[: slot[0]].rstrip()
    head, _, word = before.rpartition(" ")
    if word.lower() in PREPOSITIONS:
        return f"{head} {preposition} {rest}{last[slot[1] :]}?"
    return f"{last[: slot[0]]}{rest}{last[slot[1] :]}?"


def _attribute(what: str, written: str, last: str, before: Sequence[WholeTurn]) -> str | None:
    """ "What is the phone number of …": of whatever the last question was about."""
    whose = written.split(" ", 1)[0].lower()
    kind = _WHOSE.get(whose, AnaphorKind.THING)
    if whose not in _WHOSE and (found := _OF.fullmatch(last)):
        return f"{found['head']}{found['the'] or ''}{what}{found['of']}?"
    if whose not in _WHOSE and (found := _GENITIVE.fullmatch(last)):
        return f"{found['head']}{what}?"
    if whose == "the" and not spoken_words.names(last):
        about = antecedents.noun(last) or ""
        # "When does the ferry leave?" "And the fare?": what it does may not be what the fare does
        if about.lower().startswith("the ") and not _DOES.search(last[: last.find(about)]):
            return f"{last.replace(about, f'the {what}', 1)}?"
    meant = antecedents.meant(kind, before)
    if meant is None:
        return None
    verb = "are" if spoken_words.is_plural(what.rsplit(maxsplit=1)[-1]) else "is"
    return f"What {verb} the {what} of {meant}?"


def _opened(question: str) -> str:
    """A question without the `And` that tied it to the last one."""
    for word in ("And ", "But ", "So "):
        if question.startswith(word):
            rest = question[len(word) :]
            return rest[:1].upper() + rest[1:]
    return question
