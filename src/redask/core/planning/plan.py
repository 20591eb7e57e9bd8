"""`plan`: a question becomes one SELECT that is certain, or what was not understood.

    the question                                                     plan
    every word accounted for, one statement clearly the cheapest     Certain
    it asks to compute, but a word or a choice is open               Unclear
    it names nothing of the schema, or can be answered by quoting    NotComputed

Readings are ranked by cost: how far each phrase is from the name it stands for, and how many parts
a reading has. Another statement that costs little more than the cheapest is a doubt.
"""

from dataclasses import dataclass, replace
from datetime import date

from redask.core.planning import sql_text
from redask.core.planning.counted_rows import counted_rows
from redask.core.planning.intents import asks_to_compute, intent_of
from redask.core.planning.joins import Doubt
from redask.core.planning.linking import Linker, linker
from redask.core.planning.phrases import Phrases, read
from redask.core.planning.plan_schema import PlanSchema, ValueIndex
from redask.core.planning.question_grammar import QuestionGrammar
from redask.core.planning.resolution import statements
from redask.core.planning.trees import Statement

_MARGIN, _LIMIT, _MAX_WORDS = 2, 10, 80


@dataclass(frozen=True, slots=True)
class Certain:
    """The statement that answers the question; `reading` says what each phrase was taken for.

    `examples` gives the URNs of some rows behind a count.
    """

    sql: str
    intent: str
    coverage: float
    reading: tuple[str, ...]
    examples: str | None = None


@dataclass(frozen=True, slots=True)
class Unclear:
    """What was not understood, the nearest statement if there is one, and the kind of refusal."""

    missing: tuple[str, ...]
    nearest: str | None
    intent: str
    kind: str = "not_computable"


@dataclass(frozen=True, slots=True)
class NotComputed:
    """A question to look up: search answers it."""


Planned = Certain | Unclear | NotComputed


def plan(
    question: str, schema: PlanSchema, values: ValueIndex, today: date | None = None
) -> Planned:
    """The plan of a question over what the caller may read."""
    names = linker(schema)
    phrases = read(question, names, values)
    if not phrases.words or len(phrases.words) > _MAX_WORDS:
        return NotComputed()
    grammar = QuestionGrammar(phrases)
    ranked, doubts = _ranked(grammar, names)
    if ranked:
        cost, sql, statement = ranked[0]
        close = [other for price, other, _ in ranked[1:] if price <= cost + _MARGIN]
        if not close and cost <= _LIMIT + 2 * len(statement.where):
            return Certain(sql, intent_of(statement, phrases), 1.0, (), counted_rows(statement))
        kind = "ambiguous" if close else "not_computable"
        return _unclear(phrases, (), sql, kind)
    if doubts:
        return _unclear(phrases, (doubts[0].about,), None, doubts[0].kind)
    return _unclear(phrases, _unread(phrases, grammar.furthest), None, "not_computable")


def _ranked(
    grammar: QuestionGrammar, names: Linker
) -> tuple[list[tuple[int, str, Statement]], list[Doubt]]:
    """The different statements that the readings mean, cheapest first, and the doubts."""
    found: dict[str, tuple[int, Statement]] = {}
    doubts: list[Doubt] = []
    for reading in grammar.readings():
        for each in statements(reading, names):
            if isinstance(each, Doubt):
                doubts.append(each)
                continue
            statement, cost = each
            meaning = sql_text.write(replace(statement, distinct=False))
            if meaning not in found or cost < found[meaning][0]:
                found[meaning] = (cost, statement)
    ranked = [(cost, sql_text.write(statement), statement) for cost, statement in found.values()]
    return sorted(ranked, key=lambda each: (each[0], each[1])), doubts


def _unread(phrases: Phrases, furthest: int) -> tuple[str, ...]:
    """The word at which every reading stopped."""
    return tuple(token.text for token in phrases.words[furthest : furthest + 1])


def _unclear(
    phrases: Phrases, missing: tuple[str, ...], nearest: str | None, kind: str
) -> Unclear | NotComputed:
    intent = asks_to_compute(phrases)
    if intent is None:
        return NotComputed()
    return Unclear(missing, nearest, intent, kind)
