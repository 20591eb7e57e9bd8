"""What kind of computing a question or a statement is: one of the intents of the plan."""

from redask.core.planning.phrases import Phrases
from redask.core.planning.trees import Existence, Statement


def intent_of(statement: Statement, phrases: Phrases) -> str:
    """The intent of a statement."""
    if any(isinstance(test, Existence) and test.negative for test in statement.where):
        return "negation"
    if statement.limit is not None:
        return "top"
    if statement.groups:
        return "group"
    names = {"count": "count", "sum": "sum", "avg": "average", "min": "minimum", "max": "maximum"}
    for output in statement.outputs:
        if output.aggregate:
            return names[output.aggregate]
    return "filter" if statement.where else "list"


def asks_to_compute(phrases: Phrases) -> str | None:
    """The intent that the cues of a question show, or None when it can be looked up."""
    kinds = {cue.kind: cue.payload for found in phrases.cues for cue in found}
    if not any((*phrases.columns, *phrases.tables, *phrases.values)):
        return None
    for kind, intent in (
        ("count", "count"),
        ("aggregate", "average"),
        ("extreme", "top"),
        ("common", "top"),
        ("top", "top"),
        ("each", "group"),
        ("compare", "comparison"),
        ("moment", "date_range"),
        ("sort", "list"),
    ):
        if kind in kinds:
            return intent
    return None
