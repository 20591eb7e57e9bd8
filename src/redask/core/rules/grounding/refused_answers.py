"""What an answer says when the data does not hold what was asked: `Refusal`, its text and warning.

    reason              what `about` names
    no_evidence         the question, or the part of it that no source speaks of
    attribute_missing   what is not said of an entity that is there
    entity_missing      who or what is not there
    not_computable      words of the question that no table, column or value accounts for
    ambiguous           readings that are as good as each other

A refusal is an answer: it is accepted, cached, fingerprinted and audited like any. Its sentences
name what is missing, and say nothing else about the data; a statement beside it was not run.

A model is told to write NOT_IN_THE_SOURCES where the sources do not answer; its answer is a
refusal if it is that sentence and nothing else. The built-in answerer says itself that it refuses
(`Completion.warnings`). `is_refusal` asks an answer's warnings.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from redask.core.model import Notice

REFUSED = "refused"
NOT_IN_THE_SOURCES = "The sources do not answer this question."
NO_ANSWER = "The data does not hold an answer to this question."
_FEW_WORDS = 3
_MOST_WORDS = 8
_MOST_CHARACTERS = 60
_PARTS = re.compile(r"[-_/.:#]")


class RefusalReason(StrEnum):
    """Why a question is refused."""

    NO_EVIDENCE = "no_evidence"
    ATTRIBUTE_MISSING = "attribute_missing"
    ENTITY_MISSING = "entity_missing"
    NOT_COMPUTABLE = "not_computable"
    AMBIGUOUS = "ambiguous"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that says no: its sentences, and the warning that goes with them.

    `near`: what was found is about the same, so the nearest of it is worth showing.
    """

    text: str
    warning: Notice
    near: bool = False


def is_refusal(warnings: Iterable[Notice]) -> bool:
    """Whether an answer with these warnings is a refusal."""
    return any(warning.kind == REFUSED for warning in warnings)


def is_model_refusal(text: str) -> bool:
    """Whether the text is the sentence that a model is told to refuse with."""
    return text.strip() == NOT_IN_THE_SOURCES


def by_model(text: str, question: str) -> tuple[Notice, ...]:
    """The warning of an answer that a model wrote: empty unless it refuses."""
    if not is_model_refusal(text):
        return ()
    return (_warning(RefusalReason.NO_EVIDENCE, _cut(question)),)


def not_mentioned(names: Sequence[str]) -> Refusal:
    """No source mentions these names, numbers or identifiers of the question."""
    what = f"Nothing here mentions {_listed(names)}."
    return Refusal(what, _warning(RefusalReason.ENTITY_MISSING, _plain(names)))


def not_said_of(names: Sequence[str]) -> Refusal:
    """What was found is not about these names, numbers or dates of the question."""
    what = f"Nothing here says what is asked of {_listed(names)}."
    return Refusal(what, _warning(RefusalReason.ENTITY_MISSING, _plain(names)), near=True)


def attribute_missing(words: Sequence[str], subject: Sequence[str]) -> Refusal:
    """What was found does not speak of this, of somebody or something that is there."""
    whom = f" of {_cut(' '.join(_whole(subject)))}" if subject else ""
    what = f"Nothing here says {_listed(words)}{whom or ' of what is asked'}."
    about = f"{_plain(words)}{whom}"
    return Refusal(what, _warning(RefusalReason.ATTRIBUTE_MISSING, about), near=True)


def no_evidence(question: str, absent: Sequence[str] = ()) -> Refusal:
    """Too little of what was found has to do with the question; `absent`: words nothing has."""
    what = f"Nothing here mentions {_listed(absent)}." if absent else NO_ANSWER
    return _refusal(RefusalReason.NO_EVIDENCE, _cut(question), what, None)


def not_said(question: str, words: Sequence[str]) -> Refusal:
    """These words of the question are there, but what is asked of them is not said."""
    what = f"Nothing here says what is asked of {_listed(words)}." if words else NO_ANSWER
    return Refusal(what, _warning(RefusalReason.NO_EVIDENCE, _cut(question)), near=bool(words))


def kind_missing(question: str, kind: str, words: Sequence[str]) -> Refusal:
    """What was found has nothing of the kind that is asked for ("a number"), of these words."""
    what = f"Nothing here gives {kind} for {_listed(words)}." if words else NO_ANSWER
    return Refusal(what, _warning(RefusalReason.NO_EVIDENCE, _cut(question)), near=bool(words))


def not_planned(reason: str, about: Sequence[str], nearest: str | None) -> Refusal:
    """The question needs computing, and the planner is not certain how; `about` is what is open."""
    if reason == RefusalReason.AMBIGUOUS:
        return _ambiguous(about, nearest)
    named = ", ".join(_quoted(word) for word in about[:_MOST_WORDS])
    what = f"I cannot compute this with certainty: I do not know what {named} stands for here."
    if not about:
        what = "I cannot compute this with certainty from the tables that I can read."
    return _refusal(RefusalReason.NOT_COMPUTABLE, ", ".join(about[:_MOST_WORDS]), what, nearest)


def _ambiguous(about: Sequence[str], nearest: str | None) -> Refusal:
    named = "; ".join(_cut(reading) for reading in about[:_MOST_WORDS])
    what = f"This question can be read in more than one way{f': {named}' if named else ''}."
    return _refusal(RefusalReason.AMBIGUOUS, named, what, nearest)


def failed(problem: str, nearest: str | None) -> Refusal:
    """A statement was found for the question, and could not be run to its end."""
    what = f"I cannot compute this: {problem}."
    return _refusal(RefusalReason.NOT_COMPUTABLE, problem, what, nearest)


def plan_only() -> Refusal:
    """The caller wanted to see the statement, not its result."""
    what = "The statement was not run: PLAN ONLY shows it and computes nothing."
    return _refusal(RefusalReason.NOT_COMPUTABLE, "PLAN ONLY", what, None)


def _refusal(reason: RefusalReason, about: str, what: str, nearest: str | None) -> Refusal:
    if nearest is not None:
        what += " The nearest statement, which was not run, is among the sources."
    return Refusal(what, _warning(reason, about))


def _warning(reason: RefusalReason, about: str) -> Notice:
    return Notice(REFUSED, f"{reason}: {about}" if about else str(reason))


def _listed(words: Sequence[str]) -> str:
    return ", ".join(map(_quoted, _whole(words)[:_FEW_WORDS]))


def _plain(words: Sequence[str]) -> str:
    return ", ".join(map(_cut, _whole(words)[:_FEW_WORDS]))


def _whole(words: Sequence[str]) -> list[str]:
    """The words, each once, without those that are a part of another: FDD-12316, not 12316."""
    parts = {
        part for word in words for part in _PARTS.split(word) if part != word and len(part) > 1
    }
    return [word for word in dict.fromkeys(words) if word not in parts]


def _quoted(word: str) -> str:
    return f"“{_cut(word)}”"


def _cut(text: str) -> str:
    """The text, so that no marker can stand in it and no one can make the answer long."""
    printable = "".join([each if each.isprintable() else " " for each in text])
    plain = " ".join(printable.replace("[^", "[ ^").split())
    return plain if len(plain) <= _MOST_CHARACTERS else f"{plain[: _MOST_CHARACTERS - 1]}…"
