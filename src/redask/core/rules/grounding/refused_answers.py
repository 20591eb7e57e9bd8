"""What an answer says when the data does not hold what was asked: `Refusal`, its text and warning.

    reason              what `about` names
    no_evidence         the question, or the part of it that no source speaks of
    attribute_missing   what is not said of an entity that is there
    entity_missing      who or what is not there
    not_computable      words of the question that no table, column or value accounts for
    ambiguous           readings that are as good as each other

A refusal is an answer: it is accepted, cached, fingerprinted and audited like any. Its sentences
name what is missing, and say nothing else about the data; a statement beside it was not run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from redask.core.model import Notice

_MOST_WORDS = 8
_MOST_CHARACTERS = 60


class RefusalReason(StrEnum):
    """Why a question is refused."""

    NO_EVIDENCE = "no_evidence"
    ATTRIBUTE_MISSING = "attribute_missing"
    ENTITY_MISSING = "entity_missing"
    NOT_COMPUTABLE = "not_computable"
    AMBIGUOUS = "ambiguous"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that says no: its sentences, and the warning that goes with them."""

    text: str
    warning: Notice


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
    detail = f"{reason}: {about}" if about else str(reason)
    if nearest is not None:
        what += " The nearest statement, which was not run, is among the sources."
    return Refusal(what, Notice("refused", detail))


def _quoted(word: str) -> str:
    return f"“{_cut(word)}”"


def _cut(text: str) -> str:
    """The text, so that no marker can stand in it and no one can make the answer long."""
    plain = " ".join(text.replace("[^", "[ ^").split())
    return plain if len(plain) <= _MOST_CHARACTERS else f"{plain[: _MOST_CHARACTERS - 1]}…"
