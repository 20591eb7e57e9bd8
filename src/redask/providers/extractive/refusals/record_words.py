"""What a question asks of a record that does not say it: `unsaid(question, quoted)`.

    question                     record                             unsaid
    csat of Harbor Analytics     account: Harbor Analytics, …       csat
    who drove trip 12?           employee: id 12, full_name: …      drove, trip
    status of order 7            order: 7, status: paid             –: a field of it is asked for
    where is Elbe Hub?           depot: Elbe Hub, city: Hamburg     –: nothing else is asked
    which contract renews next?  vendor: …, renewal: 2028-05-01     next: others are not compared

A record of which no field is asked for would be quoted whole, as if it answered. It answers only if
it has every word: in a value, in the name of a field, or in that of its collection. Words that ask
for a record, and little ones, need not be there; a price is what something costs, if it is shown.
"""

import re
from collections.abc import Sequence

from redask.core.rules.grounding import stems
from redask.core.text import lower
from redask.providers.extractive import record_fields, result_text
from redask.providers.extractive.excerpts import QuotableSource

_ASKING = frozenset(
    stems.form(word)
    for word in """work know tell show give find get see look say mean about info information detail
    record entry row data list all any everything have use belong live locate there here
    old start name call many much long often wrong problem issue matter happen""".split()
)
_PRICES = frozenset("cost price fee charge".split())
_PRICED = re.compile(
    r"price|cost|fee|charge|(?:^|[_\W])(?:eur|usd|gbp|chf)(?:$|[_\W])", re.IGNORECASE
)
_RANKS = frozenset(
    """first last next best worst most least highest lowest largest smallest biggest newest oldest
    latest earliest longest shortest cheapest""".split()
)  # one row does not show that it is the one
_SHORTEST = 4  # letters of a word that others are made of
_GENERIC = frozenset(stems.form(word) for word in ("date", "time", "number", "id"))


def unsaid(question: str, quoted: Sequence[QuotableSource]) -> list[str]:
    """The words of the question that no quoted record has; none if a field is asked for."""
    words = [question[start:end] for start, end in stems.spans(question)]
    asked = frozenset(map(stems.form, words))
    fields = [field for each in quoted for line in each.excerpts for field in line.fields]
    texts = [each.about for each in quoted] + [each.collection for each in quoted]
    texts += [line.text for each in quoted for line in each.excerpts]
    held = frozenset(stems.forms(" ".join([*texts, *map(result_text.label, texts)])))
    unheld = [word for word in words if not _is_held(stems.form(word), held)]
    if len(fields) <= record_fields.MOST_FIELDS * len(quoted) and any(map(_PRICED.search, fields)):
        unheld = [word for word in unheld if lower(word).removesuffix("s") not in _PRICES]
    ranks = [word for word in unheld if lower(word) in _RANKS]
    if ranks or any(_is_asked(field, asked) for field in fields):
        return ranks
    return [
        word
        for word in unheld
        if stems.has_meaning(stems.form(word)) or lower(word) in ("owns", "owned")
    ]


def _is_held(form: str, held: frozenset[str]) -> bool:
    """Whether a record has a word, or need not have it."""
    root = form[: stems.ROOT]
    return form in _ASKING or any(each.startswith(root) for each in held)


def _is_asked(field: str, asked: frozenset[str]) -> bool:
    """Whether the question names a field, and not by the value that it has."""
    name, _, value = field.partition(": ")
    named = frozenset(stems.forms(result_text.label(name))) - _GENERIC
    is_named = bool(named) and all(any(_is_akin(form, each) for each in asked) for form in named)
    return is_named and not frozenset(stems.forms(value)) <= asked


def _is_akin(one: str, other: str) -> bool:
    """Whether two forms are of one word, or one is made of the other: renew, renewal."""
    shorter, longer = sorted((one, other), key=len)
    return one == other or (len(shorter) >= _SHORTEST and longer.startswith(shorter))
