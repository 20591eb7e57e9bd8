"""`plan`: a question becomes one SELECT that is certain, or what was not understood.

    the question                                                     plan
    every word accounted for, one statement clearly the cheapest     Certain
    it asks to compute, but a word or a choice is open               Unclear
    it names nothing of the schema, or can be answered by quoting    NotComputed

Readings are ranked by cost: how far each phrase is from the name it stands for, and how many parts
a reading has. Another statement that costs little more than the cheapest is a doubt, and so is a
reading that costs less and is ambiguous, and a statement whose phrases are far from their names.
"""

from dataclasses import dataclass, replace
from datetime import date

from redask.core.planning.intents import asked_intent, intent_of, is_named
from redask.core.planning.plan_schema import PlanSchema, ValueIndex
from redask.core.planning.question.linking import Linker, linker
from redask.core.planning.question.phrases import (
    Phrases,
    doer_in_several_tables,
    read,
    unknown_words,
)
from redask.core.planning.question.question_grammar import QuestionGrammar
from redask.core.planning.statement import sql_text
from redask.core.planning.statement.counted_rows import counted_rows
from redask.core.planning.statement.key_paths import Doubt
from redask.core.planning.statement.other_meanings import other_meaning
from redask.core.planning.statement.resolution import statements
from redask.core.planning.statement.told_results import told
from redask.core.planning.statement.trees import Statement

_MARGIN, _LIMIT, _FOR_EACH_TEST = 2, 10, 2
_MAX_WORDS = 80
_ASKING = frozenset("what which who whom whose when where why how".split())


@dataclass(frozen=True, slots=True)
class Certain:
    """The statement that answers the question; `reading` holds the phrases and what they name.

    `examples` gives the URNs of some rows behind a count, `told` the same rows with more to tell:
    names, the number behind the most, the period that was meant.
    """

    sql: str
    intent: str
    coverage: float
    reading: tuple[str, ...]
    examples: str | None = None
    told: str | None = None


@dataclass(frozen=True, slots=True)
class Unclear:
    """What was not understood, the nearest statement if there is one, and the kind of refusal."""

    missing: tuple[str, ...]
    nearest: str | None
    intent: str
    kind: str = "not_computable"
    is_named: bool = True  # something of the schema; else only a text may answer


@dataclass(frozen=True, slots=True)
class NotComputed:
    """A question to look up: search answers it."""


Planned = Certain | Unclear | NotComputed


def plan(
    question: str, schema: PlanSchema, values: ValueIndex, today: date | None = None
) -> Planned:
    """The plan of a question over what the caller may read."""
    names = linker(schema)
    phrases = read(question, names, values, today)
    if not phrases.words or len(phrases.words) > _MAX_WORDS:
        return NotComputed()
    grammar = QuestionGrammar(phrases)
    ranked, doubts = _ranked(grammar, names)
    if ranked and (doer := doer_in_several_tables(phrases)):
        return _unclear(phrases, (doer,), ranked[0][1], "ambiguous")
    if ranked:
        cost, sql, statement = ranked[0]
        nearer = [doubt for price, doubt in doubts if price < cost and doubt.kind == "ambiguous"]
        if nearer:
            return _unclear(phrases, (nearer[0].about,), sql, "ambiguous")
        close = any(price <= cost + _MARGIN for price, _, _ in ranked[1:])
        if not close and cost <= _LIMIT + _FOR_EACH_TEST * len(statement.where):
            intent = intent_of(statement, phrases)
            if (open_word := other_meaning(statement, phrases, names)) is not None:
                return Unclear((open_word,), sql, intent, "ambiguous")
            examples, words = counted_rows(statement), [token.low for token in phrases.words]
            more = told(statement, names, words)
            return Certain(sql, intent, 1.0, _named(phrases), examples, more)
        return _unclear(phrases, (), sql, "ambiguous" if close else "not_computable")
    if doubts:
        _, first = doubts[0]
        return _unclear(phrases, (first.about,), None, first.kind)
    rest = phrases.words[grammar.furthest : grammar.furthest + 1]
    last = tuple(token.text for token in rest if token.low not in _ASKING)
    return _unclear(phrases, unknown_words(phrases) or last, None, "not_computable")


def _ranked(
    grammar: QuestionGrammar, names: Linker
) -> tuple[list[tuple[int, str, Statement]], list[tuple[int, Doubt]]]:
    """The different statements that the readings mean, cheapest first, and the doubts.

    A doubt comes with the least that its reading could have cost.
    """
    found: dict[str, tuple[int, Statement]] = {}
    doubts: list[tuple[int, Doubt]] = []
    for reading in grammar.readings():
        for each in statements(reading, names):
            if isinstance(each, Doubt):
                doubts.append((reading.cost, each))
                continue
            statement, cost = each
            meaning = sql_text.write(replace(statement, distinct=False))
            if meaning not in found or cost < found[meaning][0]:
                found[meaning] = (cost, statement)
    ranked = [(cost, sql_text.write(statement), statement) for cost, statement in found.values()]
    return sorted(ranked, key=lambda each: (each[0], each[1])), doubts


def _named(phrases: Phrases) -> tuple[str, ...]:
    """The longest phrases that name tables and columns, with what they name best."""
    found: list[str] = []
    place = 0
    while place < len(phrases.words):
        spans = [(each.end, each.links[0].place) for each in phrases.columns[place]]
        spans += [(each.end, each.links[0].place) for each in phrases.tables[place]]
        end, name = max(spans, key=lambda span: span[0], default=(place + 1, ""))
        if name:
            words = " ".join(token.text for token in phrases.words[place:end])
            found.append(f"{words}: {name}")
        place = end
    return tuple(found)


def _unclear(
    phrases: Phrases, missing: tuple[str, ...], nearest: str | None, kind: str
) -> Unclear | NotComputed:
    """A refusal, where the question asks to count, or to compute over what the schema names."""
    intent = asked_intent(phrases)
    if intent is None or not (missing or is_named(phrases)):
        return NotComputed()
    told = tuple(word for word in missing if word)
    return Unclear(told, nearest, intent, kind, is_named(phrases))


def considered(
    question: str, schema: PlanSchema, values: ValueIndex, today: date | None = None
) -> tuple[tuple[int, str], ...]:
    """The statements that `plan` chooses among, cheapest first, with their costs."""
    names = linker(schema)
    phrases = read(question, names, values, today)
    if not phrases.words or len(phrases.words) > _MAX_WORDS:
        return ()
    ranked, _ = _ranked(QuestionGrammar(phrases), names)
    return tuple((cost, sql) for cost, sql, _ in ranked)
