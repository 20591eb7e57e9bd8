"""`plan_directly`: a row by its key, else what `plan` is certain of, else a person, a word.

question                                    plan
names a row by its table and key            Certain, intent `row`             `named_rows`
a number of a row by its key or name        Certain, intent `row`             `keyed_quantities`
certain by its words                        as `plan.plan` has it
the revenue in May                          as `plan.plan` has the total  `total_questions`
a column of a person by both names          Certain, intent `row`             `named_people`
who or what such a row refers to            Certain, intent `row`             `referred_rows`
who was hired first, who earns the most     Certain, intent `top`             `ranked_rows`
counts or lists rows that hold a word       Certain, intent `mixed`: a        `mentioning_rows`
                                            search, computed over
anything else                               as `plan.plan` has it
"""

from datetime import date

from redask.core.planning.direct.keyed_quantities import quantity_statement
from redask.core.planning.direct.mentioning_rows import mention_statement
from redask.core.planning.direct.named_people import person_statement
from redask.core.planning.direct.named_rows import row_statement
from redask.core.planning.direct.ranked_rows import ranked_statement
from redask.core.planning.direct.referred_rows import referred_statement
from redask.core.planning.direct.total_questions import total_question
from redask.core.planning.plan import Certain, Planned, plan
from redask.core.planning.plan_schema import PlanSchema, ValueIndex
from redask.core.planning.question.linking import linker
from redask.core.planning.question.words import tokens

_MOST_WORDS = 24
_MOST_CHARACTERS = 1_000


def plan_directly(
    question: str, schema: PlanSchema, values: ValueIndex, today: date | None = None
) -> Planned:
    """The plan of a question over what the caller may read."""
    names = linker(schema)
    words = [word for word in tokens(question[:_MOST_CHARACTERS]) if word.kind != "mark"]
    if len(words) > _MOST_WORDS:
        return plan(question, schema, values, today)
    if row := row_statement(words, names, values):
        return row
    if quantity := quantity_statement(words, names, values):
        return quantity
    planned = plan(question, schema, values, today)
    if isinstance(planned, Certain):
        return planned
    if total := total_question(question, words, names):
        added = plan(total, schema, values, today)
        if isinstance(added, Certain):
            return added
    if person := person_statement(words, names, values):
        return Certain(person, "row", 1.0, ())
    if referred := referred_statement(words, names, values):
        return referred
    if ranked := ranked_statement(words, names):
        return ranked
    if mention := mention_statement(words, names):
        return Certain(mention[0], "mixed", 1.0, (), mention[1])
    return planned
