"""What kind of computing is asked for: the intent of a plan.

    statement                                         intent
    NOT EXISTS, <>, NOT IN, NOT ILIKE, IS NULL        negation
    ties kept at a limit                              latest, for the words of time; else top
    GROUP BY                                          group
    an aggregate                                      count sum average minimum maximum share
    tests: before, after a moment; < >; others        date_range, comparison, filter
    no tests                                          list

Of a question without a statement, its cues say the same. None: it can be answered by quoting.
"""

from redask.core.planning.question import cues
from redask.core.planning.question.linking import PART_COST
from redask.core.planning.question.phrases import Phrases
from redask.core.planning.statement.trees import (
    Against,
    Comparison,
    Existence,
    Junction,
    Match,
    Membership,
    Missing,
    Statement,
    Tally,
    Test,
)

_AGGREGATES = {
    "count": "count",
    "sum": "sum",
    "avg": "average",
    "min": "minimum",
    "max": "maximum",
    "share": "share",
    "percentage": "share",
}
_LATEST = frozenset("latest newest recent".split())
_BY_CUE = (
    ("each", "group"),
    ("count", "count"),
    ("aggregate", ""),
    ("extreme", "top"),
    ("common", "top"),
    ("top", "top"),
    ("between", "comparison"),
    ("compare", "comparison"),
    ("moment", "date_range"),
    ("today", "date_range"),
    ("sort", "list"),
    ("direction", "list"),
)
_MEASURES = frozenset("median percentile quartile variance deviation".split())  # not computed
_NEAR = 3  # words between "which" and the table
_SENTENCES = frozenset(
    """what which who whom whose when where why how is are was were be do does did has have had can
    could should would will may must to i we you my our""".split()
)  # a question without any of them is a heading
_SHARE = frozenset("share percentage percent proportion fraction ratio".split())


def intent_of(statement: Statement, phrases: Phrases) -> str:
    """The intent of a statement."""
    if any(map(_is_negative, statement.where)):
        return "negation"
    if statement.limit is not None:
        return "latest" if _LATEST & {token.low for token in phrases.words} else "top"
    if statement.groups:
        return "group"
    if statement.outputs[0].aggregate:
        return _AGGREGATES[statement.outputs[0].aggregate]
    if not statement.where:
        return "list"
    kinds = {cue.kind for found in phrases.cues for cue in found}
    if kinds & {"moment", "today"}:
        return "date_range"
    return "comparison" if any(map(_compares, statement.where)) else "filter"


def _is_negative(test: Test) -> bool:
    if isinstance(test, Existence | Membership | Match):
        return test.negative
    if isinstance(test, Missing):
        return not test.negative
    if isinstance(test, Junction):
        return any(map(_is_negative, test.parts))
    return isinstance(test, Comparison) and test.op == "<>"


def _compares(test: Test) -> bool:
    if isinstance(test, Junction):
        return any(map(_compares, test.parts))
    return isinstance(test, Against | Tally) or (isinstance(test, Comparison) and test.op != "=")


def is_named(phrases: Phrases) -> bool:
    """Whether a question names a table, a column or a value."""
    return any((*phrases.columns, *phrases.tables, *phrases.values))


def asked_intent(phrases: Phrases) -> str | None:
    """The intent that the words of a question show, or None when it can be looked up."""
    found = [cue for cues_here in phrases.cues for cue in cues_here if cue.payload != cues.MUCH]
    if not is_named(phrases):
        return "count" if any(cue.kind == "count" for cue in found) else None
    words = {token.low for token in phrases.words}
    if _SHARE & words:
        return "share"
    if _MEASURES & words:
        return "average"
    if any(word in cues.NEGATIVE or word.endswith("n't") for word in words):
        return "negation"
    if words & cues.DIMENSIONS.keys():
        return "comparison" if "than" in words else "top"
    kinds = {cue.kind: cue.payload for cue in found}
    for kind, intent in _BY_CUE:
        if kind in kinds:
            return intent or _AGGREGATES[kinds[kind]]
    if words & {"by", "per"} and not words & (_SENTENCES | {"sort", "order"}):
        return "group"
    return "list" if _lists_rows(phrases, words) or _lists_what_is_stored(phrases) else None


def _lists_rows(phrases: Phrases, words: set[str]) -> bool:
    """Whether rows of a table are asked for, by its name: some of them are no answer.

    "list orders …", "which late orders …", "who are the drivers?", and "late orders of Acme", which
    has no verb.
    """
    if "id" in words:
        return False  # the rows are named: each can be looked up
    tables = [each for found in phrases.tables for each in found if each.links[0].cost == 0]
    if phrases.words[0].low == "list":
        return bool(tables)
    plural = [each for each in tables if phrases.words[each.end - 1].low.endswith("s")]
    if phrases.words[0].low == "which":
        return any(each.start <= _NEAR for each in plural)
    if [word.low for word in phrases.words[:2]] == ["who", "are"]:
        return True
    return bool(plural) and not words & _SENTENCES


def _lists_what_is_stored(phrases: Phrases) -> bool:
    """Whether "which orders …" asks for all rows with a stored value: some are no answer."""
    if phrases.words[0].low not in ("which", "list") or len(phrases.words) < 2:
        return False
    ends = [each.end for each in phrases.columns[1] if each.links[0].cost <= PART_COST + 1]
    ends += [each.end for each in phrases.tables[1] if each.links[0].cost <= PART_COST + 1]
    plural = any(phrases.words[end - 1].low.endswith("s") for end in ends)
    return plural and any(value.stored for found in phrases.values for value in found)
